"""Follow: the ledger read on from where it was left, folded, and told as facts at every refresh."""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from decide.day import day_of
from decide.fault import StoreError, StoreFault
from decide.handoff.ports import HandoffFacts
from decide.ports import Caps
from decide.question import LEAD
from exporters.fold import Counts, Fold
from exporters.fold_source import FoldSource
from exporters.ledger_facts import CapFacts, LedgerFacts
from exporters.ledger_rows import COLUMNS

READ_ROWS = 10_000
"""Rows that are asked of the source at once."""
FOLD_ROWS = 2_000
"""Rows that are folded at once, about 4 ms; then everything else on the event loop has its turn."""


class LedgerFollower:
    """Follows one ledger for one exporter; `caps`, `gate_rows`, `lead` and `serves_counters` may be set at any time.

    `facts` is the present at any time and from any thread, None before the ledger was first looked at; it shows the
    lag while a long ledger is read for the first time. `serves_counters` is False while another exporter of a fleet
    serves the ledger's counters, and what waits; both are read all the same, so that this one can take over.
    `gate_rows` are the policy's rows, each with its stage; `lead` is how long before its deadline one is urgent.
    """

    def __init__(
        self,
        source: FoldSource,
        caps: Caps,
        *,
        gate_rows: Iterable[tuple[str, str]] = (),
        lead: timedelta = LEAD,
        serves_counters: bool = True,
        log: logging.Logger | None = None,
    ) -> None:
        self.caps = caps
        self.gate_rows = tuple(gate_rows)
        self.lead = lead
        self.serves_counters = serves_counters
        self.facts: LedgerFacts | None = None
        self._source = source
        self._log = log or logging.getLogger(__name__)
        self._turn = asyncio.Lock()
        self._fold = Fold()
        self._counts: Counts | None = None
        self._rows: int | None = None
        self._handoff: HandoffFacts | None = None
        self._used: tuple[int, int] | None = None
        self._fault: StoreFault | None = None

    async def refresh(self, now: datetime) -> LedgerFacts:
        """Look at what waits, fold what is new, look at the day's caps and the store's health, and give the facts.

        A store that cannot be used is a fact, not an exception: the counters, and what waits, stay as they are.
        """
        async with self._turn:
            try:
                self._handoff = await self._source.handoff_facts()  # first: a wake does not wait for a long ledger
                await self._catch_up()
                self._used = await self._source.day_usage(day_of(now, self.caps.zone))
                await self._source.probe(now)
            except StoreError as error:
                self._used = None
                self._tell(error)
            else:
                self._tell(None)
            return self._publish()

    async def _catch_up(self) -> None:
        """Fold every row that the ledger holds by now, some at a time."""
        self._rows = await self._source.last_seq()
        if self._rows < self._fold.seq:
            self._log.warning("the ledger ends at row %d, not %d: counted anew", self._rows, self._fold.seq)
            self._fold, self._counts = Fold(), None
        while self._fold.seq < self._rows:
            rows = await self._source.columns_after(self._fold.seq, READ_ROWS, COLUMNS)
            if not rows:
                break
            for start in range(0, len(rows), FOLD_ROWS):
                self._fold.add(rows[start : start + FOLD_ROWS])
                self._publish()
                await asyncio.sleep(0)
        self._rows = max(self._rows, self._fold.seq)
        self._counts = self._fold.counts()

    def _tell(self, error: StoreError | None) -> None:
        """Log a change of the store's health, once."""
        before, self._fault = self._fault, error.fault if error else None
        if self._fault is before:
            return
        if error:
            self._log.error("the ledger cannot be used (%s): %s", error.fault.value, error)
        else:
            self._log.info("the ledger can be used again")

    def _publish(self) -> LedgerFacts:
        facts = LedgerFacts(self._fault is None, caps=self._cap_facts(), gate_rows=self.gate_rows, lead=self.lead)
        if self.serves_counters:
            lag = None if self._rows is None else max(0, self._rows - self._fold.seq)
            facts = replace(facts, counts=self._counts, rows=self._rows, lag_rows=lag, handoff=self._handoff)
        self.facts = facts
        return facts

    def _cap_facts(self) -> CapFacts:
        """The caps, and what is used of those that there are."""
        passes, micro_usd = self.caps.passes_per_day, self.caps.micro_usd_per_day
        used_passes, used_micro_usd = self._used or (None, None)
        return CapFacts(
            passes,
            None if passes is None else used_passes,
            micro_usd,
            None if micro_usd is None else used_micro_usd,
        )
