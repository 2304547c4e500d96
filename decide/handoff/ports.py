"""Ports of the handoff: what is durable of queue, inbox, acts and clicks, and the values that only cross there."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from decide.handoff.act import Act, ActEnd, NewAct
from decide.handoff.click import Click, Pressed
from decide.handoff.entry import Answer, Entry, Waiting, Why
from decide.handoff.execution import Sentence
from decide.handoff.inbox import Item, ItemState, News, Raised, Taken
from decide.question import Question


@dataclass(frozen=True, slots=True)
class Onward:
    """What the end of a run hands on, in the transaction that ends it.

    `why` brings the question before a person, or leaves it there; `answered` closes an entry that waits. `item` is
    where a raised question stands after it and when it is due.
    """

    question: Question
    item: tuple[ItemState, datetime]
    answered: bool = False
    why: Why | None = None
    retry_at: datetime | None = None
    act: NewAct | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """A question that a broken ledger held: its entry and its receipt, as far as the store still takes them."""

    receipt_id: str
    receipt: Mapping[str, Any]
    question: Question
    at: datetime


@dataclass(frozen=True, slots=True)
class NewClick:
    """A click to mint for an act; its id is never used again."""

    id: str
    at: datetime
    ttl: timedelta


@dataclass(frozen=True, slots=True)
class ThreadBusy:
    """The thread has a pending click already."""

    first: Click


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a question stands for whoever waits for it; each is None where there is none.

    `receipt` is the latest run's, with a person's answer on it where one was given.
    """

    item: Item | None
    receipt: Mapping[str, Any] | None
    entry: Entry | None


class Delivery(StrEnum):
    """How telling a raiser went: `failed` is tried again, `given_up` is not."""

    DELIVERED = "delivered"
    FAILED = "failed"
    GIVEN_UP = "given_up"


@dataclass(frozen=True, slots=True)
class HandoffFacts:
    """What waits at a moment, for metrics: open entries, pending items by state, pending clicks."""

    waiting: tuple[Waiting, ...] = ()
    items: Mapping[ItemState, int] = field(default_factory=dict)
    oldest_item_at: datetime | None = None
    clicks: int = 0
    oldest_click_at: datetime | None = None


class HandoffStore(Protocol):
    """What is durable of the handoff; every method raises StoreError when the store cannot be used.

    Each is one transaction, and every change appends its row to the ledger in it. A method that takes an id takes the
    beginning of one that only one has, and raises LookupError for an id that none or several have.
    """

    # queue

    async def waiting(self) -> tuple[Waiting, ...]:
        """Every open entry, the longest waiting first."""

    async def entries(self, limit: int, before: str | None = None) -> tuple[Entry, ...]:
        """Up to `limit` entries whatever their state, the latest entered first, or those entered before one."""

    async def entry(self, entry_id: str) -> Entry:
        """An entry by its id, or by its question's key (then the latest)."""

    async def answer(self, entry_id: str, answer: Answer, act: NewAct | None = None) -> Entry:
        """Close an open entry with a person's answer: on its receipt, with the act that it stands for.

        The question is closed by it: it is never asked again. Raises ClosedError for an entry that does not wait.
        """

    async def cancel(self, entry_id: str, person: str, note: str, at: datetime) -> Entry:
        """Close an open entry without an answer; raises ClosedError for one that does not wait."""

    async def hold(self, hold: Hold) -> None:
        """Let a question that the ledger held wait for a person, and keep its receipt; repeated, nothing changes."""

    # inbox

    async def raise_question(self, raised: Raised) -> Item:
        """Keep a question for the puller; the same question raised again is the item that there is.

        One that is decided already is `done` at once. Raises HandoffError for an id that another question used.
        """

    async def item(self, item_id: str) -> Item:
        """A raised question by its id, or by its key."""

    async def standing(self, any_id: str) -> Standing:
        """Where a question stands, by the id of its item, its entry or its receipt, or by its key."""

    async def take(self, now: datetime, most: int, lease: timedelta) -> tuple[Taken, ...]:
        """Up to `most` due items for this process, the most pressing first; nobody else takes one of them until the
        lease ends or this process is gone.
        """

    async def put_back(self, item_id: str, due_at: datetime) -> None:
        """Give an item that this process took back without a run; one that it has no longer stays as it is."""

    async def ask_cleared(self, now: datetime, *, whole: bool) -> int:
        """Make due, once each, the open `walled` entries whose wall has cleared; how many there were.

        `whole` says that both rungs can be reached, which clears the walls of which nobody knows a time.
        """

    # acts

    async def act(self, act_id: str) -> Act:
        """An act by its id."""

    async def due_acts(self) -> tuple[Act, ...]:
        """Acts of the daemon that were decided and not begun, the oldest first."""

    async def begin(self, act_id: str, ruled: Sentence, at: datetime) -> bool:
        """Record that this process starts a due act; False when it was begun or refused before."""

    async def finish(self, act_id: str, end: ActEnd, at: datetime) -> None:
        """Record how a running act ended; repeated, nothing changes."""

    async def refuse(self, act_id: str, ruled: Sentence, at: datetime) -> None:
        """Record that a due act is refused; repeated, nothing changes."""

    # clicks

    async def mint(self, act_id: str, ruled: Sentence, new: NewClick) -> Click | ThreadBusy:
        """Offer a due act as a click, or refuse it because its thread has one; a click it has is returned.

        The refusal is recorded as `execution.withdrawn(ruled, Refusal.THREAD_BUSY, first=first.line)`. Raises
        HandoffError for an act that was begun or refused before.
        """

    async def press(self, click_id: str, user: str, now: datetime) -> Pressed:
        """Press a click: the first press by its requester in time consumes it and records that its act starts."""

    async def click(self, click_id: str) -> Click:
        """A click by its whole id."""

    async def clicks(self, limit: int, before: str | None = None) -> tuple[Click, ...]:
        """Up to `limit` clicks, the latest first, or those minted before one."""

    async def sweep(self, now: datetime) -> int:
        """Expire what is due, and tell acts unknown whose process is gone; how many things changed."""

    # webhooks, metrics

    async def news(self, now: datetime, limit: int, raisers: Collection[str]) -> tuple[News, ...]:
        """Up to `limit` things that these raisers have not been told yet and may be tried now, the oldest first.

        What others raised is never news: nobody could be told, and it would keep the rest from being seen.
        """

    async def told(self, news: News, result: Delivery, at: datetime, *, again_at: datetime | None = None) -> None:
        """Record how telling went; a failed one may be tried again from `again_at`."""

    async def handoff_facts(self) -> HandoffFacts:
        """What waits now."""
