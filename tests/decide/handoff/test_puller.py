"""The daemon's rounds: what is due is asked, carried out and told, and one thing's trouble is no other's."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from decide.handoff.act import ActState, Runner
from decide.handoff.click import TTL
from decide.handoff.entry import EntryState, Why
from decide.handoff.execution import Fate, Surface
from decide.handoff.inbox import AGAIN, ItemState, after
from decide.handoff.ports import Onward
from decide.handoff.puller import LEASE, MOST_ACTS, Puller
from decide.handoff.webhook import Hook
from decide.question import Question, UsageError
from decide.receipt import Receipt
from decide.ruling import Outcome
from tests.decide.fakes import NOW
from tests.decide.handoff.fakes import MemoryHandoff
from tests.decide.handoff.samples import DOWN, QUESTION, RULES, Time, new_act, raised, receipt_of
from tests.decide.handoff.test_carry import Effects
from tests.decide.handoff.test_webhook import Receiver, status
from tests.decide.rungs.test_guardian import until

HOOK = Hook("https://hooks.example/fleet", "whsec_U0VOVElORUxTRU5USU5FTFNFTlRJTkVM")
KEY = "sk-ant-api03-SENTINEL"
Ending = Callable[[Question], Awaitable[Receipt]]


def question(number: int, **changes: Any) -> Question:
    return replace(QUESTION, id=f"q-{number}", text=f"Question {number}?", **changes)


@dataclass(slots=True)
class World:
    """A daemon's store, its rounds, and what it asked; `outcomes` are what questions come to by their id."""

    store: MemoryHandoff = field(default_factory=MemoryHandoff)
    time: Time = field(default_factory=Time)
    effects: Effects = field(default_factory=Effects)
    far: Receiver = field(default_factory=lambda: Receiver(status(200)))
    outcomes: dict[str, Outcome | BaseException | Ending] = field(default_factory=dict)
    asked: list[tuple[str, str, Surface, str]] = field(default_factory=list)
    out: int = 0
    most_out: int = 0
    ids: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def puller(self, **changes: Any) -> Puller:
        values: dict[str, Any] = {
            "store": self.store,
            "ask": self.ask,
            "rules": RULES,
            "run": self.effects,
            "send": self.far,
            "clock": self.time.clock,
            "sleep": self.time.sleep,
            "fresh_id": lambda: f"click-{next(self.ids)}",
            "hooks": {"fleet": HOOK},
        }
        return Puller(**(values | changes))

    async def raise_(self, *questions: Question, **changes: Any) -> None:
        for number, one in enumerate(questions, 1):
            await self.store.raise_question(raised(f"item-{number}", one, **changes))

    async def ask(self, asked: Question, snapshot: str, surface: Surface, requester: str) -> Receipt:
        self.asked.append((asked.key, snapshot, surface, requester))
        self.out += 1
        self.most_out = max(self.most_out, self.out)
        try:
            await asyncio.sleep(0)
            comes_to = self.outcomes.get(asked.key, Outcome.AGREED)
            if isinstance(comes_to, BaseException):
                raise comes_to
            if not isinstance(comes_to, Outcome):
                return await comes_to(asked)
            return self.end(asked, comes_to)
        finally:
            self.out -= 1

    def end(self, asked: Question, outcome: Outcome) -> Receipt:
        """A run that ended so, as a run records it."""
        why = {Outcome.NEEDS_HUMAN: Why.NEEDS_HUMAN, Outcome.WALLED: Why.WALLED}.get(outcome)
        at = self.time.now
        receipt = receipt_of(outcome, exit_code=3, question=asked, id=f"r-{asked.key}-{next(self.ids)}")
        receipt["ended_at"] = at.isoformat()
        item = after(outcome, why=why, retry_at=at + timedelta(minutes=1), now=at)
        self.store.ended(receipt, Onward(asked, item, answered=outcome is Outcome.AGREED, why=why))
        return Receipt(receipt)

    async def state(self, key: str) -> ItemState:
        return (await self.store.item(key)).state


