"""Clicks: pending confirmations, each pressed at most once, by its requester and before it expires (design 4.8)."""

from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, exists, func, insert, select, tuple_, update

from decide.handoff.act import Act, ActState
from decide.handoff.click import Click, ClickEvent, ClickState, Pressed, judge
from decide.handoff.entry import NAME_LIMIT, HandoffError
from decide.handoff.execution import Refusal, Sentence, withdrawn
from decide.handoff.ports import NewClick, ThreadBusy
from decide.handoff.rows import act_row, click_row
from decide.ledger import Row
from decide.question import ID_LIMIT
from decide.store import acts
from decide.store.alive import Process
from decide.store.moments import micros, moment
from decide.store.prepared import Prepared
from decide.store.rows import Writing
from decide.store.tables_handoff import CLICKS, IS_OFFERED, is_in
from decide.store.together import together
from decide.store.words import plain


class _Click(NamedTuple):
    """A row of the table, its columns in their order."""

    click_id: str
    thread: str
    requester: str
    line: str
    command: str
    kind: str
    act_id: str
    question_key: str
    state: str
    minted_us: int
    expires_us: int
    closed_us: int | None


_CLICK = Prepared(select(CLICKS).where(CLICKS.c.click_id == bindparam("id")))
_ANY = CLICKS.alias()
_OVERDUE = exists().where(is_in(_ANY, "pending"), _ANY.c.expires_us <= bindparam("now_us"))
_PRESSED = Prepared(select(CLICKS, _OVERDUE).where(CLICKS.c.click_id == bindparam("id")))
"""A click, and whether any is due: one statement, since whoever presses is held up by each."""
_DUE = Prepared(
    select(CLICKS)
    .where(IS_OFFERED, CLICKS.c.expires_us <= bindparam("now_us"))
    .order_by(CLICKS.c.expires_us, CLICKS.c.click_id)
)
_PENDING = Prepared(select(CLICKS).where(IS_OFFERED, CLICKS.c.thread == bindparam("in_thread")))
_LATEST = select(CLICKS).order_by(CLICKS.c.minted_us.desc(), CLICKS.c.click_id.desc())
_NEW = Prepared(insert(CLICKS))
_CLOSE = Prepared(
    update(CLICKS)
    .where(CLICKS.c.click_id == bindparam("id"), IS_OFFERED)
    .values(state=bindparam("to_state"), closed_us=bindparam("to_us"))
)
_COUNT = Prepared(select(func.count(), func.min(CLICKS.c.minted_us)).where(IS_OFFERED))


def found(connection: Connection, click_id: str) -> Click:
    """The click of a whole id; raises LookupError."""
    row = _row(connection, click_id)
    if row is None:
        raise LookupError(f"there is no click {click_id[:80]!r}")
    return _click(row)


def listed(connection: Connection, limit: int, before: str | None) -> tuple[Click, ...]:
    """Up to `limit` clicks, the latest minted first, or those before one, which LookupError says is unknown."""
    wanted = _LATEST.limit(limit)
    if before is not None:
        one = found(connection, before)
        place = tuple_(CLICKS.c.minted_us, CLICKS.c.click_id)
        wanted = wanted.where(place < tuple_(micros(one.minted_at), one.id))
    return tuple(_click(_Click._make(row)) for row in connection.execute(wanted))


def pending(connection: Connection) -> tuple[int, datetime | None]:
    """How many clicks are pending, and when the oldest of them was minted."""
    many, oldest = _COUNT.run(connection).fetchone()
    return many, None if oldest is None else moment(oldest)


def mint(writing: Writing, act_id: str, ruled: Sentence, new: NewClick) -> Click | ThreadBusy:
    """Offer an act as a click, or refuse it because its thread has one; a click that it has is returned.

    Raises HandoffError for an act that was begun or refused, ValueError for an id that was used before.
    """
    connection = writing.connection
    act = acts.found(connection, act_id)
    if act.click_id:
        return found(connection, act.click_id)
    if act.state is not ActState.DUE:
        raise HandoffError(f"act {act.id} is {act.state}; only one that is not begun can be offered as a click")
    if _row(connection, new.id) is not None:
        raise ValueError(f"click id {new.id!r} was used before")
    rows = expire(connection, new.at)
    first = _PENDING.run(connection, {"in_thread": act.thread}).fetchone()
    made: Click | ThreadBusy
    if first is None:
        made, new_rows = _minted(connection, act, ruled, new)
    else:
        made = ThreadBusy(_click(_Click._make(first)))
        new_rows = _refused(connection, act, ruled, new, made.first)
    writing.append([*rows, *new_rows])
    return made


