"""Forecasts of windows, seats and rungs: known answers, resets, too little data, and how they do on past meters."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from canary.capacity.backtest import backtest
from canary.capacity.forecast import SAFE, UNKNOWN, Outlook, Prospect, Track, seat_outlook
from canary.capacity.forecast_rung import rung_outlook
from canary.capacity.naive import predict_linear
from canary.capacity.pace import LOOK_BACK_S, PARTS, Pace
from decide.meter import MeterSample
from decide.quota import WindowKind
from tests.canary.capacity.histories import HOUR, MONDAY, busy_meters, meter
from tests.canary.capacity.recorded import NOON, incident


def track(samples: Iterable[MeterSample]) -> Track:
    found = None
    for sample in samples:
        found = found or Track(sample.kind)
        found.add(sample)
    assert found is not None
    return found


def at(hours: float) -> datetime:
    return MONDAY + timedelta(hours=hours)


def near(moment: datetime | None, hours: float, minutes: float = 3) -> bool:
    return moment is not None and abs(moment - at(hours)) <= timedelta(minutes=minutes)


def test_a_straight_line_is_followed_to_its_end() -> None:
    found = track(meter(lambda hour: hour / 10, 4)).outlook(at(4))
    assert found.prospect is Prospect.FORESEEN
    assert near(found.at, 10)
    assert found.earliest is not None
    assert found.latest is not None
    assert at(4) < found.earliest < at(10) < found.latest


def test_the_interval_is_wider_the_less_even_the_growth() -> None:
    even = track(meter(lambda hour: hour / 10, 4)).outlook(at(4))
    uneven = track(meter(lambda hour: int(hour) / 10, 4)).outlook(at(4))
    assert even.earliest is not None
    assert uneven.earliest is not None
    assert uneven.earliest < even.earliest


def test_a_reset_before_the_end_begins_the_growth_anew() -> None:
    """Half full at 04:00, reset at 05:00, an eighth an hour: spent eight hours after a reset, which is too late."""
    session = track(meter(lambda hour: hour / 8, 4, resets=[5]))
    assert session.outlook(at(4)) == SAFE
    quick = track(meter(lambda hour: hour / 4, 2, resets=[3])).outlook(at(2))
    assert near(quick.at, 3 + 4), "a whole window from the reset on"
    assert quick.until == at(3) + 5 * HOUR


def test_growth_is_seen_across_resets() -> None:
    """Four hours of windows that reset each hour: what they grew counts, though none of them ever held much."""
    found = track(meter(lambda hour: (hour % 1) / 4, 4.5, resets=[1, 2, 3, 4, 9])).outlook(at(4.5))
    assert near(found.at, 4.5 + 0.875 * 4, 30)


def test_a_reset_that_has_passed_since_the_last_reading() -> None:
    followed = track(meter(lambda hour: hour / 4, 2, resets=[2.05]))
    assert near(followed.outlook(at(2.1)).at, 2.05 + 4)


def test_a_full_window_is_spent_since_it_filled_and_until_its_reset() -> None:
    found = track(meter(lambda hour: min(1.0, hour / 2), 3, resets=[5])).outlook(at(3))
    assert found == Outlook(Prospect.SPENT, at(2), until=at(5))


@pytest.mark.parametrize("readings", range(PARTS + 1))
def test_too_few_readings_are_unknown_and_never_0(readings: int) -> None:
    samples = list(meter(lambda hour: hour / 10, 4))[:readings]
    found = track(samples).outlook(at(4)) if samples else Track(WindowKind.SESSION).outlook(at(4))
    assert found == UNKNOWN
    assert found.at is None


def test_a_window_that_stands_still_is_safe() -> None:
    assert track(meter(lambda _: 0.4, 6)).outlook(at(6)).prospect is Prospect.SAFE


def test_a_reading_that_is_no_later_is_not_new() -> None:
    samples = list(meter(lambda hour: hour / 10, 4))
    followed = track(samples)
    before = followed.outlook(at(4))
    followed.add(replace(samples[-1], used=0.9))
    assert followed.outlook(at(4)) == before


def test_a_vendors_correction_is_no_growth() -> None:
    dipped = track(meter(lambda hour: hour / 10 - (0.1 if 2 < hour < 2.2 else 0), 4))
    assert dipped.outlook(at(4)).prospect is Prospect.FORESEEN


def test_old_readings_are_let_go_and_change_nothing() -> None:
    long = track(meter(lambda hour: hour / 300, 290, step_minutes=5))
    short = track(sample for sample in meter(lambda hour: hour / 300, 290) if sample.at >= at(290 - 80))
    assert long.outlook(at(290)).at == short.outlook(at(290)).at
    assert len(long._at) < 290 * 12


def test_the_ends_of_an_interval_are_where_growth_and_its_spread_meet() -> None:
    pace = Pace(1e-4, 4e-6, 7200.0)
    expected, earliest, latest = pace.reaches(0.5)
    assert expected == pytest.approx(5000)
    assert latest is not None
    for seconds, side in ((earliest, 1), (latest, -1)):
        spread = 2.015 * (pace.variance * seconds * (1 + seconds / pace.over_s)) ** 0.5
        assert pace.rate * seconds + side * spread == pytest.approx(0.5)
    assert Pace(1e-6, 4e-6, 7200.0).reaches(0.5)[2] is None


FORESEEN = Outlook(Prospect.FORESEEN, at(3), at(2), at(4), at(9))
SPENT = Outlook(Prospect.SPENT, at(1), until=at(5))


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        ([], UNKNOWN),
        ([SAFE, SAFE], SAFE),
        ([SAFE, FORESEEN], FORESEEN),
        ([FORESEEN, replace(FORESEEN, at=at(2))], replace(FORESEEN, at=at(2))),
        ([UNKNOWN, FORESEEN], UNKNOWN),
        ([UNKNOWN, SPENT], SPENT),
        ([SPENT, Outlook(Prospect.SPENT, at(2), until=at(8))], Outlook(Prospect.SPENT, at(1), until=at(8))),
        ([SPENT, Outlook(Prospect.SPENT, at(2))], Outlook(Prospect.SPENT, at(1))),
    ],
)
def test_a_seat_is_spent_with_the_first_of_its_windows(windows: list[Outlook], expected: Outlook) -> None:
    assert seat_outlook(windows) == expected


def seat(pace: float, start: float = 0.0, resets: tuple[float, ...] = (48.0,)) -> list[Track]:
    filling = meter(lambda hour: min(1.0, start + hour * pace), 4, resets=resets, kind=WindowKind.WEEKLY)
    return [track(filling)]


def test_a_rungs_seats_take_over_from_one_another() -> None:
    """Two seats at a tenth an hour, one of them half full before: together 1.5 - 0.8 are left at 0.2 an hour."""
    found = rung_outlook([seat(0.1), seat(0.1, 0.5)], at(4))
    assert near(found.at, 4 + (2 - 0.4 - 0.9) / 0.2)


def test_a_rung_is_spent_once_its_last_seat_is() -> None:
    found = rung_outlook([seat(0.5), seat(1.0)], at(4))
    assert (found.prospect, found.at, found.until) == (Prospect.SPENT, at(2), at(48))


def test_a_seat_that_comes_back_in_time_is_counted() -> None:
    """One seat is spent until 05:00, the other fills by 06:00 at its own pace: then the first is there again."""
    spent, other = seat(1.0, resets=(5.0, 170.0)), seat(1 / 6)
    found = rung_outlook([spent, other], at(4))
    assert found.at is None or found.at > at(6)


def test_what_grows_until_a_reset_is_given_back_by_it_too() -> None:
    """0.17 an hour in windows of five hours fill each to 85 %, so that no seat and no rung is ever spent."""
    for resets in ([5], [4.2]):
        followed = track(meter(lambda hour: (hour * 0.17 + 0.001) % 1, 4, resets=resets))
        assert rung_outlook([[followed]], at(4)) == SAFE == followed.outlook(at(4))


@pytest.mark.parametrize(
    ("first_back", "spent_at"), [(48.0, 4 + 0.4 / 0.15), (5.5, None)], ids=["by windows of two kinds", "one is back"]
)
def test_a_rung_is_spent_at_the_latest_once_each_seat_is(first_back: float, spent_at: float | None) -> None:
    """One fills its session by 05:00, the other its week by 06:40; each has plenty left of the other kind."""

    def filling(pace: float, kind: WindowKind, reset: float = 48.0) -> Track:
        return track(meter(lambda hour: hour * pace, 4, resets=[reset], kind=kind))

    first = [filling(0.2, WindowKind.SESSION, first_back), filling(0.0, WindowKind.WEEKLY)]
    second = [filling(0.0, WindowKind.SESSION), filling(0.15, WindowKind.WEEKLY)]
    found = rung_outlook([first, second], at(4))
    assert near(found.at, spent_at) if spent_at is not None else found.at is None or found.at > at(8)


def test_a_rung_with_a_seat_of_which_nothing_is_known_is_unknown() -> None:
    assert rung_outlook([seat(0.1), [Track(WindowKind.WEEKLY)]], at(4)) == UNKNOWN
    assert rung_outlook([], at(4)) == UNKNOWN


def test_a_rung_whose_seats_stand_still_is_safe() -> None:
    assert rung_outlook([seat(0.0), seat(0.0, 0.5)], at(4)) == SAFE


def test_predict_linear_is_the_line_of_least_squares() -> None:
    moments = [60.0 * each for each in range(61)]
    assert predict_linear(moments, [each / 3600 for each in moments], 3600, 3600, 1800) == pytest.approx(1.5)
    assert predict_linear([0.0, 10.0], [1.0, 1.0], 10, 100, 50) == 1.0
    assert str(predict_linear([10.0], [1.0], 10, 100, 50)) == "nan"


def test_on_evenly_filling_windows_every_exhaustion_is_foreseen() -> None:
    resets = [5.0 * each for each in range(1, 50)]
    found = backtest(meter(lambda hour: min(1.0, (hour % 5) / 4), 100, resets=resets))
    assert found is not None
    assert found.windows.spent == 20
    assert found.windows.foreseen == 1.0
    assert found.windows.false == 0.0
    assert found.rungs.foreseen == 1.0


def test_the_naive_line_draws_through_resets_and_ours_does_not() -> None:
    """A session reaches 80 % and resets: predict_linear keeps crying that it will be spent within two hours."""
    resets = [5.0 * each for each in range(1, 50)]
    found = backtest(meter(lambda hour: (hour % 5) * 0.16, 100, resets=resets))
    assert found is not None
    assert found.windows.alarms == 0
    assert found.windows_naive.alarms > 100
    assert found.windows_naive.false == 1.0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_on_busy_seats_intervals_hold_what_they_promise_and_more_is_foreseen_than_naively(seed: int) -> None:
    found = backtest(busy_meters(seed, per_hour=14))
    assert found is not None
    assert found.windows.spent >= 20
    assert found.windows.covered is not None
    assert found.windows.covered == pytest.approx(0.9, abs=0.08)
    assert (found.windows.foreseen or 0) >= (found.windows_naive.foreseen or 0)
    assert (found.rungs.foreseen or 0) >= (found.rungs_naive.foreseen or 0)


def test_the_incident_is_foreseen_an_hour_ahead() -> None:
    found = backtest(incident(5))
    assert found is not None
    assert (found.rungs.spent, found.rungs.foreseen) == (2, 1.0)
    assert found.windows.foreseen is not None
    assert found.windows.foreseen >= 0.8
    assert found.span == (NOON, NOON + timedelta(hours=12))


def test_without_readings_there_is_nothing_to_test() -> None:
    assert backtest([]) is None


def test_a_look_back_needs_readings_as_far_back() -> None:
    assert track(meter(lambda hour: hour / 10, 2)).looks() == [each for each in LOOK_BACK_S if each <= 7200]
