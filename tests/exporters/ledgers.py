"""Ledgers: rows as a run writes them, held in memory, with the faults that a real store has."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from decide.fault import StoreError, StoreFault
from decide.handoff.act import ActState
from decide.handoff.click import ClickEvent
from decide.handoff.entry import Waiting, Why
from decide.handoff.execution import Refusal
from decide.handoff.inbox import ItemState
from decide.handoff.ports import Delivery, HandoffFacts
from decide.handoff.rows import QueueEvent, act_row, click_row, queue_row, raised_row, webhook_row
from decide.ledger import Row, RowKind
from decide.question import Consequence
from exporters.fold import Counts, Fold
from exporters.ledger_facts import CapFacts, LedgerFacts
from exporters.ledger_rows import COLUMNS
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
SKIPPED = Row(RowKind.SKIPPED, NOW, level="high", result="cross_check", receipt="r-1")
QUOTA = Row(
    RowKind.QUOTA,
    NOW,
    level="medium",
    rung="fable",
    seat="desk",
    role="vote",
    result="attributed",
    receipt="r-1",
    window_kind="session",
    micro_ratio=30_000,
)
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
RAISED = raised_row(at=NOW, item_id="i-1", question="q-1", surface="chat")
ACTED = act_row(ActState.REFUSED, at=NOW, act_id="r-1", question="q-1", kind="write", line="deploy web")


def queued(event: QueueEvent, why: Why = Why.NEEDS_HUMAN, *, after: float = 0, entry: str = "r-1") -> Row:
    """What happened to an entry that had waited that many seconds."""
    at = NOW + timedelta(seconds=after)
    return queue_row(event, at=at, entry_id=entry, question="q-1", why=why, since=NOW, person="ada")


def clicked(event: ClickEvent, refusal: Refusal | None = None, *, after: float = 0) -> Row:
    """What happened to a click that had waited that many seconds."""
    at = NOW + timedelta(seconds=after)
    told = {"click_id": "c-1", "question": "q-1", "user": "ada", "since": NOW}
    return click_row(event, at=at, refusal=refusal, **told)  # type: ignore[arg-type]


def told(result: Delivery) -> Row:
    """One attempt at telling a raiser."""
    return webhook_row(result, at=NOW, item_id="i-1", question="q-1", mark="m-1")


def waiting(
    consequence: Consequence = Consequence.COSTLY, deadline_in: float | None = None, *, since: float = 0
) -> Waiting:
    """An open entry whose deadline is that many minutes from now, entered that many minutes ago."""
    deadline = None if deadline_in is None else NOW + timedelta(minutes=deadline_in)
    entered_at = NOW - timedelta(minutes=since)
    return Waiting("r-1", "q-1", "Which one?", Why.WALLED, consequence, deadline, entered_at, raised_by="lane 7")


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
    return LedgerFacts(True, counts_of(*rows), len(rows), 0, caps or CapFacts(), GATE_ROWS, HandoffFacts())


class FakeLedger:
    """A ledger in memory; with a `fault` set nothing of it can be used, and `meanwhile` runs at each read of rows."""

    def __init__(self, *rows: Row) -> None:
        self.rows = list(rows)
        self.usage: dict[str, tuple[int, int]] = {}
        self.waits = HandoffFacts()
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

    async def handoff_facts(self) -> HandoffFacts:
        self._check()
        return self.waits

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
        replace(PASS, level="max", role="audit", result="abstained", billing="barter", source="guess", rung="nova"),
        replace(QUESTION, level="max"),
        replace(DECISION, level="max", result="postponed", receipt="r-5"),
        *(SKIPPED, replace(SKIPPED, result="split_reread"), replace(SKIPPED, level="max", result="audit")),
        replace(CONSULTATION, result="undecided"),
        *(QUOTA, replace(QUOTA, rung="nova", level="max", window_kind="daily"), replace(GATE, stage="charter")),
        *handed_over(),
    )


def handed_over() -> tuple[Row, ...]:
    """Every kind of row of the handoff, and words of a newer version."""
    return (
        *(RAISED, ACTED, queued(QueueEvent.ENTERED), queued(QueueEvent.ENTERED, Why.WALLED, entry="r-2")),
        *(queued(QueueEvent.ANSWERED, after=2400), queued(QueueEvent.RESOLVED, Why.WALLED, after=7000, entry="r-2")),
        *(queued(QueueEvent.CANCELLED, Why.HELD, after=9000), queued(QueueEvent.ANSWERED, after=12.5, entry="r-3")),
        *(replace(queued(QueueEvent.ENTERED), result="reopened"), replace(queued(QueueEvent.ENTERED), stage="bored")),
        *(clicked(ClickEvent.MINTED), clicked(ClickEvent.MINTED), clicked(ClickEvent.CONSUMED, after=7.25)),
        *(clicked(ClickEvent.EXPIRED, after=600), clicked(ClickEvent.REFUSED, Refusal.OTHER_USER, after=3)),
        *(replace(clicked(ClickEvent.MINTED), result="folded"), replace(clicked(ClickEvent.REFUSED), stage="tired")),
        *(told(Delivery.FAILED), told(Delivery.DELIVERED), replace(told(Delivery.DELIVERED), result="bounced")),
    )


def waits() -> HandoffFacts:
    """Entries of every urgency, items in every state, and two clicks."""
    entries = (
        waiting(Consequence.NONE, since=300),
        waiting(Consequence.REVERSIBLE, 30, since=200),
        waiting(Consequence.COSTLY, 600, since=100),
        waiting(Consequence.IRREVERSIBLE, 45, since=20),
        waiting(Consequence.COSTLY, since=10),
    )
    items = {ItemState.WAITING: 2, ItemState.RETRYING: 1, ItemState.RUNNING: 1, ItemState.QUEUED: 5}
    return HandoffFacts(entries, items, NOW - timedelta(minutes=50), 2, NOW - timedelta(minutes=4))


def ledger_view() -> View:
    """Both rungs reachable, and a busy ledger with both caps and much that waits."""
    caps = CapFacts(200, 17, 20_000_000, 990_000)
    return replace(ok_view(), ledger=replace(facts_of(*busy_ledger(), caps=caps), handoff=waits()))


PAGES = {**SCENES, "ledger": ledger_view}
"""Every scene by name, and one with a ledger."""
