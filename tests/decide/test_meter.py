"""Meter: growth from reading to reading, over resets and corrections."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from decide.meter import MeterSample, renewed, step
from decide.quota import WindowKind

NOW = datetime(2026, 10, 15, 12, tzinfo=UTC)
BEFORE = MeterSample("fable", "desk", WindowKind.WEEKLY_MODEL, "Fable", NOW, 0.5, NOW + timedelta(minutes=5))
STEPS = [
    (0.625, 4, 0.125, False),
    (0.5, 4, 0.0, False),
    (0.25, 4, 0.0, False),
    (0.25, 5, 0.25, True),
    (0.625, 6, 0.625, True),
]


@pytest.mark.parametrize(("used", "minutes", "grew", "anew"), STEPS)
def test_growth_over_a_reset_and_none_where_the_vendor_takes_back(
    used: float, minutes: int, grew: float, anew: bool
) -> None:
    after = replace(BEFORE, used=used, at=NOW + timedelta(minutes=minutes))
    assert (step(BEFORE, after), renewed(BEFORE, after)) == (grew, anew)


def test_a_window_without_a_reset_never_begins_anew() -> None:
    before = replace(BEFORE, resets_at=None)
    after = replace(before, used=0.25, at=NOW + timedelta(days=30))
    assert (step(before, after), renewed(before, after)) == (0.0, False)


def test_a_window_is_the_same_however_its_scope_is_written() -> None:
    assert (
        BEFORE.window == replace(BEFORE, scope="FABLE").window == ("fable", "desk", WindowKind.WEEKLY_MODEL, "fable")
    )
