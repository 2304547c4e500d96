"""Work: claims, reservations, settlements and endings in few words, and processes that are gone."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from sqlalchemy import create_engine, text

from decide import snapshot
from decide.consultation import AnsweredBy, Ballot, ModelFrom, Order
from decide.ledger import Row, RowKind
from decide.ports import Caps, Claim, Ending, KeptPass, Ready, Reservation, Settlement, Slot
from decide.snapshot import Evidence, Snapshot, SourceKind
from decide.store.opening import open_store
from decide.store.place import locate
from decide.store.store import SqlStore
from decide.verdict import Resolved

HOST = "here"
NOW = datetime(2026, 10, 15, 12, 0, 0, 123456, tzinfo=UTC)
DAY = "2026-10-15"
LEASE = timedelta(hours=1)
SNAPSHOT = snapshot.dump(Snapshot((Evidence(SourceKind.TEXT, "note", "the disk is full"),)))
OTHER_SNAPSHOT = snapshot.dump(Snapshot((Evidence(SourceKind.TEXT, "note", "the disk is empty"),)))


async def opened(target: str, *, host: str = HOST, pid: int | None = None) -> SqlStore:
    """The store of a target, as this process or another one has it open."""
    return await open_store(target, host=host, pid=os.getpid() if pid is None else pid)


def dead_pid() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait(timeout=60)
    return process.pid


def claiming(run: str, key: str = "q", *, digest: str = "sha256:q", at: datetime = NOW) -> Claim:
    """A claim of a run on a question, for an hour."""
    return Claim(run, key, digest, at, LEASE)


def reserving(
    run: str,
    *calls: str,
    key: str = "q",
    micro: int = 300_000,
    caps: Caps | None = None,
    day: str = DAY,
    rows: tuple[Row, ...] = (),
    evidence: str = SNAPSHOT,
    at: datetime = NOW,
) -> Reservation:
    """A reservation of some calls at one worst case each."""
    slots = tuple(Slot(call, micro) for call in calls)
    return Reservation(run, key, '{"text": "which?"}', evidence, day, at, slots, caps or Caps(), rows)


def passed(call: str, micro: int = 210_000, *, kept: KeptPass | None = None) -> Settlement:
    """A pass that ended and its cost."""
    row = Row(RowKind.PASS, NOW, rung="fable", seat="desk", call_id=call, micro_usd=micro, question="q")
    return Settlement(call, micro, row, kept)


def standing(option: str = "a", order: Order = Order.FORWARD) -> KeptPass:
    """A pass that a resumed run need not make again."""
    answered_by = AnsweredBy("claude-fable-5", ModelFrom.REPORTED)
    return KeptPass("primary", Ballot(order, Resolved(option, ("db",), "because"), answered_by), {"tokens": 5})


def ending(run: str, *, key: str = "q", closed: bool = True, outcome: str = "agreed", **more: Any) -> Ending:
    """The end of a run with one decision row."""
    row = Row(RowKind.DECISION, NOW, result=outcome, question=key, receipt=f"receipt-{run}")
    fields: dict[str, Any] = {
        "run_id": run,
        "question_key": key,
        "question": '{"text": "which?"}',
        "snapshot": SNAPSHOT,
        "at": NOW,
        "rows": (row,),
        "receipt_id": f"receipt-{run}",
        "receipt": {"outcome": outcome, "exit_code": 0, "run": run},
        "closed": closed,
        "counts_as_attempt": True,
    }
    return Ending(**(fields | more))


async def decided(store: SqlStore, run: str, *, key: str | None = None, calls: int = 1) -> None:
    """A whole run: claimed, reserved, settled, ended."""
    key = key or f"q-{run}"
    assert await store.claim(claiming(run, key)) == Ready()
    names = [f"{run}-{n}" for n in range(calls)]
    assert (
        await store.reserve(reserving(run, *names, key=key, rows=(Row(RowKind.QUESTION, NOW, question=key),))) is None
    )
    await store.settle([passed(name) for name in names])
    await store.end(ending(run, key=key))


def sql(target: str, *statements: str, guarded: bool = True) -> list[Any]:
    """What the last statement gives, run behind the store's back; unguarded, the ledger's triggers do not hold."""
    engine = create_engine(locate(target).url)
    try:
        with engine.begin() as connection:
            if not guarded and engine.dialect.name == "sqlite":
                for name in ("ledger_no_update", "ledger_no_delete", "ledger_no_replace"):
                    connection.execute(text(f"DROP TRIGGER IF EXISTS {name}"))
            elif not guarded:
                connection.execute(text("ALTER TABLE ledger DISABLE TRIGGER USER"))
            for statement in statements[:-1]:
                connection.execute(text(statement))
            result = connection.execute(text(statements[-1]))
            return [tuple(row) for row in result] if result.returns_rows else []
    finally:
        engine.dispose()


def password_of(target: str) -> str:
    """The password in a URL, empty for a path."""
    return str(psycopg.conninfo.conninfo_to_dict(target).get("password", "")) if "://" in target else ""
