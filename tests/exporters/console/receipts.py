"""Receipts of the console's tests: what was asked in their world, and how runs of `decide` itself ended."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from decide.brief import Brief
from decide.ports import Access, Ask
from decide.question import Consequence, Option, Question
from decide.reply import Failure, Reply
from decide.run import ask
from decide.snapshot import Source, SourceKind
from tests.decide.fakes import by_place, declines, fails, in_turn, says, setup_of
from tests.exporters.console.fakes import plain
from tests.exporters.scenes import NOW

CAPPED = fails(Failure.SEAT_CAPPED, detail="the weekly window is full")
RESTART = "kubectl rollout restart deployment/search --namespace prod"


def nameless(option: str) -> Ask:
    """A model whose wire does not name it."""

    async def answer(brief: Brief, access: Access) -> Reply:
        return replace(await says(option)(brief, access), models=())

    return answer


def minutes(count: float) -> datetime:
    """The moment that many minutes from now."""
    return NOW + timedelta(minutes=count)


QUESTIONS = {
    "cache": Question(
        "Which cache library do we keep for the session store?",
        (
            Option("opt_a", "Keep the first: it is in use in three services"),
            Option("opt_b", "Keep the other: it has half the latency, and nobody here knows it"),
        ),
        id="cache-library",
        raised_by="refactor-bot",
    ),
    "restart": Question(
        "The search pods answer slowly since the deploy. Restart them, or wait for the morning?",
        (
            Option("restart", "Restart them now; about 20 s of errors", RESTART, ("restart_service",)),
            Option("wait", "Leave them and look again at 09:00"),
        ),
        id="search-pods",
        consequence=Consequence.COSTLY,
        deadline=minutes(35),
        raised_by="oncall-agent",
    ),
    "index": Question(
        "Does the index help the slow report?",
        (Option("keep", "Keep the index"), Option("drop", "Drop it")),
        id="slow-report",
        deadline=minutes(60 * 20),
        raised_by="report-agent",
    ),
    "name": Question(
        "Do we name the new module after its table?",
        (Option("yes", "Yes"), Option("no", "No, after what it does")),
        id="module-name",
        consequence=Consequence.REVERSIBLE,
        raised_by="refactor-bot",
    ),
}
"""What was asked in this world, by a short name."""

RUNS: Mapping[str, tuple[str, Any, Any]] = {
    "agreed": ("cache", says("opt_a"), says("opt_a")),
    "reconsidered": ("cache", in_turn(says("opt_a"), says("opt_a"), says("opt_b")), says("opt_b")),
    "alone": ("cache", CAPPED, says("opt_b")),
    "unknown": ("cache", nameless("opt_a"), nameless("opt_a")),
    "policy": ("restart", says("restart"), says("restart")),
    "flip": ("cache", by_place(0), says("opt_a")),
    "lacking": ("index", declines("insufficient_evidence", gap="the query plan of the report"), says("keep")),
    "walled": ("name", CAPPED, CAPPED),
    "error": ("name", fails(Failure.TIMEOUT), fails(Failure.MALFORMED)),
}
"""How runs ended, by the name of their receipt: the question and what either rung said."""


_KEPT: dict[str, dict[str, Any]] = {}


async def documents() -> dict[str, dict[str, Any]]:
    """The receipts of these runs, each by its own id; nothing ever changes one, so they are made once."""
    if not _KEPT:
        _KEPT.update(await _made())
    return _KEPT


async def _made() -> dict[str, dict[str, Any]]:
    found = {}
    for age, (name, (question, primary, second)) in enumerate(RUNS.items()):
        setup = setup_of(primary, second)
        free = {role: replace(getattr(setup, role), pins_model=False) for role in ("primary", "second")}
        source = Source(SourceKind.TEXT, "p99 of the search rose from 120 ms to 2 s at 11:40")
        receipt = plain((await ask(QUESTIONS[question], setup=replace(setup, **free), sources=(source,))).document)
        shift = NOW - timedelta(minutes=40 * age + 10) - datetime.fromisoformat(receipt["ended_at"])
        for moment in ("began_at", "ended_at"):
            receipt[moment] = (datetime.fromisoformat(receipt[moment]) + shift).isoformat()
        found[f"r-{name}"] = receipt | {"id": f"r-{name}"}
    return found
