"""Onward: what the end of a run, or a hold, makes of its question's entry, item and act."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, func, literal_column, or_, select

from decide.handoff.entry import Why
from decide.handoff.inbox import ItemState
from decide.handoff.ports import Hold, Onward
from decide.handoff.rows import QueueEvent, queue_row
from decide.ledger import Row
from decide.ports import Ending
from decide.question import Question
from decide.store import acts, citing, entries, items, receipts
from decide.store.moments import moment
from decide.store.prepared import Prepared
from decide.store.rows import Writing
from decide.store.tables import QUESTIONS, RUNS
from decide.store.tables_handoff import ENTRIES, IS_OPEN, ITEMS, is_in


class _Stands(NamedTuple):
    """What a question is in the middle of: its open entry, its item, and the entry that a person closed meanwhile."""

    entry_id: str | None
    why: str | None
    clears_us: int | None
    entered_us: int | None
    item_id: str | None
    item_state: str | None
    closed: str | None


_ONE = select(literal_column("1").label("one")).subquery("one")
_CLOSED = ENTRIES.alias("closed")
_BEGAN = select(RUNS.c.at_us).where(RUNS.c.run_id == bindparam("run")).scalar_subquery()
_MEANWHILE = is_in(_CLOSED, "cancelled") & (_CLOSED.c.closed_us >= _BEGAN)
_BY_PERSON = (
    select(func.min(_CLOSED.c.entry_id))
    .where(_CLOSED.c.question_key == bindparam("key"), or_(is_in(_CLOSED, "answered"), _MEANWHILE))
    .scalar_subquery()
)
# one statement: it is on the way of every run
_STANDS = Prepared(
    select(
        *(ENTRIES.c[name] for name in ("entry_id", "why", "clears_us", "entered_us")),
        ITEMS.c.item_id,
        ITEMS.c.state,
        _BY_PERSON,
    )
    .select_from(_ONE)
    .outerjoin(ENTRIES, (ENTRIES.c.question_key == bindparam("key")) & IS_OPEN)
    .outerjoin(ITEMS, ITEMS.c.question_key == bindparam("key"))
)
_DECIDED = select(QUESTIONS.c.receipt_id).where(
    QUESTIONS.c.question_key == bindparam("key"),
    QUESTIONS.c.digest == bindparam("of_digest"),
    QUESTIONS.c.receipt_id != "",
)


def ended(connection: Connection, ending: Ending) -> list[Row]:
    """Take the end of a run on to queue, inbox and acts, and give the rows of what that changed.

    What a person closed while the run was out stays as the person left it, and the run's command does not run.
    """
    onward = ending.onward
    if onward is None:
        return []
    stands = _stands(connection, onward.question.key, ending.run_id)
    if stands.closed is not None:
        _tell(connection, onward.question, stands.closed)
        return []
    rows = _queue(connection, onward, stands, entry_id=ending.receipt_id, at=ending.at)
    if stands.item_id is not None and stands.item_state != ItemState.DONE:
        items.move(connection, stands.item_id, *onward.item, ending.receipt_id)
    if onward.act is not None:
        acts.new(connection, onward.act, ending.at)
    if onward.answered:
        rows += citing.resolved(connection, onward.question, ending.receipt_id, ending.at)
    return rows


def hold(writing: Writing, held: Hold) -> None:
    """Let a question that a broken ledger held wait for a person, unless it does or is decided, and keep its receipt.

    Repeated, nothing changes.
    """
    connection, question = writing.connection, held.question
    if not receipts.keep_held(connection, held):
        return
    stands = _stands(connection, question.key, held.receipt_id)
    decided = connection.execute(_DECIDED, {"key": question.key, "of_digest": question.digest}).first()
    if stands.closed is not None:
        _tell(connection, question, stands.closed)
    elif decided is None and stands.entry_id is None:
        onward = Onward(question, (ItemState.RETRYING, held.at), why=Why.HELD)
        writing.append(_queue(connection, onward, stands, entry_id=held.receipt_id, at=held.at))


def _stands(connection: Connection, question_key: str, run_id: str) -> _Stands:
    return _Stands._make(_STANDS.run(connection, {"key": question_key, "run": run_id}).fetchone())


def _tell(connection: Connection, question: Question, entry_id: str) -> None:
    """Put what a person answered on the receipts that came since."""
    entry = entries.found(connection, entry_id)
    if entry.answer is not None:
        receipts.answered(connection, question.key, entry.id, entry.answer)


def _queue(connection: Connection, onward: Onward, stands: _Stands, *, entry_id: str, at: datetime) -> list[Row]:
    """Close an open entry, let it wait on, or let the question enter; the rows that say so."""
    question, why = onward.question, onward.why
    clears_at = onward.retry_at if why is Why.WALLED else None
    if stands.entry_id is None:
        if why is None:
            return []
        entries.enter(connection, question, entry_id=entry_id, why=why, clears_at=clears_at, at=at)
        return [_row(QueueEvent.ENTERED, question, entry_id, why, at, since=at)]
    if onward.answered and stands.why is not None and stands.entered_us is not None:
        entries.resolve(connection, stands.entry_id, entry_id, at)
        since = moment(stands.entered_us)
        return [_row(QueueEvent.RESOLVED, question, stands.entry_id, Why(stands.why), at, since=since)]
    if why is not None:
        entries.stay(connection, stands.entry_id, why, clears_at)
    return []


def _row(event: QueueEvent, question: Question, entry_id: str, why: Why, at: datetime, *, since: datetime) -> Row:
    return queue_row(event, at=at, entry_id=entry_id, question=question.key, why=why, since=since)
