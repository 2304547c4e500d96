"""Acts: commands that answers stand for, each recorded before it starts and after it ends."""

import json
import shlex
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from decide.handoff.act import Act, ActEnd, ActState, NewAct, Runner
from decide.handoff.click import ClickEvent
from decide.handoff.execution import Fate, Refusal, Sentence, Surface, shown
from decide.handoff.rows import act_row, click_row
from decide.ledger import Row
from decide.store.alive import Process, alive
from decide.store.moments import micros, moment
from decide.store.prepared import Prepared
from decide.store.rows import Writing
from decide.store.tables_handoff import ACTS, IS_UNBEGUN, IS_UNDER_WAY, is_in
from decide.store.words import meant, plain

ELSEWHERE = timedelta(hours=24)
"""After how long an act of another host, of whose processes nothing is known here, counts as lost."""
_RULED = ("fate", "reason", "command", "kind", "words")
_PROCESS = ("host", "pid", "started", "started_us")
_NEW = Prepared(insert(ACTS))
_WHOLE = select(ACTS).where(ACTS.c.act_id == bindparam("id"))
_DUE = select(ACTS).where(IS_UNBEGUN, ACTS.c.runner == Runner.DAEMON.value).order_by(ACTS.c.at_us, ACTS.c.act_id)
_RUNNING = select(ACTS).where(IS_UNDER_WAY).order_by(ACTS.c.at_us, ACTS.c.act_id)


def _to(*names: str) -> dict[str, Any]:
    return {name: bindparam(f"to_{name}") for name in names}


_BEGIN = Prepared(
    update(ACTS)
    .where(ACTS.c.act_id == bindparam("id"), IS_UNBEGUN)
    .values(state=ActState.RUNNING.value, **_to(*_RULED, *_PROCESS))
)
_PRESSED = Prepared(
    update(ACTS)
    .where(ACTS.c.act_id == bindparam("id"), is_in(ACTS, "clicked"))
    .values(state=ActState.RUNNING.value, **_to(*_PROCESS))
)
_OFFER = Prepared(
    update(ACTS)
    .where(ACTS.c.act_id == bindparam("id"), IS_UNBEGUN)
    .values(state=ActState.CLICKED.value, **_to("click_id", *_RULED))
)
_REFUSE = Prepared(
    update(ACTS)
    .where(ACTS.c.act_id == bindparam("id"), IS_UNBEGUN)
    .values(state=ActState.REFUSED.value, **_to(*_RULED))
)
_END = Prepared(
    update(ACTS).where(ACTS.c.act_id == bindparam("id"), IS_UNDER_WAY).values(**_to("state", "ended_us", "ended"))
)


def new(connection: Connection, act: NewAct, at: datetime) -> None:
    """Keep an act that was decided and is not begun."""
    fields = {
        "act_id": act.id,
        "question_key": act.question_key,
        "thread": act.thread,
        "requester": plain(act.requester),
        "surface": act.surface.value,
        "line": plain(act.line),
        "runner": act.runner.value,
        "state": ActState.DUE.value,
        "at_us": micros(at),
        "words": "[]",
        "pid": 0,
        "started_us": None,
        "ended_us": None,
        **dict.fromkeys(("fate", "reason", "command", "kind", "click_id", "host", "started", "ended"), ""),
    }
    _NEW.run(connection, fields)


def found(connection: Connection, any_id: str) -> Act:
    """The act of an id or its beginning; raises LookupError."""
    whole = meant(connection, ACTS.c.act_id, ACTS.c.at_us, any_id, "act")
    return _act(connection.execute(_WHOLE, {"id": whole}).one())


def due(connection: Connection) -> tuple[Act, ...]:
    """Acts of the daemon that are not begun, the oldest first."""
    return tuple(map(_act, connection.execute(_DUE)))


def begin(writing: Writing, act_id: str, ruled: Sentence, at: datetime, *, me: Process) -> bool:
    """Record that this process starts an act; False when it was begun or refused before."""
    act = found(writing.connection, act_id)
    if act.state is not ActState.DUE:
        return False
    _BEGIN.run(writing.connection, {"id": act.id, **_ruled(ruled), **_process(me, at)})
    writing.append([row(act, ActState.RUNNING, at, kind=ruled.kind, line=ruled.line)])
    return True


