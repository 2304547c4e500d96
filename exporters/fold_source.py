"""Fold source: what a follower needs of whatever holds the ledger."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from decide.handoff.ports import HandoffFacts
from exporters.ledger_rows import LedgerRow


class FoldSource(Protocol):
    """The ledger as it can be read; every method raises StoreError when it cannot."""

    async def columns_after(self, seq: int, limit: int, columns: Sequence[str]) -> Sequence[LedgerRow]:
        """Up to `limit` rows that follow `seq`, in order, each as a plain sequence of those columns."""

    async def last_seq(self) -> int:
        """The place of the last row, 0 for none."""

    async def day_usage(self, day: str) -> tuple[int, int]:
        """What is charged to that day's caps, YYYY-MM-DD: passes, and micro-dollars."""

    async def handoff_facts(self) -> HandoffFacts:
        """What waits now: open entries, pending items and pending clicks."""

    async def probe(self, at: datetime) -> None:
        """Nothing, or StoreError when a run could not use the store now."""
