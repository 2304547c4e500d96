"""From an act to what becomes of it: once, recorded before and after, whatever stops it in between."""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from decide.fault import StoreError
from decide.handoff.act import Act, ActEnd, ActState
from decide.handoff.carry import STOPPED, Carried, carry, effect_of
from decide.handoff.click import Click
from decide.handoff.command import CommandClass
from decide.handoff.execution import Fate, Refusal, Rules, Surface
from tests.decide.handoff.fakes import MemoryHandoff
from tests.decide.handoff.samples import DOWN, RULES, Time, new_act
from tests.decide.rungs.test_guardian import until

CHAT, TYPED = Surface
RUN, CLICK, REFUSE = Fate
DONE = ActEnd(True, 0, "restarted")
TTL = timedelta(minutes=10)


class Crash(BaseException):
    """The end of the process, as far as one task can play it."""


@dataclass(slots=True)
class Effects:
    """A runner that keeps what it ran, and ends or fails as it is told; `hold` keeps every run from ending."""

    end: ActEnd = DONE
    error: BaseException | None = None
    hold: bool = False
    ran: list[tuple[tuple[str, ...], float]] = field(default_factory=list)

    async def __call__(self, words: Sequence[str], timeout_s: float) -> ActEnd:
        self.ran.append((tuple(words), timeout_s))
        if self.hold:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        return self.end


@dataclass(slots=True)
class World:
    """A store, what runs, and a clock."""

    store: MemoryHandoff = field(default_factory=MemoryHandoff)
    effects: Effects = field(default_factory=Effects)
    time: Time = field(default_factory=Time)
    ids: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def carry(self, act: Act, rules: Rules = RULES) -> Carried:
        return await carry(
            act,
            store=self.store,
            rules=rules,
            run=self.effects,
            clock=self.time.clock,
            fresh_id=lambda: f"click-{next(self.ids)}",
            ttl=TTL,
        )

    async def effect_of(self, click: Click, rules: Rules = RULES) -> ActEnd:
        return await effect_of(click, store=self.store, rules=rules, run=self.effects, clock=self.time.clock)

    async def pressed(self, line: str = "unit restart worker") -> Click:
        """A click that was minted and pressed."""
        click = (await self.carry(self.store.decide(new_act(line)))).click
        assert click is not None
        assert (await self.store.press(click.id, "ada", self.time.now)).consumed
        return click

    def acted(self) -> list[str]:
        """What the ledger says of acts."""
        return [row.result for row in self.store.rows if row.kind == "act"]


CELLS = [
    ("unit status worker", CHAT, RUN, ActState.DONE, None),
    ("unit status worker", TYPED, RUN, ActState.DONE, None),
    ("unit restart worker", CHAT, CLICK, ActState.CLICKED, None),
    ("unit restart worker", TYPED, REFUSE, ActState.REFUSED, Refusal.TYPED_FORM),
    ("unit wipe worker", CHAT, CLICK, ActState.CLICKED, None),
    ("unit wipe worker", TYPED, REFUSE, ActState.REFUSED, Refusal.TYPED_FORM),
    ("unit wipe sk-ant-api03-SENTINEL", CHAT, REFUSE, ActState.REFUSED, Refusal.UNSHOWABLE),
    ("unit restart worker; reboot", CHAT, REFUSE, ActState.REFUSED, Refusal.NOT_LISTED),
    ("unit restart worker; reboot", TYPED, REFUSE, ActState.REFUSED, Refusal.NOT_LISTED),
]
"""Below, at and above the confirm class on each surface, what no button shows, what is on no list."""


@pytest.mark.parametrize(("line", "surface", "fate", "state", "refusal"), CELLS)
async def test_every_cell(line: str, surface: Surface, fate: Fate, state: ActState, refusal: Refusal | None) -> None:
    world = World()
    done = await world.carry(world.store.decide(new_act(line, surface=surface)))
    act = await world.store.act("act-1")
    assert (done.ruled.fate, done.ruled.refusal, act.state, act.fate) == (fate, refusal, state, fate)
    assert world.effects.ran == ([(tuple(line.split()), 300.0)] if fate is RUN else [])
    assert (done.end is not None) == (fate is RUN)
    assert (done.click is not None) == (fate is CLICK)
    assert act.reason == done.ruled.reason
    assert "SENTINEL" not in act.line


