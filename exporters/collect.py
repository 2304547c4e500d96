"""Collectors: a view becomes samples, in parts that can be kept while what they were made from stays equal."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from decide.ladder import LadderWord, RungState
from decide.quota import Measure, Window, WindowKind, WindowState
from decide.reason import Reason
from decide.seat import SeatState, SeatStatus, TokenState
from exporters.catalog import READ_RESULTS
from exporters.collect_handoff import clicks, queue
from exporters.collect_ledger import decisions, spend
from exporters.labels import label, seat_labels
from exporters.parts import Part, Sample, Samples, timestamp
from exporters.present import Present, seats_configured
from exporters.view import TickResult, View

Collector = Callable[[View, Present], Iterable[Part]]


def ladder(view: View, seen: Present) -> Iterator[Part]:
    """The ladder's word and each configured rung's state (design 6, Ladder)."""
    last_ok = seen.state.last_ok_at if seen.state else None
    yield Part(("ladder", "", ""), (seen.word, last_ok), _ladder)
    for rung in seen.rungs:
        ahead = seen.forecasts.rungs.get(rung.name)
        moments = (rung.clears_at, rung.last_reachable_at, ahead.at if ahead else None)
        yield Part(("ladder", rung.name, ""), (label(rung.name), rung.state, rung.reasons, *moments), _rung)


def _ladder(word: LadderWord, last_ok_at: datetime | None) -> Samples:
    return {
        "ladder_state": _one_hot((), word, LadderWord),
        "ladder_last_ok_timestamp_seconds": timestamp((), last_ok_at),
    }


def _rung(
    name: str,
    state: RungState,
    reasons: tuple[Reason, ...],
    clears_at: datetime | None,
    last_reachable_at: datetime | None,
    spent_at: datetime | None,
) -> Samples:
    blocked = state is not RungState.REACHABLE
    return {
        "ladder_rung_state": _one_hot((name,), state, RungState),
        "ladder_rung_reachable": [((name,), float(not blocked))],
        "ladder_rung_blocked": [((name, r), float(blocked and r in reasons)) for r in Reason],
        "ladder_rung_next_available_timestamp_seconds": timestamp((name,), clears_at if blocked else None),
        "ladder_rung_last_reachable_timestamp_seconds": timestamp((name,), last_reachable_at),
        "ladder_rung_exhaustion_timestamp_seconds": timestamp((name,), spent_at),
    }


def seats(view: View, seen: Present) -> Iterator[Part]:
    """Each rung's seats, counted and one by one; a seat that is gone adds nothing (design 6, Seats)."""
    for rung in seen.rungs:
        name = label(rung.name)
        counts = Counter(status.state for status in rung.seats)
        inputs = (name, tuple(counts[state] for state in SeatState), seats_configured(rung))
        yield Part(("seats", rung.name, ""), inputs, _seat_counts)
        for subject, status in seat_labels(rung):
            yield Part(("seats", rung.name, subject), (name, subject, status), _seat)


def _seat_counts(rung: str, counts: tuple[int, ...], configured: int | None) -> Samples:
    return {
        "ladder_seats": [((rung, s), float(count)) for s, count in zip(SeatState, counts, strict=True)],
        "ladder_seats_configured": [] if configured is None else [((rung,), float(configured))],
    }


def _seat(rung: str, subject: str, status: SeatStatus) -> Samples:
    at = (rung, subject)
    windows = _shown_windows(status)
    return {
        "ladder_seat_state": _one_hot(at, status.state, SeatState),
        "ladder_seat_quota_used_ratio": [((*at, w.kind), w.used) for w in windows],
        "ladder_seat_quota_reset_timestamp_seconds": [
            ((*at, w.kind), w.resets_at.timestamp()) for w in windows if w.resets_at is not None
        ],
        "ladder_seat_headroom_ratio": [] if status.headroom is None else [(at, status.headroom)],
        "ladder_seat_reading_timestamp_seconds": timestamp(at, status.reading_at),
        "ladder_token_state": _one_hot(at, status.token.state, TokenState),
        "ladder_token_expiry_timestamp_seconds": timestamp(at, status.token.expires_at),
        "ladder_token_renewable": [(at, float(status.token.renewable))],
    }


