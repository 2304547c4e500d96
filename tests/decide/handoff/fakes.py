"""A store of the handoff in memory, which follows its port's docstrings."""

import asyncio
import itertools
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from decide.fault import StoreError
from decide.handoff.act import Act, ActEnd, ActState, NewAct, Runner
from decide.handoff.click import Click, ClickEvent, ClickState, Pressed, judge
from decide.handoff.entry import Answer, ClosedError, Entry, EntryState, HandoffError, Waiting, Why
from decide.handoff.execution import Refusal, Sentence, withdrawn
from decide.handoff.inbox import PENDING, Item, ItemState, News, NewsKind, Raised, Taken, order
from decide.handoff.ports import Delivery, HandoffFacts, Hold, NewClick, Onward, Standing, ThreadBusy
from decide.handoff.rows import QueueEvent, act_row, click_row, queue_row, raised_row, webhook_row
from decide.ledger import Row
from tests.decide.fakes import NOW
from tests.decide.handoff.samples import latest, only, page, waiting_of


@dataclass(slots=True)
class MemoryHandoff:
    """A handoff that forgets when its process ends; `fault` is raised by the methods that `fault_in` names.

    `process` is who works now; another name is another process, and those in `gone` have ended.
    """

    process: str = "first"
    gone: set[str] = field(default_factory=set)
    fault: StoreError | None = None
    fault_in: frozenset[str] = frozenset()
    rows: list[Row] = field(default_factory=list)
    receipts: dict[str, dict[str, Any]] = field(default_factory=dict)
    queue: dict[str, Entry] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)
    snapshots: dict[str, str] = field(default_factory=dict)
    leases: dict[str, tuple[str, datetime]] = field(default_factory=dict)
    acts: dict[str, Act] = field(default_factory=dict)
    workers: dict[str, str] = field(default_factory=dict)
    confirms: dict[str, Click] = field(default_factory=dict)
    tidings: dict[str, tuple[News, datetime]] = field(default_factory=dict)
    told_as: list[tuple[str, Delivery]] = field(default_factory=list)
    _marks: "itertools.count[int]" = field(default_factory=itertools.count)

    async def _check(self, method: str) -> None:
        """Let others work, as a real store would, and fail where that is asked for."""
        await asyncio.sleep(0)
        if self.fault is not None and method in self.fault_in:
            raise self.fault

    # what a run's end does

    def ended(self, receipt: Mapping[str, Any], onward: Onward) -> None:
        """A run that ended with that receipt at NOW or later."""
        question, at = onward.question, datetime.fromisoformat(receipt["ended_at"])
        self.receipts[receipt["id"]] = json.loads(json.dumps(receipt))
        open_one = self._open_entry(question.key)
        if onward.why is not None and open_one is None:
            entry = Entry(receipt["id"], question, onward.why, EntryState.OPEN, at, clears_at=onward.retry_at)
            self.queue[entry.id] = entry
            self._queued(QueueEvent.ENTERED, entry, at)
        if onward.answered and open_one is not None:
            self.queue[open_one.id] = closed = replace(open_one, state=EntryState.RESOLVED, closed_at=at)
            self._queued(QueueEvent.RESOLVED, closed, at)
        for item in [one for one in self.items.values() if one.question.key == question.key]:
            state, due_at = onward.item
            self.items[item.id] = replace(item, state=state, due_at=due_at, receipt_id=receipt["id"])
            self.leases.pop(item.id, None)
            if state in (ItemState.DONE, ItemState.QUEUED):
                self._news(item.id, at, NewsKind.RULING)
        if onward.act is not None:
            self.decide(onward.act, at)

    def decide(self, new: NewAct, at: datetime = NOW) -> Act:
        """An act that was decided and not begun."""
        of = (new.thread, new.requester, new.surface, new.line, new.runner)
        self.acts[new.id] = act = Act(new.id, new.question_key, *of, ActState.DUE, at)
        return act

    async def waiting(self) -> tuple[Waiting, ...]:
        await self._check("waiting")
        return tuple(waiting_of(one) for one in self.queue.values() if one.state is EntryState.OPEN)

    async def entries(self, limit: int, before: str | None = None) -> tuple[Entry, ...]:
        await self._check("entries")
        return page(sorted(self.queue.values(), key=lambda one: one.entered_at, reverse=True), limit, before)

    async def entry(self, entry_id: str) -> Entry:
        await self._check("entry")
        return latest(self.queue, entry_id) or only(self.queue, entry_id)

    async def answer(self, entry_id: str, answer: Answer, act: NewAct | None = None) -> Entry:
        await self._check("answer")
        entry = self._close(entry_id, EntryState.ANSWERED, answer.person, answer.at)
        self.queue[entry.id] = entry = replace(entry, answer=answer)
        person = {"name": answer.person, "option": answer.option or None, "text": answer.text or None}
        person |= {"at": answer.at.isoformat(), "surface": answer.surface}
        self.receipts[entry.id]["person"] = person
        self._queued(QueueEvent.ANSWERED, entry, answer.at)
        self._done(entry, answer.at, NewsKind.ANSWER)
        if act is not None:
            self.decide(act, answer.at)
        return entry

    async def cancel(self, entry_id: str, person: str, note: str, at: datetime) -> Entry:
        await self._check("cancel")
        entry = self._close(entry_id, EntryState.CANCELLED, person, at)
        self.queue[entry.id] = entry = replace(entry, note=note)
        self._queued(QueueEvent.CANCELLED, entry, at)
        self._done(entry, at, NewsKind.CANCELLED)
        return entry

    async def hold(self, hold: Hold) -> None:
        await self._check("hold")
        if hold.receipt_id not in self.queue:
            entry = Entry(hold.receipt_id, hold.question, Why.HELD, EntryState.OPEN, hold.at)
            self.queue[entry.id] = entry
            self.receipts[entry.id] = json.loads(json.dumps(hold.receipt))
            self._queued(QueueEvent.ENTERED, entry, hold.at)

    def _open_entry(self, key: str) -> Entry | None:
        found = [one for one in self.queue.values() if one.question.key == key and one.state is EntryState.OPEN]
        return found[0] if found else None

    def _close(self, entry_id: str, state: EntryState, person: str, at: datetime) -> Entry:
        entry = only(self.queue, entry_id)
        if entry.state is not EntryState.OPEN:
            raise ClosedError(entry)
        return replace(entry, state=state, closed_at=at, closed_by=person)

    def _done(self, entry: Entry, at: datetime, kind: NewsKind) -> None:
        for item in [one for one in self.items.values() if one.question.key == entry.question.key]:
            self.items[item.id] = replace(item, state=ItemState.DONE)
            self._news(item.id, at, kind, entry.closed_by)

    def _queued(self, event: QueueEvent, entry: Entry, at: datetime) -> None:
        of = {"question": entry.question.key, "why": entry.why, "since": entry.entered_at, "person": entry.closed_by}
        self.rows.append(queue_row(event, at=at, entry_id=entry.id, **of))  # type: ignore[arg-type]

    async def raise_question(self, raised: Raised) -> Item:
        await self._check("raise_question")
        for item in self.items.values():
            if item.question.key == raised.question.key:
                if item.question.digest != raised.question.digest:
                    raise HandoffError(f"id: {raised.question.id!r} was used for another question")
                return item
        item = Item(
            raised.id, raised.question, ItemState.WAITING, raised.at, raised.at, raised.surface, raised.requester
        )
        self.items[item.id] = item
        self.snapshots[item.id] = raised.snapshot
        key, surface = raised.question.key, raised.surface
        self.rows.append(raised_row(at=raised.at, item_id=raised.id, question=key, surface=surface))
        return item

    async def item(self, item_id: str) -> Item:
        await self._check("item")
        return latest(self.items, item_id) or only(self.items, item_id)

    async def standing(self, any_id: str) -> Standing:
        await self._check("standing")
        named = {one.id: one.question.key for one in self.items.values()}
        named |= {one.id: one.question.key for one in self.queue.values()}
        key = any_id if any_id in named.values() else only(named, any_id)
        item, entry = latest(self.items, key), latest(self.queue, key)
        receipt_id = item.receipt_id if item is not None else entry.id if entry is not None else ""
        return Standing(item, self.receipts.get(receipt_id), entry)

    async def take(self, now: datetime, most: int, lease: timedelta) -> tuple[Taken, ...]:
        await self._check("take")
        due = [one for one in self.items.values() if one.due_at <= now and self._free(one, now)]
        due.sort(key=lambda one: order(one.question.deadline, one.raised_at))
        for item in due[:most]:
            self.leases[item.id] = (self.process, now + lease)
            self.items[item.id] = replace(item, state=ItemState.RUNNING)
        return tuple(Taken(self.items[item.id], self.snapshots[item.id]) for item in due[:most])

    def _free(self, item: Item, now: datetime) -> bool:
        if item.state is not ItemState.RUNNING:
            return item.state in PENDING
        owner, until = self.leases[item.id]
        return owner != self.process and (owner in self.gone or until <= now)

    async def put_back(self, item_id: str, due_at: datetime) -> None:
        await self._check("put_back")
        item = self.items[item_id]
        if item.state is ItemState.RUNNING and self.leases[item_id][0] == self.process:
            self.items[item_id] = replace(item, state=ItemState.RETRYING, due_at=due_at)
            del self.leases[item_id]

    async def ask_cleared(self, now: datetime, *, whole: bool) -> int:
        await self._check("ask_cleared")
        cleared = 0
        for entry in list(self.queue.values()):
            clear = whole if entry.clears_at is None else entry.clears_at <= now
            if entry.why is not Why.WALLED or entry.state is not EntryState.OPEN or entry.asked_again or not clear:
                continue
            self.queue[entry.id] = replace(entry, asked_again=True)
            cleared += 1
            for item in [one for one in self.items.values() if one.question.key == entry.question.key]:
                self.items[item.id] = replace(item, state=ItemState.WAITING, due_at=now)
        return cleared

    async def act(self, act_id: str) -> Act:
        await self._check("act")
        return only(self.acts, act_id)

    async def due_acts(self) -> tuple[Act, ...]:
        await self._check("due_acts")
        due = [one for one in self.acts.values() if one.state is ActState.DUE and one.runner is Runner.DAEMON]
        return tuple(sorted(due, key=lambda one: one.at))

    async def begin(self, act_id: str, ruled: Sentence, at: datetime) -> bool:
        await self._check("begin")
        if self.acts[act_id].state is not ActState.DUE:
            return False
        self._rule(act_id, ruled, ActState.RUNNING, at)
        return True

    async def finish(self, act_id: str, end: ActEnd, at: datetime) -> None:
        await self._check("finish")
        act = self.acts[act_id]
        if act.state is ActState.RUNNING:
            state = ActState.DONE if end.done else ActState.FAILED
            self.acts[act_id] = replace(act, state=state, end=end, ended_at=at)
            self._acted(act_id, at, end)

    async def refuse(self, act_id: str, ruled: Sentence, at: datetime) -> None:
        await self._check("refuse")
        if self.acts[act_id].state is ActState.DUE:
            self._rule(act_id, ruled, ActState.REFUSED, at)

    def _rule(self, act_id: str, ruled: Sentence, state: ActState, at: datetime) -> None:
        told = {"fate": ruled.fate, "reason": ruled.reason, "command": ruled.command, "kind": ruled.kind}
        act = replace(self.acts[act_id], words=ruled.words, **told)  # type: ignore[arg-type]
        started = at if state is ActState.RUNNING else None
        self.acts[act_id] = replace(act, line=ruled.line, state=state, started_at=started)
        if state is ActState.RUNNING:
            self.workers[act_id] = self.process
        if state is not ActState.CLICKED:
            self._acted(act_id, at)

    def _acted(self, act_id: str, at: datetime, end: ActEnd | None = None) -> None:
        act = self.acts[act_id]
        of = {"question": act.question_key, "kind": act.kind, "line": act.line, "since": act.started_at, "end": end}
        self.rows.append(act_row(act.state, at=at, act_id=act_id, **of))  # type: ignore[arg-type]

    async def mint(self, act_id: str, ruled: Sentence, new: NewClick) -> Click | ThreadBusy:
        await self._check("mint")
        act = self.acts[act_id]
        if act.click_id:
            return self.confirms[act.click_id]
        if act.state is not ActState.DUE:
            raise HandoffError(f"act {act_id} is {act.state}")
        first = next((one for one in self.confirms.values() if self._pending(one, act.thread, new.at)), None)
        if first is not None:
            busy = withdrawn(ruled, Refusal.THREAD_BUSY, first=first.line)
            self._rule(act_id, busy, ActState.REFUSED, new.at)
            return ThreadBusy(first)
        of = (act.thread, act.requester, ruled.line, ruled.command, ruled.kind, act_id)
        click = Click(new.id, *of, new.at, new.at + new.ttl)
        self.confirms[click.id] = click
        self._rule(act_id, ruled, ActState.CLICKED, new.at)
        self.acts[act_id] = replace(self.acts[act_id], click_id=click.id)
        self._clicked(ClickEvent.MINTED, click, new.at)
        return click

    def _pending(self, click: Click, thread: str, now: datetime) -> bool:
        return click.thread == thread and click.state is ClickState.PENDING and click.expires_at > now

    async def press(self, click_id: str, user: str, now: datetime) -> Pressed:
        await self._check("press")
        click = self.confirms.get(click_id)
        refusal = judge(click, user, now)
        if click is None:
            return Pressed(None, refusal)
        if refusal is not None:
            if refusal is Refusal.EXPIRED:
                self._expire(click, now)
            self._clicked(ClickEvent.REFUSED, self.confirms[click_id], now, user=user, refusal=refusal)
            return Pressed(self.confirms[click_id], refusal)
        self.confirms[click_id] = click = replace(click, state=ClickState.CONSUMED, closed_at=now)
        self._clicked(ClickEvent.CONSUMED, click, now, user=user, since=click.minted_at)
        self.acts[click.act_id] = replace(self.acts[click.act_id], state=ActState.RUNNING, started_at=now)
        self.workers[click.act_id] = self.process
        self._acted(click.act_id, now)
        return Pressed(click)

    def _expire(self, click: Click, now: datetime) -> int:
        if click.state is not ClickState.PENDING or click.expires_at > now:
            return 0
        self.confirms[click.id] = replace(click, state=ClickState.EXPIRED, closed_at=now)
        self._clicked(ClickEvent.EXPIRED, click, now)
        return 1

    def _clicked(self, event: ClickEvent, click: Click, at: datetime, user: str = "", **more: Any) -> None:
        key = self.acts[click.act_id].question_key
        self.rows.append(click_row(event, at=at, click_id=click.id, question=key, user=user, **more))

    async def click(self, click_id: str) -> Click:
        await self._check("click")
        return self.confirms[click_id]

    async def clicks(self, limit: int, before: str | None = None) -> tuple[Click, ...]:
        await self._check("clicks")
        return page(sorted(self.confirms.values(), key=lambda one: one.minted_at, reverse=True), limit, before)

    async def sweep(self, now: datetime) -> int:
        await self._check("sweep")
        changed = sum(self._expire(one, now) for one in list(self.confirms.values()))
        for act in list(self.acts.values()):
            if act.state is ActState.RUNNING and self.workers[act.id] in self.gone:
                self.acts[act.id] = replace(act, state=ActState.UNKNOWN, ended_at=now)
                self._acted(act.id, now)
                changed += 1
        return changed

    def _news(self, item_id: str, at: datetime, kind: NewsKind, person: str = "") -> None:
        item = self.items[item_id]
        mark = f"{kind}-{next(self._marks)}"
        self.tidings[mark] = (News(item, mark, self.receipts[item.receipt_id], kind=kind, person=person), at)

    async def news(self, now: datetime, limit: int, raisers: Collection[str]) -> tuple[News, ...]:
        await self._check("news")
        due = sorted((at, mark) for mark, (_, at) in self.tidings.items() if at <= now)
        wanted = [self.tidings[mark][0] for _, mark in due]
        return tuple(one for one in wanted if one.item.question.raised_by in raisers)[:limit]

    async def told(self, news: News, result: Delivery, at: datetime, *, again_at: datetime | None = None) -> None:
        await self._check("told")
        self.told_as.append((news.mark, result))
        of = {"item_id": news.item.id, "question": news.item.question.key, "mark": news.mark}
        self.rows.append(webhook_row(result, at=at, **of))
        del self.tidings[news.mark]
        if again_at is not None:
            self.tidings[news.mark] = (replace(news, tries=news.tries + 1), again_at)

    async def handoff_facts(self) -> HandoffFacts:
        await self._check("handoff_facts")
        states = [one.state for one in self.items.values()]
        oldest = min((one.raised_at for one in self.items.values() if one.state in PENDING), default=None)
        clicks = [one.minted_at for one in self.confirms.values() if one.state is ClickState.PENDING]
        by_state = {state: states.count(state) for state in ItemState}
        return HandoffFacts(await self.waiting(), by_state, oldest, len(clicks), min(clicks, default=None))
