"""Clicks as a machine: mint, press, press again, other user, expiry, restart and clock step, against a small model."""

import asyncio
import itertools
import shutil
import tempfile
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from decide.handoff.act import ActEnd, ActState
from decide.handoff.click import Click
from decide.handoff.execution import Refusal
from decide.handoff.ports import NewClick, ThreadBusy
from decide.ledger import RowKind
from decide.store.audit import Verified
from decide.store.store import SqlStore
from tests.decide.store.cluster import Cluster
from tests.decide.store.handed import RULED, acted, acting, told_of
from tests.decide.store.work import NOW, dead_pid, opened

T = TypeVar("T")
NUMBERS = itertools.count()
GONE = dead_pid()


@dataclass(slots=True)
class Known:
    """A click as the model has it."""

    thread: str
    expires: datetime
    state: str = "pending"
    act: str = "clicked"
    by_dead: bool = False


class Model(RuleBasedStateMachine):
    """Two processes, one of which is gone as soon as it has written, share clicks in two threads."""

    target = ""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.now = NOW
        self.of = f"m{next(NUMBERS)}"
        self.clicks: dict[str, Known] = {}
        self.events: Counter[tuple[str, str]] = Counter()
        self.begins = 0

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    @initialize()
    def open_both(self) -> None:
        self.stores: list[SqlStore] = [self.do(opened(self.target)), self.do(opened(self.target, pid=GONE))]
        self.do(self.stores[0].handoff.sweep(self.now + timedelta(days=9_999)))
        self.begins = self.do(self.stores[0].last_seq())

    def teardown(self) -> None:
        for store in self.stores:
            self.do(store.close())
        self.runner.close()

    def expire(self) -> int:
        due = [one for one in self.clicks.values() if one.state == "pending" and one.expires <= self.now]
        for one in due:
            one.state = "expired"
            self.events["expired", "none"] += 1
        return len(due)

    @rule(thread=st.sampled_from(["a", "b"]), seconds=st.integers(1, 90))
    def mint(self, thread: str, seconds: int) -> None:
        name, where = f"{self.of}-{next(NUMBERS)}", f"{self.of}-{thread}"
        self.do(acted(self.stores[0], acting(f"act-{name}", where)))
        new = NewClick(name, self.now, timedelta(seconds=seconds))
        made = self.do(self.stores[0].handoff.mint(f"act-{name}", RULED, new))
        self.expire()
        first = next((n for n, one in self.clicks.items() if one.thread == where and one.state == "pending"), None)
        if first is None:
            assert isinstance(made, Click)
            assert (made.id, made.thread, made.expires_at) == (name, where, self.now + new.ttl)
            self.clicks[name] = Known(where, self.now + new.ttl)
            self.events["minted", "none"] += 1
        else:
            assert isinstance(made, ThreadBusy)
            assert made.first.id == first
            self.events["refused", "thread_busy"] += 1

    @precondition(lambda self: self.clicks)
    @rule(data=st.data(), other=st.booleans(), dead=st.booleans(), again=st.integers(1, 3))
    def press(self, data: st.DataObject, other: bool, dead: bool, again: int) -> None:
        name = data.draw(st.sampled_from(sorted(self.clicks)))
        known = self.clicks[name]
        for _ in range(again):
            pressed = self.do(self.stores[dead].handoff.press(name, "bo" if other else "ada", self.now))
            self.expire()
            expected = self.refusal(known, other=other)
            assert pressed.refusal == expected
            if expected is None:
                known.state, known.act, known.by_dead = "consumed", "running", dead
                self.events["consumed", "none"] += 1
            else:
                self.events["refused", expected.value] += 1
            assert pressed.click is not None
            assert pressed.click.state == known.state

    def refusal(self, known: Known, *, other: bool) -> Refusal | None:
        if other:
            return Refusal.OTHER_USER
        return {"pending": None, "consumed": Refusal.ALREADY_CONSUMED, "expired": Refusal.EXPIRED}[known.state]

    @rule()
    def press_one_that_is_none(self) -> None:
        pressed = self.do(self.stores[0].handoff.press(f"{self.of}-none", "ada", self.now))
        assert pressed.refusal is Refusal.UNKNOWN_CLICK
        self.expire()
        self.events["refused", "unknown_click"] += 1

    @rule(seconds=st.integers(-100, 100))
    def step_the_clock(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(dead=st.booleans())
    def restart(self, dead: bool) -> None:
        self.do(self.stores[dead].close())
        self.stores[dead] = self.do(opened(self.target, pid=GONE) if dead else opened(self.target))

    @rule()
    def sweep(self) -> None:
        changed = self.do(self.stores[0].handoff.sweep(self.now))
        lost = [one for one in self.clicks.values() if one.act == "running" and one.by_dead]
        for one in lost:
            one.act = "unknown"
        assert changed == self.expire() + len(lost)

    @precondition(lambda self: self.clicks)
    @rule(data=st.data(), done=st.booleans())
    def finish(self, data: st.DataObject, done: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.clicks)))
        self.do(self.stores[0].handoff.finish(f"act-{name}", ActEnd(done, 0), self.now))
        if self.clicks[name].act == "running":
            self.clicks[name].act = "done" if done else "failed"

    @precondition(lambda self: self.clicks)
    @rule(data=st.data())
    def begin_again(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.clicks)))
        assert self.do(self.stores[0].handoff.begin(f"act-{name}", RULED, self.now)) is False

    @invariant()
    def clicks_and_acts_are_as_the_model_has_them(self) -> None:
        for name, known in self.clicks.items():
            click = self.do(self.stores[0].handoff.click(name))
            act = self.do(self.stores[0].handoff.act(f"act-{name}"))
            assert (click.state, act.state) == (known.state, ActState(known.act))

    @invariant()
    def each_thing_was_recorded_once(self) -> None:
        told = Counter(self.do(told_of(self.stores[0], RowKind.CLICK, after=self.begins)))
        assert told == self.events

    @invariant()
    def the_ledger_is_whole(self) -> None:
        self.do(self.stores[0].probe(NOW))


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_click_has_at_most_one_effect(request: pytest.FixtureRequest, database: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="rw-machine-"))
    server: Cluster | None = request.getfixturevalue("cluster") if database == "postgresql" else None
    where = server.new_database() if server is not None else str(folder / "store.db")

    class There(Model):
        target = where

    few = settings(max_examples=15, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck))
    try:
        run_state_machine_as_test(There, settings=few)
        assert isinstance(asyncio.run(_verified(where)), Verified)
    finally:
        shutil.rmtree(folder)


async def _verified(target: str) -> object:
    async with await opened(target) as store:
        return await store.verify()
