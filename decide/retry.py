"""Retry: when asking again makes sense, from what the passes met (design 4.1, the column retry_after)."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from decide.consultation import Incomplete, State, Unreachable
from decide.reply import Failure

FIRST_WAIT = timedelta(seconds=30)
LONGEST_WAIT = timedelta(hours=1)
SHORTEST_WAIT = timedelta(seconds=1)


def backoff(attempts: int) -> timedelta:
    """How long to wait after that many attempts: doubled each time, an hour at most."""
    return min(LONGEST_WAIT, FIRST_WAIT * (1 << min(attempts, 10)))


def retry_at(states: Iterable[State], *, now: datetime, attempts: int) -> datetime | None:
    """The first moment at which a rung that gave no verdict may give one; None when none says so."""
    moments = [_clears(state, now, attempts) for state in states]
    return min((moment for moment in moments if moment is not None), default=None)


def _clears(state: State, now: datetime, attempts: int) -> datetime | None:
    match state:
        case Unreachable() if state.durable:
            return state.clears_at
        case Unreachable():
            return now + _wait(state, attempts)
        case Incomplete():
            return now + backoff(attempts)
        case _:
            return None


def _wait(state: Unreachable, attempts: int) -> timedelta:
    if Failure.RATE_LIMITED not in state.failures or state.retry_after_s is None:
        return backoff(attempts)
    return max(SHORTEST_WAIT, min(LONGEST_WAIT, timedelta(seconds=state.retry_after_s)))
