"""Questions: who works which, what stands from earlier attempts, and which are closed."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, case, delete, insert, select, update
from sqlalchemy.exc import NoResultFound

from decide.fault import StoreError, StoreFault
from decide.ports import (
    Busy,
    Claim,
    Claimed,
    Conflict,
    Decided,
    Ending,
    KeptPass,
    Ready,
    Reservation,
    Settlement,
)
from decide.store import caps, evidence, kept
from decide.store.alive import Process, alive
from decide.store.moments import micros
from decide.store.prepared import Prepared, contradiction
from decide.store.tables import KEPT, QUESTIONS, RECEIPTS, RUNS


class _Question(NamedTuple):
    """What the table says of a question."""

    question_key: str
    digest: str
    snapshot: str
    attempts: int
    run_id: str
    receipt_id: str


class Run(NamedTuple):
    """What the table says of a run."""

    run_id: str
    question_key: str
    snapshot: str
    host: str
    pid: int
    started: str
    until_us: int
    ended_us: int | None


_QUESTION = Prepared(
    select(*(QUESTIONS.c[name] for name in _Question._fields)).where(QUESTIONS.c.question_key == bindparam("key"))
)
_RUN = Prepared(select(*(RUNS.c[name] for name in Run._fields)).where(RUNS.c.run_id == bindparam("run")))
_NEW_RUN = Prepared(insert(RUNS))
_NEW_QUESTION = Prepared(insert(QUESTIONS))
_HOLD = Prepared(
    update(QUESTIONS).where(QUESTIONS.c.question_key == bindparam("key")).values(run_id=bindparam("to_run"))
)
_LET_GO = Prepared(
    update(QUESTIONS)
    .where(QUESTIONS.c.question_key == bindparam("key"), QUESTIONS.c.run_id == bindparam("run"))
    .values(run_id="")
)
_UNASKED = Prepared(
    delete(QUESTIONS).where(
        QUESTIONS.c.question_key == bindparam("key"),
        QUESTIONS.c.run_id == bindparam("run"),
        QUESTIONS.c.document == "",
    )
)
_NO_RUN = Prepared(delete(RUNS).where(RUNS.c.run_id == bindparam("run")))
_CLOSE = Prepared(
    update(QUESTIONS)
    .where(QUESTIONS.c.question_key == bindparam("key"))
    .values(
        run_id=case((QUESTIONS.c.run_id == bindparam("run"), ""), else_=QUESTIONS.c.run_id),
        attempts=QUESTIONS.c.attempts + bindparam("more"),
        receipt_id=case((QUESTIONS.c.receipt_id == "", bindparam("by_receipt")), else_=QUESTIONS.c.receipt_id),
    )
)
_ASKED = Prepared(
    update(QUESTIONS)
    .where(QUESTIONS.c.question_key == bindparam("key"), QUESTIONS.c.run_id == bindparam("run"))
    .values(document=bindparam("to_document"), snapshot=bindparam("to_snapshot"))
)
_RUN_SNAPSHOT = Prepared(
    update(RUNS).where(RUNS.c.run_id == bindparam("run")).values(snapshot=bindparam("to_snapshot"))
)
_ENDED = Prepared(update(RUNS).where(RUNS.c.run_id == bindparam("run")).values(ended_us=bindparam("to_us")))
_RECEIPT = select(RECEIPTS.c.document).where(RECEIPTS.c.receipt_id == bindparam("id"))
_KEEP = Prepared(insert(KEPT))
_KEPT = (
    select(KEPT.c.document)
    .where(KEPT.c.question_key == bindparam("key"), KEPT.c.snapshot == bindparam("of_snapshot"))
    .order_by(KEPT.c.seq)
)


def claim(connection: Connection, wanted: Claim, *, me: Process) -> Claimed:
    """The question for this run, or why it is not to be asked; open slots of a run that is gone become unsettled."""
    row = _QUESTION.run(connection, {"key": wanted.question_key}).fetchone()
    if row is None:
        _begin(connection, wanted, me)
        _new(connection, wanted)
        return Ready()
    found = _Question._make(row)
    if found.digest != wanted.question_digest:
        return Conflict(found.digest)
    if found.receipt_id:
        return Decided(json.loads(connection.execute(_RECEIPT, {"id": found.receipt_id}).scalar_one()))
    if found.run_id and found.run_id != wanted.run_id:
        holder = _known(connection, found.run_id)
        if _holds(holder, at=wanted.at, here=me.host):
            return Busy(holder.run_id, holder.host)
        caps.abandon(connection, holder.run_id)
    if found.run_id != wanted.run_id:
        _begin(connection, wanted, me)
        _HOLD.run(connection, {"key": wanted.question_key, "to_run": wanted.run_id})
    snapshot = evidence.text(connection, found.snapshot) if found.snapshot else None
    return Ready(snapshot, () if snapshot is None else _stands(connection, found), found.attempts)


def not_held(connection: Connection, run_id: str, question_key: str) -> StoreError:
    """What is wrong with a run that works a question it does not hold: another took it over after its lease.

    Raises ValueError for a run that never claimed it, or has ended.
    """
    if run_of(connection, run_id, question_key).ended_us is not None:
        raise ValueError(f"run {run_id!r} has ended")
    text = f"run {run_id} no longer holds question {question_key!r}: its lease ran out, and another took it over"
    return StoreError(StoreFault.UNWRITABLE, text)


def asked(connection: Connection, what: Reservation | Ending) -> None:
    """Record what a run asks and the evidence that it asks it on, for every later attempt."""
    snapshot = evidence.keep(connection, what.snapshot, what.at)
    new = {"to_document": what.question, "to_snapshot": snapshot}
    _ASKED.run(connection, {"key": what.question_key, "run": what.run_id, **new})
    _RUN_SNAPSHOT.run(connection, {"run": what.run_id, "to_snapshot": snapshot})


def keep(connection: Connection, settled: Iterable[tuple[Settlement, str]], *, after: int) -> None:
    """Keep passes for a run that resumes the question; each is given with its run, their rows follow row `after`."""
    by_id: dict[str, Run] = {}
    for seq, (one, run_id) in enumerate(settled, after + 1):
        if one.kept is None:
            continue
        run = by_id[run_id] = by_id.get(run_id) or _known(connection, run_id)
        fields = {"call_id": one.call_id, "question_key": run.question_key, "snapshot": run.snapshot, "seq": seq}
        _KEEP.run(connection, {**fields, "document": kept.dump(one.kept)})


def run_of(connection: Connection, run_id: str, question_key: str) -> Run:
    """The run's row; raises ValueError for a run that never claimed the question."""
    run = _run(connection, run_id)
    if run is None or run.question_key != question_key:
        raise ValueError(f"run {run_id!r} never claimed question {question_key!r}")
    return run