def press(writing: Writing, click_id: str, user: str, now: datetime, *, me: Process) -> Pressed:
    """Press a click, once everything that is due has expired; a click that is consumed starts its act."""
    connection = writing.connection
    *values, overdue = _PRESSED.run(connection, {"id": plain(click_id), "now_us": micros(now)}).fetchone() or (True,)
    row = _Click._make(values) if values else None
    rows = expire(connection, now) if overdue else []
    if overdue and row is not None:
        row = _row(connection, row.click_id)
    click = None if row is None else _click(row)
    refusal = judge(click, user, now)
    with together(connection):
        if row is not None and click is not None and refusal is None:
            click = replace(click, state=ClickState.CONSUMED, closed_at=now)
            rows += _consumed(connection, row, now, user, me)
        else:
            question = "" if row is None else row.question_key
            rows.append(_refusal(plain(click_id[:ID_LIMIT]), question, user[:NAME_LIMIT], now, refusal))
        writing.append(rows)
    return Pressed(click, refusal)


def expire(connection: Connection, now: datetime) -> list[Row]:
    """Expire every click that is due, and the rows that say so: each is counted once, and none comes back."""
    due = [_Click._make(row) for row in _DUE.run(connection, {"now_us": micros(now)}).fetchall()]
    for one in due:
        _CLOSE.run(connection, {"id": one.click_id, "to_state": ClickState.EXPIRED.value, "to_us": micros(now)})
    return [_row_of(one, ClickEvent.EXPIRED, now, "") for one in due]


def _minted(connection: Connection, act: Act, ruled: Sentence, new: NewClick) -> tuple[Click, list[Row]]:
    row = _Click(
        click_id=new.id,
        thread=act.thread,
        requester=act.requester,
        line=ruled.line,
        command=ruled.command,
        kind=ruled.kind,
        act_id=act.id,
        question_key=act.question_key,
        state=ClickState.PENDING.value,
        minted_us=micros(new.at),
        expires_us=micros(new.at + new.ttl),
        closed_us=None,
    )
    click = _click(row)
    _NEW.run(connection, row._asdict())
    acts.offer(connection, act, ruled, click.id)
    return click, [_row_of(row, ClickEvent.MINTED, new.at, act.requester)]


def _refused(connection: Connection, act: Act, ruled: Sentence, new: NewClick, first: Click) -> list[Row]:
    told = withdrawn(ruled, Refusal.THREAD_BUSY, first=first.line)
    row = _refusal(new.id, act.question_key, act.requester, new.at, Refusal.THREAD_BUSY)
    return [acts.refusal(connection, act, told, new.at), row]


def _consumed(connection: Connection, row: _Click, now: datetime, user: str, me: Process) -> list[Row]:
    """Consume a click and start its act, in one transaction."""
    _CLOSE.run(connection, {"id": row.click_id, "to_state": ClickState.CONSUMED.value, "to_us": micros(now)})
    acts.pressed(connection, row.act_id, now, me=me)
    started = act_row(
        ActState.RUNNING, at=now, act_id=row.act_id, question=row.question_key, kind=row.kind, line=row.line
    )
    return [_row_of(row, ClickEvent.CONSUMED, now, user), started]


def _refusal(click_id: str, question: str, user: str, at: datetime, refusal: Refusal | None) -> Row:
    return click_row(ClickEvent.REFUSED, at=at, click_id=click_id, question=question, user=user, refusal=refusal)


def _row_of(row: _Click, event: ClickEvent, at: datetime, user: str) -> Row:
    since = moment(row.minted_us)
    return click_row(event, at=at, click_id=row.click_id, question=row.question_key, user=user, since=since)


def _row(connection: Connection, click_id: str) -> _Click | None:
    row = _CLICK.run(connection, {"id": plain(click_id)}).fetchone()
    return None if row is None else _Click._make(row)


def _click(row: _Click) -> Click:
    return Click(
        row.click_id,
        row.thread,
        row.requester,
        row.line,
        row.command,
        row.kind,
        row.act_id,
        moment(row.minted_us),
        moment(row.expires_us),
        ClickState(row.state),
        None if row.closed_us is None else moment(row.closed_us),
    )
