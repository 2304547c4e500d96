"""No rule reads a level: each is run at all three, with equal results (design 4.4)."""

import ast
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from decide.brief import compose
from decide.consultation import Order
from decide.consulting import Asking, Consulting
from decide.handoff.act import Origin
from decide.handoff.carry import carry, effect_of
from decide.handoff.command import Command, CommandClass
from decide.handoff.execution import Rules, Surface
from decide.ledger import RowKind
from decide.level import LEVELS, Level
from decide.ports import Caps
from decide.question import LevelName, Option, Question
from decide.receipt import Receipt
from decide.run import ask
from decide.setup import Setup
from decide.slots import PARTS, allot
from decide.snapshot import Snapshot
from decide.store.opening import open_store
from decide.store.store import SqlStore
from decide.watch import unwatched
from tests.decide.fakes import (
    QUESTION,
    Answer,
    MemoryStore,
    Scripted,
    by_place,
    declines,
    says,
    setup_of,
)
from tests.decide.handoff.test_carry import Effects
from tests.decide.test_run import CAPPED, GATED, MALFORMED, NO_LOGIN, TIMED_OUT

DECIDE = Path(__file__).parents[2] / "decide"
RULES = (
    *("gate", "gate_features", "gate_hints", "gate_text", "gate_words", "policy"),
    *("pick", "seat", "quota", "verdict", "consultation", "cross_check", "ruling", "retry", "refusal", "shown"),
    *("handoff/execution", "handoff/command", "handoff/click", "handoff/entry", "handoff/urgency", "handoff/carry"),
    *("store/caps", "store/clicks", "store/acts"),
)
"""The modules that hold gate rows, caps, the ruling and execution tables, and clicks."""


