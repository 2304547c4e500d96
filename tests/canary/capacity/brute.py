"""Brute force: seats replayed minute by minute, written from the design's tables alone (5, the seat and window tables).

Nothing of the product is used: windows are plain dictionaries, points are whole numbers, and every minute looks at
everything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass
class BruteWindow:
    """A meter: what it holds and has used, when it is over (None: not begun), and how it begins anew."""

    kind: str
    holds: int
    length: int
    first_use: bool
    over: int | None = None
    used: int = 0


@dataclass
class BruteSeat:
    """A seat with its meters."""

    name: str
    windows: list[BruteWindow]

    def open(self) -> bool:
        """Every window below 100 %."""
        return all(window.used < window.holds for window in self.windows)

    def headroom(self) -> float:
        """What is left on the tightest window, 1 for a seat that has none."""
        return min((1 - window.used / window.holds for window in self.windows), default=1.0)


@dataclass
class BruteLog:
    """The seat of each question in order (empty: none), and the minutes at whose end no seat was open."""

    picks: list[str] = field(default_factory=list)
    missing: set[int] = field(default_factory=set)


def replay(seats: Sequence[BruteSeat], asked: Sequence[tuple[int, Mapping[str, int]]], minutes: int) -> BruteLog:
    """Questions as (minute, points by kind of window), in order, over so many minutes."""
    log, left = BruteLog(), list(asked)
    for minute in range(minutes):
        for seat in seats:
            for window in seat.windows:
                if window.over == minute:
                    window.used = 0
                    window.over = None if window.first_use else minute + window.length
        while left and left[0][0] == minute:
            _ask(seats, left.pop(0)[1], minute, log)
        if not any(seat.open() for seat in seats):
            log.missing.add(minute)
    return log


def _ask(seats: Sequence[BruteSeat], points: Mapping[str, int], minute: int, log: BruteLog) -> None:
    usable = [seat for seat in seats if seat.open()]
    if not usable:
        log.picks.append("")
        return
    most = max(seat.headroom() for seat in usable)
    chosen = min((seat for seat in usable if seat.headroom() == most), key=lambda seat: seat.name)
    log.picks.append(chosen.name)
    for window in chosen.windows:
        if window.over is None:
            window.over = minute + window.length
        window.used += points[window.kind]
