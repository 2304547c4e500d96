"""Wording: the parts of a report as a person is told them, at that person's own clock."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from math import floor
from types import MappingProxyType
from typing import Any

from decide.ladder import LadderWord, RungState
from decide.quota import Measure, WindowState
from decide.reason import WORDS, Reason
from decide.seat import Quota, SeatState, TokenState
from exporters.moment import expected_words, span_words, until_words

Document = Mapping[str, Any]

NEAR, FULL = 80, 100
"""From these percentages on a window is drawn as nearly full, and as full."""
_MOST = 9999  # a greater figure is a broken one, and would only spoil the table

_MEASURES: Mapping[str, str] = MappingProxyType(
    {Measure.UNLIMITED: "no limit", Measure.REFUSED: "refused", Measure.MALFORMED: "unreadable"}
)
_LOGINS: Mapping[str, str] = MappingProxyType(
    {
        TokenState.REFRESHABLE: "its client renews the login on next use",
        TokenState.NEEDS_LOGIN: "a login is needed",
        TokenState.UNKNOWN: "login unknown",
    }
)


@dataclass(frozen=True, slots=True)
class Reader:
    """When and where a report is read; `zone` None is this machine's. `brief` leaves out what a column tells."""

    now: datetime
    zone: tzinfo | None = None
    brief: bool = False


@dataclass(frozen=True, slots=True)
class Meter:
    """A window as it is drawn: `percent` None where nothing can be drawn; `fresh` is False for one not to trust.

    `age` says when a figure that is not fresh was read; no figure of that kind is shown without it.
    """

    name: str
    figure: str
    words: tuple[str, ...] = ()
    age: str = ""
    percent: float | None = None
    fresh: bool = True
    binding: bool = True


def clock(text: str, reader: Reader) -> str:
    """A report's moment on the reader's clock, with the day where it is not today's: `Fri 14:02 CEST`."""
    moment, today = (each.astimezone(reader.zone) for each in (datetime.fromisoformat(text), reader.now))
    apart = abs((moment.date() - today.date()).days)
    day = "" if not apart else f"{moment:%a} " if apart < 7 else f"{moment.day} {moment:%b} "
    year = f"{moment.year} " if apart >= 7 and moment.year != today.year else ""
    return f"{day}{year}{moment:%H:%M %Z}"


def distance(text: str, reader: Reader) -> str:
    """A moment and how far it lies ahead or back: `14:02 CEST, in 1 h 35 min`."""
    moment = datetime.fromisoformat(text)
    relative = until_words(moment, reader.now) if moment > reader.now else f"{span_words(reader.now - moment)} ago"
    return f"{clock(text, reader)}, {relative}"


def since(document: Document, reader: Reader) -> str:
    """Since when a state lasts: ` since 14:02 CEST (22 min)`, empty where that is not known."""
    if "since" not in document:
        return ""
    lasted = reader.now - datetime.fromisoformat(document["since"])
    told = f" ({span_words(lasted)})" if lasted >= timedelta(seconds=1) else ""
    return f" since {clock(document['since'], reader)}{told}"


def moment_of(report: Document) -> datetime:
    """The moment for which a report was made."""
    if "at" not in report:
        return datetime.now(UTC)
    return datetime.fromisoformat(report["at"]) + timedelta(seconds=report["age_seconds"])


def observer(report: Document, reader: Reader) -> Iterator[str]:
    """What is to be said of the canary itself, a line each."""
    if "caption" in report:
        yield f"demo: {report['caption']}"
    elif report["demo"]:
        yield "demo: no seat of this machine was read"
    if "at" not in report:
        yield "no tick has ended yet, so nothing is known"
    elif report["stale"]:
        yield f"nothing is known of now: the last tick was at {distance(report['at'], reader)}"
    else:
        yield _ago(report)
    if report["ladder"]["state"] != LadderWord.OK and "last_ok_at" in report["ladder"]:
        yield f"both rungs could last be asked at {distance(report['ladder']['last_ok_at'], reader)}"
    for note in report["notes"]:
        if not (report["stale"] and note == Reason.STALE):
            means, remedy = WORDS[Reason(note)]
            yield f"{means}: {remedy}"


def _ago(document: Document) -> str:
    age = timedelta(seconds=document["age_seconds"])
    return f"read {span_words(age)} ago" if age >= timedelta(seconds=1) else "read just now"


def rung_title(rung: Document, reader: Reader) -> tuple[str, str]:
    """A rung's state in words, and the seat that comes next where there may be one."""
    state = rung["state"] + ("" if rung["state"] == RungState.REACHABLE else since(rung, reader))
    return state, "" if rung["state"] == RungState.UNREACHABLE else f"; next seat {rung.get('picked', 'unknown')}"


