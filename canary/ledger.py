"""Ledger: the store as this machine has it, opened when it is first needed and again after it was lost."""

import asyncio
import os
import socket
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from canary.config import Config
from decide.question import QuestionError, UsageError
from decide.refusal import Refusal
from decide.reply import Failure

if TYPE_CHECKING:  # the canary, which asks nobody, starts without what a run needs
    from decide.handoff.ports import HandoffFacts, Hold
    from decide.meter import MeterSample
    from decide.ports import CapSpent, Claim, Claimed, Ending, Reservation, Settlement
    from decide.store.store import SqlStore
    from exporters.ledger_rows import LedgerRow

FILE = "ledger.db"


def place_of(config: Config, state_dir: Path, environ: Mapping[str, str]) -> str | Path:
    """Where the store is: a `postgresql://` URL from the environment, else a file.

    Raises QuestionError when the variable that should hold the URL is not set.
    """
    named = config.store.url_env
    if named is None:
        return config.store.path or state_dir / FILE
    url = environ.get(named)
    if not url:
        raise QuestionError(f"store.url_env: the environment variable {named!r} holds no postgresql:// URL")
    return url


class Ledger:
    """A store that need not be there yet: every method raises StoreError while it cannot be opened or used."""

    def __init__(self, place: str | Path) -> None:
        self.place = place
        self._store: SqlStore | None = None
        self._opening = asyncio.Lock()

    async def opened(self) -> "SqlStore":
        """The store itself; raises StoreError while there is none."""
        async with self._opening:
            if self._store is None:
                from decide.store.opening import open_store

                try:
                    self._store = await open_store(self.place, host=socket.gethostname(), pid=os.getpid())
                except ValueError as error:
                    raise UsageError(f"store: {error}") from error
            return self._store

    async def close(self) -> None:
        """Let go of the store."""
        store, self._store = self._store, None
        if store is not None:
            await store.close()

    async def claim(self, claim: "Claim") -> "Claimed":
        """As `Store.claim`."""
        return await (await self.opened()).claim(claim)

    async def reserve(self, reservation: "Reservation") -> "CapSpent | None":
        """As `Store.reserve`."""
        return await (await self.opened()).reserve(reservation)

    async def settle(self, settlements: "Sequence[Settlement]") -> None:
        """As `Store.settle`."""
        await (await self.opened()).settle(settlements)

    async def end(self, ending: "Ending") -> None:
        """As `Store.end`."""
        await (await self.opened()).end(ending)

    async def hold(self, hold: "Hold") -> None:
        """As `Store.hold`."""
        await (await self.opened()).handoff.hold(hold)

    async def release(self, run_id: str) -> None:
        """As `Store.release`."""
        await (await self.opened()).release(run_id)

    async def refusals(self, since: datetime) -> tuple[Refusal, ...]:
        """What decision runs met on seats since then, oldest first."""
        found = await (await self.opened()).refused_since(since)
        return tuple(
            Refusal(one.rung, one.seat, Failure(one.result), one.at, one.clears_at, one.credential) for one in found
        )

    async def meter(self, samples: "Sequence[MeterSample]", at: datetime) -> None:
        """As `SqlStore.meter`."""
        await (await self.opened()).meter(samples, at)

    async def metered_since(self, at: datetime) -> "Sequence[MeterSample]":
        """As `SqlStore.metered_since`."""
        return await (await self.opened()).metered_since(at)

    async def columns_after(self, seq: int, limit: int, columns: Sequence[str]) -> "Sequence[LedgerRow]":
        """As `FoldSource.columns_after`."""
        return await (await self.opened()).columns_after(seq, limit, columns)

    async def last_seq(self) -> int:
        """As `FoldSource.last_seq`."""
        return await (await self.opened()).last_seq()

    async def day_usage(self, day: str) -> tuple[int, int]:
        """As `FoldSource.day_usage`."""
        return await (await self.opened()).day_usage(day)

    async def probe(self, at: datetime) -> None:
        """As `FoldSource.probe`."""
        await (await self.opened()).probe(at)

    async def handoff_facts(self) -> "HandoffFacts":
        """As `FoldSource.handoff_facts`."""
        return await (await self.opened()).handoff.handoff_facts()
