"""Ledger: how long one pass takes to be settled and appended, against the bare row and its commit."""

import asyncio
import os
import sqlite3
import tempfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from decide.ledger import GENESIS, Row, RowKind
from decide.ports import Caps, Claim, Reservation, Settlement, Slot
from decide.snapshot import Snapshot, dump
from decide.store.opening import open_store
from decide.store.store import SqlStore
from tests.bench.measure import Row as Line
from tests.bench.measure import interleaved, seconds

NAME = "ledger_append"
ROWS = 200
"""Rows of one run, each committed by itself."""
RUNS = 11
LIMIT = 4.0
"""The store charges the slot and its day, moves the head and makes the digests in the same commit."""
NOW = datetime(2026, 10, 15, tzinfo=UTC)


def measure() -> list[Line]:
    """Seconds per row: settled through the store, and inserted with bare sqlite3 under the same pragmas."""
    with tempfile.TemporaryDirectory(prefix="rungwatch-bench-") as folder, asyncio.Runner() as runner:
        path = Path(folder) / "store.db"
        store = runner.run(open_store(path, host="bench", pid=os.getpid()))
        bare = _bare(path, Path(folder) / "bare.db")
        runs = iter(range(RUNS + 1))
        try:
            ours, floor = interleaved(
                lambda: runner.run(_settled(store, next(runs))), lambda: _inserted(bare), RUNS, NAME
            )
        finally:
            runner.run(store.close())
            bare.close()
    return [Line(NAME, ours, floor, "s/row", RUNS, limit=LIMIT)]


def _row(number: int) -> Row:
    return Row(
        RowKind.PASS,
        NOW,
        level="medium",
        rung="fable",
        seat="desk",
        role="primary",
        result="resolved",
        micro_usd=41_000,
        input_tokens=9_000,
        output_tokens=700,
        duration_us=30_000_000,
        question="q",
        receipt="r",
        call_id=f"call-{number}",
    )


async def _settled(store: SqlStore, run: int) -> float:
    """Seconds per pass, each settled when the one before is durable; reserving is not counted."""
    name, first = f"run-{run}", run * ROWS
    calls = range(first, first + ROWS)
    await store.claim(Claim(name, name, "sha256:q", NOW, timedelta(hours=1)))
    slots = tuple(Slot(f"call-{number}", 300_000) for number in calls)
    await store.reserve(Reservation(name, name, "{}", dump(Snapshot()), "2026-10-15", NOW, slots, Caps()))
    settlements = [Settlement(f"call-{number}", 41_000, _row(number)) for number in calls]
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for settlement in settlements:
        await store.settle([settlement])
    return (loop.time() - begun) / ROWS


def _bare(store: Path, path: Path) -> sqlite3.Connection:
    """A database with the store's own ledger table and nothing else."""
    with closing(sqlite3.connect(store)) as source:
        (shape,) = source.execute("SELECT sql FROM sqlite_master WHERE name = 'ledger' AND type = 'table'").fetchone()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(shape)
    return connection


def _inserted(connection: sqlite3.Connection) -> float:
    (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM ledger").fetchone()
    rows = [
        {"seq": last + 1 + n, "before": GENESIS, "digest": GENESIS, **_row(last + 1 + n).values()}
        for n in range(ROWS)
    ]
    names = list(rows[0])
    insert = f"INSERT INTO ledger ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608 - ours
    values = [tuple(row.values()) for row in rows]

    def append() -> None:
        for row in values:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(insert, row)
            connection.execute("COMMIT")

    return seconds(append) / ROWS
