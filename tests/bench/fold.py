"""ledger_fold_1m and ledger_fold_tick: a ledger of a million rows folded at the start, and then a tick's new ones."""

import asyncio
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from decide.ledger import GENESIS, digest
from decide.ports import Caps
from decide.store.opening import open_store
from decide.store.rows import TAIL
from decide.store.store import SqlStore
from exporters.follow import LedgerFollower
from exporters.ledger_rows import COLUMNS
from tests.bench.measure import Row, interleaved, say, seconds
from tests.exporters.ledgers import busy_ledger
from tests.exporters.scenes import NOW

START, TICK = "ledger_fold_1m", "ledger_fold_tick"
ROWS, TICK_ROWS = 1_000_000, 40
START_RUNS, TICKS = 3, 101
START_WITHIN_S, TICK_WITHIN_MS = 10.0, 5.0
CAPS = Caps(200, 20_000_000)
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM ledger WHERE seq > ? ORDER BY seq"  # noqa: S608 - names of ours


def measure() -> list[Row]:
    """Both rows, over one SQLite file."""
    with tempfile.TemporaryDirectory(prefix="rungwatch-bench-") as scratch:
        path = Path(scratch) / "ledger.sqlite"
        took = seconds(lambda: asyncio.run(_write(path)))
        say(f"{START}: {ROWS} rows written in {took:.1f} s, {path.stat().st_size / 1e6:.0f} MB")
        ours, floor = interleaved(
            lambda: asyncio.run(_start(path)), lambda: _read(path, 0), START_RUNS, f"{START} (seconds)"
        )
        ticks, floors = asyncio.run(_ticks(path))
    return [
        Row(START, ours, floor, "s", START_RUNS, most=START_WITHIN_S),
        Row(TICK, ticks, floors, "ms", TICKS, most=TICK_WITHIN_MS),
    ]


async def _write(path: Path) -> None:
    async with await open_store(path, host="bench", pid=os.getpid()):
        pass
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        _append(connection, 0, ROWS)


def _append(connection: sqlite3.Connection, after: int, count: int) -> None:
    """Append rows, the last ones with the digests by which a store trusts its end."""
    head = {"seq": after, "digest": connection.execute("SELECT digest FROM head").fetchone()[0]}
    rows = _rows(after, count, head)
    first = next(rows)
    names = ", ".join(first)
    connection.execute("BEGIN")
    insert = f"INSERT INTO ledger ({names}) VALUES ({', '.join(f':{name}' for name in first)})"  # noqa: S608
    connection.execute(insert, first)
    connection.executemany(insert, rows)
    connection.execute("UPDATE head SET seq = :seq, digest = :digest", head)
    connection.execute("COMMIT")


def _rows(after: int, count: int, head: dict[str, Any]) -> Iterator[dict[str, Any]]:
    plain = [(row, row.values()) for row in busy_ledger()]
    for seq, (row, values) in enumerate(islice(cycle(plain), count), after + 1):
        before = str(head["digest"])
        own = digest(row, seq=seq, before=before) if seq > after + count - 2 * TAIL else GENESIS
        head |= {"seq": seq, "digest": own}
        yield {"seq": seq, "before": before, "digest": own, **values}


async def _start(path: Path) -> float:
    """Seconds from a follower's making to its first facts."""
    async with await open_store(path, host="bench", pid=os.getpid()) as store:
        start = time.perf_counter()
        facts = await LedgerFollower(store, CAPS).refresh(NOW)
        taken = time.perf_counter() - start
    if not facts.readable or facts.lag_rows != 0 or facts.counts is None:
        raise RuntimeError(f"the ledger was not folded: {facts!r}")
    return taken


def _read(path: Path, after: int) -> float:
    """Seconds to read the same columns with sqlite3 alone."""
    with closing(sqlite3.connect(path)) as connection:
        return seconds(lambda: connection.execute(_SELECT, (after,)).fetchall())


class Unprobed:
    """A store whose probe does nothing: it writes to the disk, which is not the fold."""

    def __init__(self, store: SqlStore) -> None:
        self.columns_after: Callable[..., Any] = store.columns_after
        self.last_seq = store.last_seq
        self.day_usage = store.day_usage
        self.handoff_facts = store.handoff_facts

    async def probe(self, at: datetime) -> None:
        """Nothing."""


async def _ticks(path: Path) -> tuple[float, float]:
    """Milliseconds of a refresh after each of many ticks, and of reading its rows with sqlite3 alone: medians."""
    ours: list[float] = []
    floors: list[float] = []
    probed: list[float] = []
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        async with await open_store(path, host="bench", pid=os.getpid()) as store:
            follower = LedgerFollower(Unprobed(store), CAPS)
            await follower.refresh(NOW)
            for number in range(TICKS):
                at, after = NOW + timedelta(seconds=15 * number), ROWS + number * TICK_ROWS
                _append(connection, after, TICK_ROWS)
                start = time.perf_counter()
                facts = await follower.refresh(at)
                ours.append(time.perf_counter() - start)
                floors.append(_read(path, after))
                start = time.perf_counter()
                await store.probe(at)
                probed.append(time.perf_counter() - start)
                if facts.rows != after + TICK_ROWS or facts.lag_rows:
                    raise RuntimeError(f"the tick was not folded: {facts!r}")
    say(
        f"{TICK}: worst of {TICKS} {_ms(max, ours):.2f} ms; the store's probe, median {_ms(statistics.median, probed):.2f} ms"
    )
    return _ms(statistics.median, ours), _ms(statistics.median, floors)


def _ms(of: Callable[[Sequence[float]], float], taken: Sequence[float]) -> float:
    return of(taken) * 1000