async def test_what_runs_is_recorded_before_it_starts_and_after_it_ends() -> None:
    world = World(effects=Effects(ActEnd(False, 3, "no", "exit status 3")))
    done = await world.carry(world.store.decide(new_act("unit status worker")))
    assert world.acted() == ["running", "failed"]
    assert done.end == (await world.store.act("act-1")).end == ActEnd(False, 3, "no", "exit status 3")


async def test_a_command_runs_as_long_as_its_entry_says() -> None:
    world = World()
    below = Rules(RULES.commands, CommandClass.DESTRUCTIVE)
    await world.carry(world.store.decide(new_act("unit restart 'worker'")), below)
    assert world.effects.ran == [(("unit", "restart", "worker"), 60.0)]


async def test_a_secret_in_a_line_that_runs_is_run_and_not_shown() -> None:
    world = World()
    done = await world.carry(world.store.decide(new_act("unit status sk-ant-api03-SENTINEL")))
    assert world.effects.ran == [(("unit", "status", "sk-ant-api03-SENTINEL"), 300.0)]
    assert "SENTINEL" not in repr(done) + "".join(row.body for row in world.store.rows)


async def test_a_second_click_of_a_thread_is_refused_naming_the_first() -> None:
    world = World()
    first = await world.carry(world.store.decide(new_act("unit restart worker")))
    second = await world.carry(world.store.decide(new_act("unit wipe cache", "act-2")))
    other = await world.carry(world.store.decide(new_act("unit wipe cache", "act-3", thread="thread-2")))
    assert first.click is not None
    assert other.click is not None
    assert (second.click, second.ruled.fate, second.ruled.refusal) == (None, REFUSE, Refusal.THREAD_BUSY)
    assert second.ruled.reason == "no second click in this thread: unit restart worker is still pending"
    assert (await world.store.act("act-2")).reason == second.ruled.reason
    assert world.effects.ran == []


async def test_a_click_lives_as_long_as_it_is_told_to() -> None:
    world = World()
    click = (await world.carry(world.store.decide(new_act("unit restart worker")))).click
    assert click is not None
    assert (click.line, click.requester, click.expires_at) == ("unit restart worker", "ada", world.time.now + TTL)


async def test_an_act_is_offered_once_however_often_it_is_carried() -> None:
    world = World()
    act = world.store.decide(new_act("unit restart worker"))
    assert (await world.carry(act)).click == (await world.carry(act)).click
    assert len(world.store.confirms) == 1


async def test_a_store_that_is_away_offers_no_click_and_says_why() -> None:
    world = World(MemoryHandoff(fault=DOWN, fault_in=frozenset({"mint"})))
    done = await world.carry(world.store.decide(new_act("unit restart worker")))
    assert (done.click, done.ruled.fate, done.ruled.refusal) == (None, REFUSE, Refusal.STORE)
    assert str(DOWN) in done.ruled.reason
    assert (await world.store.act("act-1")).state is ActState.DUE


@pytest.mark.parametrize(("line", "method"), [("unit status worker", "begin"), ("unit restart worker; x", "refuse")])
async def test_what_cannot_be_recorded_does_not_run(line: str, method: str) -> None:
    world = World(MemoryHandoff(fault=DOWN, fault_in=frozenset({method})))
    with pytest.raises(StoreError):
        await world.carry(world.store.decide(new_act(line)))
    assert world.effects.ran == []
    assert (await world.store.act("act-1")).state is ActState.DUE


async def test_of_many_that_carry_one_act_one_runs_it() -> None:
    world = World()
    act = world.store.decide(new_act("unit status worker"))
    done = await asyncio.gather(*(world.carry(act) for _ in range(8)))
    assert len(world.effects.ran) == 1
    assert sorted(one.elsewhere for one in done) == [False] + [True] * 7
    assert world.acted() == ["running", "done"]


