"""Inbox: questions as they are raised, and those of open entries that are asked once more."""

from datetime import datetime

from sqlalchemy import bindparam, false, or_, select

from decide.handoff.entry import EntryState, HandoffError, Why
from decide.handoff.execution import Surface
from decide.handoff.inbox import Item, ItemState, NewsKind, Raised
from decide.handoff.rows import raised_row
from decide.ledger import Row
from decide.question import Question, load
from decide.store import entries, evidence, items
from decide.store.moments import micros
from decide.store.news import mark_of
from decide.store.prepared import Prepared
from decide.store.rows import Writing
from decide.store.tables import EVIDENCE, QUESTIONS
from decide.store.tables_handoff import ENTRIES, IS_OPEN

_KNOWN = Prepared(
    select(QUESTIONS.c.digest, QUESTIONS.c.receipt_id).where(QUESTIONS.c.question_key == bindparam("key"))
)
_CLEARED = (
    select(ENTRIES.c.entry_id, ENTRIES.c.document, QUESTIONS.c.snapshot, EVIDENCE.c.document.label("evidence"))
    .join(QUESTIONS, QUESTIONS.c.question_key == ENTRIES.c.question_key)
    .join(EVIDENCE, EVIDENCE.c.digest == QUESTIONS.c.snapshot)
    .where(IS_OPEN, ENTRIES.c.why == Why.WALLED.value, ENTRIES.c.asked_again == 0)
    .order_by(ENTRIES.c.entered_us)
)


def raise_question(writing: Writing, raised: Raised) -> Item:
    """Keep a question for the puller, in the state that fits what is known of it; raised again, nothing changes."""
    connection, question = writing.connection, raised.question
    there = items.of_question(connection, question.key)
    if there is not None:
        _same(question, there.question.digest)
        return there
    known = _KNOWN.run(connection, {"key": question.key}).fetchone()
    digest, closed_by = ("", "") if known is None else known
    waiting = entries.latest(connection, question.key)
    for used in (digest, waiting.question.digest if waiting else ""):
        _same(question, used or question.digest)
    kept = evidence.keep(connection, raised.snapshot, raised.at)
    if waiting is not None and waiting.state is EntryState.OPEN:
        item = items.new(connection, raised, evidence=kept, state=ItemState.QUEUED, receipt_id=waiting.id)
    elif closed_by:
        item = items.new(connection, raised, evidence=kept, state=ItemState.DONE, receipt_id=closed_by)
    else:
        item = items.new(connection, raised, evidence=kept)
    if waiting is not None and waiting.state is EntryState.ANSWERED:
        items.done(connection, question.key, news=mark_of(waiting.id, NewsKind.ANSWER), receipt_id=waiting.id)
    writing.append([_row(raised)])
    return item


def ask_cleared(writing: Writing, now: datetime, *, whole: bool) -> int:
    """Make due, once each, the questions of `walled` entries whose wall has cleared."""
    unknown = ENTRIES.c.clears_us.is_(None) if whole else false()
    cleared = _CLEARED.where(or_(ENTRIES.c.clears_us <= micros(now), unknown))
    rows = writing.connection.execute(cleared).all()
    for row in rows:
        entries.asked_again(writing.connection, row.entry_id)
        question = load(row.document)
        if not items.again(writing.connection, question.key, now):
            raised = Raised(row.entry_id, question, row.evidence, now, Surface.TYPED.value, question.raised_by)
            items.new(writing.connection, raised, evidence=row.snapshot)
            writing.append([_row(raised)])
    return len(rows)


def _row(raised: Raised) -> Row:
    return raised_row(at=raised.at, item_id=raised.id, question=raised.question.key, surface=raised.surface)


def _same(question: Question, digest: str) -> None:
    if digest != question.digest:
        raise HandoffError(
            f"id: {question.id!r} was used for another question ({digest}); give this one an id of its own"
        )
