"""The acting half over the real store: the table, one effect a click, a killed process, and a whole day of the inbox."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from decide.handoff.act import ActState, Origin, Runner
from decide.handoff.carry import carry, effect_of
from decide.handoff.command import Command, CommandClass
from decide.handoff.effect import runner
from decide.handoff.entry import Answer
from decide.handoff.execution import Fate, Refusal, Rules, Surface
from decide.handoff.inbox import ItemState
from decide.handoff.puller import Puller
from decide.handoff.waiting import Answered, answer_of, exit_now, until_answered
from decide.ledger import RowKind
from decide.question import Option, Question
from decide.receipt import Receipt
from decide.run import ask
from decide.setup import Setup
from decide.store.store import SqlStore
from tests.decide.fakes import NOW, declines, says, setup_of
from tests.decide.fakes import Answer as Voice
from tests.decide.handoff.samples import QUESTION, RULES, Time, raised
from tests.decide.handoff.test_carry import CELLS, DONE, Effects
from tests.decide.handoff.test_puller import HOOK
from tests.decide.handoff.test_webhook import Receiver, status
from tests.decide.store.handed import acted, acting, rows_of
from tests.decide.store.work import SNAPSHOT, opened

ROOT = Path(__file__).parents[3]


COLOUR = replace(
    QUESTION,
    text="Which colour do we take?",
    options=(Option("opt_a", "The first", action="palette keep blue"), Option("opt_b", "The other")),
)
"""A question that no policy row holds, whose answer stands for a command that takes a click."""
PALETTE = Rules((Command("keep", ("palette", "keep", "{colour}"), CommandClass.WRITE),))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    async with await opened(str(tmp_path / "store.db")) as one:
        yield one


@pytest.mark.parametrize(("line", "surface", "fate", "state", "refusal"), CELLS)
async def test_every_cell(
    store: SqlStore, line: str, surface: Surface, fate: Fate, state: ActState, refusal: Refusal | None
) -> None:
    await acted(store, acting("a1", line=line, surface=surface))
    effects, act = Effects(), await store.handoff.act("a1")
    done = await carry(
        act, store=store.handoff, rules=RULES, run=effects, clock=lambda: NOW, fresh_id=lambda: "click-1"
    )
    kept = await store.handoff.act("a1")
    assert (done.ruled.fate, done.ruled.refusal, kept.state, kept.fate) == (fate, refusal, state, fate)
    assert kept.reason == done.ruled.reason
    assert len(effects.ran) == (fate is Fate.RUN)
    assert kept.end == done.end
    assert not any("SENTINEL" in row.body for row in await rows_of(store, RowKind.ACT, RowKind.CLICK))


async def test_one_click_a_thread_one_effect_a_click(store: SqlStore) -> None:
    ids, effects = iter(("click-1", "click-2")), Effects()
    over: dict[str, Any] = {"store": store.handoff, "rules": RULES, "run": effects, "clock": lambda: NOW}
    for name in ("a1", "a2"):
        await acted(store, acting(name, line=f"unit restart {name}"))
    first, second = [
        await carry(await store.handoff.act(name), fresh_id=lambda: next(ids), **over) for name in ("a1", "a2")
    ]
    assert first.click is not None
    assert second.ruled.refusal is Refusal.THREAD_BUSY
    assert second.ruled.reason == (await store.handoff.act("a2")).reason
    presses = await asyncio.gather(*(store.handoff.press("click-1", "ada", NOW) for _ in range(8)))
    assert [press.consumed for press in presses].count(True) == 1
    assert await effect_of(first.click, **over) == DONE
    assert effects.ran == [(("unit", "restart", "a1"), 60.0)]
    assert [row.result for row in await rows_of(store, RowKind.ACT)] == ["refused", "running", "done"]
    assert (await carry(await store.handoff.act("a1"), fresh_id=lambda: "x", **over)).end is None
    assert len(effects.ran) == 1


KILLED = """
import asyncio, os, signal, sys
from decide.handoff.carry import carry
from tests.decide.fakes import NOW
from tests.decide.handoff.samples import RULES
from tests.decide.store.handed import acted, acting
from tests.decide.store.work import opened

