"""Raisers are told once what became of their questions, at the right time, and nobody keeps another waiting."""

import logging
from datetime import timedelta
from typing import Any

import pytest

from decide.handoff.entry import Answer
from decide.handoff.ports import Delivery
from decide.ruling import Outcome
from tests.decide.handoff.fakes import MemoryHandoff
from tests.decide.handoff.samples import DOWN
from tests.decide.handoff.test_puller import KEY, World, question
from tests.decide.handoff.test_webhook import Receiver, status


async def test_a_raiser_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    world = World()
    await world.raise_(question(1))
    puller = world.puller()
    await puller.pull(both=True)
    await puller.tell()
    await puller.tell()
    assert [result for _, result in world.store.told_as] == [Delivery.DELIVERED]
    assert len(world.far.asked) == 1
    assert caplog.messages == ["webhook of fleet: item item-1 delivered (HTTP 200)"]


async def test_a_ruling_and_the_answer_after_it_are_two_messages() -> None:
    world = World(outcomes={"q-1": Outcome.NEEDS_HUMAN})
    await world.raise_(question(1))
    puller = world.puller()
    (receipt,) = await puller.pull(both=True)
    await puller.tell()
    await world.store.answer(receipt.id, Answer("ada", world.time.now, "chat", option="opt_b"))
    await puller.tell()
    first, second = (request.headers["webhook-id"] for request in world.far.asked)
    assert first != second
    assert b'"type":"answer"' in (world.far.asked[1].body or b"")


async def test_what_failed_is_told_at_its_time_and_given_up_in_the_end() -> None:
    world = World(far=Receiver(status(500)))
    await world.raise_(question(1))
    puller = world.puller()
    await puller.pull(both=True)
    for _ in range(20):
        await puller.tell()
        before = len(world.store.told_as)
        await puller.tell()
        assert len(world.store.told_as) == before
        world.time.now += timedelta(hours=1)
    results = [result for _, result in world.store.told_as]
    assert results == [Delivery.FAILED] * 11 + [Delivery.GIVEN_UP]


async def test_raisers_without_a_hook_are_not_told_and_keep_nobody_waiting() -> None:
    world = World()
    others = [question(number, raised_by="nobody") for number in range(1, 41)]
    await world.raise_(*others, question(99))
    await world.puller(questions_per_tick=41).pull(both=True)
    await world.puller().tell()
    assert len(world.far.asked) == 1
    assert len(world.store.told_as) == 1
    await world.puller(hooks={}).tell()
    assert len(world.far.asked) == 1


async def test_one_message_that_fails_holds_up_no_other(caplog: pytest.LogCaptureFixture) -> None:
    async def send(request: Any) -> Any:
        if b'"q-1"' in request.body:
            raise ValueError(KEY)
        return await world.far(request)

    world = World()
    await world.raise_(question(1), question(2))
    puller = world.puller(questions_per_tick=2, send=send)
    await puller.pull(both=True)
    await puller.tell()
    assert sorted(result for _, result in world.store.told_as) == [Delivery.DELIVERED, Delivery.FAILED]
    assert "webhook of fleet: item item-1 failed (ValueError)" in caplog.messages
    assert "SENTINEL" not in caplog.text


@pytest.mark.parametrize("method", ["news", "told"])
async def test_telling_waits_for_a_store_that_is_away(method: str) -> None:
    world = World(MemoryHandoff(fault=DOWN, fault_in=frozenset({method})))
    await world.raise_(question(1))
    puller = world.puller()
    await puller.pull(both=True)
    await puller.tell()
    assert world.store.told_as == []
    world.store.fault = None
    await puller.tell()
    assert [result for _, result in world.store.told_as] == [Delivery.DELIVERED]
    assert len({request.headers["webhook-id"] for request in world.far.asked}) == 1
