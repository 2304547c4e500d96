"""Outcomes: how runs ended, day by day, in the four kinds that a reader tells apart (pure)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType

from decide.ruling import ANSWERED, Outcome

BOTH, ALONE, PERSON, NONE = "both", "alone", "person", "none"
KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        BOTH: ("decided by the ladder", (Outcome.AGREED, Outcome.RECONSIDERED)),
        ALONE: ("decided by a single rung", (Outcome.SINGLE_RUNG,)),
        PERSON: ("left to a person", (Outcome.NEEDS_HUMAN,)),
        NONE: ("not decided", (Outcome.WALLED, Outcome.ERROR, Outcome.HELD, Outcome.CANCELLED)),
    }
)
"""What each kind is called and which outcomes it holds, in the order in which it is stacked."""
HEIGHT = 100
"""How high the highest bar is drawn, in its own units."""


@dataclass(frozen=True, slots=True)
class Day:
    """A day's runs by outcome, and its bar: (kind, y, height) in units of `HEIGHT`, y from above."""

    day: date
    counts: Mapping[str, int]
    bar: tuple[tuple[str, float, float], ...]

    @property
    def total(self) -> int:
        """All runs of the day."""
        return sum(self.counts.values())


def days(found: Iterable[tuple[str, str, int]], last: date, number: int) -> list[Day]:
    """That many days up to the last one, each with its bar; a day without runs has none."""
    counts: dict[str, Counter[str]] = {}
    for day, outcome, count in found:
        counts.setdefault(day, Counter())[outcome] += count
    shown = [last - timedelta(days=back) for back in range(number - 1, -1, -1)]
    highest = max((sum(counts.get(day.isoformat(), Counter()).values()) for day in shown), default=0)
    return [_day(day, counts.get(day.isoformat(), Counter()), highest) for day in shown]


def total(shown: Sequence[Day]) -> Counter[str]:
    """The runs of all these days by outcome."""
    return sum((Counter(day.counts) for day in shown), Counter())


def answered(counts: Mapping[str, int]) -> int:
    """How many of them ended with an answer."""
    return sum(counts.get(outcome.value, 0) for outcome in ANSWERED)


def kind_of(outcome: str) -> str:
    """The kind that an outcome belongs to."""
    return next((kind for kind, (_, outcomes) in KINDS.items() if outcome in outcomes), NONE)


def _day(day: date, counts: Mapping[str, int], highest: int) -> Day:
    by_kind = Counter[str]()
    for outcome, count in counts.items():
        by_kind[kind_of(outcome)] += count
    bar, top = [], float(HEIGHT)
    for kind in KINDS:
        height = by_kind[kind] * HEIGHT / highest if highest else 0.0
        top -= height
        if height:
            bar.append((kind, round(top, 2), round(height, 2)))
    return Day(day, counts, tuple(bar))
