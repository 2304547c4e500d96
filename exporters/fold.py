"""Fold: what the ledger's rows add up to, each row counted once, in whatever portions they come (design 6)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from decide.ledger import RowKind
from exporters.fold_handoff import NO_CLICKS, NO_QUEUE, ClickCounts, ClickFold, QueueCounts, QueueFold
from exporters.fold_runs import LevelCounts, LevelFold, RungCounts, RungFold
from exporters.ledger_rows import SEQ, Alike, LedgerRow, alike, grouped


@dataclass(frozen=True, slots=True)
class Counts:
    """Everything that was folded, in the ledger's own words; what did not change is the same object as before."""

    rungs: Mapping[str, RungCounts]
    levels: Mapping[str, LevelCounts]
    gates: Mapping[tuple[str, str], int]
    queue: QueueCounts = NO_QUEUE
    clicks: ClickCounts = NO_CLICKS


class Fold:
    """The counts of the rows up to `seq`; the cost of adding rows does not grow with what was added before.

    A row of a kind that is not known here, or that no counter needs, only moves `seq`. Words that are not known are
    kept as they are: which label they get is for whoever shows them. A row that no ledger can hold was spoiled, which
    is for the ledger's own check to tell: it only moves `seq` too.
    """

    def __init__(self) -> None:
        self.seq = 0
        self._rungs: dict[str, RungFold] = defaultdict(RungFold)
        self._levels: dict[str, LevelFold] = defaultdict(LevelFold)
        self._gates: Counter[tuple[str, str]] = Counter()
        self._queue = QueueFold()
        self._clicks = ClickFold()
        self._counts: Counts | None = None
        self._folds: Mapping[str, Callable[[Alike], None]] = {
            RowKind.PASS: lambda found: self._rungs[found.rung].passed(found),
            RowKind.SETTLEMENT: lambda found: self._rungs[found.rung].settled(found),
            RowKind.QUOTA: lambda found: self._rungs[found.rung].took(found),
            RowKind.CONSULTATION: lambda found: self._rungs[found.rung].consulted(found),
            RowKind.DECISION: lambda found: self._levels[found.level].ended(found),
            RowKind.QUESTION: lambda found: self._levels[found.level].asked(found),
            RowKind.SKIPPED: lambda found: self._levels[found.level].skipped(found),
            RowKind.GATE: self._gate,
            RowKind.QUEUE: self._queue.queued,
            RowKind.WEBHOOK: self._queue.told,
            RowKind.CLICK: self._clicks.clicked,
        }

    def add(self, rows: Sequence[LedgerRow]) -> None:
        """Count rows that follow `seq` in the ledger, each as `COLUMNS` has it; those alike are counted together."""
        for words, same in grouped(rows):
            fold = self._folds.get(words[0])
            found = alike(words[1:], same) if fold else None
            if fold and found:
                fold(found)
        if rows:
            self.seq = rows[-1][SEQ]
            self._counts = None

    def counts(self) -> Counts:
        """What has been counted until now, as a value that later rows leave alone."""
        if self._counts is None:
            rungs = {name: found.counts() for name, found in self._rungs.items()}
            levels = {name: found.counts() for name, found in self._levels.items()}
            self._counts = Counts(rungs, levels, dict(self._gates), self._queue.counts(), self._clicks.counts())
        return self._counts

    def _gate(self, found: Alike) -> None:
        self._gates[found.gate_row, found.stage] += len(found.rows)
