"""Rung run: one rung's consultations over some weeks, each on the seat that would really be picked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from canary.capacity.seats import NEVER, SimSeat, at
from decide.pick import Pick, pick_seat

Shares = tuple[float, ...]
Choose = Callable[[Sequence[SimSeat], int], SimSeat | None]
BLOCKED = -1
"""Stands for the seat of a consultation that found none."""
ANY = -1
"""Stands for whichever seat is picked."""


class Use(NamedTuple):
    """Windows that are used at a second: by a consultation, or by people on the seat of an index.

    `shares` are by kind of seat, each in the order of the kind's windows.
    """

    second: int
    shares: Sequence[Shares]
    seat: int = ANY


@dataclass(slots=True)
class RungLog:
    """What came of it: the seat's index of each consultation, and the stretches in which no seat could be picked."""

    picks: list[int] = field(default_factory=list)
    missing: list[tuple[int, int]] = field(default_factory=list)


def best(seats: Sequence[SimSeat], second: int) -> SimSeat | None:
    """What `pick_seat` picks, from seats that were judged when their state last changed."""
    found = min(seats, key=_KEY, default=None)
    return found if found is not None and found.usable else None


_KEY = attrgetter("key")


def pick_of(seats: Iterable[SimSeat], second: int) -> Pick:
    """The pick as decide makes it from all the seats."""
    return pick_seat([seat.seat(second) for seat in seats], now=at(second))


def picked(seats: Sequence[SimSeat], second: int) -> SimSeat | None:
    """The seat that decide itself picks, every seat judged anew: slow, and what `best` must equal."""
    status = pick_of(seats, second).picked
    return None if status is None else next(seat for seat in seats if seat.name == status.name)


def run_rung(
    seats: Sequence[SimSeat], kinds: Sequence[int], uses: Iterable[Use], until: int, choose: Choose = best
) -> RungLog:
    """Take uses in their order up to a second; `kinds` says for each seat which of a use's shares are its own."""
    log, place = RungLog(), {seat.name: index for index, seat in enumerate(seats)}
    due = min((seat.due for seat in seats), default=NEVER)
    _note_missing(seats, 0, until, log)
    for second, shares, wanted in uses:
        while due <= second:
            due = _rolled(seats, due)
        seat = seats[wanted] if wanted != ANY else choose(seats, second)
        if wanted == ANY:
            log.picks.append(BLOCKED if seat is None else place[seat.name])
        if seat is None or not seat.usable:
            continue
        seat.take(shares[kinds[place[seat.name]]], second)
        due = min(due, seat.due)
        if not seat.usable:
            _note_missing(seats, second, until, log)
    return log


def _rolled(seats: Sequence[SimSeat], second: int) -> int:
    """Begin anew what is due, and say when something is due next."""
    for seat in seats:
        if seat.due <= second:
            seat.roll(second)
    return min(seat.due for seat in seats)


def _note_missing(seats: Sequence[SimSeat], second: int, until: int, log: RungLog) -> None:
    """Note the stretch in which no seat is usable, when one begins: up to when decide says that the first clears."""
    if any(seat.usable for seat in seats):
        return
    clears = pick_of(seats, second).clears_at
    back = until if clears is None else min(until, int((clears - at(0)).total_seconds()))
    log.missing.append((second, back))
