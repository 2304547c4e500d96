"""Histogram: durations counted in fixed buckets, each with its latest observation that names a receipt."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

MICROS = 1_000_000
DECISION_BOUNDS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0)
PASS_BOUNDS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0)
"""Upper bounds in seconds, inclusive; changing them changes what a query over old data means."""
ANSWER_BOUNDS = (
    *(30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0),
    *(3600.0, 7200.0, 14400.0, 28800.0, 57600.0, 86400.0, 259200.0),
)
"""How people answer: in minutes at their desk, within the hour that the default lead is, within a working day (8 h),
over a night (16 h), within a day, over a weekend (3 d).
"""
CLICK_BOUNDS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 14400.0, 86400.0)
"""How people press: at once or within minutes; 10 min is the default of how long they can, 24 h the longest."""

_SOUND = (int, str, int, int)  # a spoiled row of the ledger may hold anything


@dataclass(frozen=True, slots=True)
class Exemplar:
    """One observation that can be looked up: its receipt, and its value and time in microseconds."""

    receipt: str
    micros: int
    at_us: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """Observations by bucket, the last bucket being those above every bound, and their sum in microseconds."""

    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    sum_us: int
    exemplars: tuple[Exemplar | None, ...]

    def __post_init__(self) -> None:
        """Refuse buckets that do not fit the bounds."""
        if not len(self.bounds) + 1 == len(self.counts) == len(self.exemplars):
            raise ValueError(f"{len(self.counts)} buckets do not fit {len(self.bounds)} bounds")


def nothing(bounds: tuple[float, ...]) -> Histogram:
    """A histogram before its first observation."""
    buckets = len(bounds) + 1
    return Histogram(bounds, (0,) * buckets, 0, (None,) * buckets)


def merged(one: Histogram, other: Histogram) -> Histogram:
    """Both histograms' observations; raises ValueError for different bounds."""
    if one.bounds != other.bounds:
        raise ValueError(f"bounds differ: {one.bounds!r}, {other.bounds!r}")
    counts = tuple(map(sum, zip(one.counts, other.counts, strict=True)))
    latest = tuple(_later(*pair) for pair in zip(one.exemplars, other.exemplars, strict=True))
    return Histogram(one.bounds, counts, one.sum_us + other.sum_us, latest)


def _later(one: Exemplar | None, other: Exemplar | None) -> Exemplar | None:
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda exemplar: exemplar.at_us)


class Observations:
    """A histogram that is being counted."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._bounds_us = tuple(round(bound * MICROS) for bound in bounds)
        self._counts = [0] * (len(bounds) + 1)
        self._latest: dict[int, tuple[int, str, int, int]] = {}
        self._sum_us = 0

    def add(self, seqs: Sequence[int], receipts: Sequence[str], micros: Sequence[int], ats_us: Sequence[int]) -> None:
        """Count observations in the order of their places; a bucket's exemplar is its latest that names a receipt."""
        named: dict[int, tuple[int, str, int, int]] = {}
        for found in zip(seqs, receipts, micros, ats_us, strict=True):
            bucket = bisect_left(self._bounds_us, found[2])
            self._counts[bucket] += 1
            if found[1]:
                named[bucket] = found
        self._sum_us += sum(micros)
        for bucket, last in named.items():
            newer = bucket not in self._latest or last[0] > self._latest[bucket][0]
            if newer and tuple(map(type, last)) == _SOUND:
                self._latest[bucket] = last

    def histogram(self) -> Histogram:
        """What has been counted until now."""
        exemplars = [Exemplar(*self._latest[place][1:]) if place in self._latest else None for place in self._places]
        return Histogram(self._bounds, tuple(self._counts), self._sum_us, tuple(exemplars))

    @property
    def _places(self) -> range:
        return range(len(self._counts))
