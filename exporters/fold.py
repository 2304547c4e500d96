"""Fold: what the ledger's rows add up to, each row counted once, in whatever portions they come (design 6)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from decide.ledger import RowKind
from exporters.histogram import DECISION_BOUNDS, PASS_BOUNDS, Histogram, Observations, nothing
from exporters.metric import OTHER

COLUMNS = (
    *("seq", "kind", "at_us", "level", "rung", "role", "result", "billing", "source", "micro_usd"),
    *("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens"),
    *("duration_us", "gate_row", "stage", "receipt"),
)
"""The plain columns that are folded, in the order in which each row holds them."""
SEQ, KIND, AT, LEVEL, RUNG, ROLE, RESULT, BILLING, SOURCE, MICRO_USD = range(10)
INPUT, CACHE_READ, CACHE_WRITE, OUTPUT, REASONING, DURATION, GATE_ROW, STAGE, RECEIPT = range(10, len(COLUMNS))

LedgerRow = tuple[Any, ...]
_TYPES = tuple(int if name.endswith(("seq", "_us", "_usd", "_tokens")) else str for name in COLUMNS[:-1])

_Words = tuple[str, ...]
_OBSERVED = itemgetter(SEQ, RECEIPT, DURATION, AT)


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
    """One rung's counts: consultations by (level, result), passes and money, and how long passes took."""

    consultations: Mapping[tuple[str, str], int]
    passes: Mapping[PassKey, Spent]
    durations: Histogram


@dataclass(frozen=True, slots=True)
class LevelCounts:
    """One level's counts: questions, decisions by outcome, and how long decisions took."""

    questions: int
    outcomes: Mapping[str, int]
    durations: Histogram


T = TypeVar("T", RungCounts, LevelCounts)

NO_RUNG = RungCounts({}, {}, nothing(PASS_BOUNDS))
NO_LEVEL = LevelCounts(0, {}, nothing(DECISION_BOUNDS))


@dataclass(frozen=True, slots=True)
class Counts:
    """Everything that was folded, in the ledger's own words; what did not change is the same object as before."""

    rungs: Mapping[str, RungCounts]
    levels: Mapping[str, LevelCounts]
    gates: Mapping[tuple[str, str], int]


