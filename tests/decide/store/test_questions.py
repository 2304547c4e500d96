"""Questions: one run at a time works one, an equal one is resumed, a decided one is never asked again."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from decide.consultation import Order
from decide.fault import StoreError, StoreFault
from decide.ports import Busy, Conflict, Decided, Ready
from decide.store.store import SqlStore
from tests.decide.store.work import (
    DAY,
    LEASE,
    NOW,
    OTHER_SNAPSHOT,
    SNAPSHOT,
    claiming,
    dead_pid,
    ending,
    opened,
    passed,
    reserving,
    sql,
    standing,
)

STARTS_ARE_KNOWN = Path("/proc/self/stat").exists()


@pytest.fixture
def neighbour() -> Iterator[int]:
    """The number of another process that runs as long as the test does."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.kill()


async def test_a_new_question_is_ready_and_a_worked_one_is_busy(target: str, store: SqlStore, neighbour: int) -> None:
    assert await store.claim(claiming("r1")) == Ready()
    assert await store.claim(claiming("r1")) == Ready()
    assert await store.claim(claiming("r2")) == Busy("r1", "here")
    async with await opened(target, pid=neighbour) as other:
        assert await other.claim(claiming("r3")) == Busy("r1", "here")
        await other.claim(claiming("r4", "other"))
    assert await store.claim(claiming("r5", "other")) == Busy("r4", "here")


async def test_an_id_that_was_used_for_another_question_is_a_conflict(store: SqlStore) -> None:
    await store.claim(claiming("r1"))
    assert await store.claim(claiming("r2", digest="sha256:else")) == Conflict("sha256:q")
    await store.end(ending("r1"))
    assert await store.claim(claiming("r3", digest="sha256:else")) == Conflict("sha256:q")


async def test_a_closed_question_gives_its_receipt(store: SqlStore) -> None:
    await store.claim(claiming("r1"))
    await store.end(ending("r1"))
    assert await store.claim(claiming("r2")) == Decided({"outcome": "agreed", "exit_code": 0, "run": "r1"})


async def test_a_retry_resumes_with_the_same_evidence_and_what_stands(store: SqlStore) -> None:
    await store.claim(claiming("r1"))
    await store.reserve(reserving("r1", "a", "b", "c"))
    backward = standing(order=Order.REVERSED)
    await store.settle([passed("a", kept=standing())])
    await store.settle([passed("b"), passed("c", kept=backward)])
    await store.end(ending("r1", closed=False, outcome="error"))
    assert await store.claim(claiming("r2")) == Ready(SNAPSHOT, (standing(), backward), attempts=1)
    await store.end(ending("r2", closed=False, outcome="cancelled", counts_as_attempt=False))
    assert await store.claim(claiming("r3")) == Ready(SNAPSHOT, (standing(), backward), attempts=1)


async def test_what_stands_on_other_evidence_does_not_stand(store: SqlStore) -> None:
    await store.claim(claiming("r1"))
    await store.reserve(reserving("r1", "a"))
    await store.settle([passed("a", kept=standing())])
    await store.end(ending("r1", closed=False))
    assert await store.purge_evidence(NOW + timedelta(days=1)) == 1
    assert await store.claim(claiming("r2")) == Ready(None, (), attempts=1)
    await store.reserve(reserving("r2", "b", evidence=OTHER_SNAPSHOT))
    await store.settle([passed("b", kept=standing("b"))])
    await store.end(ending("r2", closed=False))
    assert await store.claim(claiming("r3")) == Ready(OTHER_SNAPSHOT, (standing("b"),), attempts=2)


async def test_a_run_that_is_gone_is_taken_over_at_once_and_its_calls_are_unsettled(target: str) -> None:
    async with await opened(target, pid=dead_pid()) as gone:
        await gone.claim(claiming("r1"))
        await gone.reserve(reserving("r1", "a", "b"))
        await gone.settle([passed("a", 10, kept=standing())])
    async with await opened(target) as store:
        assert await store.claim(claiming("r2")) == Ready(SNAPSHOT, (standing(),))
        assert [one.call_id for one in await store.unsettled(NOW)] == ["b"]
        assert await store.day_usage(DAY) == (2, 300_010)
        await store.end(ending("r2"))
        assert await store.day_usage(DAY) == (2, 300_010)


