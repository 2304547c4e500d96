"""Poll budget and back-off: 20 reads an hour, 60 s at least, growing, and no clock step that shuts a seat off."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canary.budget import FLOOR, GROWTH_LIMIT, HOUR, STATED_LIMIT, Backoff, clamped, held, pace, recent, struck
from tests.canary.fakes import NOW

SECOND = timedelta(seconds=1)


def test_twenty_reads_an_hour() -> None:
    polls = [NOW - timedelta(minutes=3 * number) for number in range(20)]
    assert held(polls, None, now=NOW, budget=20) == "poll budget: 20 of 20 reads used in the last hour"
    assert held(polls[1:], None, now=NOW, budget=20) is None
    assert held(polls, None, now=NOW + timedelta(minutes=4), budget=20) is None


@pytest.mark.parametrize(
    ("strikes", "stated", "wait"),
    [
        (0, None, 60),
        (0, 5.0, 60),
        (0, 3037.0, 3037),
        (1, None, 120),
        (2, None, 240),
        (6, None, 3600),
        (50, None, 3600),
        (0, 1e9, 86400),
        (3, 120.0, 120),
    ],
)
def test_a_refusal_backs_off_by_the_vendors_word_or_by_doubling(
    strikes: int, stated: float | None, wait: int
) -> None:
    before = Backoff(NOW, strikes) if strikes else None
    assert struck(before, stated, NOW) == Backoff(NOW + wait * SECOND, strikes + 1)


def test_a_quarter_of_the_hour_may_be_spent_at_once_and_the_rest_at_a_pace() -> None:
    assert pace(20) == timedelta(minutes=4)
    polls = [NOW - number * SECOND for number in range(5, 0, -1)]
    assert held(polls[:4], None, now=NOW, budget=20) is None
    assert held(polls, None, now=NOW, budget=20) == "poll budget: the next read is due in 239 s"
    assert held(polls, None, now=NOW + timedelta(minutes=4), budget=20) is None


@given(st.integers(1, 20), st.integers(1, 3600))
def test_a_budget_never_runs_dry_for_longer_than_its_pace(budget: int, interval: int) -> None:
    polls: list[datetime] = []
    clock, last = NOW, NOW
    for _ in range(200):
        if held(polls, None, now=clock, budget=budget) is None:
            assert clock - last <= pace(budget) + interval * SECOND
            polls, last = [*recent(polls, clock), clock], clock
        clock += interval * SECOND
    assert clock - last <= pace(budget) + interval * SECOND


def test_nothing_is_asked_until_the_back_off_ends() -> None:
    backoff = Backoff(NOW + 60 * SECOND, 1)
    assert held([], backoff, now=NOW + 59 * SECOND, budget=20) == "backing off until 2026-10-15T12:01:00+00:00"
    assert held([], backoff, now=NOW + 60 * SECOND, budget=20) is None


def test_a_clock_that_stepped_back_leaves_no_poll_and_no_back_off_far_ahead() -> None:
    ahead = NOW + timedelta(days=30)
    assert recent([ahead], NOW) == (NOW,)
    assert clamped(Backoff(ahead, 3), NOW) == Backoff(NOW + STATED_LIMIT, 3)
    assert clamped(Backoff(NOW + HOUR, 3), NOW) == Backoff(NOW + HOUR, 3)
    assert clamped(None, NOW) is None


@given(st.lists(st.integers(0, 7200), max_size=60), st.integers(1, 20))
def test_no_hour_ever_holds_more_than_the_budget(gaps: list[int], budget: int) -> None:
    polls: list[float] = []
    clock = NOW
    for gap in gaps:
        clock += gap * SECOND
        kept = [NOW + at * SECOND for at in polls]
        if held(kept, None, now=clock, budget=budget) is None:
            polls.append((clock - NOW).total_seconds())
    for start in polls:
        assert sum(start <= at < start + 3600 for at in polls) <= budget


@given(st.integers(0, 40), st.none() | st.floats(0, 1e12))
def test_a_back_off_is_never_short_and_never_for_ever(strikes: int, stated: float | None) -> None:
    wait = struck(Backoff(NOW, strikes), stated, NOW).until - NOW
    assert FLOOR <= wait <= (STATED_LIMIT if stated is not None else GROWTH_LIMIT)