@pytest.mark.parametrize("state", [ActState.REFUSED, ActState.RUNNING, ActState.UNKNOWN])
async def test_what_was_begun_or_refused_before_is_offered_to_nobody(state: ActState) -> None:
    world = World()
    act = world.store.decide(new_act("unit restart worker"))
    world.store.acts["act-1"] = replace(act, state=state)
    done = await world.carry(act)
    assert (done.click, done.elsewhere, world.store.confirms) == (None, True, {})


# clicks that were pressed


async def test_a_pressed_click_runs_the_line_that_its_button_showed() -> None:
    world = World()
    click = await world.pressed()
    assert await world.effect_of(click) == DONE
    assert world.effects.ran == [(("unit", "restart", "worker"), 60.0)]
    assert (await world.store.act("act-1")).state is ActState.DONE
    assert world.acted() == ["running", "done"]


@pytest.mark.parametrize("rules", [Rules(), Rules(RULES.commands[:1])])
async def test_what_left_the_list_since_does_not_run(rules: Rules) -> None:
    world = World()
    click = await world.pressed()
    end = await world.effect_of(click, rules)
    assert end == ActEnd(False, None, "", "nothing runs: unit restart worker is no command of the allow-list")
    act = await world.store.act("act-1")
    assert (act.state, act.end, world.effects.ran) == (ActState.FAILED, end, [])


# whatever comes in between


async def until_running(world: World) -> None:
    await until(lambda: world.effects.ran != [])


Start = Callable[[World], Any]


async def carried(world: World) -> Any:
    return await world.carry(world.store.decide(new_act("unit status worker")))


async def pressed(world: World) -> Any:
    return await world.effect_of(await world.pressed())


@pytest.mark.parametrize("start", [carried, pressed])
async def test_a_crash_after_the_beginning_is_told_unknown_and_never_run_again(start: Start) -> None:
    world = World(effects=Effects(error=Crash()))
    with pytest.raises(Crash):
        await start(world)
    assert (await world.store.act("act-1")).state is ActState.RUNNING
    world.store.process, world.store.gone = "second", {"first"}
    assert await world.store.sweep(world.time.now) == 1
    act = await world.store.act("act-1")
    assert act.state is ActState.UNKNOWN
    assert (await world.carry(act)).elsewhere or (await world.carry(act)).click is not None
    assert await world.store.due_acts() == ()
    assert len(world.effects.ran) == 1
    assert world.acted() == ["running", "unknown"]


@pytest.mark.parametrize("start", [carried, pressed])
async def test_an_end_that_cannot_be_recorded_is_told_unknown(start: Start) -> None:
    world = World(MemoryHandoff(fault=DOWN, fault_in=frozenset({"finish"})))
    with pytest.raises(StoreError):
        await start(world)
    world.store.process, world.store.gone = "second", {"first"}
    await world.store.sweep(world.time.now)
    assert (await world.store.act("act-1")).state is ActState.UNKNOWN


@pytest.mark.parametrize("start", [carried, pressed])
@pytest.mark.parametrize("away", [frozenset(), frozenset({"finish"})])
async def test_a_cancellation_stops_it_records_that_and_passes_on(start: Start, away: frozenset[str]) -> None:
    world = World(MemoryHandoff(fault=DOWN, fault_in=away), Effects(hold=True))
    task = asyncio.ensure_future(start(world))
    await until_running(world)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    act = await world.store.act("act-1")
    assert (act.state, act.end) == ((ActState.RUNNING, None) if away else (ActState.FAILED, STOPPED))


@pytest.mark.parametrize("after", range(12))
async def test_cancelled_at_any_moment_nothing_is_left_running(after: int) -> None:
    world = World()
    task = asyncio.ensure_future(world.carry(world.store.decide(new_act("unit status worker"))))
    for _ in range(after):
        await asyncio.sleep(0)
    stopped = task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert stopped == task.cancelled()
    act = await world.store.act("act-1")
    assert act.state in (ActState.DUE, ActState.FAILED, ActState.DONE)
    if act.state is ActState.DUE:
        assert world.effects.ran == []
