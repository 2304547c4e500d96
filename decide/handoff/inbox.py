"""Inbox: questions that were raised for the daemon to ask, and what becomes of each after a run (design 7)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from decide.handoff.entry import Why
from decide.question import Question
from decide.ruling import ANSWERED, Outcome

AGAIN = timedelta(minutes=5)
"""When a question is looked at again whose run could not say when: the ledger held it, or it could not be asked."""


class ItemState(StrEnum):
    """Where a raised question stands: `queued` waits for a person; `done` has an answer or ended without one."""

    WAITING = "waiting"
    RETRYING = "retrying"
    RUNNING = "running"
    QUEUED = "queued"
    DONE = "done"


PENDING = (ItemState.WAITING, ItemState.RETRYING, ItemState.RUNNING)
"""The states in which the puller still has something to do."""


@dataclass(frozen=True, slots=True)
class Raised:
    """A question to raise: `snapshot` is its frozen evidence as `snapshot.dump` gave it.

    `surface` is where it was raised, "chat" (the console) or "typed"; `requester` the person who may press a click
    that comes of it.
    """

    id: str
    question: Question
    snapshot: str
    at: datetime
    surface: str
    requester: str


@dataclass(frozen=True, slots=True)
class Item:
    """A raised question; `due_at` is when the puller may take it next. `receipt_id` is its latest run's."""

    id: str
    question: Question
    state: ItemState
    raised_at: datetime
    due_at: datetime
    surface: str
    requester: str
    receipt_id: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """An item that this process is to ask now, with the evidence that was frozen when it was raised."""

    item: Item
    snapshot: str


class NewsKind(StrEnum):
    """What there is to tell a raiser: a run's ruling, a person's answer, or that a person cancelled the question."""

    RULING = "ruling"
    ANSWER = "answer"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class News:
    """Something that whoever raised an item has not been told yet.

    `mark` names it; `receipt` is the latest receipt as it stands now, a person's answer on it; `tries` have failed.
    `person` is who answered or cancelled, empty for a ruling.
    """

    item: Item
    mark: str
    receipt: dict[str, object]
    tries: int = 0
    kind: NewsKind = NewsKind.RULING
    person: str = ""


def after(
    outcome: Outcome, *, why: Why | None, retry_at: datetime | None, now: datetime
) -> tuple[ItemState, datetime]:
    """The state of an item whose run ended so, and when it is due next: at its time to retry, or at once."""
    if outcome in ANSWERED:
        return ItemState.DONE, now
    if why is not None:
        return ItemState.QUEUED, now
    if outcome is Outcome.CANCELLED:
        return ItemState.WAITING, now
    return ItemState.RETRYING, retry_at or now + AGAIN


def order(deadline: datetime | None, raised_at: datetime) -> tuple[bool, float, float]:
    """What items are taken by: the nearest deadline first, those without one last, then the longest waiting."""
    return deadline is None, deadline.timestamp() if deadline else 0.0, raised_at.timestamp()
