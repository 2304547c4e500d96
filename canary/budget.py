"""Poll budget and back-off of a seat: pure rules on when a vendor may be asked again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

HOUR = timedelta(hours=1)
FLOOR = timedelta(seconds=60)
"""The shortest back-off, also where the vendor states less (design 5)."""
GROWTH_LIMIT = timedelta(hours=1)
"""Where a back-off that no vendor states stops growing."""
STATED_LIMIT = timedelta(hours=24)
"""The longest back-off that a vendor's word is taken for."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Not before `until` (aware UTC); `strikes` refusals in a row have been met."""

    until: datetime
    strikes: int


def recent(polls: Sequence[datetime], now: datetime) -> tuple[datetime, ...]:
    """The polls of the hour before `now`; those that a stepped clock puts ahead of it count as made now."""
    return tuple(min(poll, now) for poll in polls if poll > now - HOUR)


def held(polls: Sequence[datetime], backoff: Backoff | None, *, now: datetime, budget: int) -> str | None:
    """Why the vendor may not be asked at `now`, in words; None when it may."""
    if backoff is not None and now < backoff.until:
        return f"backing off until {backoff.until.isoformat(timespec='seconds')}"
    used = recent(polls, now)
    if len(used) >= budget:
        return f"poll budget: {len(used)} of {budget} reads used in the last hour"
    wait = used[-1] + pace(budget) - now if len(used) >= budget // 4 and used else timedelta()
    return f"poll budget: the next read is due in {wait.total_seconds():.0f} s" if wait > timedelta() else None


def pace(budget: int) -> timedelta:
    """The time between reads once a quarter of the hour's budget is used: so spent, it never runs dry for long."""
    return HOUR / (budget - budget // 4)


def struck(backoff: Backoff | None, stated_s: float | None, now: datetime) -> Backoff:
    """The back-off after one more refusal: the vendor's own wait, at least 60 s, or doubling from there."""
    strikes = backoff.strikes + 1 if backoff is not None else 1
    if stated_s is not None:
        wait = min(timedelta(seconds=min(stated_s, STATED_LIMIT.total_seconds())), STATED_LIMIT)
    else:
        wait = min(FLOOR * 2 ** min(strikes - 1, 10), GROWTH_LIMIT)
    return Backoff(now + max(wait, FLOOR), strikes)


def clamped(backoff: Backoff | None, now: datetime) -> Backoff | None:
    """A back-off that a stepped clock left further ahead than any can be, brought back to the longest one."""
    if backoff is None or backoff.until <= now + STATED_LIMIT:
        return backoff
    return Backoff(now + STATED_LIMIT, backoff.strikes)
