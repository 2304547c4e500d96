"""Following: what a daemon does with the ledger beside its ticks: reads it on, and lets old evidence go."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from canary.config import Config
from canary.ledger import Ledger
from canary.policy import caps_of, gate_rows_of
from decide.ports import StoreError
from decide.refusal import REFUSAL_LASTS, Refusal
from exporters.follow import LedgerFollower
from exporters.ledger_facts import LedgerFacts

PURGE_EVERY = timedelta(hours=1)

log = logging.getLogger("rungwatch")


class Following:
    """One ledger, followed under a configuration that may change; `now` gives the time."""

    def __init__(self, config: Config, ledger: Ledger, now: Callable[[], datetime]) -> None:
        self.ledger = ledger
        self._now = now
        self._keep = config.decide.keep_evidence
        rows, lead = gate_rows_of(config), config.queue.lead
        self._follower = LedgerFollower(ledger, caps_of(config), gate_rows=rows, lead=lead, log=log)

    def take(self, config: Config) -> None:
        """Go by a new configuration from now on."""
        self._keep = config.decide.keep_evidence
        self._follower.caps, self._follower.gate_rows = caps_of(config), gate_rows_of(config)
        self._follower.lead = config.queue.lead

    def facts(self) -> LedgerFacts | None:
        """What the ledger says, None before it was first looked at."""
        return self._follower.facts

    async def refusals(self) -> Sequence[Refusal]:
        """What decision runs met on seats in the time that counts; raises StoreError."""
        return await self.ledger.refusals(self._now() - REFUSAL_LASTS)

    async def refresh(self) -> None:
        """Read the ledger on."""
        await self._follower.refresh(self._now())

    async def purge(self) -> None:
        """Let go of the text of evidence that is older than it is kept; digests stay (design 4.7)."""
        try:
            gone = await (await self.ledger.opened()).purge_evidence(self._now() - self._keep)
        except StoreError:  # whoever refreshes tells what is wrong with the store
            return
        if gone:
            log.info("the text of %d snapshots was older than %s and is gone", gone, self._keep)
