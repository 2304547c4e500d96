"""Handoff: the queue, the inbox, acts and clicks of a store, each method one transaction (`HandoffStore`)."""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from sqlalchemy import Connection

from decide.handoff.act import Act, ActEnd, NewAct
from decide.handoff.click import Click, Pressed
from decide.handoff.entry import Answer, Entry, Waiting
from decide.handoff.execution import Sentence
from decide.handoff.inbox import Item, News, Raised, Taken
from decide.handoff.ports import Delivery, HandoffFacts, Hold, NewClick, Standing, ThreadBusy
from decide.store import acts, answers, clicks, entries, inbox, items, onward, standing
from decide.store import news as telling
from decide.store.alive import Process
from decide.store.chain import Mark
from decide.store.database import Database
from decide.store.entries import Light
from decide.store.rows import Writing, head
from decide.store.worker import Worker

T = TypeVar("T")


class SqlHandoff:
    """What is durable of the handoff, in the database of a store and on its thread.

    It is written although the chain may be broken: a person can always answer.
    """

    def __init__(self, database: Database, worker: Worker, me: Process) -> None:
        self._database = database
        self._worker = worker
        self._me = me
        self._known: dict[Light, Waiting] = {}
        self._known_at: Mark | None = None

    # queue

    async def waiting(self) -> tuple[Waiting, ...]:
        """Every open entry, the longest waiting first."""
        return await self._read(self._waiting)

    async def entries(self, limit: int, before: str | None = None) -> tuple[Entry, ...]:
        """Up to `limit` entries, the latest entered first, or those before one; raises LookupError."""
        return await self._read(partial(entries.listed, limit=limit, before=before))

    async def entry(self, entry_id: str) -> Entry:
        """An entry by its id or the beginning of it, or by its question's key; raises LookupError."""
        return await self._read(partial(entries.found, any_id=entry_id))

    async def answer(self, entry_id: str, answer: Answer, act: NewAct | None = None) -> Entry:
        """Close an open entry and its question with a person's answer, with the act that it stands for.

        Raises ClosedError for an entry that does not wait, LookupError for none.
        """
        return await self._write(partial(answers.answer, entry_id=entry_id, given=answer, act=act))

    async def cancel(self, entry_id: str, person: str, note: str, at: datetime) -> Entry:
        """Close an open entry without an answer; raises ClosedError, LookupError and HandoffError for no name."""
        return await self._write(partial(answers.cancel, entry_id=entry_id, person=person, note=note, at=at))

    async def hold(self, hold: Hold) -> None:
        """Let a question that the ledger held wait for a person, and keep its receipt; repeated, nothing changes."""
        await self._write(partial(onward.hold, held=hold))

    # inbox

    async def raise_question(self, raised: Raised) -> Item:
        """Keep a question for the puller; raised again it is the item that there is.

        Raises HandoffError for an id that another question used.
        """
        return await self._write(partial(inbox.raise_question, raised=raised))

    async def item(self, item_id: str) -> Item:
        """A raised question by its id or the beginning of it, or by its key; raises LookupError."""
        return await self._read(partial(items.found, any_id=item_id))

    async def standing(self, any_id: str) -> Standing:
        """Where a question stands, by the id of its item, entry or receipt, or by its key; raises LookupError."""
        return await self._read(partial(standing.standing, any_id=any_id))

    async def take(self, now: datetime, most: int, lease: timedelta) -> tuple[Taken, ...]:
        """Up to `most` due items for this process, the most pressing first."""
        take = partial(items.take, now=now, most=most, lease=lease, me=self._me)
        return await self._write(lambda writing: take(writing.connection))

    async def put_back(self, item_id: str, due_at: datetime) -> None:
        """Give an item that this process took back; one that it has no longer stays as it is."""
        put_back = partial(items.put_back, item_id=item_id, due_at=due_at, me=self._me)
        await self._write(lambda writing: put_back(writing.connection))

    async def ask_cleared(self, now: datetime, *, whole: bool) -> int:
        """Make due, once each, the open `walled` entries whose wall has cleared; how many there were."""
        return await self._write(partial(inbox.ask_cleared, now=now, whole=whole))

    # acts

    async def act(self, act_id: str) -> Act:
        """An act by its id or the beginning of it; raises LookupError."""
        return await self._read(partial(acts.found, any_id=act_id))

    async def due_acts(self) -> tuple[Act, ...]:
        """Acts of the daemon that were decided and not begun, the oldest first."""
        return await self._read(acts.due)

    async def begin(self, act_id: str, ruled: Sentence, at: datetime) -> bool:
        """Record that this process starts an act; False when it was begun or refused before."""
        return await self._write(partial(acts.begin, act_id=act_id, ruled=ruled, at=at, me=self._me))

    async def finish(self, act_id: str, end: ActEnd, at: datetime) -> None:
        """Record how a running act ended; repeated, nothing changes."""
        await self._write(partial(acts.finish, act_id=act_id, end=end, at=at))

    async def refuse(self, act_id: str, ruled: Sentence, at: datetime) -> None:
        """Record that an act is refused; repeated, nothing changes."""
        await self._write(partial(acts.refuse, act_id=act_id, ruled=ruled, at=at))

    # clicks

    async def mint(self, act_id: str, ruled: Sentence, new: NewClick) -> Click | ThreadBusy:
        """Offer an act as a click, or refuse it because its thread has one.

        Raises HandoffError for an act that was begun or refused, ValueError for a click's id that was used before.
        """
        return await self._write(partial(clicks.mint, act_id=act_id, ruled=ruled, new=new))

    async def press(self, click_id: str, user: str, now: datetime) -> Pressed:
        """Press a click: the first press by its requester in time consumes it and records that its act starts."""
        return await self._write(partial(clicks.press, click_id=click_id, user=user, now=now, me=self._me))

    async def click(self, click_id: str) -> Click:
        """A click by its whole id; raises LookupError."""
        return await self._read(partial(clicks.found, click_id=click_id))

    async def clicks(self, limit: int, before: str | None = None) -> tuple[Click, ...]:
        """Up to `limit` clicks, the latest first, or those minted before one; raises LookupError."""
        return await self._read(partial(clicks.listed, limit=limit, before=before))

    async def sweep(self, now: datetime) -> int:
        """Expire what is due, and tell acts unknown whose process is gone; how many things changed."""
        return await self._write(partial(_sweep, now=now, me=self._me))

    # webhooks, metrics

    async def news(self, now: datetime, limit: int, raisers: Collection[str]) -> tuple[News, ...]:
        """Up to `limit` things that these raisers have not been told yet and may be tried now, the oldest first."""
        return await self._read(partial(telling.untold, now=now, limit=limit, raisers=raisers))

    async def told(self, news: News, result: Delivery, at: datetime, *, again_at: datetime | None = None) -> None:
        """Record how telling went; a failed one may be tried again from `again_at`."""
        await self._write(partial(telling.told, news=news, result=result, at=at, again_at=again_at))

    async def handoff_facts(self) -> HandoffFacts:
        """What waits now."""
        return await self._read(self._facts)

    def _waiting(self, connection: Connection) -> tuple[Waiting, ...]:
        """The open entries: none changes without a ledger row, and most are those of the last time."""
        known, at = self._known, head(connection)
        if self._known_at != at:
            found = entries.waiting_rows(connection)
            self._known = {row: known.get(row) or entries.waiting_of(row) for row in found}
            self._known_at = at
        return tuple(self._known.values())

    def _facts(self, connection: Connection) -> HandoffFacts:
        pending, oldest = items.counts(connection)
        offered, first = clicks.pending(connection)
        return HandoffFacts(self._waiting(connection), pending, oldest, offered, first)

    async def _read(self, act: Callable[[Connection], T]) -> T:
        return await self._worker.run(partial(self._database.read, act))

    async def _write(self, act: Callable[[Writing], T]) -> T:
        return await self._worker.run(partial(self._database.write, act))


def _sweep(writing: Writing, now: datetime, me: Process) -> int:
    rows = [*clicks.expire(writing.connection, now), *acts.lose(writing.connection, now, me=me)]
    writing.append(rows)
    return len(rows)
