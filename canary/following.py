"""Following: what a daemon does with the ledger beside its ticks: reads it on, adds meters, lets what is old go."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from canary.capacity.pace import LOOK_BACK_S
from canary.config import Config
from canary.ledger import Ledger
from canary.metering import samples_of
from canary.policy import caps_of, gate_rows_of
from decide.fault import StoreError
from decide.ladder import LadderState
from decide.meter import MeterSample
from decide.refusal import REFUSAL_LASTS, Refusal
from exporters.follow import LedgerFollower
from exporters.ledger_facts import LedgerFacts

PURGE_EVERY = timedelta(hours=1)
LOOKS_BACK = timedelta(seconds=LOOK_BACK_S[-1])
UNWRITTEN = 100_000
"""How many readings wait for a store that cannot be written; the oldest go first."""

log = logging.getLogger("rungwatch")


class Following:
    """One ledger, followed under a configuration that may change; `now` gives the time."""

    def __init__(self, config: Config, ledger: Ledger, now: Callable[[], datetime]) -> None:
        self.ledger = ledger
        self._now = now
        self._keep, self._keep_readings = config.decide.keep_evidence, config.canary.keep_readings
        self._unwritten: deque[MeterSample] = deque(maxlen=UNWRITTEN)
        rows, lead = gate_rows_of(config), config.queue.lead
        self._follower = LedgerFollower(ledger, caps_of(config), gate_rows=rows, lead=lead, log=log)

    def take(self, config: Config) -> None:
        """Go by a new configuration from now on."""
        self._keep, self._keep_readings = config.decide.keep_evidence, config.canary.keep_readings
        self._follower.caps, self._follower.gate_rows = caps_of(config), gate_rows_of(config)
        self._follower.lead = config.queue.lead

    def facts(self) -> LedgerFacts | None:
        """What the ledger says, None before it was first looked at."""
        return self._follower.facts

    async def refusals(self) -> Sequence[Refusal]:
        """What decision runs met on seats in the time that counts; raises StoreError."""
        return await self.ledger.refusals(self._now() - REFUSAL_LASTS)

    async def metered(self) -> Sequence[MeterSample]:
        """The meters as they were read in the time that forecasts look back at; none while nobody can tell."""
        try:
            return await self.ledger.metered_since(self._now() - LOOKS_BACK)
        except StoreError as error:
            log.warning("forecasts begin anew, for what was read of meters is not known: %s", error)
            return ()

    async def meter(self, state: LadderState) -> None:
        """Keep the meters that a tick read; while they cannot be written they wait for the next tick."""
        self._unwritten.extend(samples_of(state))
        try:
            await self.ledger.meter(tuple(self._unwritten), state.at)
        except StoreError:  # whoever refreshes tells what is wrong with the store
            return
        self._unwritten.clear()

    async def refresh(self) -> None:
        """Read the ledger on."""
        await self._follower.refresh(self._now())

    async def purge(self) -> None:
        """Let go of the text of evidence (digests stay, design 4.7) and of readings that are older than kept."""
        now = self._now()
        try:
            store = await self.ledger.opened()
            await store.purge_meters(now - self._keep_readings)
            gone = await store.purge_evidence(now - self._keep)
        except StoreError:  # whoever refreshes tells what is wrong with the store
            return
        if gone:
            log.info("the text of %d snapshots was older than %s and is gone", gone, self._keep)
