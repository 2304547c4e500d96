"""Metering: which windows of a tick give a sample, and what it says."""

from dataclasses import replace
from datetime import timedelta

import pytest

from canary.metering import samples_of
from decide.ladder import LadderState
from decide.meter import MeterSample
from decide.quota import Measure, WindowKind
from tests.canary.filling import MODEL, SESSION, WEEKLY, Fill, Ladder, Played, at

DESK = Played(
    (
        Fill(lambda hour: 0.25, SESSION, (2,)),
        Fill(lambda hour: 1.02, WEEKLY, (40,)),
        Fill(lambda hour: 0.4, MODEL, scope="Other"),
        Fill(lambda hour: 0.0, WindowKind.MONTHLY, measure=Measure.UNLIMITED),
        Fill(lambda hour: 0.0, WindowKind.SPEND, measure=Measure.REFUSED),
        Fill(lambda hour: 0.0, WindowKind.OTHER, scope="odd", measure=Measure.MALFORMED),
    )
)
LADDER = Ladder({"fable": {"desk": DESK}, "astra": {"main": Played((Fill(lambda hour: 0.1),))}})


def test_every_metered_window_gives_one_whether_it_binds_or_not() -> None:
    assert set(samples_of(LADDER.state(1))) == {
        MeterSample("fable", "desk", SESSION, "", at(1), 0.25, at(2)),
        MeterSample("fable", "desk", WEEKLY, "", at(1), 1.02, at(40)),
        MeterSample("fable", "desk", MODEL, "Other", at(1), 0.4),
        MeterSample("astra", "main", SESSION, "", at(1), 0.1),
    }


@pytest.mark.parametrize(
    ("ahead_s", "given"), [(-7200, True), (0, True), (60, True), (61, False)], ids=["old", "now", "near", "ahead"]
)
def test_a_sample_is_as_old_as_its_reading_and_none_comes_from_ahead(ahead_s: float, *, given: bool) -> None:
    """The tick's own clock stands behind or ahead of the moment of the reading."""
    state: LadderState = replace(LADDER.state(1), at=at(1) - timedelta(seconds=ahead_s))
    assert {sample.at for sample in samples_of(state)} == ({at(1)} if given else set())