async def run(words, timeout_s):
    print("begun", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with await opened(sys.argv[1]) as store:
        await acted(store, acting("a1", line="unit status web"))
        act = await store.handoff.act("a1")
        await carry(act, store=store.handoff, rules=RULES, run=run, clock=lambda: NOW, fresh_id=lambda: "c")

asyncio.run(main())
"""


async def test_what_a_killed_process_had_begun_is_told_unknown_and_never_run_again(tmp_path: Path) -> None:
    target = str(tmp_path / "store.db")
    pipe = asyncio.subprocess.PIPE
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, target, cwd=ROOT, stdout=pipe)
    said, _ = await killed.communicate()
    assert (said, killed.returncode) == (b"begun\n", -signal.SIGKILL)
    async with await opened(target) as store:
        assert (await store.handoff.act("a1")).state is ActState.RUNNING
        assert await store.handoff.sweep(NOW) == 1
        act, effects = await store.handoff.act("a1"), Effects()
        done = await carry(
            act, store=store.handoff, rules=RULES, run=effects, clock=lambda: NOW, fresh_id=lambda: "c"
        )
        assert (act.state, done.elsewhere, effects.ran) == (ActState.UNKNOWN, True, [])
        assert await store.handoff.due_acts() == ()
        assert [row.result for row in await rows_of(store, RowKind.ACT)] == ["running", "unknown"]


def daemon(store: SqlStore, setup: Setup, far: Receiver, time: Time, **changes: Any) -> Puller:
    """A daemon's rounds with the real run over a ladder of fakes, and real programs."""

    async def asks(question: Question, frozen: str, surface: Surface, requester: str) -> Receipt:
        return await ask(question, setup=setup, origin=Origin(surface, requester, Runner.DAEMON))

    values: dict[str, Any] = {
        "store": store.handoff,
        "ask": asks,
        "rules": setup.rules,
        "run": runner({"PATH": "/usr/bin:/bin"}),
        "send": far,
        "clock": time.clock,
        "sleep": time.sleep,
        "fresh_id": lambda: "click-1",
        "hooks": {"fleet": HOOK},
    }
    return Puller(**(values | changes))


def ladder(store: SqlStore, primary: Voice, second: Voice, time: Time) -> Setup:
    return setup_of(primary, second, store, rules=RULES, clock=time.clock, monotonic=time.monotonic, sleep=time.sleep)


async def test_from_raising_to_the_effect_of_a_press(store: SqlStore) -> None:
    time, far, effects = Time(), Receiver(status(200)), Effects()
    setup = replace(ladder(store, says("opt_a"), says("opt_a"), time), rules=PALETTE)
    puller = daemon(store, setup, far, time, run=effects)
    await store.handoff.raise_question(raised(question=COLOUR, surface=Surface.CHAT, snapshot=SNAPSHOT))
    (receipt,) = await puller.pull(both=True)
    assert receipt.document["execution"]["fate"] == "click"
    (carried,) = await puller.carry_due()
    assert carried.click is not None
    assert (await store.handoff.press(carried.click.id, "ada", time.now)).consumed
    over: dict[str, Any] = {"store": store.handoff, "rules": PALETTE, "run": effects, "clock": time.clock}
    assert await effect_of(carried.click, **over) == DONE
    assert effects.ran == [(("palette", "keep", "blue"), 300.0)]
    await puller.tell()
    await puller.tell()
    assert [b'"answered_by":{"model":"fable-model"' in (request.body or b"") for request in far.asked] == [True]
    waits = until_answered("item-1", store=store.handoff, sleep=time.sleep, monotonic=time.monotonic)
    standing = await waits
    assert (answer_of(standing), exit_now(standing)) == (Answered.LADDER, 0)
    assert await puller.pull(both=True) == ()


async def test_from_raising_to_a_persons_answer(store: SqlStore) -> None:
    time, far = Time(), Receiver(status(200))
    setup = ladder(store, declines(), says("opt_a"), time)
    puller = daemon(store, setup, far, time)
    await store.handoff.raise_question(raised(snapshot=SNAPSHOT))
    (receipt,) = await puller.pull(both=True)
    standing = await store.handoff.standing("q-1")
    assert (answer_of(standing), exit_now(standing)) == (None, 3)
    assert standing.item is not None
    assert standing.item.state is ItemState.QUEUED
    await puller.tell()
    await store.handoff.answer(receipt.id, Answer("Ada", time.now, "chat", option="opt_b", text="not today"))
    await puller.tell()
    await puller.tell()
    assert [b'"type":"ruling"' in (request.body or b"") for request in far.asked] == [True, False]
    standing = await store.handoff.standing("item-1")
    assert (answer_of(standing), exit_now(standing)) == (Answered.PERSON, 0)


async def test_what_could_not_be_asked_waits_its_time(store: SqlStore) -> None:
    async def broken(*_: Any) -> Receipt:
        raise ValueError("x")

    time, far = Time(), Receiver(status(200))
    puller = daemon(store, ladder(store, says("opt_a"), says("opt_a"), time), far, time, ask=broken)
    await store.handoff.raise_question(raised(question=replace(QUESTION, id="q-2"), snapshot=SNAPSHOT))
    assert await puller.pull(both=True) == ()
    item = await store.handoff.item("q-2")
    assert (item.state, item.due_at) == (ItemState.RETRYING, time.now + timedelta(minutes=5))


async def test_what_was_cut_off_is_given_back(store: SqlStore) -> None:
    out = asyncio.Event()

    async def hangs(*_: Any) -> Receipt:
        out.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets that event")

    time, far = Time(), Receiver(status(200))
    puller = daemon(store, ladder(store, says("opt_a"), says("opt_a"), time), far, time, ask=hangs)
    await store.handoff.raise_question(raised(snapshot=SNAPSHOT))
    task = asyncio.ensure_future(puller.pull(both=True))
    await asyncio.wait_for(out.wait(), 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    item = await store.handoff.item("q-1")
    assert (item.state, item.due_at) == (ItemState.RETRYING, time.now)
