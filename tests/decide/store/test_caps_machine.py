"""Caps as a machine: after any sequence of steps the day's totals are the sum over its slots, and within the caps."""

import asyncio
import itertools
import shutil
import tempfile
from collections.abc import Coroutine
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

from decide.ports import Busy, Caps, CapSpent, Ready
from decide.store.audit import Verified
from decide.store.store import SqlStore
from tests.decide.store.cluster import Cluster
from tests.decide.store.work import NOW, claiming, dead_pid, ending, opened, passed, reserving

T = TypeVar("T")
AMOUNTS = st.integers(0, 400_000)
CAPS = Caps(6, 1_500_000)
NUMBERS = itertools.count()
GONE = dead_pid()


class Model(RuleBasedStateMachine):
    """Two processes, one of which is dead as soon as it has written, work questions of one day."""

    target = ""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.day = f"day-{next(NUMBERS)}"
        self.charged: dict[str, int] = {}
        self.state: dict[str, str] = {}
        self.run_of: dict[str, str] = {}
        self.held: dict[str, str] = {}
        self.dying: set[str] = set()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    @initialize()
    def open_both(self) -> None:
        self.stores: tuple[SqlStore, SqlStore] = (
            self.do(opened(self.target)),
            self.do(opened(self.target, pid=GONE)),
        )

    def teardown(self) -> None:
        for store in self.stores:
            self.do(store.close())
        self.runner.close()

    @rule(dead=st.booleans(), question=st.integers(0, 2))
    def claim(self, dead: bool, question: int) -> None:
        key, run = f"{self.day}-q{question}", f"run-{next(NUMBERS)}"
        holder = self.held.get(key)
        claimed = self.do(self.stores[dead].claim(claiming(run, key)))
        if holder is not None and holder not in self.dying:
            assert claimed == Busy(holder, "here")
            return
        assert isinstance(claimed, Ready)
        for call, of in self.run_of.items():
            if of == holder and self.state[call] == "open":
                self.state[call] = "unsettled"
        self.held[key] = run
        if dead:
            self.dying.add(run)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), each=AMOUNTS, count=st.integers(1, 3))
    def reserve(self, data: st.DataObject, each: int, count: int) -> None:
        key, run = data.draw(st.sampled_from(sorted(self.held.items())))
        calls = [f"call-{next(NUMBERS)}" for _ in range(count)]
        wanted = reserving(run, *calls, key=key, micro=each, caps=CAPS, day=self.day)
        answer = self.do(self.stores[0].reserve(wanted))
        passes = sum(state != "released" for state in self.state.values())
        micro = sum(self.charged.values())
        if passes + count > 6:
            assert answer == CapSpent("passes", passes, 6)
        elif micro + each * count > 1_500_000:
            assert answer == CapSpent("usd", micro, 1_500_000)
        else:
            assert answer is None
            for call in calls:
                self.charged[call], self.state[call], self.run_of[call] = each, "open", run

    @precondition(lambda self: self.charged)
    @rule(data=st.data(), costs=st.lists(AMOUNTS, min_size=1, max_size=3))
    def settle(self, data: st.DataObject, costs: list[int]) -> None:
        calls = [data.draw(st.sampled_from(sorted(self.charged))) for _ in costs]
        self.do(self.stores[0].settle([passed(*one) for one in zip(calls, costs, strict=True)]))
        for call, cost in zip(calls, costs, strict=True):
            if self.state[call] != "settled":
                self.charged[call], self.state[call] = cost, "settled"

    @precondition(lambda self: "unsettled" in self.state.values())
    @rule(data=st.data(), cost=AMOUNTS)
    def settle_by_evidence(self, data: st.DataObject, cost: int) -> None:
        call = data.draw(st.sampled_from(sorted(c for c, s in self.state.items() if s == "unsettled")))
        self.do(self.stores[0].settle_by_evidence(call, cost, at=NOW, evidence_text="an invoice"))
        self.charged[call], self.state[call] = cost, "settled"

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        key, run = data.draw(st.sampled_from(sorted(self.held.items())))
        of_run = [call for call, of in self.run_of.items() if of == run and self.state[call] == "open"]
        self.do(self.stores[0].end(ending(run, key=key, closed=False)))
        for call in of_run:
            self.charged[call], self.state[call] = 0, "released"
        del self.held[key]

    @invariant()
    def the_day_is_the_sum_of_its_slots(self) -> None:
        used = sum(state != "released" for state in self.state.values())
        assert self.do(self.stores[0].day_usage(self.day)) == (used, sum(self.charged.values()))

    @invariant()
    def what_nobody_knows_is_listed(self) -> None:
        lost = {
            call
            for call, state in self.state.items()
            if state == "unsettled" or (state == "open" and self.run_of[call] in self.dying)
        }
        listed = {one.call_id for one in self.do(self.stores[0].unsettled(NOW)) if one.day == self.day}
        assert listed == lost

    @invariant()
    def the_ledger_is_whole(self) -> None:
        self.do(self.stores[0].probe(NOW))


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_the_day_is_charged_what_its_slots_are(request: pytest.FixtureRequest, database: str) -> None:
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
