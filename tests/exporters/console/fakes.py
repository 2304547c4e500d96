"""Fakes of the console's desk: queue, inbox, acts, clicks and receipts in memory, by the docstrings of the ports."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from decide.fault import StoreError
from decide.handoff.act import Act, ActEnd, ActState
from decide.handoff.click import Click, ClickState, Pressed, judge
from decide.handoff.entry import Answer, ClosedError, Entry, EntryState, HandoffError, Waiting, chosen
from decide.handoff.execution import Refusal, refused
from decide.handoff.inbox import PENDING, Item, ItemState
from decide.handoff.ports import HandoffFacts, Standing
from decide.question import LEAD, Question
from decide.store.receipts import ReceiptLine
from exporters.console.desk import Desk, Kept, Link, LinkError, Moved, TickLine

T = TypeVar("T")


@dataclass(slots=True)
class FakeHandoff:
    """What is durable, in memory; with a `fault` set nothing of it can be used."""

    open: dict[str, Entry] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)
    acts: dict[str, Act] = field(default_factory=dict)
    minted: dict[str, Click] = field(default_factory=dict)
    documents: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    fault: StoreError | None = None

    def check(self) -> None:
        """Raise the fault, where there is one."""
        if self.fault is not None:
            raise self.fault

    async def waiting(self) -> tuple[Waiting, ...]:
        self.check()
        opened = [one for one in self.open.values() if one.state is EntryState.OPEN]
        return tuple(_waiting(one) for one in sorted(opened, key=lambda one: one.entered_at))

    async def entries(self, limit: int, before: str | None = None) -> tuple[Entry, ...]:
        self.check()
        return _after(sorted(self.open.values(), key=lambda one: one.entered_at), limit, before, "entry")

    async def entry(self, entry_id: str) -> Entry:
        self.check()
        return _of(self.open, entry_id, "entry")

    async def cancel(self, entry_id: str, person: str, note: str, at: datetime) -> Entry:
        entry = await self.entry(entry_id)
        return self.close(replace(entry, state=EntryState.CANCELLED, closed_at=at, closed_by=person, note=note))

    def close(self, closed: Entry) -> Entry:
        """Keep an entry that is closed, where it was open."""
        if self.open[closed.id].state is not EntryState.OPEN:
            raise ClosedError(self.open[closed.id])
        self.open[closed.id] = closed
        return closed

    async def standing(self, any_id: str) -> Standing:
        self.check()
        item = self.items.get(any_id)
        found = item.receipt_id if item else any_id
        receipt, entry = self.documents.get(found), self.open.get(found)
        if item is None and receipt is None and entry is None:
            raise LookupError(f"nothing is known of {any_id!r}")
        raised = (one for one in self.items.values() if one.receipt_id == found)
        return Standing(item or next(raised, None), receipt, entry)

    async def act(self, act_id: str) -> Act:
        self.check()
        return _of(self.acts, act_id, "act")

    async def click(self, click_id: str) -> Click:
        self.check()
        if click_id not in self.minted:
            raise LookupError(f"there is no click {click_id!r}")
        return self.minted[click_id]

    async def clicks(self, limit: int, before: str | None = None) -> tuple[Click, ...]:
        self.check()
        return _after(sorted(self.minted.values(), key=lambda one: one.minted_at), limit, before, "click")

    async def handoff_facts(self) -> HandoffFacts:
        waiting = await self.waiting()
        pending = [one for one in self.minted.values() if one.state is ClickState.PENDING]
        items = {state: sum(one.state is state for one in self.items.values()) for state in PENDING}
        return HandoffFacts(waiting, items, clicks=len(pending))


@dataclass(slots=True)
class FakeDesk:
    """The desk over them at the clock that it is given; `links` are its signed links, `gone` those that expired."""

    clock: Any
    handoff: FakeHandoff = field(default_factory=FakeHandoff)
    moved: list[Moved] = field(default_factory=list)
    ticked: list[TickLine] = field(default_factory=list)
    links: dict[str, Link] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    days: list[tuple[str, str, int]] = field(default_factory=list)
    lead: timedelta = LEAD
    runs: list[str] = field(default_factory=list)
    ends: asyncio.Event = field(default_factory=asyncio.Event)
    running: set[asyncio.Task[None]] = field(default_factory=set)
    count: int = 0

    async def receipts(self, limit: int, before: str | None = None) -> Sequence[ReceiptLine]:
        self.handoff.check()
        found = sorted(self.handoff.documents.values(), key=lambda one: (one["ended_at"], one["id"]))
        return _after([_line(one) for one in found], limit, before, "receipt")

    async def receipt(self, receipt_id: str) -> Mapping[str, Any]:
        self.handoff.check()
        return _of(self.handoff.documents, receipt_id, "receipt")

    async def outcomes_by_day(self, since: datetime) -> Sequence[tuple[str, str, int]]:
        self.handoff.check()
        return [one for one in self.days if one[0] >= since.date().isoformat()]

    def transitions(self, since: datetime) -> Sequence[Moved]:
        return list(self.moved)

    def ticks(self) -> Sequence[TickLine]:
        return list(self.ticked)

    async def answer(self, entry_id: str, person: str, option: str, text: str) -> Entry:
        entry = await self.handoff.entry(entry_id)
        if entry.state is not EntryState.OPEN:
            raise ClosedError(entry)
        named = chosen(entry.question, option) if option else ""
        given = Answer(person, self.clock(), "chat", named, text.strip())
        answered = replace(entry, state=EntryState.ANSWERED, closed_at=given.at, closed_by=given.person, answer=given)
        return self.handoff.close(answered)

    async def raise_question(self, question: Question, person: str) -> Item:
        self.handoff.check()
        known = next((one for one in self.handoff.items.values() if one.question.key == question.key), None)
        if known is not None and known.question.digest != question.digest:
            raise HandoffError(f"id: {question.id!r} was used for another question")
        self.count += 1
        item = Item(f"item{self.count}", question, ItemState.WAITING, self.clock(), self.clock(), "chat", person)
        return self.handoff.items.setdefault(known.id if known else item.id, known or item)

    async def press(self, click_id: str, user: str) -> Pressed:
        self.handoff.check()
        click, now = self.handoff.minted.get(click_id), self.clock()
        refusal = judge(click, user, now)
        if click is None or refusal is not None:
            return Pressed(click, refusal)
        consumed = replace(click, state=ClickState.CONSUMED, closed_at=now)
        self.handoff.minted[click_id] = consumed
        act = self.handoff.acts[click.act_id]
        self.handoff.acts[act.id] = replace(act, state=ActState.RUNNING, started_at=now)
        self.runs.append(click.line)
        task = asyncio.create_task(self._effect(act.id))
        self.running.add(task)
        task.add_done_callback(self.running.discard)
        return Pressed(consumed)

    def open_link(self, token: str) -> Link:
        if token in self.gone:
            raise LinkError(refused(Refusal.BAD_LINK, why="it has expired"), expired=True)
        if token not in self.links:
            raise LinkError(refused(Refusal.BAD_LINK, why="its signature is not ours"))
        return self.links[token]

    async def _effect(self, act_id: str) -> None:
        await self.ends.wait()
        act = self.handoff.acts[act_id]
        end = ActEnd(True, 0, "3 pods restarted")
        self.handoff.acts[act_id] = replace(act, state=ActState.DONE, ended_at=self.clock(), end=end)


def desk_of(fake: FakeDesk) -> Desk:
    """The fake as the console takes it: the type checker holds it to the port."""
    kept: Kept = fake.handoff
    assert kept is fake.handoff
    return fake


def _of(found: Mapping[str, T], wanted: str, kind: str) -> T:
    if wanted in found:
        return found[wanted]
    begins = [name for name in found if wanted and name.startswith(wanted)]
    if len(begins) != 1:
        raise LookupError(f"there is no {kind} {wanted!r}")
    return found[begins[0]]


def _after(found: Sequence[T], limit: int, before: str | None, kind: str) -> tuple[T, ...]:
    """The latest first, those that came before one where it is named."""
    latest = list(found)[::-1]
    if before is None:
        return tuple(latest[:limit])
    ids = [getattr(one, "id", None) or getattr(one, "receipt_id", "") for one in latest]
    if before not in ids:
        raise LookupError(f"there is no {kind} {before!r}")
    return tuple(latest[ids.index(before) + 1 :][:limit])


def _waiting(one: Entry) -> Waiting:
    asked = one.question
    title = " ".join(asked.text.split())[:120]
    return Waiting(
        one.id, asked.key, title, one.why, asked.consequence, asked.deadline, one.entered_at, asked.raised_by
    )


def _line(one: Mapping[str, Any]) -> ReceiptLine:
    key = one["question"]["id"] or one["question"]["digest"]
    return ReceiptLine(one["id"], datetime.fromisoformat(one["ended_at"]), key, one["outcome"], one["exit_code"])


def plain(document: Mapping[str, Any]) -> dict[str, Any]:
    """A receipt as whoever reads it back gets it."""
    loaded: dict[str, Any] = json.loads(json.dumps(dict(document)))
    return loaded
