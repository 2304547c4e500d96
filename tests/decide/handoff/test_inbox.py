"""Where a raised question stands after a run, and which one is asked first."""

from datetime import UTC, datetime, timedelta

import pytest

from decide.handoff.entry import Why
from decide.handoff.inbox import AGAIN, PENDING, ItemState, after, order
from decide.ruling import Outcome
from tests.decide.fakes import NOW

SOON = NOW + timedelta(minutes=2)


@pytest.mark.parametrize(
    ("outcome", "why", "retry_at", "expected"),
    [
        (Outcome.AGREED, None, None, (ItemState.DONE, NOW)),
        (Outcome.RECONSIDERED, None, None, (ItemState.DONE, NOW)),
        (Outcome.SINGLE_RUNG, None, None, (ItemState.DONE, NOW)),
        (Outcome.NEEDS_HUMAN, Why.NEEDS_HUMAN, None, (ItemState.QUEUED, NOW)),
        (Outcome.WALLED, Why.WALLED, SOON, (ItemState.QUEUED, NOW)),
        (Outcome.ERROR, None, SOON, (ItemState.RETRYING, SOON)),
        (Outcome.ERROR, Why.ERROR, SOON, (ItemState.QUEUED, NOW)),
        (Outcome.HELD, None, SOON, (ItemState.RETRYING, SOON)),
        (Outcome.HELD, None, None, (ItemState.RETRYING, NOW + AGAIN)),
        (Outcome.HELD, Why.HELD, None, (ItemState.QUEUED, NOW)),
        (Outcome.CANCELLED, None, None, (ItemState.WAITING, NOW)),
    ],
)
def test_what_becomes_of_an_item(
    outcome: Outcome, why: Why | None, retry_at: datetime | None, expected: tuple[ItemState, datetime]
) -> None:
    assert after(outcome, why=why, retry_at=retry_at, now=NOW) == expected


def test_who_waits_for_the_puller() -> None:
    assert {*ItemState} - {*PENDING} == {ItemState.QUEUED, ItemState.DONE}


def test_the_nearest_deadline_comes_first_and_then_the_longest_waiting() -> None:
    minute = timedelta(minutes=1)
    first = order(datetime.min.replace(tzinfo=UTC), NOW)
    near, far = order(NOW + minute, NOW), order(NOW + 2 * minute, NOW - minute)
    old, new = order(None, NOW - minute), order(None, NOW)
    assert sorted([new, far, old, first, near]) == [first, near, far, old, new]
