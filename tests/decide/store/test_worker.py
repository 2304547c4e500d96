"""Worker: acts follow one another on one thread, and what queues up is settled together."""

import asyncio
import threading
from collections.abc import Sequence
from functools import partial

import pytest

from decide.ports import Settlement
from decide.store.worker import Settling, Worker
from tests.decide.store.work import passed

WITHIN_S = 60.0


async def test_acts_follow_one_another_on_one_thread() -> None:
    worker = Worker()
    order: list[int] = []

    def act(number: int) -> int:
        order.append(number)
        return threading.get_ident()

    threads = await asyncio.gather(*(worker.run(partial(act, n)) for n in range(20)))
    worker.close()
    assert order == list(range(20))
    assert len(set(threads)) == 1
    assert threads[0] != threading.get_ident()


async def test_what_queues_up_behind_a_settlement_shares_the_next() -> None:
    worker, begun, go = Worker(), threading.Event(), threading.Event()
    batches: list[list[str]] = []

    def settle(settlements: Sequence[Settlement]) -> None:
        batches.append([one.call_id for one in settlements])
        begun.set()
        assert go.wait(WITHIN_S)

    settling = Settling(worker, settle)
    first = asyncio.ensure_future(settling.add([passed("a")]))
    assert await asyncio.to_thread(begun.wait, WITHIN_S)
    others = [asyncio.ensure_future(settling.add([passed(name)])) for name in "bcd"]
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(first, *others)
    worker.close()
    assert batches == [["a"], ["b", "c", "d"]]


async def test_a_failure_reaches_everyone_who_shared_it() -> None:
    worker = Worker()

    def settle(_: Sequence[Settlement]) -> None:
        raise OSError("no disk")

    settling = Settling(worker, settle)
    answers = await asyncio.gather(*(settling.add([passed(name)]) for name in "ab"), return_exceptions=True)
    worker.close()
    assert [str(one) for one in answers] == ["no disk", "no disk"]


async def test_an_act_is_done_though_nobody_waits_any_more() -> None:
    worker, go, done = Worker(), threading.Event(), threading.Event()
    waiting = asyncio.ensure_future(worker.run(lambda: go.wait(WITHIN_S)))
    queued = asyncio.ensure_future(worker.run(done.set))
    await asyncio.sleep(0)
    for one in (waiting, queued):
        one.cancel()
        with pytest.raises(asyncio.CancelledError):
            await one
    go.set()
    assert await asyncio.to_thread(done.wait, WITHIN_S)
    worker.close()
