"""Status page: what the person on call needs at a glance, from the same report that machines read."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import floor
from types import MappingProxyType
from typing import Any

from decide.ladder import LadderWord, RungState
from decide.quota import Measure, WindowState
from decide.reason import WORDS, Reason
from decide.seat import SeatState
from exporters.console.frame import Frame, framed
from exporters.console.render import page
from exporters.console.waits import Waits
from exporters.moment import clock_words, expected_words, minute_words, span_words, until_words
from exporters.report import Document, report
from exporters.view import View

_ASKED: Mapping[str, str] = MappingProxyType(
    {
        RungState.REACHABLE: "{} can be asked",
        RungState.UNKNOWN: "{}: not known whether it can be asked",
        RungState.UNREACHABLE: "{} cannot be asked",
    }
)
_NEAR = 0.8
"""From this share on a bar is drawn as nearly full."""

_COLOURS: Mapping[str, str] = MappingProxyType(
    {
        LadderWord.OK: "#12834d",
        LadderWord.DEGRADED: "#c47a00",
        LadderWord.DOWN: "#c9302c",
        LadderWord.BLIND: "#6b7280",
    }
)


def status_page(view: View, now: datetime, frame: Frame | None = None, waits: Waits | None = None) -> bytes:
    """The page as HTML; `waits` is what waits for a person, where there is a console that knows."""
    document = report(view, now)
    return page(
        "status.html",
        frame or framed(view, now, pages=False),
        waits=waits,
        doc=document,
        word=document["ladder"]["state"],
        sentence=_sentence(document),
        ticks=_ticks(view, now),
        notes=[(Reason(note), WORDS[Reason(note)]) for note in _notes(document)],
        when=lambda text: clock_words(datetime.fromisoformat(text), now),
        until=lambda text: until_words(datetime.fromisoformat(text), now),
        ago=lambda text: f"{span_words(now - datetime.fromisoformat(text))} ago",
        lasted=lambda text: span_words(now - datetime.fromisoformat(text)),
        lapse=lambda text: _lapse(datetime.fromisoformat(text), now),
        expected=lambda forecast: _sentence_case(
            expected_words(forecast, lambda text: minute_words(datetime.fromisoformat(text), now))
        ),
        sentence_case=_sentence_case,
        bar=lambda window, seat: _bar(window, seat, now),
    )


def icon(word: LadderWord) -> str:
    """The page's icon as SVG, in the colour of the ladder's word."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
        f'<rect width="32" height="32" rx="7" fill="{_COLOURS[word]}"/>'
        '<path d="M11 6v20M21 6v20M11 12h10M11 20h10" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/></svg>'
    )


def _sentence(document: Document) -> str:
    if "at" not in document:
        return "No tick has ended yet, so nothing is known. The first one is on its way."
    if document["stale"]:
        return "The last tick is too old to trust, so nothing is known of now. Is the canary running?"
    states = {rung["name"]: rung["state"] for rung in document["rungs"]}
    match LadderWord(document["ladder"]["state"]):
        case LadderWord.OK:
            return "Both rungs can be asked: quota and token permit it."
        case LadderWord.DOWN:
            return "Neither rung can be asked: decisions will go to the queue."
        case LadderWord.DEGRADED | LadderWord.BLIND:
            return "; ".join(_ASKED[state].format(name) for name, state in states.items()) + "."


def _notes(document: Document) -> list[str]:
    """The observer's troubles, without the staleness that the sentence tells already."""
    return [note for note in document["notes"] if not (document["stale"] and note == Reason.STALE)]


def _sentence_case(text: str) -> str:
    """The text with a great first letter; the rest stays as it is, names and abbreviations too."""
    return text[:1].upper() + text[1:]