async def test_a_round_asks_what_was_raised_as_it_was_raised() -> None:
    world = World()
    await world.raise_(question(1), surface=Surface.CHAT, requester="bob")
    (receipt,) = await world.puller().pull(both=True)
    assert world.asked == [("q-1", "frozen", Surface.CHAT, "bob")]
    assert receipt.outcome is Outcome.AGREED
    assert await world.state("q-1") is ItemState.DONE
    assert await world.puller().pull(both=True) == ()


async def test_a_round_takes_as_many_as_it_may_the_most_pressing_first_and_asks_them_at_once() -> None:
    world = World()
    pressing = question(3, deadline=NOW + timedelta(hours=2))
    await world.raise_(question(1), question(2), pressing)
    await world.puller().pull(both=True)
    assert [key for key, *_ in world.asked] == ["q-3"]
    await world.puller(questions_per_tick=5).pull(both=True)
    assert ([key for key, *_ in world.asked[1:]], world.most_out) == (["q-1", "q-2"], 2)


async def test_a_question_that_failed_is_asked_when_it_may_be() -> None:
    world = World(outcomes={"q-1": Outcome.ERROR})
    await world.raise_(question(1))
    puller = world.puller()
    await puller.pull(both=True)
    world.time.now += timedelta(seconds=59)
    await puller.pull(both=True)
    assert len(world.asked) == 1
    world.time.now += timedelta(seconds=1)
    await puller.pull(both=True)
    assert len(world.asked) == 2


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (UsageError("unpriced_model: model 'x' has no price"), "UsageError: unpriced_model: model 'x' has no price"),
        (UsageError(f"odd {KEY}"), "UsageError: odd […]"),
        (DOWN, "StoreError: the store cannot be written: no room"),
        (ValueError(f"what was sent holds {KEY}"), "ValueError"),
        (LookupError(KEY), "LookupError"),
    ],
)
async def test_one_that_cannot_be_asked_waits_and_the_others_are_asked(
    error: Exception, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    world = World(outcomes={"q-2": error})
    await world.raise_(question(1), question(2), question(3))
    receipts = await world.puller(questions_per_tick=3).pull(both=True)
    assert [receipt.document["question"]["id"] for receipt in receipts] == ["q-1", "q-3"]
    item = await world.store.item("q-2")
    assert (item.state, item.due_at) == (ItemState.RETRYING, NOW + AGAIN)
    assert caplog.messages == [f"inbox: item item-2 could not be asked: {told}"]


async def test_a_receipt_that_no_store_took_leaves_the_item_to_be_asked_again() -> None:
    async def held(asked: Question) -> Receipt:
        return Receipt(receipt_of("held", exit_code=4, question=asked), stored=False)

    world = World(outcomes={"q-1": held})
    await world.raise_(question(1))
    await world.puller().pull(both=True)
    item = await world.store.item("q-1")
    assert (item.state, item.due_at) == (ItemState.RETRYING, NOW + AGAIN)


@pytest.mark.parametrize("method", ["sweep", "ask_cleared", "take"])
async def test_a_store_that_is_away_costs_a_round_and_no_more(method: str, caplog: pytest.LogCaptureFixture) -> None:
    world = World(MemoryHandoff(fault=DOWN, fault_in=frozenset({method})))
    await world.raise_(question(1))
    assert await world.puller().pull(both=True) == ()
    assert caplog.messages == [f"inbox: nothing is asked: {DOWN}"]
    world.store.fault = None
    assert len(await world.puller().pull(both=True)) == 1


async def test_an_item_that_could_not_be_put_back_is_put_back_by_a_later_round() -> None:
    world = World(MemoryHandoff(fault=DOWN, fault_in=frozenset({"put_back"})), outcomes={"q-1": ValueError("x")})
    await world.raise_(question(1))
    puller = world.puller()
    await puller.pull(both=True)
    world.time.now += AGAIN
    await puller.pull(both=True)
    assert len(world.asked) == 1
    world.store.fault = None
    await puller.pull(both=True)
    assert len(world.asked) == 2
    await puller.pull(both=True)
    assert len(world.asked) == 2


async def never(asked: Question) -> Receipt:
    await asyncio.Event().wait()
    raise AssertionError("nobody sets that event")


async def test_a_cancellation_passes_on_and_leaves_nothing_taken() -> None:
    world = World(outcomes={"q-1": never, "q-2": never})
    await world.raise_(question(1), question(2))
    task = asyncio.ensure_future(world.puller(questions_per_tick=2).pull(both=True))
    await until(lambda: world.out == 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [await world.state(key) for key in ("q-1", "q-2")] == [ItemState.RETRYING] * 2
    assert world.store.leases == {}


@pytest.mark.parametrize("moments", range(14))
async def test_cancelled_at_any_moment_no_item_is_lost(moments: int) -> None:
    world = World()
    await world.raise_(question(1), question(2))
    task = asyncio.ensure_future(world.puller(questions_per_tick=2).pull(both=True))
    for _ in range(moments):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert {await world.state(key) for key in ("q-1", "q-2")} <= {
        ItemState.WAITING,
        ItemState.RETRYING,
        ItemState.DONE,
    }


async def test_what_a_process_that_died_had_taken_is_asked_by_the_next() -> None:
    world = World()
    await world.raise_(question(1))
    await world.store.take(NOW, 1, LEASE)
    world.store.process = "second"
    await world.puller().pull(both=True)
    assert world.asked == []
    world.store.gone = {"first"}
    await world.puller().pull(both=True)
    assert len(world.asked) == 1


async def test_an_open_wall_is_asked_once_more_when_it_has_cleared() -> None:
    world = World(outcomes={"q-1": Outcome.WALLED})
    await world.raise_(question(1))
    puller = world.puller()
    for both, asked in ((False, 1), (False, 1), (True, 2), (True, 2)):
        await puller.pull(both=both)
        world.time.now += timedelta(minutes=10)
        assert len(world.asked) == asked
    (entry,) = await world.store.entries(9)
    assert (entry.state, entry.asked_again) == (EntryState.OPEN, True)


async def test_a_round_expires_clicks_and_tells_the_lost_unknown() -> None:
    world = World()
    puller = world.puller()
    world.store.decide(new_act("unit restart worker"))
    (offered,) = await puller.carry_due()
    assert offered.click is not None
    world.time.now += TTL
    await puller.pull(both=True)
    assert (await world.store.click(offered.click.id)).state == "expired"


# acts


async def test_due_acts_are_carried_the_first_come_first_and_each_once() -> None:
    world = World()
    minute = timedelta(minutes=1)
    world.store.decide(new_act("unit wipe cache", "late"), NOW + minute)
    world.store.decide(new_act("unit restart worker", "early"), NOW)
    world.store.decide(new_act("unit status worker", "read"), NOW)
    world.store.decide(new_act("unit status worker", "asked", runner=Runner.ASK), NOW)
    done = await world.puller().carry_due()
    assert [one.ruled.fate for one in done] == [Fate.CLICK, Fate.RUN, Fate.REFUSE]
    assert done[2].ruled.reason == "no second click in this thread: unit restart worker is still pending"
    assert (await world.store.act("asked")).state is ActState.DUE
    assert await world.puller().carry_due() == ()
    assert len(world.effects.ran) == 1


async def test_one_act_that_fails_holds_up_no_other(caplog: pytest.LogCaptureFixture) -> None:
    world = World(effects=Effects(error=ValueError(KEY)))
    world.store.decide(new_act("unit status worker", "act-1"))
    world.store.decide(new_act("unit restart worker", "act-2"))
    (done,) = await world.puller().carry_due()
    assert done.click is not None
    assert caplog.messages == ["acts: act act-1 could not be carried out: ValueError"]


async def test_a_round_carries_no_more_than_it_can_hold() -> None:
    world = World()
    for number in range(MOST_ACTS + 2):
        world.store.decide(new_act("unit status worker", f"act-{number}"))
    assert len(await world.puller().carry_due()) == MOST_ACTS
    assert len(await world.puller().carry_due()) == 2


async def test_acts_wait_for_a_store_that_is_away(caplog: pytest.LogCaptureFixture) -> None:
    world = World(MemoryHandoff(fault=DOWN, fault_in=frozenset({"due_acts"})))
    assert await world.puller().carry_due() == ()
    assert caplog.messages == [f"acts: nothing is carried out: {DOWN}"]
