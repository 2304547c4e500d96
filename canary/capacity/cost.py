"""Cost: what the runs of each level took, what an answer costs, and what those held or walled would have taken."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from statistics import fmean, median
from types import MappingProxyType

from canary.capacity.history import Decision, RungUse
from decide.question import LevelName
from decide.quota import WindowKind
from decide.reply import Billing
from decide.ruling import ANSWERED, Outcome

FEWEST_P95 = 20
"""Of fewer values the 95th percentile by nearest rank is their greatest, which says nothing of the others."""
UNASKED = (Outcome.HELD, Outcome.WALLED)
"""The outcomes of runs that would have taken what an answered one takes, had a cap or a seat had room."""


class Quantity(StrEnum):
    """What is counted; dollars are micro-dollars here, and those of the two billings are never added."""

    USD_METERED = "usd_metered"
    USD_SUBSCRIPTION = "usd_subscription"
    TOKENS = "tokens"
    PASSES = "passes"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True)
class Figure:
    """One quantity of a level. Whatever is None is unknown.

    `median` (of an even count the mean of the middle two), `p95` (nearest rank, None of fewer than FEWEST_P95) and
    `mean` are over the `known` of `of` answered runs of which all is known. `total` is what all runs took, answered
    or not, and `per_answer` that by answered run (design 6); `at_least` says that not all of it is known. `unasked`
    is what the held and walled runs would have taken at the mean.
    """

    known: int
    of: int
    median: float | None
    p95: float | None
    mean: float | None
    total: float | None
    per_answer: float | None
    at_least: bool
    unasked: float | None


@dataclass(frozen=True, slots=True)
class LevelCost:
    """The runs of a level by outcome, and what they took.

    `points` are percents of a window by rung and kind, over runs that asked the rung: windows of different vendors
    hold different amounts. `unpriced` says by rung in how many runs the cost of a call of it is not known, and
    `unread` in how many of no window of it is known what they took.
    """

    level: str
    outcomes: Mapping[str, int]
    figures: Mapping[Quantity, Figure]
    points: Mapping[tuple[str, WindowKind], Figure]
    unpriced: Mapping[str, int]
    unread: Mapping[str, int]

    @property
    def runs(self) -> int:
        """How many runs ended, however they did."""
        return sum(self.outcomes.values())

    @property
    def answered(self) -> int:
        """How many of them carry an answer."""
        return sum(self.outcomes.get(each, 0) for each in ANSWERED)

    @property
    def unasked(self) -> int:
        """How many were held or walled; a question that was so twice counts twice."""
        return sum(self.outcomes.get(each, 0) for each in UNASKED)


def level_costs(decisions: Sequence[Decision], *, even: bool = False) -> tuple[LevelCost, ...]:
    """The costs by level, the cheapest level first; levels without a run are left out.

    With `even` decisions are alike because they come from counts (`History.even`): what one took is then unknown,
    and only sums are told.
    """
    by_level: dict[str, list[Decision]] = defaultdict(list)
    for decision in decisions:
        by_level[decision.level].append(decision)
    return tuple(_cost(level, by_level[level], even) for level in sorted(by_level, key=_place))


_LEVELS = tuple(level.value for level in LevelName)
_OUTCOMES = tuple(outcome.value for outcome in Outcome)


def _place(level: str) -> tuple[int, str]:
    return (_LEVELS.index(level) if level in _LEVELS else len(_LEVELS), level)


def _cost(level: str, runs: Sequence[Decision], even: bool) -> LevelCost:
    counts = Counter(run.outcome for run in runs)
    outcomes = {name: counts[name] for name in (*_OUTCOMES, *sorted(set(counts) - set(_OUTCOMES))) if counts[name]}
    made = partial(_figure, runs, even)
    windows = sorted({(rung, kind) for run in runs for rung, use in run.uses.items() for kind in use.points})
    return LevelCost(
        level,
        outcomes,
        {quantity: made(taken) for quantity, taken in _TAKEN.items()},
        {window: made(partial(_points, *window)) for window in windows},
        _count(runs, lambda use: not _priced(use)),
        _count(runs, lambda use: not use.points),
    )


def _count(runs: Sequence[Decision], lacks: Callable[[RungUse], bool]) -> dict[str, int]:
    """By rung the runs that asked it of which something is lacking."""
    found = Counter(rung for run in runs for rung, use in run.uses.items() if lacks(use))
    return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class _Taken:
    """What is known of what a run took, and whether that is all."""

    amount: float
    whole: bool = True


Taken = Callable[[Decision], _Taken | None]
"""What a run took; None for a run that the figure is not about."""


def _figure(runs: Sequence[Decision], even: bool, taken: Taken) -> Figure:
    every = [(run, found) for run in runs if (found := taken(run)) is not None]
    answered = [found for run, found in every if run.outcome in ANSWERED]
    known = [] if even else [found.amount for found in answered if found.whole]
    mean = fmean(known) if known else None
    at_least = not all(found.whole for _, found in every)
    amount = sum(found.amount for _, found in every)
    total = None if at_least and not amount else amount
    answers = sum(run.outcome in ANSWERED for run in runs)
    unasked = sum(run.outcome in UNASKED for run in runs)
    return Figure(
        len(known),
        len(answered),
        median(known) if known else None,
        _p95(known),
        mean,
        total,
        total / answers if total is not None and answers else None,
        at_least,
        unasked * mean if mean is not None else None,
    )


def _p95(values: Sequence[float]) -> float | None:
    """The 95th percentile by nearest rank."""
    return sorted(values)[-(-len(values) * 95 // 100) - 1] if len(values) >= FEWEST_P95 else None


def _usd(billing: Billing, run: Decision) -> _Taken:
    uses = run.uses.values()
    known = (micro for use in uses for (who, _), micro in use.micro_usd.items() if who == billing)
    return _Taken(sum(known), all(map(_priced, uses)))


def _priced(use: RungUse) -> bool:
    """Whether the cost of all that was called is known; whose money the rest was is else unknown as well."""
    return not use.unpriced and bool(use.micro_usd or not use.passes)


def _tokens(run: Decision) -> _Taken:
    uses = run.uses.values()
    # no call takes no tokens: none were told
    return _Taken(sum(use.tokens for use in uses), all(use.tokens or not use.passes for use in uses))


def _passes(run: Decision) -> _Taken:
    return _Taken(sum(use.passes for use in run.uses.values()))


def _seconds(run: Decision) -> _Taken:
    return _Taken(run.duration_s, bool(run.duration_s or not run.uses))


def _points(rung: str, kind: WindowKind, run: Decision) -> _Taken | None:
    if rung not in run.uses:
        return None
    points = run.uses[rung].points
    return _Taken(points.get(kind, 0.0), kind in points)


_TAKEN: Mapping[Quantity, Taken] = MappingProxyType(
    {
        Quantity.USD_METERED: partial(_usd, Billing.METERED),
        Quantity.USD_SUBSCRIPTION: partial(_usd, Billing.SUBSCRIPTION),
        Quantity.TOKENS: _tokens,
        Quantity.PASSES: _passes,
        Quantity.SECONDS: _seconds,
    }
)
