"""Store: what is durable, for a run to work with and for others to read."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, select, update

from decide.fault import StoreError
from decide.handoff.ports import HandoffFacts, Hold
from decide.ledger import Entry
from decide.meter import MeterSample
from decide.ports import CapSpent, Claim, Claimed, Ending, Reservation, Settlement
from decide.store import audit, caps, evidence, meters, questions, receipts, refusals, rows, runs
from decide.store.alive import Process
from decide.store.audit import Broken, Verified
from decide.store.caps import Unsettled
from decide.store.chain import Fault, Mark
from decide.store.database import Database
from decide.store.handoff import SqlHandoff
from decide.store.moments import micros
from decide.store.receipts import ReceiptLine
from decide.store.refusals import Refused
from decide.store.rows import Writing
from decide.store.tables import HEAD
from decide.store.worker import Settling, Worker

T = TypeVar("T")


class SqlStore:
    """The store in SQLite or PostgreSQL, as `open_store` gives it.

    Every method but `close` raises StoreError when the store cannot be read or written; nothing in it is ever reset,
    repaired or replaced. Times are the caller's. One thread of its own does the work, one call after another.
    """

    def __init__(self, database: Database, worker: Worker, me: Process) -> None:
        self._database = database
        self._worker = worker
        self._me = me
        self._settling = Settling(worker, self._settle)
        self.handoff = SqlHandoff(database, worker, me)

    async def __aenter__(self) -> Self:
        """The store itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.close()

    async def close(self) -> None:
        """Finish what was handed over and close the connection; the store is not used again."""
        await self._worker.run(self._database.close)
        self._worker.close()

    # what a run does

    async def claim(self, claim: Claim) -> Claimed:
        """The question for this run, or why it is not to be asked; over a run that is gone, its calls are unsettled.

        Raises ValueError for a run id that was used before, and as `reserve` does for what is reserved with it.
        """
        try:
            return await self._write_on_sound(partial(runs.claim, wanted=claim, me=self._me))
        except asyncio.CancelledError:
            # the claim may have been made, and nobody is left who knows of it
            self._worker.submit(partial(self._database.write, partial(runs.withdraw, run_id=claim.run_id)))
            raise

    async def reserve(self, reservation: Reservation) -> CapSpent | None:
        """Reserve every slot or none, on a question that this run holds; repeated, it changes nothing.

        Raises ValueError for a run that never claimed the question, and for a call id that was used before.
        """
        return await self._write_on_sound(partial(runs.reserve, wanted=reservation))

    async def settle(self, settlements: Sequence[Settlement]) -> None:
        """Charge slots with what their calls cost, each once, and append their rows; repeated, it changes nothing.

        Raises ValueError, with nothing changed, for a call id that was never reserved.
        """
        await self._settling.add(tuple(settlements))

    async def end(self, ending: Ending) -> None:
        """Append the last rows, keep the receipt, give back unused slots and the question; repeated, nothing changes.

        The receipt's "outcome" and "exit_code" are those that `receipts` lists. Raises ValueError for a run that
        never claimed the question.
        """
        await self._write(partial(runs.end, ending=ending))

    async def hold(self, hold: Hold) -> None:
        """Let a question that a broken ledger held wait for a person, and keep its receipt; repeated, it is the same.

        It is written although the chain is broken.
        """
        await self.handoff.hold(hold)

    async def release(self, run_id: str) -> None:
        """Give a claimed question back as if it had never been claimed; repeated, it changes nothing.

        Raises ValueError for a run that reserved something.
        """
        await self._write(partial(_release, run_id=run_id))

    # what a person does

    async def settle_by_evidence(self, call_id: str, micro_usd: int, *, at: datetime, evidence_text: str) -> None:
        """Charge a call that is unsettled with what evidence says that it cost, in micro-dollars, and record both.

        Raises ValueError, with nothing changed, for a call that is not unsettled and for evidence without words.
        """
        settle = partial(caps.settle_by_evidence, call_id=call_id, micro_usd=micro_usd, at=at, evidence=evidence_text)
        await self._write(partial(settle, here=self._me.host))

    async def verify(self, progress: Callable[[int, int], None] | None = None) -> Verified | Broken:
        """The whole ledger looked at: how many rows, or the first that is broken and that no person accepted.

        While one is, no question is asked, wherever in the ledger it stands.
        `progress` is told the number of the row reached and of the last.
        """
        last = await self._audit(progress)
        await self._hold("" if last.fault is None else last.fault.text)
        return Verified(last.mark.seq) if last.fault is None else Broken(last.fault.seq, last.fault.text)

    async def accept(self, person: str, note: str, *, at: datetime) -> Broken:
        """A named person's word that work goes on from the first fault as it is found; it covers that fault alone.

        Raises ValueError without a person or without a fault.
        """
        if not person.strip():
            raise ValueError("a hold is cleared by a named person; name one")
        fault = (await self._audit(None)).fault
        if fault is None:
            raise ValueError("the ledger is as it was written: there is nothing to accept")
        await self._write(partial(audit.accept, fault=fault, person=person, note=note, at=at))
        await self._hold("")
        await self._worker.run(self._database.forget)
        return Broken(fault.seq, fault.text)

    async def purge_evidence(self, before: datetime) -> int:
        """Remove the text of snapshots that no question used since `before`, and say how many; digests stay."""
        return await self._write(lambda writing: evidence.purge(writing.connection, before))

    # what the canary adds

    async def meter(self, samples: Sequence[MeterSample], at: datetime) -> None:
        """Keep readings of seats' windows, and tell ledger and receipts what consultations took between them.

        A reading that is no later than the last one of its window is left out. Nothing is written, readings
        included, while the end of the ledger is broken.
        """
        await self._write_on_sound(partial(meters.keep, samples=samples, at=at))

    async def purge_meters(self, before: datetime) -> int:
        """Let readings go that are older than that, and say how many; what was made of them stays in the ledger."""
        return await self._write(lambda writing: meters.purge(writing.connection, before))

    # what others read

    async def metered_since(self, at: datetime) -> tuple[MeterSample, ...]:
        """The readings of seats' windows of `at` or later, in order of time."""
        return await self._read(partial(meters.since, at=at))

    async def probe(self, at: datetime) -> None:
        """Read and write the store now; raises StoreError when it cannot be, or when the ledger's end is broken."""
        beat = update(HEAD).values(probed_us=micros(at))

        def write(writing: Writing) -> None:
            writing.connection.execute(beat)

        await self._write_on_sound(write)

    async def last_seq(self) -> int:
        """The number of the last ledger row, 0 before the first."""
        return (await self._read(rows.head)).seq

    async def rows_after(self, seq: int, limit: int) -> list[Entry]:
        """Up to `limit` ledger rows after `seq`; raises StoreError for a row that no row can be."""
        return await self._read(partial(self._entries, seq=seq, limit=limit))

    async def columns_after(self, seq: int, limit: int, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Up to `limit` ledger rows after `seq`, each a plain tuple of those columns, in the order of "seq".

        Columns are "seq", "before", "digest" and the keys of `Row.values`; raises ValueError for another.
        """
        return await self._read(partial(rows.columns_after, seq=seq, limit=limit, columns=tuple(columns)))

    async def day_usage(self, day: str) -> tuple[int, int]:
        """Passes and micro-dollars that a day is charged, open and unsettled calls at their worst."""
        return await self._read(partial(caps.usage, day=day))

    async def handoff_facts(self) -> HandoffFacts:
        """As `HandoffStore.handoff_facts`."""
        return await self.handoff.handoff_facts()

    async def unsettled(self, at: datetime) -> tuple[Unsettled, ...]:
        """Calls whose run is gone, or cannot say what they cost; on another host its lease ran out by `at`."""
        return await self._read(partial(caps.unsettled, at=at, here=self._me.host))

    async def receipts(self, limit: int, before: str | None = None) -> tuple[ReceiptLine, ...]:
        """Up to `limit` receipts, the latest first, or those that came before the one of an id.

        Raises LookupError for an id that there is not.
        """
        return await self._read(partial(receipts.lines, limit=limit, before=before))

    async def receipt(self, receipt_id: str) -> dict[str, Any]:
        """The whole receipt of an id or its beginning; raises LookupError when none, or several, are meant."""
        return await self._read(partial(receipts.document, receipt_id=receipt_id))

    async def outcomes_by_day(self, since: datetime) -> tuple[tuple[str, str, int], ...]:
        """How many runs ended with each outcome, at `since` or later: day in UTC ("2026-10-15"), outcome, number."""
        return await self._read(partial(receipts.outcomes_by_day, since=since))

    async def refused_since(self, at: datetime) -> tuple[Refused, ...]:
        """What seats refused unbilled at `at` or later, the earliest first."""
        return await self._read(partial(refusals.since, at=at))

    async def evidence(self, digest: str) -> str | None:
        """The snapshot of a digest as text, None once it was purged; raises LookupError for one never kept."""
        return await self._read(partial(evidence.text, digest=digest))

    def _settle(self, settlements: Sequence[Settlement]) -> None:
        self._database.write(partial(runs.settle, settlements=settlements))

    def _entries(self, connection: Connection, seq: int, limit: int) -> list[Entry]:
        entries = []
        for row in rows.stored_after(connection, seq, limit):
            try:
                entries.append(row.entry())
            except (ValueError, TypeError, OverflowError) as error:
                wrong = Fault(row.seq, f"row {row.seq} is not what was written", "", Mark())
                raise self._database.broken(wrong.text) from error
        return entries

    async def _hold(self, fault: str) -> None:
        """Keep what an audit found, so that it holds every run; a store that cannot be written holds them anyway."""
        held = update(HEAD).values(held=fault)

        def write(writing: Writing) -> None:
            writing.connection.execute(held)

        with suppress(StoreError):
            if await self._read(lambda connection: connection.execute(select(HEAD.c.held)).scalar_one()) != fault:
                await self._write(write)

    async def _audit(self, progress: Callable[[int, int], None] | None) -> audit.Step:
        taken = audit.Step(Mark(), Mark())
        while not taken.done:
            taken = await self._read(partial(audit.step, mark=taken.mark))
            if progress is not None:
                progress(taken.mark.seq, taken.end.seq)
        return taken

    async def _read(self, act: Callable[[Connection], T]) -> T:
        return await self._worker.run(partial(self._database.read, act))

    async def _write(self, act: Callable[[Writing], T]) -> T:
        return await self._worker.run(partial(self._database.write, act))

    async def _write_on_sound(self, act: Callable[[Writing], T]) -> T:
        return await self._worker.run(partial(self._database.write_on_sound, act))


def _release(writing: Writing, run_id: str) -> None:
    questions.release(writing.connection, run_id)
