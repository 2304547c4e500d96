"""Who has answered, with what exit code one goes on, and how long one waits."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from decide.fault import StoreError
from decide.handoff.entry import Answer, Entry, EntryState, Why
from decide.handoff.inbox import Item, ItemState
from decide.handoff.ports import Onward, Standing
from decide.handoff.waiting import LONGEST_POLL_S, Answered, answer_of, exit_now, until_answered
from tests.decide.fakes import NOW
from tests.decide.handoff.fakes import MemoryHandoff
from tests.decide.handoff.samples import DOWN, QUESTION, Time, raised, receipt_of

ITEM = Item("item-1", QUESTION, ItemState.WAITING, NOW, NOW, "typed", "ada")
ENTRY = Entry("r1", QUESTION, Why.NEEDS_HUMAN, EntryState.OPEN, NOW)
PERSON = {"name": "ada", "option": "opt_b", "text": None, "at": NOW.isoformat(), "surface": "chat"}
HUMAN = receipt_of("needs_human", exit_code=3)
WALLED = receipt_of("walled", exit_code=4)
ERROR = receipt_of("error", exit_code=2)


def standing(state: ItemState | None, receipt: Any, entry: EntryState | None) -> Standing:
    item = None if state is None else replace(ITEM, state=state)
    return Standing(item, receipt, None if entry is None else replace(ENTRY, state=entry))


@pytest.mark.parametrize(
    ("now", "answered", "exit_code"),
    [
        (standing(ItemState.WAITING, None, None), None, 2),
        (standing(ItemState.RUNNING, None, None), None, 2),
        (standing(ItemState.RETRYING, ERROR, None), None, 2),
        (standing(ItemState.QUEUED, HUMAN, EntryState.OPEN), None, 3),
        (standing(ItemState.QUEUED, WALLED, EntryState.OPEN), None, 4),
        (standing(ItemState.DONE, receipt_of("agreed"), None), Answered.LADDER, 0),
        (standing(ItemState.DONE, receipt_of("reconsidered"), None), Answered.LADDER, 0),
        (standing(ItemState.DONE, receipt_of("single_rung"), EntryState.RESOLVED), Answered.LADDER, 0),
        (standing(ItemState.DONE, HUMAN | {"person": PERSON}, EntryState.ANSWERED), Answered.PERSON, 0),
        (standing(ItemState.DONE, WALLED, EntryState.ANSWERED), Answered.PERSON, 0),
        (standing(ItemState.DONE, WALLED, EntryState.CANCELLED), Answered.CANCELLED, 4),
        (standing(ItemState.RETRYING, ERROR, EntryState.CANCELLED), None, 2),
        (standing(None, receipt_of("agreed"), None), Answered.LADDER, 0),
        (standing(None, HUMAN, EntryState.OPEN), None, 3),
        (standing(None, HUMAN, EntryState.CANCELLED), Answered.CANCELLED, 3),
        (standing(None, receipt_of("cancelled", exit_code=130), None), None, 130),
    ],
)
def test_where_a_question_stands(now: Standing, answered: Answered | None, exit_code: int) -> None:
    assert answer_of(now) is answered
    assert exit_now(now) == exit_code


async def queued(store: MemoryHandoff) -> None:
    """A raised question that waits for a person."""
    await store.raise_question(raised())
    store.ended(HUMAN, Onward(QUESTION, (ItemState.QUEUED, NOW), why=Why.NEEDS_HUMAN))


async def test_waiting_ends_when_a_person_answers() -> None:
    store, time = MemoryHandoff(), Time()
    await queued(store)

    async def sleep(seconds: float) -> None:
        await time.sleep(seconds)
        if len(time.slept) == 3:
            await store.answer("r1", Answer("ada", time.now, "chat", option="opt_b"))

    done = await until_answered("item-1", store=store, sleep=sleep, monotonic=time.monotonic)
    assert answer_of(done) is Answered.PERSON
    assert done.receipt is not None
    assert done.receipt["person"]["option"] == "opt_b"
    assert len(time.slept) == 3


async def test_it_looks_less_often_as_time_goes_and_not_beyond_its_time() -> None:
    store, time = MemoryHandoff(), Time()
    await queued(store)
    done = await until_answered("q-1", store=store, sleep=time.sleep, monotonic=time.monotonic, timeout_s=60.0)
    assert answer_of(done) is None
    assert exit_now(done) == 3
    assert time.slept[0] == 0.5
    assert time.slept == sorted(time.slept[:-1]) + time.slept[-1:]
    assert max(time.slept) == LONGEST_POLL_S
    assert time.now == NOW + timedelta(seconds=60)


async def test_no_time_is_one_look() -> None:
    store, time = MemoryHandoff(), Time()
    await queued(store)
    await until_answered("r1", store=store, sleep=time.sleep, monotonic=time.monotonic, timeout_s=0)
    assert time.slept == []


async def test_a_ruling_may_be_enough() -> None:
    store, time = MemoryHandoff(), Time()
    await queued(store)
    waits = until_answered(
        "item-1", store=store, sleep=time.sleep, monotonic=time.monotonic, timeout_s=9, ruling_is_enough=True
    )
    assert (await waits).receipt == HUMAN
    assert time.slept == []


async def test_what_nobody_can_wait_for() -> None:
    store, time = MemoryHandoff(fault=DOWN), Time()
    with pytest.raises(LookupError):
        await until_answered("item-9", store=store, sleep=time.sleep, monotonic=time.monotonic)
    store.fault_in = frozenset({"standing"})
    with pytest.raises(StoreError):
        await until_answered("item-9", store=store, sleep=time.sleep, monotonic=time.monotonic)
