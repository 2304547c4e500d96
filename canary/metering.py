"""Metering: the meters of all seats as a tick found them, for whoever keeps or follows them."""

from collections.abc import Iterable

from decide.ladder import LadderState
from decide.meter import MeterSample
from decide.quota import CLOCK_TOLERANCE, Measure, WindowVerdict


def samples_of(state: LadderState) -> tuple[MeterSample, ...]:
    """The newest reading of every metered window of every seat, binding or not, each `at` the time it was taken.

    A window that was not read in this tick gives the sample that it gave before. One from ahead of the tick's clock
    gives none.
    """
    return tuple(
        sample_of(rung.name, seat.name, verdict)
        for rung in state.rungs
        for seat in rung.seats
        for verdict in metered(seat.windows)
        if verdict.fetched_at - state.at <= CLOCK_TOLERANCE
    )


def metered(verdicts: Iterable[WindowVerdict]) -> Iterable[WindowVerdict]:
    """Those of which it is known how much is used."""
    return (verdict for verdict in verdicts if verdict.window.measure is Measure.METERED)


def sample_of(rung: str, seat: str, verdict: WindowVerdict) -> MeterSample:
    """A metered window of a seat as it was read."""
    window = verdict.window
    return MeterSample(rung, seat, window.kind, window.scope, verdict.fetched_at, window.used, window.resets_at)