def rung_facts(rung: Document, reader: Reader) -> Iterator[tuple[str, str]]:
    """What is wrong with a rung that is not reachable, what to do, and when it clears; of others what lies ahead."""
    if rung["state"] == RungState.REACHABLE:
        yield from (("ahead", words) for words in expected(rung, reader))
        return
    yield "wrong", "; ".join(rung["reasons_text"]) or "unknown: it has not been read yet"
    if "remedy" in rung:
        yield "do", rung["remedy"]
    if "clears_at" in rung:
        yield "clears", distance(rung["clears_at"], reader)
    elif rung["state"] == RungState.UNREACHABLE:
        yield "clears", "time unknown"


def expected(document: Document, reader: Reader) -> Iterator[str]:
    """When a rung or a seat is expected to be spent, where that is known."""
    if "forecast" in document:
        yield expected_words(document["forecast"], lambda text: clock(text, reader))


def told(rung: Document, reader: Reader) -> tuple[str, ...]:
    """What the facts of a rung say for each of its seats, so that no seat says it again."""
    reasons = rung["reasons_text"]
    remedies = rung.get("remedy", "").split("; or ")
    return (*(reasons if len(reasons) == 1 else ()), *remedies, *expected(rung, reader))


def seat_state(seat: Document) -> str:
    """A seat's state as a word or two."""
    return str(seat["state"]).replace("_", " ")


def seat_words(seat: Document, reader: Reader, *, omit: Collection[str] = ()) -> list[str]:
    """What else is to be said of a seat, phrase by phrase, without the texts in `omit`."""
    parts = [seat["reason_text"]] if "reason_text" in seat else []
    if seat["state"] == SeatState.CAPPED:
        parts.append(f"clears {distance(seat['clears_at'], reader)}" if "clears_at" in seat else "clear time unknown")
    if "remedy" in seat:
        parts.append(seat["remedy"])
    if seat["quota"] == Quota.UNMETERED:
        parts.append("unmetered")
    parts += expected(seat, reader)
    return [*(part for part in parts if part not in omit), *_login(seat, reader)]


def _login(seat: Document, reader: Reader) -> Iterator[str]:
    """The login where it is not simply live, with when it lapses or lapsed."""
    token = seat["token"]
    if token["state"] == TokenState.LIVE:
        return
    if token.get("reason") != seat.get("reason") or "reason" not in token:
        why = f": {WORDS[Reason(token['reason'])].means}" if "reason" in token else ""
        yield _LOGINS[token["state"]] + why
    if "expires_at" in token:
        past = datetime.fromisoformat(token["expires_at"]) <= reader.now
        yield f"login {'lapsed' if past else 'lapses'} {distance(token['expires_at'], reader)}"


def meters(seat: Document, reader: Reader) -> list[Meter]:
    """A seat's windows as they are drawn; a metered seat without one says that its quota is unknown."""
    found = [_meter(window, seat, reader) for window in seat["windows"]]
    if not found and seat["quota"] == Quota.METERED:
        return [Meter("quota", "unknown", fresh=False)]
    return found


def _meter(window: Document, seat: Document, reader: Reader) -> Meter:
    name = str(window["kind"]).removesuffix("_model")
    known = window["state"] != WindowState.UNKNOWN and seat["state"] != SeatState.UNKNOWN
    dropped = window["state"] == WindowState.DROPPED
    figure, percent = _figure(window)
    return Meter(
        name=f"{name} {window['scope']}" if "scope" in window else name,
        figure=f"was {figure}" if dropped and percent is not None else figure,
        words=tuple(_meter_words(window, seat, reader, known=known)),
        age="" if known else _ago(window),
        percent=None if dropped else percent,
        fresh=known and not dropped,
        binding=window["binding"],
    )


def _figure(window: Document) -> tuple[str, float | None]:
    """The used share as read and never rounded up to full, and the percentage to draw."""
    if window["measure"] == Measure.METERED:
        used = round(window["used_ratio"] * 100, 6)
        text = "<1" if 0 < used < 1 else str(floor(used)) if used <= _MOST else f">{_MOST}"
        return f"{text} %", used
    return _MEASURES[window["measure"]], 100.0 if window["measure"] == Measure.REFUSED else None


def _meter_words(window: Document, seat: Document, reader: Reader, *, known: bool) -> Iterator[str]:
    if window["state"] == WindowState.DROPPED:
        yield "has reset since it was read"
    elif "resets_at" in window:
        due = datetime.fromisoformat(window["resets_at"]) <= reader.now
        plain = known and not due and reader.brief
        yield ("" if plain else "reset was due " if due else "resets ") + distance(window["resets_at"], reader)
    elif window["measure"] in (Measure.METERED, Measure.REFUSED):
        yield "reset unknown"
    why = window.get("reason")
    if why is not None and window["state"] == WindowState.UNKNOWN and why != seat.get("reason"):
        yield WORDS[Reason(why)].means
    if not window["binding"]:
        yield "does not bind"
