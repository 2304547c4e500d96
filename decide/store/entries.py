"""Entries: questions that wait for a person, as they come, change and go."""

import json
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, tuple_, update

from decide.handoff.entry import Answer, ClosedError, Entry, EntryState, Waiting, Why
from decide.question import Consequence, Question, dump, load
from decide.store.moments import micros, moment
from decide.store.prepared import Prepared
from decide.store.tables_handoff import ENTRIES, IS_OPEN
from decide.store.words import meant, plain

TITLE = 200
"""How much of a question's text a list shows, in characters."""
_LIGHT = ("entry_id", "question_key", "title", "why", "consequence", "deadline_us", "entered_us", "raised_by")
_WAITING = Prepared(
    select(*(ENTRIES.c[name] for name in _LIGHT)).where(IS_OPEN).order_by(ENTRIES.c.entered_us, ENTRIES.c.entry_id)
)
_LATEST = select(ENTRIES).order_by(ENTRIES.c.entered_us.desc(), ENTRIES.c.entry_id.desc())
_OF_QUESTION = (
    select(ENTRIES)
    .where(ENTRIES.c.question_key == bindparam("key"))
    .order_by((ENTRIES.c.closed_us.is_(None)).desc(), ENTRIES.c.entered_us.desc(), ENTRIES.c.entry_id.desc())
    .limit(1)
)
_BY_ID = select(ENTRIES).where(ENTRIES.c.entry_id == bindparam("id"))
_NEW = Prepared(insert(ENTRIES))
_CLOSE = Prepared(
    update(ENTRIES)
    .where(ENTRIES.c.entry_id == bindparam("id"))
    .values(**{name: bindparam(f"to_{name}") for name in ("state", "closed_us", "closed_by", "note", "answer")})
)
_RESOLVE = Prepared(
    update(ENTRIES)
    .where(ENTRIES.c.entry_id == bindparam("id"))
    .values(state=EntryState.RESOLVED.value, closed_us=bindparam("to_us"), closed_by=bindparam("to_receipt"))
)
_STAYS = Prepared(
    update(ENTRIES)
    .where(ENTRIES.c.entry_id == bindparam("id"))
    .values(why=bindparam("to_why"), clears_us=bindparam("to_clears"))
)
_ASKED_AGAIN = Prepared(update(ENTRIES).where(ENTRIES.c.entry_id == bindparam("id")).values(asked_again=1))

Light = tuple[Any, ...]
"""A row of an open entry without its documents."""


def waiting_rows(connection: Connection) -> list[Light]:
    """Every open entry as the driver gives it, the longest waiting first."""
    rows: list[Light] = _WAITING.run(connection).fetchall()
    return rows


def waiting_of(row: Light) -> Waiting:
    """An open entry of its row."""
    entry_id, key, title, why, consequence, deadline, entered, raised_by = row
    due = None if deadline is None else moment(deadline)
    return Waiting(entry_id, key, title, Why(why), Consequence(consequence), due, moment(entered), raised_by)


def listed(connection: Connection, limit: int, before: str | None) -> tuple[Entry, ...]:
    """Up to `limit` entries, the latest entered first, or those before one, which LookupError says is unknown."""
    wanted = _LATEST.limit(limit)
    if before is not None:
        one = found(connection, before)
        place = tuple_(ENTRIES.c.entered_us, ENTRIES.c.entry_id)
        wanted = wanted.where(place < tuple_(micros(one.entered_at), one.id))
    return tuple(map(_entry, connection.execute(wanted)))


def found(connection: Connection, any_id: str) -> Entry:
    """The entry of an id or its beginning, or the latest of a question's key; raises LookupError."""
    one = exact(connection, any_id) or latest(connection, any_id)
    if one is not None:
        return one
    whole = meant(connection, ENTRIES.c.entry_id, ENTRIES.c.entered_us, any_id, "entry")
    return _entry(connection.execute(_BY_ID, {"id": whole}).one())


