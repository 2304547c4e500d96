"""Tables of the handoff: entries, items, acts and clicks; text and JSON come last, where a list never reads them."""

from typing import Any

from sqlalchemy import CheckConstraint, Column, ColumnElement, FromClause, Index, Table, Text, literal_column

from decide.store.tables import BIG, METADATA


def _texts(*names: str) -> list[Column[str]]:
    return [Column(name, Text, nullable=False) for name in names]


def _numbers(*names: str, nullable: bool = False) -> list[Column[int]]:
    return [Column(name, BIG, nullable=nullable) for name in names]


def is_in(table: FromClause, *states: str) -> ColumnElement[bool]:
    """Whether a row is in one of some states, spelt out: only then is an index over such rows used.

    SQLite also plans a statement anew at every run that compares such a column with a bound value.
    """
    spelt: list[ColumnElement[str]] = [literal_column(f"'{state}'") for state in states]
    return table.c.state.in_(spelt) if len(spelt) > 1 else table.c.state == spelt[0]


def _some(name: str, where: ColumnElement[bool], *columns: Column[Any], unique: bool = False) -> None:
    """An index over those rows alone for which `where` holds."""
    Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


ENTRIES = Table(
    "entries",
    METADATA,
    Column("entry_id", Text, primary_key=True),
    *_texts("question_key", "state", "why", "consequence"),
    *_numbers("deadline_us", nullable=True),
    *_numbers("entered_us"),
    *_texts("raised_by", "title"),
    *_numbers("clears_us", nullable=True),
    *_numbers("asked_again"),
    *_numbers("closed_us", nullable=True),
    *_texts("closed_by", "note", "answer", "document"),
)
"""Questions that wait, or waited, for a person; `answer` is JSON text, empty without one."""
IS_OPEN = is_in(ENTRIES, "open")
Index("entries_of_question", ENTRIES.c.question_key)
Index("entries_by_time", ENTRIES.c.entered_us, ENTRIES.c.entry_id)
_some("entries_waiting", IS_OPEN, ENTRIES.c.entered_us, ENTRIES.c.entry_id)
_some("entries_open", IS_OPEN, ENTRIES.c.question_key, unique=True)

ITEMS = Table(
    "items",
    METADATA,
    Column("item_id", Text, primary_key=True),
    Column("question_key", Text, nullable=False, unique=True),
    *_texts("state"),
    *_numbers("deadline_us", nullable=True),
    *_numbers("raised_us", "due_us"),
    *_texts("digest", "evidence", "surface", "requester", "raised_by", "receipt_id", "host"),
    *_numbers("pid"),
    *_texts("started"),
    *_numbers("until_us"),
    *_texts("news", "told"),
    *_numbers("tries", "again_us"),
    *_texts("document"),
)
"""Raised questions with the lease of whoever asks one, and what its raiser is to be told and was told."""
IS_DUE = is_in(ITEMS, "waiting", "retrying")
IS_RUNNING = is_in(ITEMS, "running")
IS_LIVE = ITEMS.c.state != literal_column("'done'")
IS_NEWS = ITEMS.c.news != ITEMS.c.told
_some("items_due", IS_DUE, ITEMS.c.due_us)
_some("items_live", IS_LIVE, ITEMS.c.state, ITEMS.c.raised_us)
_some("items_news", IS_NEWS, ITEMS.c.raised_us)

ACTS = Table(
    "acts",
    METADATA,
    Column("act_id", Text, primary_key=True),
    *_texts("question_key", "thread", "requester", "surface", "line", "runner", "state"),
    *_numbers("at_us"),
    *_texts("fate", "reason", "command", "kind", "words", "click_id", "host"),
    *_numbers("pid"),
    *_texts("started"),
    *_numbers("started_us", "ended_us", nullable=True),
    *_texts("ended"),
)
"""Commands that answers stand for, with the process that runs one; `words` and `ended` are JSON text."""
IS_UNBEGUN = is_in(ACTS, "due")
IS_UNDER_WAY = is_in(ACTS, "running")
_some("acts_due", IS_UNBEGUN, ACTS.c.at_us)
_some("acts_running", IS_UNDER_WAY, ACTS.c.at_us)

CLICKS = Table(
    "clicks",
    METADATA,
    Column("click_id", Text, primary_key=True),
    *_texts("thread", "requester", "line", "command", "kind", "act_id", "question_key", "state"),
    *_numbers("minted_us", "expires_us"),
    *_numbers("closed_us", nullable=True),
    CheckConstraint("expires_us > minted_us", name="click_expires"),
)
"""Pending confirmations and what became of each; at most one of a thread is pending."""
IS_OFFERED = is_in(CLICKS, "pending")
Index("clicks_by_time", CLICKS.c.minted_us, CLICKS.c.click_id)
_some("clicks_due", IS_OFFERED, CLICKS.c.expires_us)
_some("clicks_pending", IS_OFFERED, CLICKS.c.thread, unique=True)
