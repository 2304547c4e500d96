"""Handed: questions taken to people in few words: runs that end in the queue, items, acts and clicks."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from decide.handoff.act import NewAct, Runner
from decide.handoff.click import Click
from decide.handoff.entry import Answer, Why
from decide.handoff.execution import Fate, Sentence, Surface
from decide.handoff.inbox import ItemState, Raised
from decide.handoff.ports import NewClick, Onward
from decide.ledger import Row, RowKind
from decide.ports import Ready
from decide.question import Option, Question, dump
from decide.store.store import SqlStore
from tests.decide.store.work import NOW, SNAPSHOT, claiming, ending

OPTIONS = (Option("keep", "Keep it", "unit status web"), Option("stop", "Stop it", "unit stop web"))
LINE = "unit stop web"
RULED = Sentence(Fate.CLICK, LINE, "class write takes a click", "stop", "write", ("unit", "stop", "web"))
TTL = timedelta(minutes=10)


def asking(key: str = "q", text: str = "Is the unit to be stopped?", **more: Any) -> Question:
    """A question of that id."""
    return Question(text, OPTIONS, **({"id": key, "raised_by": "agent"} | more))


def later(seconds: float) -> datetime:
    """That long after everything began."""
    return NOW + timedelta(seconds=seconds)


async def ran(
    store: SqlStore,
    run: str,
    question: Question,
    *,
    why: Why | None = None,
    outcome: str = "",
    at: datetime = NOW,
    claimed: bool = False,
    **more: Any,
) -> None:
    """A whole run of a question that ends so; `claimed`: the question is the run's already."""
    if not claimed:
        assert isinstance(await store.claim(claiming(run, question.key, digest=question.digest, at=at)), Ready)
    outcome = outcome or ("agreed" if why is None else why.value)
    answered = outcome == "agreed"
    item = (ItemState.DONE if answered else ItemState.QUEUED if why else ItemState.RETRYING, at)
    onward = replace(Onward(question, item, answered=answered, why=why), **more)
    closed = outcome in ("agreed", "needs_human")
    receipt = {"outcome": outcome, "exit_code": 0, "run": run, "person": None}
    told = {"question": dump(question), "receipt": receipt, "onward": onward}
    await store.end(ending(run, key=question.key, closed=closed, outcome=outcome, at=at, **told))


def raising(question: Question, item_id: str = "item-1", **more: Any) -> Raised:
    """A question as the console raises it."""
    return replace(Raised(item_id, question, SNAPSHOT, NOW, "chat", "ada"), **more)


def saying(option: str = "stop", person: str = "Ada Berg", *, at: datetime = NOW, text: str = "") -> Answer:
    """A person's answer, typed."""
    return Answer(person, at, "typed", option, text)


def acting(act_id: str, thread: str = "t1", **more: Any) -> NewAct:
    """An act of the console."""
    return replace(NewAct(act_id, "q", thread, "ada", Surface.CHAT, LINE, Runner.DAEMON), **more)


async def acted(store: SqlStore, act: NewAct, at: datetime = NOW) -> None:
    """An act that a run's answer stands for."""
    question = asking(f"q-{act.id}")
    await ran(store, f"run-{act.id}", question, at=at, act=replace(act, question_key=question.key))


async def minted(
    store: SqlStore, click_id: str, thread: str = "t1", *, at: datetime = NOW, ttl: timedelta = TTL
) -> Click:
    """A click on an act of its own."""
    await acted(store, acting(f"act-{click_id}", thread), at)
    made = await store.handoff.mint(f"act-{click_id}", RULED, NewClick(click_id, at, ttl))
    assert isinstance(made, Click)
    return made


async def rows_of(store: SqlStore, *kinds: RowKind, after: int = 0) -> list[Row]:
    """The ledger's rows of some kinds, in order."""
    return [entry.row for entry in await store.rows_after(after, 10_000) if entry.row.kind in kinds]


async def told_of(store: SqlStore, *kinds: RowKind, after: int = 0) -> list[tuple[str, str]]:
    """What those rows say happened, and why."""
    return [(row.result, row.stage) for row in await rows_of(store, *kinds, after=after)]


def body(row: Row) -> Any:
    """What a row says that no counter needs."""
    return json.loads(row.body)