def refuse(writing: Writing, act_id: str, ruled: Sentence, at: datetime) -> None:
    """Record that an act is refused, once."""
    act = found(writing.connection, act_id)
    if act.state is not ActState.DUE:
        return
    rows = [refusal(writing.connection, act, ruled, at)]
    if ruled.refusal is Refusal.UNSHOWABLE:  # a click that could not be offered
        rows.append(
            click_row(
                ClickEvent.REFUSED,
                at=at,
                click_id="",
                question=act.question_key,
                user=act.requester,
                refusal=ruled.refusal,
            )
        )
    writing.append(rows)


def finish(writing: Writing, act_id: str, end: ActEnd, at: datetime) -> None:
    """Record how a running act ended, once."""
    act = found(writing.connection, act_id)
    if act.state is ActState.RUNNING:
        writing.append([_ended(writing.connection, act, ActState.DONE if end.done else ActState.FAILED, at, end)])


def lose(connection: Connection, now: datetime, *, me: Process) -> list[Row]:
    """Tell unknown the acts whose process is gone, and the rows that say so: none of them is ever run again."""
    lost = [found for found in connection.execute(_RUNNING) if _lost(found, now, me)]
    return [_ended(connection, _act(one), ActState.UNKNOWN, now, None) for one in lost]


def refusal(connection: Connection, act: Act, ruled: Sentence, at: datetime) -> Row:
    """Refuse an act that is not begun, and the row that says so."""
    _REFUSE.run(connection, {"id": act.id, **_ruled(ruled)})
    return row(act, ActState.REFUSED, at, kind=ruled.kind, line=ruled.line)


def offer(connection: Connection, act: Act, ruled: Sentence, click_id: str) -> None:
    """Let an act wait for its click."""
    _OFFER.run(connection, {"id": act.id, "to_click_id": click_id, **_ruled(ruled)})


def pressed(connection: Connection, act_id: str, at: datetime, *, me: Process) -> None:
    """Record that this process starts the act of a click that was consumed."""
    _PRESSED.run(connection, {"id": act_id, **_process(me, at)})


def row(act: Act, state: ActState, at: datetime, *, kind: str, line: str) -> Row:
    """The row of an act that starts or is refused."""
    return act_row(state, at=at, act_id=act.id, question=act.question_key, kind=kind, line=line)


def _ended(connection: Connection, act: Act, state: ActState, at: datetime, end: ActEnd | None) -> Row:
    told = "" if end is None else json.dumps(asdict(end))
    _END.run(connection, {"id": act.id, "to_state": state.value, "to_ended_us": micros(at), "to_ended": told})
    return act_row(
        state,
        at=at,
        act_id=act.id,
        question=act.question_key,
        kind=act.kind,
        line=shown(shlex.join(act.words)),
        since=act.started_at,
        end=end,
    )


def _lost(found: Any, now: datetime, me: Process) -> bool:
    runs = alive(Process(found.host, found.pid, found.started), here=me.host)
    return found.started_us <= micros(now - ELSEWHERE) if runs is None else not runs


def _ruled(ruled: Sentence) -> dict[str, str]:
    words = json.dumps(ruled.words)
    told = {"fate": ruled.fate.value, "reason": ruled.reason, "command": ruled.command, "kind": ruled.kind}
    return {f"to_{name}": plain(value) for name, value in (told | {"words": words}).items()}


def _process(me: Process, at: datetime) -> dict[str, Any]:
    return {"to_host": me.host, "to_pid": me.pid, "to_started": me.started, "to_started_us": micros(at)}


def _act(found: Any) -> Act:
    return Act(
        found.act_id,
        found.question_key,
        found.thread,
        found.requester,
        Surface(found.surface),
        found.line,
        Runner(found.runner),
        ActState(found.state),
        moment(found.at_us),
        fate=Fate(found.fate) if found.fate else None,
        reason=found.reason,
        command=found.command,
        kind=found.kind,
        words=tuple(json.loads(found.words)),
        click_id=found.click_id,
        started_at=None if found.started_us is None else moment(found.started_us),
        ended_at=None if found.ended_us is None else moment(found.ended_us),
        end=ActEnd(**json.loads(found.ended)) if found.ended else None,
    )
