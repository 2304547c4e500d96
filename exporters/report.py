"""Report: the present as one JSON-ready document, for `status --json`, `canary --json` and `/api/status`."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from decide.ladder import RungStatus
from decide.quota import Measure, WindowKind, WindowVerdict
from decide.reason import WORDS, Reason, Words
from decide.seat import SeatStatus, Token
from exporters.labels import seat_labels
from exporters.moment import iso
from exporters.present import Present, present, seats_configured
from exporters.view import Forecast, View

SCHEMA_VERSION = 1
Document = dict[str, Any]

_STALE_TICK = Words("the last tick is too old to trust", "see whether the canary still runs")


def report(view: View, now: datetime) -> Document:
    """What a view says at `now`, by `exporters.schema`; whatever is not known has no key, and is never 0 or null."""
    seen = present(view, now)
    state = seen.state
    return _known(
        {
            "schema_version": SCHEMA_VERSION,
            "at": _time(state.at if state else None),
            "age_seconds": _age(state.at, now) if state else None,
            "stale": seen.stale,
            "ladder": _known(
                {
                    "state": seen.word.value,
                    "since": _time(seen.since),
                    "last_ok_at": _time(state.last_ok_at if state else None),
                }
            ),
            "rungs": [_rung(rung, seen) for rung in seen.rungs],
            "notes": [note.value for note in state.notes] if state else [],
            "skew_seconds": _skew(view),
            "demo": bool(view.caption) or (state is not None and state.demo),
            "caption": view.caption or None,
        }
    )


def _skew(view: View) -> float | None:
    if view.canary.skew_s is None and view.state is not None:
        return view.state.skew_s
    return view.canary.skew_s


def _rung(rung: RungStatus, seen: Present) -> Document:
    labels = seat_labels(rung)
    words = [_words(reason, seen) for reason in rung.reasons]
    picked = next((subject for subject, status in labels if status.name == rung.picked), None)
    return _known(
        {
            "name": rung.name,
            "role": rung.role.value,
            "state": rung.state.value,
            "since": _time(rung.since),
            "reasons": [reason.value for reason in rung.reasons],
            "reasons_text": [means for means, _ in words],
            "remedy": "; or ".join(dict.fromkeys(remedy for _, remedy in words)) or None,
            "picked": picked,
            "clears_at": _time(rung.clears_at),
            "seats_configured": seats_configured(rung),
            "forecast": _forecast(seen.forecasts.rungs.get(rung.name)),
            "seats": [
                _seat(subject, status, seen.forecasts.seat(rung.name, status.name), seen)
                for subject, status in labels
            ],
        }
    )


def _forecast(forecast: Forecast | None) -> Document | None:
    if forecast is None:
        return None
    moments = {"at": forecast.at, "earliest": forecast.earliest, "latest": forecast.latest}
    return _known({name: _time(moment) for name, moment in moments.items()})


def _seat(subject: str, status: SeatStatus, forecast: Forecast | None, seen: Present) -> Document:
    return _known(
        {
            "name": subject,
            "state": status.state.value,
            **_reason(status.reason, seen),
            "token": _token(status.token),
            "quota": status.quota.value,
            "headroom_ratio": status.headroom,
            "clears_at": _time(status.clears_at),
            "forecast": _forecast(forecast),
            "reading_at": _time(status.reading_at),
            "windows": list(_windows(status, seen.now)),
        }
    )


def _token(token: Token) -> Document:
    reason = token.reason.value if token.reason else None
    return _known({"state": token.state.value, "reason": reason, "expires_at": _time(token.expires_at)})


def _windows(status: SeatStatus, now: datetime) -> Iterable[Document]:
    """Each window once, as it binds where it does, the binding ones first."""
    binding = {verdict.window.key: verdict for verdict in status.binding}
    kinds = list(WindowKind)
    rest = [verdict for verdict in status.windows if verdict.window.key not in binding]
    for binds, verdicts in ((True, list(binding.values())), (False, rest)):
        for verdict in sorted(verdicts, key=lambda v: (kinds.index(v.window.kind), v.window.scope)):
            yield _window(verdict, binds, now)


def _window(verdict: WindowVerdict, binds: bool, now: datetime) -> Document:
    window = verdict.window
    return _known(
        {
            "kind": window.kind.value,
            "scope": window.scope or None,
            "measure": window.measure.value,
            "used_ratio": window.used if window.measure is Measure.METERED else None,
            "resets_at": _time(window.resets_at),
            "state": verdict.state.value,
            "reason": verdict.reason.value if verdict.reason else None,
            "binding": binds,
            "source": verdict.source,
            "fetched_at": _time(verdict.fetched_at),
            "age_seconds": _age(verdict.fetched_at, now),
        }
    )


def _reason(reason: Reason | None, seen: Present) -> Document:
    if reason is None:
        return {}
    means, remedy = _words(reason, seen)
    return {"reason": reason.value, "reason_text": means, "remedy": remedy}


def _words(reason: Reason, seen: Present) -> Words:
    """What a reason means; when everything is stale it is the tick that is, not a source's reading."""
    return _STALE_TICK if seen.stale and reason is Reason.STALE else WORDS[reason]


def _time(moment: datetime | None) -> str | None:
    return iso(moment) if moment else None


def _age(moment: datetime, now: datetime) -> float:
    """Seconds since the moment; 0 for one that a clock has put ahead."""
    return round(max(0.0, (now - moment).total_seconds()), 3)


def _known(document: Mapping[str, Any]) -> Document:
    return {key: value for key, value in document.items() if value is not None}