def release(connection: Connection, run_id: str) -> None:
    """Give a question back as if the run had never claimed it; raises ValueError for one that reserved something."""
    run = _run(connection, run_id)
    if run is not None and run.ended_us is None and caps.reserved_by(connection, run_id):
        raise ValueError(f"run {run_id!r} reserved calls; it ends, and is not released")
    withdraw(connection, run_id)


def withdraw(connection: Connection, run_id: str) -> None:
    """Take the claim of a run back, unless the run has ended."""
    run = _run(connection, run_id)
    if run is None or run.ended_us is not None:
        return
    _UNASKED.run(connection, {"key": run.question_key, "run": run_id})
    _LET_GO.run(connection, {"key": run.question_key, "run": run_id})
    _NO_RUN.run(connection, {"run": run_id})


def end(connection: Connection, ending: Ending) -> None:
    """Let go of the question, count the attempt and close it where it is decided; the first receipt stands."""
    _ENDED.run(connection, {"run": ending.run_id, "to_us": micros(ending.at)})
    receipt_id = ending.receipt_id if ending.closed else ""
    new = {"more": int(ending.counts_as_attempt), "by_receipt": receipt_id}
    _CLOSE.run(connection, {"key": ending.question_key, "run": ending.run_id, **new})


def _new(connection: Connection, wanted: Claim) -> None:
    fields: Mapping[str, Any] = {
        "question_key": wanted.question_key,
        "digest": wanted.question_digest,
        "document": "",
        "snapshot": "",
        "attempts": 0,
        "run_id": wanted.run_id,
        "receipt_id": "",
        "at_us": micros(wanted.at),
    }
    _NEW_QUESTION.run(connection, fields)


def _begin(connection: Connection, wanted: Claim, me: Process) -> None:
    fields: Mapping[str, Any] = {
        "run_id": wanted.run_id,
        "question_key": wanted.question_key,
        "snapshot": "",
        "host": me.host,
        "pid": me.pid,
        "started": me.started,
        "at_us": micros(wanted.at),
        "until_us": micros(wanted.at + wanted.lease),
        "ended_us": None,
    }
    try:
        _NEW_RUN.run(connection, fields)
    except contradiction(connection) as error:
        raise ValueError(f"run id {wanted.run_id!r} was used before") from error


def _run(connection: Connection, run_id: str) -> Run | None:
    found = _RUN.run(connection, {"run": run_id}).fetchone()
    return None if found is None else Run._make(found)


def _known(connection: Connection, run_id: str) -> Run:
    run = _run(connection, run_id)
    if run is None:
        raise NoResultFound(f"run {run_id!r} is lost")
    return run


def _holds(run: Run, *, at: datetime, here: str) -> bool:
    runs = alive(Process(run.host, run.pid, run.started), here=here)
    return runs is not False and run.until_us > micros(at)


def _stands(connection: Connection, question: _Question) -> tuple[KeptPass, ...]:
    found = connection.execute(_KEPT, {"key": question.question_key, "of_snapshot": question.snapshot})
    return tuple(kept.load(document) for (document,) in found)
