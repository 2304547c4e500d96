"""Questions: who works which, what stands from earlier attempts, and which are closed."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, case, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

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
    StoreError,
    StoreFault,
)
from decide.store import caps, evidence, kept
from decide.store.alive import Process, alive
from decide.store.moments import micros
from decide.store.prepared import Prepared
from decide.store.tables import KEPT, QUESTIONS, RECEIPTS, RUNS

_QUESTION = select(QUESTIONS).where(QUESTIONS.c.question_key == bindparam("key"))
_RUN = select(RUNS).where(RUNS.c.run_id == bindparam("run"))
_NEW_RUN = insert(RUNS)
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
    found = connection.execute(_QUESTION, {"key": wanted.question_key}).first()
    if found is None:
        _begin(connection, wanted, me)
        _new(connection, wanted)
        return Ready()
    if found.digest != wanted.question_digest:
        return Conflict(found.digest)
    if found.receipt_id:
        return Decided(json.loads(connection.execute(_RECEIPT, {"id": found.receipt_id}).scalar_one()))
    if found.run_id and found.run_id != wanted.run_id:
        holder = connection.execute(_RUN, {"run": found.run_id}).one()
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


def keep(connection: Connection, run_id: str, call_id: str, *, seq: int, one: KeptPass) -> None:
    """Keep a pass for a run that resumes the question."""
    run = connection.execute(_RUN, {"run": run_id}).one()
    fields = {"call_id": call_id, "question_key": run.question_key, "snapshot": run.snapshot, "seq": seq}
    _KEEP.run(connection, {**fields, "document": kept.dump(one)})


def run_of(connection: Connection, run_id: str, question_key: str) -> Any:
    """The run's row; raises ValueError for a run that never claimed the question."""
    run = connection.execute(_RUN, {"run": run_id}).first()
    if run is None or run.question_key != question_key:
        raise ValueError(f"run {run_id!r} never claimed question {question_key!r}")
    return run


def release(connection: Connection, run_id: str) -> None:
    """Give a question back as if the run had never claimed it; raises ValueError for one that reserved something."""
    run = connection.execute(_RUN, {"run": run_id}).first()
    if run is None or run.ended_us is not None:
        return
    if caps.reserved_by(connection, run_id):
        raise ValueError(f"run {run_id!r} reserved calls; it ends, and is not released")
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
        connection.execute(_NEW_RUN, fields)
    except IntegrityError as error:
        raise ValueError(f"run id {wanted.run_id!r} was used before") from error


def _holds(run: Any, *, at: datetime, here: str) -> bool:
    runs = alive(Process(run.host, run.pid, run.started), here=here)
    return runs is not False and run.until_us > micros(at)


def _stands(connection: Connection, question: Any) -> tuple[KeptPass, ...]:
    found = connection.execute(_KEPT, {"key": question.question_key, "of_snapshot": question.snapshot})
    return tuple(kept.load(document) for (document,) in found)