async def test_the_calls_of_a_run_that_outlived_its_lease_are_unsettled_once_it_is_taken_over(
    target: str, store: SqlStore, neighbour: int
) -> None:
    async with await opened(target, pid=neighbour) as slow:
        await slow.claim(claiming("r1"))
        await slow.reserve(reserving("r1", "a"))
        assert await store.unsettled(NOW + LEASE) == ()
        assert await store.claim(claiming("r2", at=NOW + LEASE)) == Ready(SNAPSHOT)
        assert [one.call_id for one in await store.unsettled(NOW + LEASE)] == ["a"]
        await slow.end(ending("r1", closed=False))
    assert await store.day_usage(DAY) == (1, 300_000)
    assert await store.claim(claiming("r3", at=NOW + LEASE)) == Busy("r2", "here")


async def test_a_run_on_another_host_is_taken_over_when_its_lease_ran_out(target: str, store: SqlStore) -> None:
    async with await opened(target, host="there") as other:
        await other.claim(claiming("r1"))
        await other.reserve(reserving("r1", "a"))
        just_before = NOW + LEASE - timedelta(microseconds=1)
        assert await store.claim(claiming("r2", at=just_before)) == Busy("r1", "there")
        assert await store.claim(claiming("r2", at=NOW + LEASE)) == Ready(SNAPSHOT)
        with pytest.raises(StoreError, match="r1 no longer holds question 'q'") as caught:
            await other.reserve(reserving("r1", "b"))
        assert caught.value.fault is StoreFault.UNWRITABLE
        await other.settle([passed("a", 5)])
        await other.end(ending("r1"))
    assert await store.day_usage(DAY) == (1, 5)
    assert await store.unsettled(NOW + LEASE) == ()
    assert await store.claim(claiming("r3")) == Decided({"outcome": "agreed", "exit_code": 0, "run": "r1"})
    await store.reserve(reserving("r2", "c"))
    await store.end(ending("r2"))
    assert isinstance(first := await store.claim(claiming("r4")), Decided)
    assert first.receipt["run"] == "r1"


async def test_a_process_with_the_number_of_one_that_is_gone_is_another(target: str, store: SqlStore) -> None:
    await store.claim(claiming("r1"))
    sql(target, "UPDATE runs SET started = 'another-1' WHERE started <> ''")
    expected = Ready() if STARTS_ARE_KNOWN else Busy("r1", "here")
    assert await store.claim(claiming("r2")) == expected


async def test_a_run_that_never_reserved_ends(store: SqlStore) -> None:
    await store.claim(claiming("r1"))
    await store.end(ending("r1", closed=False, counts_as_attempt=False))
    assert await store.claim(claiming("r2")) == Ready(SNAPSHOT)
    await store.end(ending("r2", outcome="needs_human"))
    assert isinstance(await store.claim(claiming("r3")), Decided)


async def test_a_run_that_ended_reserves_no_more(store: SqlStore) -> None:
    await store.claim(claiming("r1"))
    await store.end(ending("r1", closed=False))
    with pytest.raises(ValueError, match="'r1' has ended"):
        await store.reserve(reserving("r1", "c"))


@pytest.mark.parametrize("run", ["r2", "r1"])
async def test_a_run_ends_only_what_it_claimed(store: SqlStore, run: str) -> None:
    await store.claim(claiming("r1"))
    with pytest.raises(ValueError, match="never claimed question"):
        await store.end(ending(run, key="other"))
    with pytest.raises(ValueError, match="never claimed question"):
        await store.reserve(reserving(run, "c", key="other"))
    assert await store.last_seq() == 0


async def test_a_run_id_is_used_once(store: SqlStore) -> None:
    await store.claim(claiming("r1"))
    await store.end(ending("r1"))
    with pytest.raises(ValueError, match="'r1' was used before"):
        await store.claim(claiming("r1", "another"))
    assert await store.claim(claiming("r2", "another")) == Ready()


async def test_a_released_question_was_never_claimed(store: SqlStore) -> None:
    await store.claim(claiming("r1"))
    for _ in range(2):
        await store.release("r1")
    assert await store.claim(claiming("r2", digest="sha256:else")) == Ready()
    await store.end(ending("r2", closed=False))
    assert await store.claim(claiming("r1", digest="sha256:else")) == Ready(SNAPSHOT, (), attempts=1)
    await store.release("r1")
    assert await store.claim(claiming("r3", digest="sha256:else")) == Ready(SNAPSHOT, (), attempts=1)


async def test_what_reserved_calls_is_not_released(store: SqlStore) -> None:
    await store.claim(claiming("r1"))
    await store.reserve(reserving("r1", "a"))
    with pytest.raises(ValueError, match="reserved calls"):
        await store.release("r1")
    assert await store.claim(claiming("r2")) == Busy("r1", "here")


async def test_a_claim_whose_caller_stopped_waiting_holds_nothing(store: SqlStore) -> None:
    waiting = asyncio.ensure_future(store.claim(claiming("r1")))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await store.claim(claiming("r2", digest="sha256:else")) == Ready()
