"""Exit code, receipt and counters agree: each path is run on a real store, and a real fold reads what it left."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from decide.ladder import Role
from decide.ports import Ask, Caps
from decide.question import LevelName, UsageError
from decide.reply import Failure
from decide.ruling import Outcome
from decide.run import ask
from decide.setup import Setup
from decide.store.opening import open_store
from decide.store.store import SqlStore
from decide.watch import Ended, Event, PassOut
from exporters import LedgerCollector
from exporters.follow import LedgerFollower
from tests.decide.fakes import NOW, QUESTION, Answer, Scripted, by_place, declines, fails, hangs, rung, says, setup_of
from tests.decide.voters import voter

CAPPED = fails(Failure.SEAT_CAPPED)
LATE = fails(Failure.TIMEOUT, billed=True)
A, B = says("opt_a"), says("opt_b")
Counts = dict[tuple[str, tuple[tuple[str, str], ...]], float]

PATHS: dict[str, tuple[Answer, Answer, Caps, Outcome, int]] = {
    "agreed": (says("opt_a"), says("opt_a"), Caps(), Outcome.AGREED, 0),
    "reconsidered": (says("opt_a"), says("opt_b"), Caps(), Outcome.RECONSIDERED, 0),
    "single rung": (CAPPED, says("opt_a"), Caps(), Outcome.SINGLE_RUNG, 0),
    "error": (fails(Failure.TIMEOUT, billed=True), CAPPED, Caps(), Outcome.ERROR, 2),
    "held by a cap": (says("opt_a"), says("opt_a"), Caps(passes_per_day=3), Outcome.HELD, 2),
    "flip": (by_place(0), says("opt_a"), Caps(), Outcome.NEEDS_HUMAN, 3),
    "declined": (declines(), says("opt_a"), Caps(), Outcome.NEEDS_HUMAN, 3),
    "walled": (CAPPED, CAPPED, Caps(), Outcome.WALLED, 4),
}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    async with await open_store(tmp_path / "ledger.db", host="here", pid=1) as opened:
        yield opened


async def counted(store: SqlStore, caps: Caps = Caps()) -> Counts:  # noqa: B008 - a frozen value
    """Every counter of the ledger that is not 0, by name and labels."""
    follower = LedgerFollower(store, caps)
    await follower.refresh(NOW)
    registry = CollectorRegistry()
    registry.register(LedgerCollector(lambda: follower.facts, rungs=("fable", "astra")))
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in registry.collect()
        for sample in family.samples
        if family.type == "counter" and sample.value and not sample.name.endswith("_created")
    }


def of(counts: Counts, name: str, **labels: str) -> float:
    """The sum of a counter over the labels that are not named."""
    return sum(
        value for (found, given), value in counts.items() if found == name and labels.items() <= dict(given).items()
    )


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("level", LevelName)
async def test_each_path_moves_the_counters_that_its_receipt_tells(
    path: str, level: LevelName, store: SqlStore
) -> None:
    primary, second, caps, outcome, code = PATHS[path]
    done = await ask(QUESTION, setup=setup_of(primary, second, store, caps=caps), level=level)
    assert done.document["level"]["name"] == level
    counts = await counted(store, caps)
    assert (done.outcome, done.exit_code) == (outcome, code)
    _agree(counts, done.document)
    assert await counted(store, caps) == counts


def _agree(counts: Counts, receipt: Mapping[str, Any]) -> None:
    level, outcome = receipt["level"]["name"], receipt["outcome"]
    assert of(counts, "ladder_questions_total", level=level) == 1
    assert (
        of(counts, "ladder_decisions_total")
        == of(counts, "ladder_decisions_total", level=level, outcome=outcome)
        == 1
    )
    passes = receipt["passes"]
    assert of(counts, "ladder_passes_total") == len(passes)
    for one in passes:
        result = one["result"]
        word = result.get("kind") or result.get("reason") or result["state"]
        expected = [p for p in passes if (p["rung"], p["role"]) == (one["rung"], one["role"])]
        same = [
            p
            for p in expected
            if (p["result"].get("kind") or p["result"].get("reason") or p["result"]["state"]) == word
        ]
        labels = {"rung": one["rung"], "level": level, "role": one["role"], "result": word}
        assert of(counts, "ladder_passes_total", **labels) == len(same)
    spent = sum(float(one["cost"]["usd"]) for one in passes if one["cost"])
    assert of(counts, "ladder_spend_usd_total") == pytest.approx(spent)
    tokens = sum(sum(one["tokens"].values()) for one in passes if one["tokens"])
    assert of(counts, "ladder_tokens_total") == tokens
    names = {rung["role"]: rung["name"] for rung in receipt["rungs"]} | {"reconsideration": "fable"}
    for part, state in receipt["consultations"].items():
        if state is not None:
            word = state.get("kind") or state["state"]
            assert of(counts, "ladder_consultations_total", rung=names[part], level=level, result=word) >= 1
    for one in receipt["skipped_checks"]:
        same = [s for s in receipt["skipped_checks"] if s["check"] == one["check"]]
        assert of(counts, "ladder_skipped_checks_total", check=one["check"], level=level) == len(same)
    assert of(counts, "ladder_skipped_checks_total") == len(receipt["skipped_checks"])
    consulted = sum(state is not None for state in receipt["consultations"].values())
    assert of(counts, "ladder_consultations_total") == consulted


HIGH: dict[str, tuple[Ask, Ask, Outcome]] = {
    "a check that fails": (voter(A), voter(A, check=LATE), Outcome.AGREED),
    "a fault": (voter(A), voter(A, check=B), Outcome.RECONSIDERED),
    "a split": (voter(A, B, LATE, backward=[A], reread=A), voter(A), Outcome.AGREED),
    "a check that touches a policy row": (voter(A), voter(says("opt_a", touches=["money"])), Outcome.NEEDS_HUMAN),
}


@pytest.mark.parametrize("path", HIGH)
async def test_what_only_high_does_is_counted_with_its_label(path: str, store: SqlStore) -> None:
    primary, second, outcome = HIGH[path]
    done = await ask(QUESTION, setup=setup_of(primary, second, store), level=LevelName.HIGH)
    counts = await counted(store)
    assert done.outcome is outcome
    _agree(counts, done.document)
    every = ("questions", "decisions", "consultations", "passes", "spend_usd", "tokens")
    for name in [f"ladder_{one}_total" for one in every]:
        assert of(counts, name) == of(counts, name, level="high") > 0


async def test_a_cancelled_run_is_130_and_counted(store: SqlStore) -> None:
    setup, events = setup_of(Scripted(hangs), says("opt_a"), store), list[Event]()
    out = asyncio.Event()

    def watch(event: Event) -> None:
        events.append(event)
        if isinstance(event, PassOut) and event.rung == "fable":
            out.set()

    task = asyncio.create_task(ask(QUESTION, setup=setup, watch=watch))
    await out.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    done = next(event.receipt for event in events if isinstance(event, Ended))
    assert (done.outcome, done.exit_code) == (Outcome.CANCELLED, 130)
    counts = await counted(store)
    assert of(counts, "ladder_decisions_total", outcome="cancelled") == 1
    assert of(counts, "ladder_passes_total") == len(done.document["passes"])


def refused(setup: Setup) -> Iterator[Setup]:
    """Ladders that are refused with 64."""
    yield replace(setup, caps=Caps(micro_usd_per_day=1_000_000), price=lambda usage, model: None)


async def test_what_is_refused_with_64_moves_no_counter(store: SqlStore) -> None:
    setup = setup_of(says("opt_a"), says("opt_a"), store)
    for bad in refused(setup):
        with pytest.raises(UsageError):
            await ask(QUESTION, setup=bad)
    assert await counted(store) == {}


async def test_a_dead_ledger_moves_no_counter(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    async with await open_store(path, host="here", pid=1) as store:
        path.write_bytes(bytes(4096))
        primary = Scripted(says("opt_a"))
        setup = setup_of(says("opt_a"), says("opt_a"), store)
        held = replace(setup, primary=rung("fable", primary, role=Role.PRIMARY))
        done = await ask(QUESTION, setup=held)
        assert (done.outcome, done.exit_code) == (Outcome.HELD, 4)
        assert not primary.briefs
        follower = LedgerFollower(store, Caps())
        facts = await follower.refresh(NOW)
        assert not facts.readable
        assert facts.counts is None


async def test_an_answer_that_is_there_already_moves_no_counter(store: SqlStore) -> None:
    setup = setup_of(says("opt_a"), says("opt_a"), store)
    await ask(QUESTION, setup=setup)
    counts = await counted(store)
    assert (await ask(QUESTION, setup=setup)).exit_code == 0
    assert await counted(store) == counts
