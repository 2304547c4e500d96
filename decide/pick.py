"""pick_seat: which seat of a rung a consultation would use now, and why not each of the others."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from decide.seat import STALE_AFTER, Quota, Seat, SeatState, SeatStatus, judge_seat


@dataclass(frozen=True, slots=True)
class Pick:
    """The outcome of picking: the seat to use (None: none usable), every seat as judged, in picking order.

    `clears_at` is when the first capped seat clears, None when none says so. Whatever was not picked carries its
    own state, reason and clear time in `seats`.
    """

    picked: SeatStatus | None
    seats: tuple[SeatStatus, ...]
    clears_at: datetime | None

    @property
    def passed_over(self) -> tuple[SeatStatus, ...]:
        """The seats that were not picked."""
        return tuple(status for status in self.seats if status is not self.picked)


def pick_seat(seats: Iterable[Seat], *, now: datetime, stale_after: timedelta = STALE_AFTER) -> Pick:
    """The best seat at `now`: metered by headroom, then unmetered, then unknown; ties by name (design 5).

    A seat without a usable login or with a full window that binds is never picked.
    """
    judged = sorted((judge_seat(seat, now=now, stale_after=stale_after) for seat in seats), key=preference)
    usable = next((status for status in judged if status.state in _USABLE), None)
    clears = [status.clears_at for status in judged if status.clears_at is not None]
    return Pick(usable, tuple(judged), min(clears, default=None))


_USABLE = (SeatState.AVAILABLE, SeatState.UNKNOWN)
_RANK = {SeatState.AVAILABLE: 0, SeatState.UNKNOWN: 2, SeatState.CAPPED: 3, SeatState.NO_TOKEN: 4}


def preference(status: SeatStatus) -> tuple[int, float, str]:
    """The key by which seats are preferred, least first."""
    if status.state is not SeatState.AVAILABLE:
        return _RANK[status.state], 0.0, status.name
    if status.quota is Quota.METERED and status.headroom is not None:
        return _RANK[status.state], -status.headroom, status.name
    return _RANK[status.state] + 1, 0.0, status.name