@pytest.mark.parametrize("name", RULES)
def test_no_rule_knows_what_a_level_is(name: str) -> None:
    tree = ast.parse((DECIDE / f"{name}.py").read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    fields = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {"Level", "LevelName", "LEVELS", "level"} & names
    assert "level" not in fields
    assert "decide.level" not in modules


def plain(done: Receipt, *names: str) -> dict[str, Any]:
    """What a receipt says of these fields."""
    return {name: done.document[name] for name in names}


async def at_each(setup: Setup, question: Question = QUESTION, *fields: str, **more: Any) -> list[dict[str, Any]]:
    """These fields of the receipts of a question at every level, each asked on a store of its own."""
    told = []
    for level in LevelName:
        done = await ask(question, setup=replace(setup, store=MemoryStore()), level=level, **more)
        told.append(plain(done, "outcome", "exit_code", "answer", "answered_by", *fields))
    return told


def alike(told: list[dict[str, Any]]) -> dict[str, Any]:
    """What was told at every level; fails where one says something else."""
    assert told[0] == told[1] == told[2]
    return told[0]


@pytest.mark.parametrize("path", GATED)
async def test_gate_rows_hold_at_every_level(path: str) -> None:
    question, answer = GATED[path]
    fields = ("gate", "consultations", "non_vote", "fallback")
    found = alike(await at_each(setup_of(answer, answer), question, *fields))
    assert (found["outcome"], found["exit_code"], bool(found["gate"])) == ("needs_human", 3, True)


async def test_authority_rows_ask_nobody_at_any_level() -> None:
    model = Scripted(says("opt_a"))
    question = replace(QUESTION, options=(Option("opt_a", "Go", acts=("production_write",)), Option("opt_b", "Wait")))
    found = alike(await at_each(setup_of(model, model), question, "gate", "non_vote", "passes", "why"))
    assert (found["outcome"], found["passes"], model.briefs) == ("needs_human", [], [])


CONSTANT: dict[str, tuple[Answer, Answer]] = {
    "agreed": (says("opt_a"), says("opt_a")),
    "the rungs differ": (says("opt_a"), says("opt_b")),
    "the primary is missing": (CAPPED, says("opt_b")),
    "the second is missing": (says("opt_b"), NO_LOGIN),
    "position bias": (by_place(0), says("opt_a")),
    "position bias of the second": (says("opt_a"), by_place(1)),
    "declined": (declines(), says("opt_a")),
    "the second declined": (says("opt_a"), declines("insufficient_evidence", gap="the log")),
    "declined beside a missing rung": (CAPPED, declines("outside_authority")),
    "both walled": (CAPPED, NO_LOGIN),
    "one may clear": (TIMED_OUT, NO_LOGIN),
    "both may clear": (TIMED_OUT, TIMED_OUT),
    "no valid option": (MALFORMED, says("opt_a")),
    "the second has no valid option": (says("opt_a"), MALFORMED),
    "a model of another rung": (says("opt_b", model="astra-model"), says("opt_b")),
}
"""What both rungs say to every brief, and say alike however often they are asked."""


@pytest.mark.parametrize("path", CONSTANT)
async def test_the_ruling_table_is_one_table(path: str) -> None:
    primary, second = CONSTANT[path]
    fields = ("single_rung", "fallback", "non_vote", "gate", "attempts")
    alike(await at_each(setup_of(primary, second), QUESTION, *fields))


@pytest.mark.parametrize("cap", ["passes", "usd"])
@pytest.mark.parametrize("room", [True, False])
async def test_a_cap_holds_what_it_has_no_room_for_and_nothing_else(cap: str, room: bool) -> None:
    """The worst case is the level's own number; what a cap makes of it is the same at each."""
    told = []
    for level in LEVELS.values():
        least = level.max_passes * (1 if cap == "passes" else 500_000) - (not room)
        caps = Caps(passes_per_day=least) if cap == "passes" else Caps(micro_usd_per_day=least)
        store, model = MemoryStore(), Scripted(says("opt_a"))
        setup = setup_of(model, says("opt_a"), store, caps=caps)
        done = await ask(QUESTION, setup=setup, level=level.name)
        assert not store.reserved
        assert bool(model.briefs) is room
        told.append(plain(done, "outcome", "exit_code", "retry_at", "non_vote", "attempts"))
    assert alike(told)["outcome"] == ("agreed" if room else "held")


@pytest.mark.parametrize("level", LEVELS.values(), ids=str)
async def test_both_orders_are_sent_in_equal_number(level: Level) -> None:
    primary, second = Scripted(says("opt_a")), Scripted(says("opt_a"))
    await ask(QUESTION, setup=setup_of(primary, second), level=level.name)
    for one in (primary, second):
        sent = [brief.options for brief in one.briefs][: 2 * level.votes]
        assert sent.count(("opt_a", "opt_b")) == sent.count(("opt_b", "opt_a")) == level.votes


@pytest.mark.parametrize("level", LEVELS.values(), ids=str)
async def test_equal_orders_are_refused(level: Level) -> None:
    setup = setup_of(says("opt_a"), says("opt_a"))
    ids = [f"c{n}" for n in range(level.max_passes)]
    slots = allot(ids, dict.fromkeys(PARTS, 2 * level.votes), dict.fromkeys(PARTS, 1))
    frozen = Snapshot()

    def same(order: Order, shown: Any) -> Any:
        made = compose(QUESTION, frozen, order=Order.FORWARD, nonce="n", level=level, rows=setup.rows)
        return replace(made, order=order)

    asking = Asking(
        setup=setup,
        question=QUESTION,
        key="q",
        level=level,
        receipt="r",
        slots=slots,
        brief=same,
        class_row="",
        watch=unwatched,
    )
    consulting = Consulting(asking, setup.primary, await setup.primary.seats())
    with pytest.raises(ValueError, match="both orders of the options are the same"):
        await consulting.consult("primary", ())
    assert asking.passes == []


COMMANDS = Rules(
    tuple(
        Command(f"cache-{kind}", ("cache", kind, "{name}"), CommandClass(kind))
        for kind in ("read", "write", "destructive")
    )
)
LINES = ["cache read a", "cache write a", "cache destructive a", "rm -rf a", "cache write a\u200bb"]


@pytest.mark.parametrize("surface", Surface)
@pytest.mark.parametrize("line", LINES)
async def test_the_execution_table_is_one_table(line: str, surface: Surface) -> None:
    question = replace(QUESTION, options=(Option("opt_a", "Do it", action=line), Option("opt_b", "Leave it")))
    setup = setup_of(says("opt_a"), says("opt_a"), rules=COMMANDS)
    found = alike(await at_each(setup, question, "execution", origin=Origin(surface, "ada")))
    assert found["execution"]["fate"] in ("run", "click", "refuse")


async def paid(store: SqlStore) -> int:
    """How many passes the ledger holds."""
    rows = await store.columns_after(0, 1_000, ("kind",))
    return [kind for (kind,) in rows].count(RowKind.PASS.value)


async def test_a_click_costs_no_call_at_any_level(tmp_path: Path) -> None:
    """Minted, pressed and run with nobody asked: what was asked before is all that ever is."""
    question = replace(QUESTION, options=(Option("opt_a", "Do it", action="cache write a"), Option("opt_b", "Not")))
    ends = []
    for level in LevelName:
        primary, second, run = Scripted(says("opt_a")), Scripted(says("opt_a")), Effects()
        async with await open_store(tmp_path / f"{level}.db", host="here", pid=1) as store:
            setup = setup_of(primary, second, store, rules=COMMANDS)
            done = await ask(question, setup=setup, level=level, origin=Origin(Surface.CHAT, "ada"))
            asked, before = (len(primary.briefs), len(second.briefs)), await paid(store)
            act = await store.handoff.act(done.id)
            ports: Mapping[str, Any] = {"store": store.handoff, "rules": COMMANDS, "run": run, "clock": setup.clock}
            carried = await carry(act, **ports, fresh_id=lambda: "click-1")
            assert carried.click is not None
            pressed = await store.handoff.press(carried.click.id, "ada", setup.clock())
            assert pressed.consumed
            assert pressed.click is not None
            end = await effect_of(pressed.click, **ports)
            refused = await store.handoff.press(carried.click.id, "ada", setup.clock())
            assert (len(primary.briefs), len(second.briefs)) == asked
            assert await paid(store) == before
            ends.append((carried.ruled, end, refused.refusal, run.ran))
    assert ends[0] == ends[1] == ends[2]
    assert [words for words, _ in ends[0][3]] == [("cache", "write", "a")]
