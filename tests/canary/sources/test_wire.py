"""Numbers and times of vendors: what is taken, and what is a fault."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canary.sources.wire import (
    Instant,
    expiry_in_ms,
    expiry_in_s,
    kind_of_duration,
    meter,
    ratio_of_percent,
    reset_time,
)
from decide.quota import Measure, Window, WindowKind
from decide.reason import Reason
from tests.canary.fakes import NOW

SOON = datetime.fromtimestamp(1792069200, UTC)
BAD_NUMBERS: list[Any] = ["12", True, False, [], {}, float("nan"), float("inf"), -1, 10**400, "", "x"]


@pytest.mark.parametrize(
    ("percent", "ratio"), [(0, 0), (0.0, 0), (0.42, 0.0042), (1.0, 0.01), (2, 0.02), (101, 1.01)]
)
def test_a_percentage_is_never_guessed_by_its_size(percent: float, ratio: float) -> None:
    assert ratio_of_percent(percent) == pytest.approx(ratio)


@pytest.mark.parametrize("value", BAD_NUMBERS)
def test_what_is_no_percentage(value: Any) -> None:
    assert ratio_of_percent(value) is None


RESETS: list[tuple[Any, Instant]] = [
    (1792069200, Instant(SOON)),
    (1792069200.0, Instant(SOON)),
    (1792069200000, Instant(SOON)),
    ("2026-10-15T13:00:00Z", Instant(SOON)),
    ("2026-10-15T13:00:00.000000+00:00", Instant(SOON)),
    ("2026-10-15T08:00:00-05:00", Instant(SOON)),
    (None, Instant()),
    ("1792069200", Instant(fault=Reason.MALFORMED)),
    ("2026-10-15T13:00:00", Instant(fault=Reason.MALFORMED)),
    ("soon", Instant(fault=Reason.MALFORMED)),
    ([], Instant(fault=Reason.MALFORMED)),
    (True, Instant(fault=Reason.MALFORMED)),
    (17920692, Instant(fault=Reason.IMPLAUSIBLE_TIME)),
    (-1, Instant(fault=Reason.IMPLAUSIBLE_TIME)),
    (0, Instant(fault=Reason.IMPLAUSIBLE_TIME)),
    (1e18, Instant(fault=Reason.IMPLAUSIBLE_TIME)),
    ("1999-01-01T00:00:00Z", Instant(fault=Reason.IMPLAUSIBLE_TIME)),
]


@pytest.mark.parametrize(("value", "instant"), RESETS)
def test_a_reset_in_each_of_its_forms(value: Any, instant: Instant) -> None:
    assert reset_time(value, NOW) == instant


@given(st.integers(int((NOW - timedelta(days=29)).timestamp()), int((NOW + timedelta(days=399)).timestamp())))
def test_seconds_milliseconds_and_text_of_one_moment_agree(epoch: int) -> None:
    text = datetime.fromtimestamp(epoch, UTC).isoformat()
    assert reset_time(epoch, NOW) == reset_time(epoch * 1000, NOW) == reset_time(text, NOW)


@given(st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(), st.lists(st.integers())))
def test_no_value_raises(value: Any) -> None:
    for read in (reset_time, expiry_in_ms, expiry_in_s):
        instant = read(value, NOW)
        assert instant.at is None or instant.fault is None
    meter(WindowKind.SESSION, value, value, NOW)


def test_an_expiry_keeps_to_the_unit_of_its_contract() -> None:
    assert expiry_in_ms(1792069200000, NOW).at == SOON
    assert expiry_in_ms(1792069200, NOW).fault is Reason.IMPLAUSIBLE_TIME
    assert expiry_in_s(1792069200, NOW).at == SOON
    assert expiry_in_s(1792069200000, NOW).fault is Reason.IMPLAUSIBLE_TIME
    assert expiry_in_s("1792069200", NOW).fault is Reason.EXP_NOT_NUMERIC
    assert expiry_in_s(1792065599.5, NOW).at == datetime(2026, 10, 15, 11, 59, 59, 500000, tzinfo=UTC)
    assert expiry_in_ms((NOW - timedelta(days=300)).timestamp() * 1000, NOW).fault is None


METERS: list[tuple[Any, Any, Window | None]] = [
    (12.0, None, Window(WindowKind.SESSION, 0.12)),
    (None, None, None),
    (None, 1792069200, None),
    (50, 0, Window(WindowKind.SESSION, measure=Measure.MALFORMED, fault=Reason.IMPLAUSIBLE_TIME)),
    (100, 0, Window(WindowKind.SESSION, 1.0)),
    (50, "soon", Window(WindowKind.SESSION, measure=Measure.MALFORMED)),
    ("50", 1792069200, Window(WindowKind.SESSION, measure=Measure.MALFORMED)),
]


@pytest.mark.parametrize(("percent", "reset", "window"), METERS)
def test_a_meter_from_what_a_vendor_wrote(percent: Any, reset: Any, window: Window | None) -> None:
    assert meter(WindowKind.SESSION, percent, reset, NOW) == window


@pytest.mark.parametrize(
    ("seconds", "kind"),
    [
        (18_000, WindowKind.SESSION),
        (32_400, WindowKind.SESSION),
        (604_800, WindowKind.WEEKLY),
        (2_592_000, WindowKind.MONTHLY),
        (86_400, WindowKind.OTHER),
        (1_209_600, WindowKind.OTHER),
    ],
)
def test_a_window_is_what_its_duration_says(seconds: float, kind: WindowKind) -> None:
    assert kind_of_duration(seconds) is kind
