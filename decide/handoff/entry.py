"""Entry: a question that waits for a person, why it does, and how the waiting ends (design 4.5)."""

import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from decide.handoff.urgency import Urgency, urgency
from decide.question import LEAD, MAX_ATTEMPTS, Consequence, Question
from decide.ruling import Outcome

WORDS_LIMIT = 10_000
"""The longest answer in words, in characters."""
NAME_LIMIT = 128
"""The longest name of a person, in characters."""


class Why(StrEnum):
    """Why a question waits for a person: the outcome that brought it there."""

    NEEDS_HUMAN = "needs_human"
    WALLED = "walled"
    ERROR = "error"
    HELD = "held"


class EntryState(StrEnum):
    """Where an entry stands: only an open one waits; `resolved` says that the ladder answered after all."""

    OPEN = "open"
    ANSWERED = "answered"
    RESOLVED = "resolved"
    CANCELLED = "cancelled"


class HandoffError(ValueError):
    """What a person, or whoever raises, cannot do; the text names what is wrong and what is allowed."""


class ClosedError(HandoffError):
    """The entry no longer waits: `entry` is how it ended, and nothing was changed."""

    def __init__(self, entry: "Entry") -> None:
        ended = {
            EntryState.ANSWERED: f"was answered by {entry.closed_by}",
            EntryState.RESOLVED: "was resolved by the ladder itself",
            EntryState.CANCELLED: f"was cancelled by {entry.closed_by}",
        }.get(entry.state, "is open")
        super().__init__(f"entry {entry.id} {ended}; an entry is closed once")
        self.entry = entry


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's answer: an option's id, or words, or both; `surface` is where it was given, "chat" or "typed".

    Raises HandoffError for an answer that says nothing or names nobody.
    """

    person: str
    at: datetime
    surface: str
    option: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        """Refuse what no receipt should hold."""
        named(self.person)
        if not self.option and not self.text.strip():
            raise HandoffError("an answer names an option or says something in words")
        if len(self.text) > WORDS_LIMIT:
            raise HandoffError(f"text: at most {WORDS_LIMIT} characters, not {len(self.text)}")
        if any(unicodedata.category(sign) in ("Cc", "Cs") and sign not in "\r\n\t" for sign in self.text):
            raise HandoffError("text: must be whole characters, none of them a control character")
        if self.at.tzinfo is None:
            raise ValueError(f"times must be aware: {self.at!r}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A question in the queue; `id` is the receipt of the run that brought it there.

    `clears_at` is when the wall that it met clears, None where nobody knows; `asked_again`: that was tried once.
    `closed_by` is the person who answered or cancelled, of a resolved one the receipt that answers it; `note` is what
    was said on cancelling.
    """

    id: str
    question: Question
    why: Why
    state: EntryState
    entered_at: datetime
    clears_at: datetime | None = None
    asked_again: bool = False
    closed_at: datetime | None = None
    closed_by: str = ""
    note: str = ""
    answer: Answer | None = None

    def urgency(self, now: datetime, lead: timedelta = LEAD) -> Urgency:
        """How pressing it is at a moment."""
        return urgency(self.question.consequence, self.question.deadline, now=now, lead=lead)


@dataclass(frozen=True, slots=True)
class Waiting:
    """An open entry as a list or a metric needs it; `title` is the beginning of the question's text."""

    id: str
    question_key: str
    title: str
    why: Why
    consequence: Consequence
    deadline: datetime | None
    entered_at: datetime
    raised_by: str = ""

    def urgency(self, now: datetime, lead: timedelta = LEAD) -> Urgency:
        """How pressing it is at a moment."""
        return urgency(self.consequence, self.deadline, now=now, lead=lead)


def entering(
    outcome: Outcome,
    *,
    by_ledger: bool = False,
    attempts: int,
    retry_at: datetime | None,
    deadline: datetime | None,
    lead: timedelta = LEAD,
    max_attempts: int = MAX_ATTEMPTS,
) -> Why | None:
    """Why a run that ended so brings its question before a person, None while it does not (design 4.5)."""
    too_late = deadline is not None and retry_at is not None and deadline - retry_at < lead
    match outcome:
        case Outcome.NEEDS_HUMAN:
            return Why.NEEDS_HUMAN
        case Outcome.WALLED:
            return Why.WALLED
        case Outcome.ERROR:
            return Why.ERROR if attempts >= max_attempts or too_late else None
        case Outcome.HELD:
            return Why.HELD if by_ledger or too_late else None
        case Outcome.AGREED | Outcome.RECONSIDERED | Outcome.SINGLE_RUNG | Outcome.CANCELLED:
            return None


def chosen(question: Question, option: str) -> str:
    """The id of the option that a person named, blanks and case aside; raises HandoffError where there is none."""
    found = question.canonical(option)
    if found is None:
        names = ", ".join(repr(one.id) for one in question.options)
        raise HandoffError(f"option: there is no option {option[:80]!r}; there are {names}")
    return found


def named(person: str) -> str:
    """A person's name, stripped; raises HandoffError for none and for one that is no name."""
    name = person.strip()
    if not name or len(name) > NAME_LIMIT or not name.isprintable():
        raise HandoffError(f"person: must be 1 to {NAME_LIMIT} printable characters, not {person[:40]!r}")
    return name
