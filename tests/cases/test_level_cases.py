"""Pricing cases of kind 6 again, through whole runs at each level: the level's own worst case, and the same rules."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from decide.brief import Brief
from decide.ladder import Role
from decide.level import LEVELS, Level
from decide.money import dollars, micro_usd
from decide.ports import Access, Caps
from decide.question import LevelName
from decide.reply import Reply
from decide.ruling import Outcome
from decide.run import ask
from decide.setup import Setup, UsageError
from decide.store.store import SqlStore
from decide.watch import Event, PassOut
from tests.cases.adapter import given
from tests.decide.fakes import QUESTION, Answer, Scripted, hangs, rung, says, setup_of
from tests.decide.store.work import DAY, NOW, claiming, dead_pid, opened, passed, reserving

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
