"""No call leaves before what it may cost is durable (design 4.3, 8), however long that takes and however it ends."""

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from decide.brief import Brief
from decide.fault import StoreError, StoreFault
from decide.ports import Access, CapSpent, Reservation
from decide.receipt import Receipt
from decide.reply import Reply
from decide.ruling import Outcome
from decide.run import ask
from decide.snapshot import Source, SourceKind
from decide.store.opening import open_store
from decide.watch import Ended, Event
from tests.decide.fakes import QUESTION, Answer, MemoryStore, Scripted, says, setup_of

KNOWN = (Source(SourceKind.TEXT, "known before the claim"),)
READ = (Source(SourceKind.FILE, "read-after.txt"),)
BOTH = pytest.mark.parametrize("sources", [KNOWN, READ], ids=["with the claim", "on its own"])
LOST = StoreError(StoreFault.UNWRITABLE, "the disk is full")


@dataclass(slots=True)
class LateStore(MemoryStore):
    """A store whose reservation is made at once, and durable, or lost, only when it is told."""

    durable: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    lost: bool = False

    async def reserve(self, reservation: Reservation) -> CapSpent | None:
        spent = await MemoryStore.reserve(self, reservation)
        self.begun.set()
        await self.durable.wait()
        if self.lost:
            raise LOST
        return spent


async def begun(
    store: LateStore, rung: Answer, sources: Sequence[Source], seen: list[Event]
) -> asyncio.Task[Receipt]:
    """A run whose reservation is being made durable, and has been for many turns of the loop."""
    setup = setup_of(rung, rung, store)
    task = asyncio.create_task(ask(QUESTION, setup=setup, sources=sources, watch=seen.append))
    await store.begun.wait()
    for _ in range(100):
        await asyncio.sleep(0)
    return task


@BOTH
async def test_nobody_is_asked_before_the_reservation_is_durable(sources: Sequence[Source]) -> None:
    store, rung, seen = LateStore(), Scripted(says("opt_a")), list[Event]()
    task = await begun(store, rung, sources, seen)
    assert (rung.briefs, seen) == ([], [])
    store.durable.set()
    await task
    assert len(rung.briefs) == 4


@BOTH
async def test_nobody_is_asked_when_the_reservation_is_lost(sources: Sequence[Source]) -> None:
    store, rung, seen = LateStore(lost=True), Scripted(says("opt_a")), list[Event]()
    task = await begun(store, rung, sources, seen)
    store.durable.set()
    await task
    (end,) = seen
    assert isinstance(end, Ended)
    assert (end.receipt.outcome, end.receipt.exit_code, end.receipt.document["passes"]) == (Outcome.HELD, 4, [])
    assert rung.briefs == []


async def test_nobody_is_asked_when_the_run_is_told_to_stop_meanwhile() -> None:
    store, rung, seen = LateStore(), Scripted(says("opt_a")), list[Event]()
    task = await begun(store, rung, KNOWN, seen)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    store.durable.set()
    for _ in range(100):
        await asyncio.sleep(0)
    assert (rung.briefs, seen, len(asyncio.all_tasks())) == ([], [], 1)


@BOTH
async def test_whoever_is_asked_finds_the_reservation_in_the_file(tmp_path: Path, sources: Sequence[Source]) -> None:
    path = tmp_path / "ledger.db"
    found: list[int] = []

    async def looks(brief: Brief, access: Access) -> Reply:
        with sqlite3.connect(path) as other:  # it sees what was committed and nothing else
            found.extend(other.execute("SELECT count(*) FROM slots WHERE state = 'open'").fetchone())
        other.close()
        return await says("opt_a")(brief, access)

    async with await open_store(path, host="here", pid=1) as store:
        done = await ask(QUESTION, setup=setup_of(looks, looks, store), sources=sources)
    assert done.outcome is Outcome.AGREED
    assert found == [9, 9, 9, 9]
