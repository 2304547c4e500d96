"""Hours, windows, stretches and estimates: facts in tables."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canary.capacity import hours
from canary.capacity.estimate import estimate, share, student
from canary.capacity.hours import HOUR_S, WEEK_S
from canary.capacity.scenario import EPOCH, Rates, Recorded, Starts, WindowRule, spread
from canary.capacity.stretches import missing_hours, overlap, since
from decide.quota import WindowKind
from tests.canary.capacity.scenes import MEDIUM, rates

BAD_SPANS = [
    "",
    "Mon",
    "Mon 9-17",
    "Mon-Fri 17:00-09:00",
    "Fri-Mon 09:00-10:00",
    "Mon 09:30-10:00",
    "Mon 09:00-25:00",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Mon 00:00-01:00", {0}), ("Sun 23:00-24:00", {167}), ("Mon-Tue 09:00-11:00", {9, 10, 33, 34})],
)
def test_spans(text: str, expected: set[int]) -> None:
    assert hours.span(text) == expected


@pytest.mark.parametrize("text", BAD_SPANS)
def test_a_span_that_is_none_names_the_form(text: str) -> None:
    with pytest.raises(ValueError, match="Mon-Fri 08:00-18:00"):
        hours.span(text)


@pytest.mark.parametrize(("text", "second"), [("Mon 00:00", 0), ("Tue 09:30", 86400 + 9 * 3600 + 1800)])
def test_moments(text: str, second: int) -> None:
    assert hours.moment(text) == second


@pytest.mark.parametrize("text", ["Mon", "Mon 24:00", "09:00", "Mon 09:60"])
def test_a_moment_that_is_none_names_the_form(text: str) -> None:
    with pytest.raises(ValueError, match="Mon 09:00"):
        hours.moment(text)


def test_an_hour_in_words() -> None:
    assert hours.hour_words(38) == "Tue 14:00"


@pytest.mark.parametrize(
    ("anchors", "seat", "after", "expected"),
    [
        ((9 * HOUR_S,), 0, 0, 9 * HOUR_S),
        ((9 * HOUR_S,), 0, 9 * HOUR_S, 9 * HOUR_S + WEEK_S),
        ((9 * HOUR_S,), 1, 9 * HOUR_S - 1, 9 * HOUR_S),
        ((0, 100), 1, 50, 100),
    ],
)
def test_an_anchored_window_begins_anew_at_its_anchor(
    anchors: tuple[int, ...], seat: int, after: int, expected: int
) -> None:
    rule = WindowRule(WindowKind.WEEKLY, starts=Starts.ANCHOR, length_s=WEEK_S, anchors=anchors)
    assert rule.next_reset(after, seat) == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 2, 1, tzinfo=UTC)),
        (datetime(2024, 1, 31, 23, 59, 59, tzinfo=UTC), datetime(2024, 2, 1, tzinfo=UTC)),
        (datetime(2024, 2, 29, 5, tzinfo=UTC), datetime(2024, 3, 1, tzinfo=UTC)),
        (datetime(2024, 12, 3, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_month_begins_anew_on_its_first(now: datetime, expected: datetime) -> None:
    rule = WindowRule(WindowKind.SPEND, starts=Starts.MONTH)
    assert rule.next_reset(int((now - EPOCH).total_seconds()), 0) == int((expected - EPOCH).total_seconds())


@given(st.integers(0, 50))
def test_spread_anchors_stay_when_seats_come_and_lie_apart(seat: int) -> None:
    assert 0 <= spread(seat, WEEK_S) < WEEK_S
    others = [spread(other, WEEK_S) for other in range(seat)]
    assert all(abs(spread(seat, WEEK_S) - other) > WEEK_S / (4 * (seat + 1)) for other in others)


@pytest.mark.parametrize("fields", [{"holds": 0.0}, {"holds": float("inf")}, {"length_s": 0}, {"scope": "Fable"}])
def test_a_window_that_is_none_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="window"):
        WindowRule(WindowKind.WEEKLY, **fields)  # type: ignore[arg-type]


def test_rates_and_recorded_hours_must_be_whole() -> None:
    with pytest.raises(ValueError, match="each level has one draw"):
        Rates({"low": rates(1)}, (MEDIUM,))
    with pytest.raises(ValueError, match="a rate from 0"):
        Rates({"medium": (-1.0,) * 168}, (MEDIUM,))
    with pytest.raises(ValueError, match="at least once"):
        Recorded(((),) * 168, (MEDIUM,))


def test_missing_time_lands_in_its_hours() -> None:
    found = missing_hours([(1800, 9000), (WEEK_S - 900, WEEK_S + 1800)], 2)
    assert found.shape == (2, 168)
    assert found[0, :3].tolist() == [0.5, 1.0, 0.5]
    assert (found[0, 167], found[1, 0]) == (0.25, 0.5)
    assert found.sum() == pytest.approx(2.75)


def test_what_lies_after_a_second() -> None:
    assert since([(0, 5), (8, 12), (20, 30)], 10) == ((0, 2), (10, 20))


@given(*(st.sets(st.integers(0, 30)).map(sorted) for _ in range(2)))
def test_overlap_is_what_both_have(one: list[int], other: list[int]) -> None:
    a, b = ([(x[i], x[i + 1]) for i in range(0, len(x) - 1, 2)] for x in (one, other))
    within = [{second for begin, end in each for second in range(begin, end)} for each in (a, b)]
    assert {second for begin, end in overlap(a, b) for second in range(begin, end)} == within[0] & within[1]


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.706), (4, 2.776), (5, 2.571), (9, 2.262), (19, 2.093), (60, 2.000), (1000, 1.962)],
)
def test_student(freedom: int, expected: float) -> None:
    assert student(freedom) == pytest.approx(expected, abs=0.0015)


def test_an_interval_of_batches() -> None:
    found = estimate([1.0, 2.0, 3.0])
    assert found.mean == 2.0
    assert found.high - found.mean == pytest.approx(4.3027 / 3**0.5)
    assert found.mean - found.low == pytest.approx(found.high - found.mean)


def test_never_seen_is_not_never() -> None:
    found = share([0.0] * 20, 300)
    assert (found.mean, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(3 / 300, abs=2e-4)
    assert share([1.0] * 20, 300).low == pytest.approx(0.99, abs=2e-4)


def test_a_share_stays_between_0_and_1() -> None:
    found = share([0.0, 0.0, 1.0], 3)
    assert (found.low, found.high) == (0.0, 1.0)
