"""Ledgers: rows as a run writes them, held in memory, with the faults that a real store has."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from decide.ledger import Row, RowKind
from decide.ports import StoreError, StoreFault
from exporters.fold import COLUMNS, Counts, Fold
from exporters.ledger_facts import CapFacts, LedgerFacts
from exporters.view import View
from tests.exporters.scenes import NOW, SCENES, ok_view

GATE_ROWS = (("money", "authority"), ("outward", "class"))
QUESTION = Row(RowKind.QUESTION, NOW, level="medium")
PASS = Row(
    RowKind.PASS,
    NOW,
    level="medium",
    rung="fable",
    seat="desk",
    role="vote",
    result="resolved",
    billing="metered",
    source="provider",
    micro_usd=400_000,
    input_tokens=100,
    cache_read_tokens=20,
    cache_write_tokens=3,
    output_tokens=40,
    reasoning_tokens=5,
    duration_us=1_500_000,
    receipt="r-1",
)
CONSULTATION = Row(RowKind.CONSULTATION, NOW, level="medium", rung="fable", result="resolved")
DECISION = Row(RowKind.DECISION, NOW, level="medium", result="agreed", duration_us=42_000_000, receipt="r-1")
GATE = Row(RowKind.GATE, NOW, gate_row="money", stage="authority")
SETTLEMENT = Row(
    RowKind.SETTLEMENT,
    NOW,
    level="low",
    rung="astra",
    role="repeat",
    billing="metered",
    source="price_table",
    micro_usd=70_000,
)
REFUSED = replace(PASS, kind=RowKind.REFUSED, result="seat_capped", source="", micro_usd=0)
ACCEPT = Row(RowKind.ACCEPT, NOW)


def plain(rows: Sequence[Row], *, after: int = 0) -> list[tuple[Any, ...]]:
    """Rows as a store gives their columns, numbered from the one that follows `after`."""
    values = ({"seq": seq, **row.values()} for seq, row in enumerate(rows, after + 1))
    return [tuple(value[name] for name in COLUMNS) for value in values]


def counts_of(*rows: Row) -> Counts:
    """What those rows add up to."""
    fold = Fold()
    fold.add(plain(rows))
    return fold.counts()


def facts_of(*rows: Row, caps: CapFacts | None = None) -> LedgerFacts:
    """A readable ledger of those rows, all folded."""
    return LedgerFacts(True, counts_of(*rows), len(rows), 0, caps or CapFacts(), GATE_ROWS)


class FakeLedger:
    """A ledger in memory; with a `fault` set nothing of it can be used, and `meanwhile` runs at each read of rows."""

    def __init__(self, *rows: Row) -> None:
        self.rows = list(rows)
        self.usage: dict[str, tuple[int, int]] = {}
        self.fault: StoreFault | None = None
        self.unwritable = False
        self.reads: list[tuple[int, int]] = []
        self.meanwhile: Callable[[], None] = lambda: None

    async def columns_after(self, seq: int, limit: int, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        self.meanwhile()
        self._check()
        assert tuple(columns) == COLUMNS
        self.reads.append((seq, limit))
        return plain(self.rows[seq : seq + limit], after=seq)

    async def last_seq(self) -> int:
        self._check()
        return len(self.rows)

    async def day_usage(self, day: str) -> tuple[int, int]:
        self._check()
        return self.usage.get(day, (0, 0))

    async def probe(self, at: datetime) -> None:
        self._check()
        if self.unwritable:
            raise StoreError(StoreFault.UNWRITABLE, "the disk is full")

    def _check(self) -> None:
        if self.fault is not None:
            raise StoreError(self.fault, "the file is gone; restore it")


def busy_ledger() -> tuple[Row, ...]:
    """A few runs on two rungs: every kind of row, both ways to pay, an unpriced pass, and words of a newer version."""
    second = replace(
        PASS, rung="astra", billing="subscription", source="price_table", micro_usd=90_000, receipt="r-2"
    )
    late = NOW + timedelta(seconds=9)
    return (
        *(QUESTION, PASS, second, CONSULTATION, replace(CONSULTATION, rung="astra", result="flip"), DECISION),
        *(REFUSED, GATE, replace(GATE, gate_row="gone", stage="class"), SETTLEMENT, ACCEPT),
        replace(PASS, at=late, micro_usd=500_000, duration_us=1_800_000, receipt="r-3"),
        replace(PASS, result="timeout", source="", micro_usd=0, duration_us=300_500_000, receipt="r-4"),
        replace(DECISION, level="low", result="held", duration_us=0, receipt=""),
        replace(PASS, level="high", role="audit", result="abstained", billing="barter", source="guess", rung="nova"),
        replace(QUESTION, level="high"),
        replace(DECISION, level="high", result="postponed", receipt="r-5"),
        replace(CONSULTATION, result="undecided"),
        replace(GATE, stage="charter"),
    )


def ledger_view() -> View:
    """Both rungs reachable, and a busy ledger with both caps."""
    caps = CapFacts(200, 17, 20_000_000, 990_000)
    return replace(ok_view(), ledger=facts_of(*busy_ledger(), caps=caps))


PAGES = {**SCENES, "ledger": ledger_view}
"""Every scene by name, and one with a ledger."""