def exact(connection: Connection, entry_id: str) -> Entry | None:
    """The entry of a whole id."""
    row = connection.execute(_BY_ID, {"id": plain(entry_id)}).first()
    return None if row is None else _entry(row)


def latest(connection: Connection, question_key: str) -> Entry | None:
    """The entry of a question that is open, else the one that entered last."""
    row = connection.execute(_OF_QUESTION, {"key": plain(question_key)}).first()
    return None if row is None else _entry(row)


def open_one(connection: Connection, any_id: str) -> Entry:
    """The open entry that somebody means; raises ClosedError for one that does not wait."""
    entry = found(connection, any_id)
    if entry.state is not EntryState.OPEN:
        raise ClosedError(entry)
    return entry


def enter(
    connection: Connection, question: Question, *, entry_id: str, why: Why, clears_at: datetime | None, at: datetime
) -> None:
    """Let a question wait for a person; it has no open entry."""
    fields = {
        "entry_id": entry_id,
        "question_key": question.key,
        "state": EntryState.OPEN.value,
        "why": why.value,
        "consequence": question.consequence.value,
        "deadline_us": None if question.deadline is None else micros(question.deadline),
        "entered_us": micros(at),
        "raised_by": plain(question.raised_by),
        "title": title(question.text),
        "clears_us": None if clears_at is None else micros(clears_at),
        "asked_again": 0,
        "closed_us": None,
        **dict.fromkeys(("closed_by", "note", "answer"), ""),
        "document": dump(question),
    }
    _NEW.run(connection, fields)


def stay(connection: Connection, entry_id: str, why: Why, clears_at: datetime | None) -> None:
    """Let an entry wait on for another reason, or for a wall that clears at another time."""
    clears_us = None if clears_at is None else micros(clears_at)
    _STAYS.run(connection, {"id": entry_id, "to_why": why.value, "to_clears": clears_us})


def asked_again(connection: Connection, entry_id: str) -> None:
    """Take note that an entry's question is asked once more."""
    _ASKED_AGAIN.run(connection, {"id": entry_id})


def close(connection: Connection, closed: Entry) -> None:
    """Make durable that an open entry was closed, as `closed` says."""
    told = "" if closed.answer is None else json.dumps(_told(closed.answer))
    new = {"to_state": closed.state.value, "to_closed_by": plain(closed.closed_by), "to_note": plain(closed.note)}
    closed_us = None if closed.closed_at is None else micros(closed.closed_at)
    _CLOSE.run(connection, {"id": closed.id, **new, "to_closed_us": closed_us, "to_answer": told})


def resolve(connection: Connection, entry_id: str, receipt_id: str, at: datetime) -> None:
    """Close an open entry that the ladder itself answered, by that receipt."""
    _RESOLVE.run(connection, {"id": entry_id, "to_receipt": receipt_id, "to_us": micros(at)})


def title(text: str) -> str:
    """The beginning of a text on one line."""
    line = " ".join(plain(text[: TITLE * 4]).split())
    return line if len(line) <= TITLE else line[: TITLE - 1] + "…"


def _told(answer: Answer) -> dict[str, str]:
    return {
        "person": answer.person,
        "at": answer.at.isoformat(),
        "surface": answer.surface,
        "option": answer.option,
        "text": answer.text,
    }


def answer_of(told: str) -> Answer | None:
    """The answer of a row's text, None of an empty one."""
    if not told:
        return None
    fields = json.loads(told)
    return Answer(**(fields | {"at": datetime.fromisoformat(fields["at"])}))


def _entry(row: Any) -> Entry:
    return Entry(
        row.entry_id,
        load(row.document),
        Why(row.why),
        EntryState(row.state),
        moment(row.entered_us),
        clears_at=None if row.clears_us is None else moment(row.clears_us),
        asked_again=bool(row.asked_again),
        closed_at=None if row.closed_us is None else moment(row.closed_us),
        closed_by=row.closed_by,
        note=row.note,
        answer=answer_of(row.answer),
    )