class Fold:
    """The counts of the rows up to `seq`; the cost of adding rows does not grow with what was added before.

    A row of a kind that is not known here, or that no counter needs, only moves `seq`. Words that are not known are
    kept as they are: which label they get is for whoever shows them. A row that no ledger can hold was spoiled, which
    is for the ledger's own check to tell: it only moves `seq` too.
    """

    def __init__(self) -> None:
        self.seq = 0
        self._passes: dict[_Words, list[int]] = {}
        self._took: dict[str, Observations] = defaultdict(partial(Observations, PASS_BOUNDS))
        self._consultations: Counter[tuple[str, str, str]] = Counter()
        self._questions: Counter[str] = Counter()
        self._outcomes: Counter[tuple[str, str]] = Counter()
        self._ended: dict[str, Observations] = defaultdict(partial(Observations, DECISION_BOUNDS))
        self._gates: Counter[tuple[str, str]] = Counter()
        self._counts = Counts({}, {}, {})
        self._folds: Mapping[str, Callable[[_Alike], None]] = {
            RowKind.PASS: self._pass,
            RowKind.SETTLEMENT: self._settlement,
            RowKind.CONSULTATION: self._consultation,
            RowKind.DECISION: self._decision,
            RowKind.QUESTION: self._question,
            RowKind.GATE: self._gate,
        }

    def add(self, rows: Sequence[LedgerRow]) -> None:
        """Count rows that follow `seq` in the ledger, each as `COLUMNS` has it; those alike are counted together."""
        alike: dict[tuple[str, _Words, _Words], list[LedgerRow]] = defaultdict(list)
        for row in rows:
            alike[row[KIND], row[LEVEL:MICRO_USD], row[GATE_ROW:RECEIPT]].append(row)
        for (kind, words, gate), found in alike.items():
            fold = self._folds.get(kind)
            sound = _alike(words, gate, found) if fold else None
            if fold and sound:
                fold(sound)
        if rows:
            self.seq = rows[-1][SEQ]

    def counts(self) -> Counts:
        """What has been counted until now, as a value that later rows leave alone."""
        was = self._counts
        rungs = {name: _kept(was.rungs.get(name), found) for name, found in self._rungs().items()}
        levels = {name: _kept(was.levels.get(name), found) for name, found in self._levels().items()}
        self._counts = Counts(rungs, levels, dict(self._gates))
        return self._counts

    def _pass(self, found: "_Alike") -> None:
        self._spend(found.words, len(found.rows), found.amounts)
        _observe(self._took[found.words[1]], found.rows)

    def _settlement(self, found: "_Alike") -> None:
        level, rung, role, _, billing, source = found.words
        self._spend((level, rung, role, "", billing, source), 0, found.amounts)

    def _spend(self, words: _Words, passes: int, amounts: Sequence[int]) -> None:
        cell = self._passes.setdefault(words, [0] * len(Spent._fields))
        for place, amount in enumerate((passes, *amounts)):
            cell[place] += amount

    def _consultation(self, found: "_Alike") -> None:
        level, rung, _, result, *_ = found.words
        self._consultations[rung, level, result] += len(found.rows)

    def _decision(self, found: "_Alike") -> None:
        level, _, _, outcome, *_ = found.words
        self._outcomes[level, outcome] += len(found.rows)
        _observe(self._ended[level], found.rows)

    def _question(self, found: "_Alike") -> None:
        self._questions[found.words[0]] += len(found.rows)

    def _gate(self, found: "_Alike") -> None:
        row, stage = found.gate
        self._gates[row, stage] += len(found.rows)

    def _rungs(self) -> dict[str, RungCounts]:
        consulted: dict[str, dict[tuple[str, str], int]] = defaultdict(dict)
        for (rung, level, result), count in self._consultations.items():
            consulted[rung][level, result] = count
        made: dict[str, dict[PassKey, Spent]] = defaultdict(dict)
        for (level, rung, *words), cell in self._passes.items():
            made[rung][PassKey(level, *words)] = Spent(*cell)
        took = {name: found.histogram() for name, found in self._took.items()}
        names = {**consulted, **made}
        return {n: RungCounts(consulted[n], made[n], took.get(n, NO_RUNG.durations)) for n in names}

    def _levels(self) -> dict[str, LevelCounts]:
        ended: dict[str, dict[str, int]] = defaultdict(dict)
        for (level, outcome), count in self._outcomes.items():
            ended[level][outcome] = count
        took = {name: found.histogram() for name, found in self._ended.items()}
        names = {**self._questions, **ended}
        return {n: LevelCounts(self._questions[n], ended[n], took.get(n, NO_LEVEL.durations)) for n in names}


class _Alike(NamedTuple):
    """Rows that differ in their numbers only, with the sums of their money and tokens."""

    words: _Words
    gate: _Words
    rows: Sequence[LedgerRow]
    amounts: Sequence[int]


def _alike(words: _Words, gate: _Words, rows: Sequence[LedgerRow]) -> _Alike | None:
    """Rows that are alike, without those that hold what no column may; None when none is left."""
    sums = _sums(rows)
    if sums is None or not all(type(word) is str for word in (*words, *gate)):
        rows = [row for row in rows if tuple(map(type, row[:RECEIPT])) == _TYPES]
        sums = _sums(rows)
    if not rows or sums is None:
        return None
    level, rung, *others = words
    gate_row, stage = gate
    return _Alike((level, rung or OTHER, *others), (gate_row or OTHER, stage), rows, sums[:-1])


def _sums(rows: Sequence[LedgerRow]) -> list[int] | None:
    """The sum of each number from the money to the duration; None where one of them is no whole number."""
    try:
        sums = [sum(found) for found in zip(*(row[MICRO_USD:GATE_ROW] for row in rows), strict=True)]
    except TypeError:
        return None
    return sums if all(type(total) is int for total in sums) else None


def _observe(observed: Observations, rows: Sequence[LedgerRow]) -> None:
    seqs, receipts, micros, ats_us = zip(*map(_OBSERVED, rows), strict=True)
    observed.add(seqs, receipts, micros, ats_us)


def _kept(was: T | None, now: T) -> T:
    """The same object as before while nothing changed, so that nobody shows it anew."""
    return was if was is not None and was == now else now
