"""Desk: everything that the console's pages read or do, as the composition root gives it to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from decide.handoff.act import Act
from decide.handoff.click import Click, Pressed
from decide.handoff.entry import Entry, HandoffError, Waiting
from decide.handoff.inbox import Item
from decide.handoff.ports import HandoffFacts, Standing
from decide.question import Question

if TYPE_CHECKING:  # the pages need no database
    from decide.store.receipts import ReceiptLine

LADDER = "ladder"
"""The subject of a change of the ladder itself; every other subject is a rung's configured name."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A recorded change of state: `before` and `after` are words of `LadderWord`, or of `RungState` for a rung.

    `reasons` are the values of `Reason` that a rung had after it.
    """

    at: datetime
    subject: str
    before: str
    after: str
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TickLine:
    """A tick in one line: `result` is a `TickResult`, `word` the ladder's after it, `failed` some of its `reads`."""

    at: datetime
    duration_s: float
    result: str
    word: str
    reads: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """What a signed link says once it was found good: its click, and the person it was made for."""

    click_id: str
    subject: str


class LinkError(HandoffError):
    """A link that opens nothing; the text is the refusal's words. `expired`: it was good once."""

    def __init__(self, words: str, *, expired: bool = False) -> None:
        super().__init__(words)
        self.expired = expired


class Kept(Protocol):
    """What the pages need of `decide.handoff.ports.HandoffStore`, which says what each of these does."""

    async def waiting(self) -> tuple[Waiting, ...]:
        """Every open entry, the longest waiting first."""

    async def entries(self, limit: int, before: str | None = None) -> tuple[Entry, ...]:
        """Up to `limit` entries whatever their state, the latest entered first, or those entered before one."""

    async def entry(self, entry_id: str) -> Entry:
        """An entry; raises LookupError."""

    async def cancel(self, entry_id: str, person: str, note: str, at: datetime) -> Entry:
        """Close an open entry without an answer; raises ClosedError and LookupError."""

    async def standing(self, any_id: str) -> Standing:
        """Where a question stands; raises LookupError."""

    async def act(self, act_id: str) -> Act:
        """An act; raises LookupError."""

    async def click(self, click_id: str) -> Click:
        """A click by its whole id; raises LookupError."""

    async def clicks(self, limit: int, before: str | None = None) -> tuple[Click, ...]:
        """Up to `limit` clicks, the latest first, or those minted before one."""

    async def handoff_facts(self) -> HandoffFacts:
        """What waits now."""


class Desk(Protocol):
    """What the console shows and does; every asynchronous method raises StoreError when the store cannot be used."""

    @property
    def handoff(self) -> Kept:
        """The queue, the inbox, acts and clicks."""

    @property
    def lead(self) -> timedelta:
        """How long before its deadline a waiting question becomes pressing."""

    async def receipts(self, limit: int, before: str | None = None) -> "Sequence[ReceiptLine]":
        """Up to `limit` receipts, the latest first, or those before one; raises LookupError for an unknown one."""

    async def receipt(self, receipt_id: str) -> Mapping[str, Any]:
        """A whole receipt by its id or the beginning of it; raises LookupError."""

    async def outcomes_by_day(self, since: datetime) -> Sequence[tuple[str, str, int]]:
        """How many runs ended so: (day as YYYY-MM-DD in UTC, outcome, count), in any order, none left out."""

    def transitions(self, since: datetime) -> Sequence[Moved]:
        """Every change recorded since then, the earliest first; before them, of each subject, the last one before
        then, where there is one.
        """

    def ticks(self) -> Sequence[TickLine]:
        """The ticks that are remembered, the latest first."""

    async def answer(self, entry_id: str, person: str, option: str, text: str) -> Entry:
        """Close an entry with a person's answer, given here, and hand it on.

        `option` may be empty where `text` is not. Raises ClosedError, HandoffError for an answer that cannot be
        taken, and LookupError.
        """

    async def raise_question(self, question: Question, person: str) -> Item:
        """Put a question in the inbox in a person's name; raises HandoffError and QuestionError."""

    async def press(self, click_id: str, user: str) -> Pressed:
        """Press a click; returns before its effect ends. Another user's, a late or a second press is a refusal."""

    def open_link(self, token: str) -> Link:
        """What a signed link says; raises LinkError for one that is not ours, was altered, or has expired."""
