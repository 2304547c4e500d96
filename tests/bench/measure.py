"""Measure: rows of the speed table, medians of interleaved runs, and words on how far it has come."""

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: ours against its floor, and the most that is allowed.

    `limit` bounds the ratio, `least` bounds it from below where more is better; `most`, where there is one, bounds
    `ours` itself in `unit`.
    """

    name: str
    ours: float
    floor: float
    unit: str
    runs: int
    limit: float | None = None
    most: float | None = None
    least: float | None = None

    @property
    def ratio(self) -> float:
        """Ours in units of the floor."""
        return self.ours / self.floor

    @property
    def kept(self) -> bool:
        """Whether every limit holds."""
        enough = self.least is None or self.ratio >= self.least
        within = self.limit is None or self.ratio <= self.limit
        return enough and within and (self.most is None or self.ours <= self.most)

    @property
    def bound(self) -> str:
        """The limits in words."""
        ratio = [f"ratio {self.limit:g}"] if self.limit is not None else []
        least = [f"ratio >= {self.least:g}"] if self.least is not None else []
        return ", ".join([*ratio, *least, *([f"{self.most:g} {self.unit}"] if self.most is not None else [])])


def say(text: str) -> None:
    """Tell whoever watches how far it has come."""
    sys.stderr.write(f"bench: {text}\n")
    sys.stderr.flush()


def seconds(act: Callable[[], object]) -> float:
    """How long an act takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def interleaved(
    ours: Callable[[], float], floor: Callable[[], float], runs: int, name: str, *, loud: bool = True
) -> tuple[float, float]:
    """The medians of what both measure, run by turns after one run of each that does not count."""
    ours(), floor()
    pairs: list[tuple[float, float]] = []
    for number in range(1, runs + 1):
        pair = (ours(), floor()) if number % 2 else (floor(), ours())[::-1]
        pairs.append(pair)
        if loud:
            say(f"{name}: run {number} of {runs}: {pair[0]:.4g} against {pair[1]:.4g}")
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)
