"""Samples of the handoff: a question, an allow-list, receipts, and a clock that is told."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from decide.fault import StoreError, StoreFault
from decide.handoff.act import NewAct, Runner
from decide.handoff.click import Click
from decide.handoff.command import Command, CommandClass
from decide.handoff.entry import Entry, Waiting
from decide.handoff.execution import Rules, Surface
from decide.handoff.inbox import Item, Raised
from decide.question import Option, Question
from decide.ruling import ANSWERED
from tests.decide.fakes import NOW

V = TypeVar("V")
P = TypeVar("P", Entry, Click)
Q = TypeVar("Q", Entry, Item)

QUESTION = Question(
    "Is the worker to be restarted?",
    (Option("opt_a", "Restart it", action="unit restart worker"), Option("opt_b", "Leave it")),
    id="q-1",
    raised_by="fleet",
)
RULES = Rules(
    (
        Command("unit-status", ("unit", "status", "{name}"), CommandClass.READ),
        Command("unit-restart", ("unit", "restart", "{name}"), CommandClass.WRITE, timeout_s=60.0),
        Command("unit-wipe", ("unit", "wipe", "{name}"), CommandClass.DESTRUCTIVE),
    )
)
DOWN = StoreError(StoreFault.UNWRITABLE, "the store cannot be written: no room")


@dataclass(slots=True)
class Time:
    """A clock that is told, and a sleep that moves it."""

    now: datetime = NOW
    slept: list[float] = field(default_factory=list)

    def clock(self) -> datetime:
        return self.now

    def monotonic(self) -> float:
        return self.now.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)
        await asyncio.sleep(0)


def receipt_of(outcome: str = "agreed", *, exit_code: int = 0, question: Question = QUESTION, **changes: Any) -> Any:
    """A receipt as far as the handoff reads it; by default one on which both rungs agree."""
    answered = outcome in ANSWERED
    by = {"model": "fable-model", "from": "reported"} if answered else None
    spoke = {"state": "resolved", "option": "opt_a", "answered_by": by}
    document = {
        "id": "r1",
        "outcome": outcome,
        "exit_code": exit_code,
        "answer": {"option": "opt_a", "text": "Restart it", "action": None} if answered else None,
        "answered_by": by,
        "single_rung": outcome == "single_rung",
        "fallback": None,
        "why": "as it is",
        "question": {"id": question.id or None, "digest": question.digest},
        "rungs": [
            {"name": "fable", "role": "primary", "model": "f"},
            {"name": "astra", "role": "second", "model": "a"},
        ],
        "consultations": {"primary": spoke, "second": spoke, "reconsideration": None},
        "ended_at": NOW.isoformat(),
        "person": None,
    }
    return document | changes


def unreached(*failures: str) -> dict[str, Any]:
    """A consultation of a rung that never ran."""
    return {"state": "unreachable", "failures": list(failures), "durable": True, "clears_at": None}


def raised(item_id: str = "item-1", question: Question = QUESTION, **changes: Any) -> Raised:
    """A question to raise."""
    return replace(Raised(item_id, question, "frozen", NOW, Surface.TYPED, "ada"), **changes)


def new_act(line: str, act_id: str = "act-1", **changes: Any) -> NewAct:
    """An act to record, of the console unless told otherwise."""
    return replace(NewAct(act_id, "q-1", "thread-1", "ada", Surface.CHAT, line, Runner.DAEMON), **changes)


def waiting_of(entry: Entry) -> Waiting:
    """An open entry as a list needs it."""
    asked = entry.question
    about = (entry.why, asked.consequence, asked.deadline, entry.entered_at, asked.raised_by)
    return Waiting(entry.id, asked.key, asked.text[:80], *about)


def only(known: Mapping[str, V], named: str) -> V:
    """What one id that is named, or begins so, has; raises LookupError for none and for several."""
    found = [named] if named in known else [one for one in known if named and one.startswith(named)]
    if len(found) != 1:
        raise LookupError(f"{named!r} names {len(found)} things, not one")
    return known[found[0]]


def page(latest: Sequence[P], limit: int, before: str | None) -> tuple[P, ...]:
    """Up to so many of them, those after the one with that id."""
    start = 0 if before is None else 1 + [one.id for one in latest].index(before)
    return tuple(latest[start : start + limit])


def latest(known: Mapping[str, Q], key: str) -> Q | None:
    """The latest of a question, None where there is none."""
    found = [one for one in known.values() if one.question.key == key]
    return found[-1] if found else None
