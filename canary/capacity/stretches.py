"""Stretches: times in which a rung is missing, in order and apart, and what they make of each hour."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from canary.capacity.hours import HOUR_S, HOURS

Floats = NDArray[np.float64]
Stretch = tuple[int, int]
"""The second at which it begins, and the one at which it is over."""


def missing_hours(missing: Sequence[Stretch], weeks: int) -> Floats:
    """The missing share of every hour of so many weeks, from stretches in order that do not overlap."""
    knots = np.array([0, *(second for stretch in missing for second in stretch)], np.float64)
    gone = np.cumsum([0, *(part for begin, end in missing for part in (0, end - begin))])
    edges = np.arange(weeks * HOURS + 1) * HOUR_S
    shares: Floats = np.diff(np.interp(edges, knots, gone)) / HOUR_S
    return shares.reshape(weeks, HOURS)


def missing_share(missing: Sequence[Stretch], weeks: int, working: Sequence[int]) -> float:
    """The share of those hours of the week, over so many weeks, that stretches take."""
    return float(missing_hours(missing, weeks)[:, working].mean())


def since(missing: Iterable[Stretch], second: int) -> tuple[Stretch, ...]:
    """What of stretches lies after a second, counted from it."""
    return tuple((max(0, begin - second), end - second) for begin, end in missing if end > second)


def overlap(one: Sequence[Stretch], other: Sequence[Stretch]) -> tuple[Stretch, ...]:
    """The times that both have."""
    found, left, right = [], 0, 0
    while left < len(one) and right < len(other):
        begin, end = max(one[left][0], other[right][0]), min(one[left][1], other[right][1])
        if begin < end:
            found.append((begin, end))
        if one[left][1] <= other[right][1]:
            left += 1
        else:
            right += 1
    return tuple(found)
