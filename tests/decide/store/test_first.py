"""First: what a claim brings is reserved in its transaction, on a new question and nowhere else."""

import asyncio
from dataclasses import replace

import pytest

from decide.ledger import Row, RowKind
from decide.ports import Busy, Caps, CapSpent, Claim, Ready
from decide.store.store import SqlStore
from tests.decide.store.work import DAY, NOW, SNAPSHOT, claiming, ending, passed, reserving


def bringing(run: str, *calls: str, caps: Caps | None = None, key: str = "q") -> Claim:
    """A claim with what its run reserves on a new question."""
    asked = Row(RowKind.QUESTION, NOW, question=key)
    return replace(claiming(run, key), first=reserving(run, *calls, key=key, caps=caps, rows=(asked,)))


async def test_a_new_question_is_claimed_and_reserved_at_once(store: SqlStore) -> None:
    assert await store.claim(bringing("r1", "a", "b")) == Ready(reserved=True)
    assert await store.day_usage(DAY) == (2, 600_000)
    assert await store.claim(bringing("r2", "c")) == Busy("r1", "here")
    await store.end(ending("r1", closed=False, settlements=(passed("a", 100),)))
    assert await store.day_usage(DAY) == (1, 100)
    assert [entry.row.kind for entry in await store.rows_after(0, 9)] == ["question", "pass", "decision"]


async def test_a_cap_without_room_is_told_and_nothing_is_reserved(store: SqlStore) -> None:
    claimed = await store.claim(bringing("r1", "a", "b", caps=Caps(passes_per_day=1)))
    assert claimed == Ready(spent=CapSpent("passes", 0, 1))
    assert (await store.day_usage(DAY), await store.last_seq()) == ((0, 0), 0)
    assert await store.claim(claiming("r2")) == Busy("r1", "here")
    await store.end(ending("r1", closed=False, counts_as_attempt=False))
    assert await store.claim(bringing("r2", "c")) == Ready(SNAPSHOT)


async def test_a_question_that_is_resumed_reserves_nothing_with_its_claim(store: SqlStore) -> None:
    await store.claim(bringing("r1", "a"))
    await store.end(ending("r1", closed=False))
    assert await store.claim(bringing("r2", "b")) == Ready(SNAPSHOT, (), attempts=1)
    assert await store.day_usage(DAY) == (0, 0)
    assert await store.reserve(reserving("r2", "b")) is None


async def test_a_call_id_that_was_used_before_leaves_no_claim(store: SqlStore) -> None:
    await store.claim(bringing("r1", "a"))
    with pytest.raises(ValueError, match="reserved before"):
        await store.claim(bringing("r2", "a", key="other"))
    assert await store.claim(claiming("r3", "other")) == Ready()
    assert await store.day_usage(DAY) == (1, 300_000)


async def test_a_claim_whose_caller_stopped_waiting_reserves_nothing(store: SqlStore) -> None:
    waiting = asyncio.ensure_future(store.claim(bringing("r1", "a", "b")))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await store.claim(claiming("r2")) == Ready(SNAPSHOT)
    assert await store.day_usage(DAY) == (0, 0)
    assert await store.unsettled(NOW) == ()
