"""Answers: a person's word on an entry that waits, with everything that it ends in the same transaction."""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, bindparam, case, insert, select, update

from decide.handoff.act import NewAct
from decide.handoff.entry import WORDS_LIMIT, Answer, Entry, EntryState, HandoffError, named
from decide.handoff.inbox import NewsKind
from decide.handoff.rows import QueueEvent, queue_row
from decide.ledger import Row
from decide.question import Question, dump
from decide.store import acts, citing, entries, items, receipts
from decide.store.moments import micros
from decide.store.news import mark_of
from decide.store.prepared import Prepared
from decide.store.rows import Writing
from decide.store.tables import QUESTIONS
from decide.store.words import plain

# the document too: a run that claimed the question and never froze its evidence takes its row back without one
_CLOSE = Prepared(
    update(QUESTIONS)
    .where(QUESTIONS.c.question_key == bindparam("key"), QUESTIONS.c.digest == bindparam("of_digest"))
    .values(
        receipt_id=case((QUESTIONS.c.receipt_id == "", bindparam("by_receipt")), else_=QUESTIONS.c.receipt_id),
        document=case((QUESTIONS.c.document == "", bindparam("to_document")), else_=QUESTIONS.c.document),
    )
)
_KNOWN = Prepared(select(QUESTIONS.c.digest).where(QUESTIONS.c.question_key == bindparam("key")))
_NEW = Prepared(insert(QUESTIONS))


def answer(writing: Writing, entry_id: str, given: Answer, act: NewAct | None) -> Entry:
    """Close an entry with a person's answer; raises ClosedError for one that does not wait."""
    connection = writing.connection
    entry = entries.open_one(connection, entry_id)
    closed = replace(entry, state=EntryState.ANSWERED, closed_at=given.at, closed_by=given.person, answer=given)
    entries.close(connection, closed)
    receipts.answered(connection, entry.question.key, entry.id, given)
    _close(connection, entry.question, entry.id, given.at)
    _end_item(connection, entry, NewsKind.ANSWER)
    if act is not None:
        acts.new(connection, act, given.at)
    rows = citing.resolved(connection, entry.question, entry.id, given.at)
    writing.append([_row(QueueEvent.ANSWERED, closed, given.at), *rows])
    return closed


def cancel(writing: Writing, entry_id: str, person: str, note: str, at: datetime) -> Entry:
    """Close an entry without an answer; raises ClosedError for one that does not wait, HandoffError for no name."""
    name = named(person)
    if len(note) > WORDS_LIMIT:
        raise HandoffError(f"note: at most {WORDS_LIMIT} characters, not {len(note)}")
    entry = entries.open_one(writing.connection, entry_id)
    closed = replace(entry, state=EntryState.CANCELLED, closed_at=at, closed_by=name, note=plain(note))
    entries.close(writing.connection, closed)
    _end_item(writing.connection, entry, NewsKind.CANCELLED)
    writing.append([_row(QueueEvent.CANCELLED, closed, at)])
    return closed


def _row(event: QueueEvent, closed: Entry, at: datetime) -> Row:
    told = {"entry_id": closed.id, "question": closed.question.key, "person": closed.closed_by}
    return queue_row(event, at=at, why=closed.why, since=closed.entered_at, **told)


def _end_item(connection: Connection, entry: Entry, kind: NewsKind) -> None:
    items.done(connection, entry.question.key, news=mark_of(entry.id, kind), receipt_id=entry.id)


def _close(connection: Connection, question: Question, receipt_id: str, at: datetime) -> None:
    """Close a question, so that nobody asks it again; one of another text under its id is left alone."""
    document = dump(question)
    closing = {"of_digest": question.digest, "by_receipt": receipt_id, "to_document": document}
    closed = _CLOSE.run(connection, {"key": question.key, **closing})
    if closed.rowcount or _KNOWN.run(connection, {"key": question.key}).fetchone() is not None:
        return
    fields = {
        "question_key": question.key,
        "digest": question.digest,
        "document": document,
        "snapshot": "",
        "attempts": 0,
        "run_id": "",
        "receipt_id": receipt_id,
        "at_us": micros(at),
    }
    _NEW.run(connection, fields)
