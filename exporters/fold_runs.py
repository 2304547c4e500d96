"""Fold of runs: what one rung's, and one level's, rows of the ledger add up to."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import add
from typing import NamedTuple

from exporters.histogram import DECISION_BOUNDS, PASS_BOUNDS, Histogram, Observations, nothing
from exporters.ledger_rows import Alike, observe


class PassKey(NamedTuple):
    """What passes are counted by, as the ledger words it; `result` is empty for money that came without a pass."""

    level: str
    role: str
    result: str
    billing: str
    source: str


class Spent(NamedTuple):
    """Passes of one kind: how many, their micro-dollars and their tokens."""

    passes: int
    micro_usd: int
    input: int
    cache_read: int
    cache_write: int
    output: int
    reasoning: int


@dataclass(frozen=True, slots=True)
class RungCounts:
    """One rung's counts: consultations by (level, result), passes and money, and how long passes took.

    `quota` is what consultations took of their seats' windows by (level, kind of window), in millionths of one.
    """

    consultations: Mapping[tuple[str, str], int]
    passes: Mapping[PassKey, Spent]
    durations: Histogram
    quota: Mapping[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LevelCounts:
    """One level's counts: questions, decisions by outcome, how long decisions took, and skipped checks by name."""

    questions: int
    outcomes: Mapping[str, int]
    durations: Histogram
    skipped: Mapping[str, int] = field(default_factory=dict)


NO_RUNG = RungCounts({}, {}, nothing(PASS_BOUNDS))
NO_LEVEL = LevelCounts(0, {}, nothing(DECISION_BOUNDS))
_UNSPENT = Spent(0, 0, 0, 0, 0, 0, 0)


class RungFold:
    """One rung, being counted."""

    def __init__(self) -> None:
        self._consultations: Counter[tuple[str, str]] = Counter()
        self._passes: dict[PassKey, Spent] = {}
        self._quota: Counter[tuple[str, str]] = Counter()
        self._took = Observations(PASS_BOUNDS)
        self._counts: RungCounts | None = None

    def passed(self, found: Alike) -> None:
        """Count passes."""
        self._spend(found, found.result, len(found.rows))
        observe(self._took, found)

    def settled(self, found: Alike) -> None:
        """Count money that came after its pass."""
        self._spend(found, "", 0)

    def consulted(self, found: Alike) -> None:
        """Count consultations."""
        self._consultations[found.level, found.result] += len(found.rows)
        self._counts = None

    def took(self, found: Alike) -> None:
        """Count what was taken of a window."""
        self._quota[found.level, found.window] += found.micro_ratio
        self._counts = None

    def counts(self) -> RungCounts:
        """What has been counted until now; the same object as before while nothing was added."""
        if self._counts is None:
            took, quota = self._took.histogram(), dict(self._quota)
            self._counts = RungCounts(dict(self._consultations), dict(self._passes), took, quota)
        return self._counts

    def _spend(self, found: Alike, result: str, passes: int) -> None:
        key = PassKey(found.level, found.role, result, found.billing, found.source)
        self._passes[key] = Spent(*map(add, self._passes.get(key, _UNSPENT), (passes, *found.amounts)))
        self._counts = None


class LevelFold:
    """One level, being counted."""

    def __init__(self) -> None:
        self._questions = 0
        self._outcomes: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._took = Observations(DECISION_BOUNDS)
        self._counts: LevelCounts | None = None

    def asked(self, found: Alike) -> None:
        """Count questions."""
        self._questions += len(found.rows)
        self._counts = None

    def ended(self, found: Alike) -> None:
        """Count decisions."""
        self._outcomes[found.result] += len(found.rows)
        observe(self._took, found)
        self._counts = None

    def skipped(self, found: Alike) -> None:
        """Count checks that were not made."""
        self._skipped[found.result] += len(found.rows)
        self._counts = None

    def counts(self) -> LevelCounts:
        """What has been counted until now; the same object as before while nothing was added."""
        if self._counts is None:
            took, skipped = self._took.histogram(), dict(self._skipped)
            self._counts = LevelCounts(self._questions, dict(self._outcomes), took, skipped)
        return self._counts
