"""Every case of kind 6 again, through whole runs at each level: the level's own worst case, and the same rules."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from canary.capacity.history import decisions
from decide.brief import Brief
from decide.fault import StoreError, StoreFault
from decide.ladder import Role
from decide.ledger import RowKind
from decide.level import LEVELS, Level
from decide.money import dollars, micro_usd
from decide.ports import Access, Caps, Settlement
from decide.question import LevelName, UsageError
from decide.reply import Reply
from decide.ruling import Outcome
from decide.run import ask
from decide.setup import Setup
from decide.store.store import SqlStore
from decide.watch import Event, PassOut
from tests.cases.adapter import given
from tests.cases.test_ledger_cases import streamed
from tests.decide.fakes import (
    QUESTION,
    Answer,
    Clock,
    MemoryStore,
    Scripted,
    hangs,
    rung,
    says,
    setup_of,
)
from tests.decide.store.work import DAY, NOW, claiming, dead_pid, opened, passed, reserving, sql

EACH = pytest.mark.parametrize("level", LEVELS.values(), ids=str)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    async with await opened(str(tmp_path / "store.db")) as made:
        yield made


def costs(micro: int) -> Answer:
    """A model that names an option, whose client says what that cost."""

    async def answer(brief: Brief, access: Access) -> Reply:
        return replace(await says("opt_a")(brief, access), cost_micro_usd=micro)

    return answer


def priced(ask_model: Any, store: SqlStore, worst: int, **fields: Any) -> Setup:
    """A ladder of which no call can cost more than `worst` micro-dollars."""
    rungs = {
        role.value: rung(name, ask_model, role=role, max_micro_usd_per_pass=worst)
        for name, role in (("fable", Role.PRIMARY), ("astra", Role.SECOND))
    }
    return setup_of(ask_model, ask_model, store, **rungs, **fields)


async def charged(store: SqlStore, micro: int) -> None:
    """Charge the day with an amount before the run."""
    await store.claim(claiming("before", "before"))
    await store.reserve(reserving("before", "before", key="before", micro=micro))
    await store.settle([passed("before", micro)])


@EACH
async def test_led_03_of_parallel_runs_as_many_as_fit_are_admitted(level: Level, store: SqlStore) -> None:
    """LED-03: each run's worst case is 0.09, whatever its passes."""
    case, passes = given("LED-03"), level.max_passes
    await charged(store, micro_usd(case["recorded_usd"]))
    worst, model = [micro_usd(usd) for usd in case["parallel_reservations_usd"]], Scripted(costs(1))
    setup = priced(model, store, worst[0] // passes, caps=Caps(None, micro_usd(case["cap_usd"])))
    gate = asyncio.Event()

    async def together(brief: Brief, access: Access) -> Reply:
        await gate.wait()
        return await costs(1)(brief, access)

    model.answer = together
    questions = [replace(QUESTION, id=f"q-{n}") for n, _ in enumerate(worst)]
    tasks = [asyncio.create_task(ask(one, setup=setup, level=level.name)) for one in questions]
    first, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    while len(first) < 2:
        more, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        first |= more
    assert {task.result().outcome for task in first} == {Outcome.HELD}
    gate.set()
    done = await asyncio.gather(*tasks)
    assert [one.outcome for one in done].count(Outcome.AGREED) == 2
    held = [one for one in done if one.outcome is Outcome.HELD]
    assert [(one.exit_code, one.document["passes"]) for one in held] == [(2, [])] * 2


@EACH
@pytest.mark.parametrize("part", ["a", "b", "c"])
async def test_led_12_money_meets_its_cap_to_the_last_micro_dollar(level: Level, part: str, store: SqlStore) -> None:
    """LED-12: calls that are no whole cents, until the cap has no room for the next run's worst case."""
    case = given("LED-12")[part]
    each, cap = micro_usd(case["usd_each"]), micro_usd(case["cap_usd"])
    worst = each * level.max_passes
    used = max(cap - worst, 0)
    setup = priced(costs(each), store, each, caps=Caps(None, used + worst))
    await charged(store, used)
    first = await ask(replace(QUESTION, id="first"), setup=setup, level=level.name)
    assert first.outcome is Outcome.AGREED
    spent = sum(Decimal(one["cost"]["usd"]) for one in first.document["passes"])
    assert spent == Decimal(case["usd_each"]) * len(first.document["passes"])
    assert await store.day_usage(DAY) == (1 + len(first.document["passes"]), used + int(spent * 1_000_000))
    next_one = await ask(replace(QUESTION, id="next"), setup=setup, level=level.name)
    assert next_one.outcome is Outcome.HELD
    assert dollars(used + int(spent * 1_000_000)) in next_one.document["why"]


@EACH
async def test_led_13_a_model_without_a_price_is_refused_before_any_call(level: Level, store: SqlStore) -> None:
    """LED-13."""
    model, known = Scripted(says("opt_a")), {"fable-model", "astra-model"}
    setup = setup_of(
        model,
        model,
        store,
        caps=Caps(None, 20_000_000),
        price=lambda usage, name: usage.total if name in known else None,
    )
    other = replace(setup.primary, accepted=frozenset({"fable-model", "fable-new"}))
    setup = replace(
        setup, primary=other, levels={**LEVELS, level.name: replace(level, models=(("fable", "fable-new"),))}
    )
    with pytest.raises(UsageError, match=r"unpriced_model.*'fable-new'"):
        await ask(QUESTION, setup=setup, level=level.name)
    assert (model.briefs, await store.last_seq(), await store.day_usage(DAY)) == ([], 0, (0, 0))
    rest = next(name for name in LevelName if name is not level.name)
    assert (await ask(QUESTION, setup=setup, level=rest)).outcome is Outcome.AGREED


@EACH
@pytest.mark.parametrize("price", [0, None])
async def test_led_13_a_price_of_0_is_one_and_no_price_is_none(
    level: Level, price: int | None, store: SqlStore
) -> None:
    """LED-13: an explicit 0 is charged at 0; an unknown cost is charged at its worst case and told as unpriced."""
    setup = setup_of(says("opt_a"), says("opt_a"), store, price=lambda usage, model: price)
    done = await ask(QUESTION, setup=setup, level=level.name)
    passes = done.document["passes"]
    told = None if price is None else {"usd": "0.00", "source": "price_table"}
    assert [one["cost"] for one in passes] == [told] * len(passes)
    worst = 500_000 if price is None else 0
    used = sum(micro_usd(one["charged_usd"]) for one in passes)
    assert await store.day_usage(DAY) == (len(passes), used)
    assert used == len(passes) * worst


@EACH
async def test_led_05_a_run_whose_process_died_stays_charged_at_its_levels_worst_case(
    level: Level, tmp_path: Path
) -> None:
    """LED-05."""
    target, out = str(tmp_path / "store.db"), asyncio.Event()
    micro = micro_usd(str(given("LED-05")["steps"][0].split()[1]))

    def watch(event: Event) -> None:
        if isinstance(event, PassOut):
            out.set()

    async with await opened(target, pid=dead_pid()) as gone:
        setup = priced(hangs, gone, micro)
        task = asyncio.create_task(ask(QUESTION, setup=setup, level=level.name, watch=watch))
        await out.wait()
        async with await opened(target) as store:
            assert await store.day_usage(DAY) == (level.max_passes, level.max_passes * micro)
            left = await store.unsettled(NOW)
            assert [one.micro_usd for one in left] == [micro] * level.max_passes
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@EACH
async def test_led_01_calls_that_were_streamed_in_parts_are_charged_once_each(level: Level, store: SqlStore) -> None:
    """LED-01: every call tells its cost three times over, and the last word of each counts."""
    rows = [row for row in given("LED-01")["rows"] if row["call_id"] == "c1"]
    told = streamed(rows)

    async def answer(brief: Brief, access: Access) -> Reply:
        said = await says("opt_a")(brief, access)
        return replace(said, usage=told.usage, cost_micro_usd=told.cost_micro_usd)

    done = await ask(QUESTION, setup=priced(answer, store, 500_000), level=level.name)
    passes, each = done.document["passes"], micro_usd(rows[-1]["usd"])
    assert [(one["tokens"]["output"], one["cost"]["usd"]) for one in passes] == [(384, "0.038")] * len(passes)
    assert await store.day_usage(DAY) == (len(passes), len(passes) * each)
    (run,) = await decisions(store, since=NOW - timedelta(days=1))
    assert sum(use.all_micro_usd for use in run.uses.values()) == len(passes) * each


@EACH
async def test_led_10_a_run_is_charged_to_its_day_and_the_cap_is_that_days(level: Level, store: SqlStore) -> None:
    """LED-10: 4.00 just before midnight UTC, 1.00 just after it; what holds one day holds nothing on the next."""
    late, early = given("LED-10")["rows"]
    clock, ids = Clock(NOW, timedelta()), count(1)
    spent = {"2026-10-15": 0, "2026-10-16": 0}
    for row in (late, early):
        clock.now = datetime.fromisoformat(row["ts"])
        day, usd = row["ts"][:10], micro_usd(row["usd"])
        each = usd // level.max_passes
        caps = Caps(None, each * level.max_passes)
        setup = priced(costs(each), store, each, caps=caps, clock=clock, fresh_id=lambda: f"id{next(ids)}")
        done = await ask(replace(QUESTION, id=day), setup=setup, level=level.name)
        assert done.outcome is Outcome.AGREED
        spent[day] = each * len(done.document["passes"])
        held = await ask(replace(QUESTION, id=f"{day}-more"), setup=setup, level=level.name)
        rolls = datetime.fromisoformat(f"{day}T00:00:00+00:00") + timedelta(days=1)
        assert (held.outcome, datetime.fromisoformat(held.document["retry_at"])) == (Outcome.HELD, rolls)
    assert {day: (await store.day_usage(day))[1] for day in spent} == spent


@EACH
async def test_led_15_a_run_settled_again_is_charged_no_more(level: Level, store: SqlStore) -> None:
    """LED-15."""
    actual = micro_usd("0.21")
    done = await ask(QUESTION, setup=priced(costs(actual), store, micro_usd("0.30")), level=level.name)
    calls = len(done.document["passes"])
    charge = calls, calls * actual
    assert await store.day_usage(DAY) == charge
    passes = [entry.row for entry in await store.rows_after(0, 100) if entry.row.kind is RowKind.PASS]
    for micro in (actual, 2 * actual, 0):
        await store.settle([Settlement(row.call_id, micro, row) for row in passes])
        assert await store.day_usage(DAY) == charge
    await store.release(passes[0].call_id.rpartition("-")[0])
    assert await store.day_usage(DAY) == charge


@EACH
async def test_led_07_a_ledger_that_does_not_fit_is_never_spent_on(level: Level, tmp_path: Path) -> None:
    """LED-07: what was spent is unknown then, so nothing is asked until a person has looked."""
    target, model = str(tmp_path / "store.db"), Scripted(costs(1))
    async with await opened(target) as store:
        setup = priced(model, store, 1)
        assert (await ask(QUESTION, setup=setup, level=level.name)).outcome is Outcome.AGREED
        asked = len(model.briefs)
        sql(target, "update ledger set micro_usd = 7 where seq = (select max(seq) from ledger)", guarded=False)
        held = await ask(replace(QUESTION, id="next"), setup=setup, level=level.name)
    assert (held.outcome, held.exit_code, len(model.briefs)) == (Outcome.HELD, 4, asked)


@EACH
@pytest.mark.parametrize("fault", [StoreFault.UNREADABLE, StoreFault.UNWRITABLE])
async def test_led_09_a_ledger_that_cannot_be_used_is_never_spent_on(level: Level, fault: StoreFault) -> None:
    """LED-09."""
    model = Scripted(costs(1))
    setup = setup_of(model, model, MemoryStore(fault=StoreError(fault, "as told")))
    held = await ask(QUESTION, setup=setup, level=level.name)
    assert (held.outcome, held.exit_code, model.briefs) == (Outcome.HELD, 4, [])
    assert fault.value in held.document["why"]
