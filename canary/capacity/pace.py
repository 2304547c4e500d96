"""Pace: how fast a window fills, how sure that is, and how far back one looks to see it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

LOOK_BACK_S = tuple(3600.0 * hours for hours in (0.5, 1, 2, 4, 8, 24, 72))
"""How far a forecast looks back, the shortest first: half as far as it looks ahead, and no further."""
PARTS = 6
"""Into how many parts a look back is cut to see how unevenly a window fills."""
STUDENT = 2.015
"""Student's 95th percentile at PARTS - 1 degrees of freedom: what an interval of 90 in 100 reaches to either side."""
RESOLUTION = 0.01
"""Meters are told in whole percents; growth that is not seen may be as large."""
_STEP_VARIANCE = RESOLUTION**2 / 6


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a window fills, in shares of it a second, and the variance of that growth a second.

    `over_s` is the time in which it was seen.
    """

    rate: float
    variance: float
    over_s: float

    def reaches(self, left: float) -> tuple[float, float, float | None]:
        """Seconds until so much has grown: as expected, at the earliest and at the latest (None: perhaps never).

        Growth over t seconds is rate * t, give or take STUDENT * sqrt(variance * t * (1 + t / over_s)): the second
        part is what is not known of the rate itself. Both ends are the roots of one quadratic in t.
        """
        spread = STUDENT * STUDENT * self.variance
        square = self.rate**2 - spread / self.over_s
        linear = 2 * self.rate * left + spread
        root = max(0.0, linear**2 - 4 * square * left**2) ** 0.5
        expected = left / self.rate if self.rate > 0 else float("inf")
        earliest = 2 * left**2 / (linear + root)
        latest = (linear + root) / (2 * square) if square > 0 else None
        return expected, min(earliest, expected), latest


Grown = Callable[[float], float]
"""What had grown in all by a second, straight lines between readings."""


def pace_of(grown: Grown, now: float, left: float, looks: Sequence[float]) -> Pace | None:
    """The pace of the shortest look back that is half as long as what it foresees, else of the longest.

    `left` is what may still grow; `looks` are the seconds of those of LOOK_BACK_S that there are readings for. None
    without any.
    """
    found = None
    for over in looks:
        found = _seen(grown, now, over)
        if found.rate * 2 * over >= left:
            break
    return found


def _seen(grown: Grown, now: float, over: float) -> Pace:
    part = over / PARTS
    marks = [grown(now - over + part * number) for number in range(PARTS + 1)]
    grew = [after - before for before, after in pairwise(marks)]
    mean = sum(grew) / PARTS
    variance = sum((each - mean) ** 2 for each in grew) / (PARTS - 1) + _STEP_VARIANCE
    return Pace(mean / part, variance / part, over)