def _ticks(view: View, now: datetime) -> list[tuple[str, str, bool]]:
    """What is known of the canary itself: (term, words, whether it is trouble)."""
    facts, rows = view.canary, []
    last = facts.last_tick_at or (view.state.at if view.state else None)
    if last is not None:
        took = f", took {facts.tick_duration_s:.1f} s" if facts.tick_duration_s is not None else ""
        old = now - last > view.stale_after
        rows.append(("Last tick", f"{span_words(now - last)} ago ({clock_words(last, now)}{took})", old))
        rows.append(_next_tick(last + view.interval, now))
    else:
        rows.append(("Last tick", "none yet", False))
    rows.append(("Missed ticks", str(facts.missed_ticks), facts.missed_ticks > 0))
    rows.append(("Clock", *_clock(facts.skew_s)))
    if not facts.reload_ok:
        rows.append(("Configuration", "the last reload was refused; the one before it is in force", True))
    return rows


def _next_tick(due: datetime, now: datetime) -> tuple[str, str, bool]:
    late = now - due
    if late > timedelta(minutes=1):
        return "Next tick", f"overdue by {span_words(late)} (due {clock_words(due, now)})", True
    return "Next tick", f"{until_words(due, now)} (about {clock_words(due, now)})", False


def _clock(skew_s: float | None) -> tuple[str, bool]:
    if skew_s is None:
        return "not compared with any host", False
    side = "ahead of" if skew_s >= 0 else "behind"
    return f"{abs(skew_s):.1f} s {side} the hosts it reads", abs(skew_s) >= 60


def _lapse(expires_at: datetime, now: datetime) -> str:
    words = f"lapses {until_words(expires_at, now)}"
    if expires_at <= now:
        words = f"lapsed {span_words(now - expires_at)} ago"
    return f"{words} ({clock_words(expires_at, now)})"


def _bar(window: Document, seat: Document, now: datetime) -> dict[str, Any]:
    """How a window is drawn: `look`, `width` of 100, the figure and the words beside it.

    In a seat whose state is unknown, each figure is told with its age and drawn as unknown.
    """
    used = window.get("used_ratio")
    percent = None if used is None else floor(round(used * 100, 6))  # never rounded up to full
    state, measure = window["state"], window["measure"]
    figure = {Measure.UNLIMITED: "no limit", Measure.REFUSED: "refused", Measure.MALFORMED: "unreadable"}.get(
        measure, f"{percent} %"
    )
    known = state != WindowState.UNKNOWN and seat["state"] != SeatState.UNKNOWN
    if not known and percent is not None:
        figure = f"{percent} % as of {span_words(timedelta(seconds=window['age_seconds']))} ago"
    if state == WindowState.DROPPED:
        figure = f"was {percent} %" if percent is not None else figure
    near = used is not None and used >= _NEAR
    looks = {WindowState.OPEN: "near" if near else "open", WindowState.FULL: "full"}
    full = measure == Measure.REFUSED
    return {
        "look": looks.get(WindowState(state), "unknown") if known else "unknown",
        "width": 100 if full else min(100, percent or 0),
        "figure": figure,
        "words": _window_words(window, now, why=seat.get("reason")),
    }


def _window_words(window: Document, now: datetime, *, why: str | None) -> str:
    """What stands under the bar; the reason only where it is not the seat's own (`why`)."""
    resets = window.get("resets_at")
    parts = []
    if window["state"] == WindowState.DROPPED:
        parts.append("has reset since it was read")
    elif resets is not None:
        moment = datetime.fromisoformat(resets)
        word = "reset was due" if moment <= now else f"resets {until_words(moment, now)}"
        parts.append(f"{word} ({clock_words(moment, now)})")
    elif window["measure"] in (Measure.METERED, Measure.REFUSED):
        parts.append("reset time not known")
    if window["state"] == WindowState.UNKNOWN and window.get("reason", why) != why:
        parts.append(WORDS[Reason(window["reason"])].means)
    if not window["binding"]:
        parts.append("does not bind this rung")
    return "; ".join(parts)