def _shown_windows(status: SeatStatus) -> list[Window]:
    """The fullest binding window of each kind whose used ratio is known now."""
    fullest: dict[WindowKind, Window] = {}
    if status.state is SeatState.UNKNOWN:
        return []
    for verdict in status.binding:
        window = verdict.window
        known = verdict.state in (WindowState.OPEN, WindowState.FULL) and window.measure is Measure.METERED
        if known and (window.kind not in fullest or window.used > fullest[window.kind].used):
            fullest[window.kind] = window
    return list(fullest.values())


def canary(view: View, seen: Present) -> Iterator[Part]:
    """What the canary says of itself (design 6, Canary)."""
    facts = view.canary
    ticks = tuple(facts.ticks.get(result, 0) for result in TickResult)
    moments = (facts.last_tick_at, facts.last_success_at)
    scalars = (facts.missed_ticks, facts.tick_duration_s, facts.skew_s, facts.reload_ok)
    yield Part(("canary", "", ""), (ticks, *moments, *scalars), _canary)
    counts = _read_counts(view)
    for source in sorted(counts):
        yield Part(("canary", "", source), (label(source), tuple(counts[source].values())), _reads)
    for rung in seen.rungs:
        for subject, status in seat_labels(rung):
            used = facts.poll_used.get((rung.name, status.name))
            if used is not None:
                yield Part(("canary", rung.name, subject), (label(rung.name), subject, used), _poll)


def _canary(
    ticks: tuple[int, ...],
    last_tick_at: datetime | None,
    last_success_at: datetime | None,
    missed: int,
    duration_s: float | None,
    skew_s: float | None,
    reload_ok: bool,
) -> Samples:
    return {
        "ladder_canary_ticks_total": [((r,), float(n)) for r, n in zip(TickResult, ticks, strict=True)],
        "ladder_canary_tick_duration_seconds": [] if duration_s is None else [((), duration_s)],
        "ladder_canary_last_tick_timestamp_seconds": timestamp((), last_tick_at),
        "ladder_canary_last_success_timestamp_seconds": timestamp((), last_success_at),
        "ladder_canary_missed_ticks_total": [((), float(missed))],
        "ladder_canary_clock_skew_seconds": [] if skew_s is None else [((), skew_s)],
        "ladder_config_reload_success": [((), float(reload_ok))],
    }


def _read_counts(view: View) -> dict[str, dict[str, int]]:
    """Reads by source and result, zeros included; a result outside the closed set counts as an error."""
    sources = {*view.sources, *(source for source, _ in view.canary.reads)}
    counts = {source: dict.fromkeys(READ_RESULTS, 0) for source in sources}
    for (source, result), count in view.canary.reads.items():
        counts[source][result if result in READ_RESULTS else Reason.ERROR.value] += count
    return counts


def _reads(source: str, counts: tuple[int, ...]) -> Samples:
    pairs = zip(READ_RESULTS, counts, strict=True)
    return {"ladder_canary_source_reads_total": [((source, result), float(n)) for result, n in pairs]}


def _poll(rung: str, subject: str, used: float) -> Samples:
    return {"ladder_canary_poll_budget_used_ratio": [((rung, subject), used)]}


def build(view: View, seen: Present) -> Iterator[Part]:
    """The version that runs."""
    yield Part(("build", "", ""), (view.version or "unknown",), _build)


def _build(version: str) -> Samples:
    return {"ladder_build_info": [((label(version),), 1.0)]}


COLLECTORS: Mapping[str, Collector] = MappingProxyType(
    {
        "ladder": ladder,
        "seats": seats,
        "canary": canary,
        "decisions": decisions,
        "spend": spend,
        "queue": queue,
        "clicks": clicks,
        "build": build,
    }
)


def _one_hot(at: tuple[str, ...], state: str, states: type[StrEnum]) -> list[Sample]:
    return [((*at, member), float(member == state)) for member in states]
