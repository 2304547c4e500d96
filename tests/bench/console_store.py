"""Console store: a store filled as a team has it after a year, and a desk that only reads it."""

import asyncio
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, insert

from decide.handoff.click import Pressed
from decide.handoff.entry import Entry
from decide.handoff.inbox import Item
from decide.question import LEAD, Consequence, Question, dump
from decide.store.handoff import SqlHandoff
from decide.store.moments import micros
from decide.store.opening import open_store
from decide.store.place import locate
from decide.store.receipts import ReceiptLine
from decide.store.store import SqlStore
from decide.store.tables import RECEIPTS
from decide.store.tables_handoff import ACTS, CLICKS, ENTRIES
from exporters.console.desk import Link, Moved, TickLine
from tests.exporters.console.receipts import QUESTIONS, documents
from tests.exporters.console.world import rounds
from tests.exporters.scenes import NOW

RECEIPT_COUNT, ENTRY_COUNT, CLICK_COUNT, MOVES = 10_000, 1_000, 200, 500
CLOSED = 5
"""One entry in so many is closed."""
STATES = ("ok", "degraded", "blind")


@dataclass(frozen=True, slots=True)
class ReadDesk:
    """The desk over a store; nothing is done at it."""

    store: SqlStore
    lead: timedelta = LEAD

    @property
    def handoff(self) -> SqlHandoff:
        """The store's own."""
        return self.store.handoff

    async def receipts(self, limit: int, before: str | None = None) -> Sequence[ReceiptLine]:
        """As the store has them."""
        return await self.store.receipts(limit, before)

    async def receipt(self, receipt_id: str) -> Mapping[str, Any]:
        """As the store has it."""
        return await self.store.receipt(receipt_id)

    async def outcomes_by_day(self, since: datetime) -> Sequence[tuple[str, str, int]]:
        """As the store counts them."""
        return await self.store.outcomes_by_day(since)

    def transitions(self, since: datetime) -> Sequence[Moved]:
        """Changes all through the week."""
        return _MOVED

    def ticks(self) -> Sequence[TickLine]:
        """A few rounds."""
        return rounds() * 10

    def open_link(self, token: str) -> Link:
        """Every link is the last click's."""
        return Link(_name("c", CLICK_COUNT - 1), "ana")

    async def answer(self, entry_id: str, person: str, option: str, text: str) -> Entry:
        """Nothing is answered here."""
        raise NotImplementedError

    async def raise_question(self, question: Question, person: str) -> Item:
        """Nothing is raised here."""
        raise NotImplementedError

    async def press(self, click_id: str, user: str) -> Pressed:
        """Nothing is pressed here."""
        raise NotImplementedError


def _moved() -> list[Moved]:
    step, states = timedelta(days=7) / MOVES, list(islice(cycle(STATES), MOVES + 1))
    ladder = [
        Moved(NOW - step * (MOVES - place), "ladder", before, after)
        for place, (before, after) in enumerate(pairwise(states))
    ]
    rung = {"ok": "reachable", "degraded": "unreachable", "blind": "unknown"}
    astra = [replace(one, subject="astra", before=rung[one.before], after=rung[one.after]) for one in ladder]
    return [*ladder, *astra]


_MOVED = _moved()


async def fill(path: Path) -> SqlStore:
    """A new store with all of it, open."""
    async with await open_store(path, host="bench", pid=os.getpid()):
        pass
    found = list((await documents()).values())
    await asyncio.to_thread(_write, path, found)
    return await open_store(path, host="bench", pid=os.getpid())


def _write(path: Path, found: list[dict[str, Any]]) -> None:
    engine = create_engine(locate(path).url)
    with engine.begin() as connection:
        connection.execute(insert(RECEIPTS), list(_receipts(found)))
        connection.execute(insert(ENTRIES), list(_entries()))
        acts, clicks = zip(*_clicks(), strict=True)
        connection.execute(insert(ACTS), list(acts))
        connection.execute(insert(CLICKS), list(clicks))
    engine.dispose()


def _name(kind: str, number: int) -> str:
    return f"{kind}{number:05}"


def _receipts(found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for number in range(RECEIPT_COUNT):
        one, name = found[number % len(found)], _name("r", number)
        at = NOW - timedelta(minutes=5 * (RECEIPT_COUNT - number))
        yield {
            "place": number + 1,
            "receipt_id": name,
            "question_key": _name("q", number),
            "run_id": name,
            "outcome": one["outcome"],
            "exit_code": one["exit_code"],
            "at_us": micros(at),
            "document": json.dumps(one | {"id": name, "ended_at": at.isoformat()}),
        }


def _entries() -> Iterator[dict[str, Any]]:
    """Entries of the first receipts, the earlier ones closed."""
    consequences = list(Consequence)
    for number in range(ENTRY_COUNT):
        deadline = NOW + timedelta(minutes=number - 100) if number % 3 else None
        kind, key = consequences[number % len(consequences)], _name("q", number)
        question = replace(QUESTIONS["restart"], id=key, consequence=kind, deadline=deadline)
        closed = number % CLOSED == 0
        yield {
            "entry_id": _name("r", number),
            "question_key": key,
            "state": "cancelled" if closed else "open",
            "why": "needs_human",
            "consequence": kind.value,
            "deadline_us": None if deadline is None else micros(deadline),
            "entered_us": micros(NOW - timedelta(minutes=ENTRY_COUNT - number)),
            "raised_by": "agent",
            "title": question.text[:200],
            "clears_us": None,
            "asked_again": 0,
            "closed_us": micros(NOW) if closed else None,
            "closed_by": "ana" if closed else "",
            "note": "",
            "answer": "",
            "document": dump(question),
        }


def _clicks() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Consumed clicks with their acts, and the last ones pending."""
    for number in range(CLICK_COUNT):
        name, at = _name("c", number), NOW - timedelta(minutes=CLICK_COUNT - number, seconds=1)
        pending = number >= CLICK_COUNT - 5
        line: dict[str, Any] = {
            "question_key": "q",
            "requester": "ana",
            "line": "unit restart web",
            "command": "restart",
            "kind": "write",
        }
        act: dict[str, Any] = {
            "act_id": f"act-{name}",
            "thread": name,
            "surface": "chat",
            "runner": "daemon",
            "fate": "click",
        }
        act |= {"state": "clicked" if pending else "done", "at_us": micros(at), "reason": "class write takes a click"}
        act |= {"words": "[]", "click_id": name, "host": "", "pid": 0, "started": "", "ended": ""}
        click: dict[str, Any] = {
            "click_id": name,
            "thread": name,
            "act_id": act["act_id"],
            "state": "pending" if pending else "consumed",
        }
        click |= {"minted_us": micros(at), "expires_us": micros(at + timedelta(minutes=10))}
        yield line | act, line | click | {"closed_us": None if pending else micros(at)}
