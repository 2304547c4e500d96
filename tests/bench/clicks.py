"""click_press_sqlite, click_press_postgres: presses per second, against the bare transaction with the bare driver."""

import asyncio
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import create_engine, insert

from decide.handoff.click import ClickEvent
from decide.handoff.rows import click_row
from decide.ledger import GENESIS
from decide.store.moments import micros
from decide.store.opening import open_store
from decide.store.place import locate
from decide.store.store import SqlStore
from decide.store.tables_handoff import ACTS, CLICKS
from tests.bench.measure import Row, interleaved, seconds
from tests.decide.store.cluster import Cluster

SQLITE, POSTGRES = "click_press_sqlite", "click_press_postgres"
PRESSES = 100
"""Clicks that are pressed in one run, each when the press before it is durable."""
RUNS = 15
LEAST = 0.25
"""A press finds its click, expires what is due, judges, starts the act and chains two rows, in one transaction."""
NOW = datetime(2026, 10, 15, tzinfo=UTC)
ALL = [f"click-{number}" for number in range((RUNS + 1) * PRESSES)]

Execute = Callable[[str, Sequence[Any]], object]


def sqlite() -> list[Row]:
    """Presses per second in a SQLite file, both sides with full sync."""
    with tempfile.TemporaryDirectory(prefix="rungwatch-bench-") as folder:
        ours, bare = str(Path(folder) / "ours.db"), str(Path(folder) / "bare.db")
        for target in (ours, bare):
            _filled(target)
        with closing(sqlite3.connect(bare, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            return [_measured(SQLITE, ours, _bare(connection.execute, "?", "BEGIN IMMEDIATE"))]


def postgres() -> list[Row]:
    """Presses per second on a PostgreSQL server of its own, both sides with synchronous commits that are synced."""
    with _server() as server:
        ours, bare = server.new_database(), server.new_database()
        for target in (ours, bare):
            _filled(target)
        with psycopg.connect(bare, autocommit=True) as connection:
            connection.execute("SET synchronous_commit = on")
            return [_measured(POSTGRES, ours, _bare(connection.execute, "%s", "BEGIN"))]


@contextmanager
def _server() -> Iterator[Cluster]:
    server = Cluster(durable=True)
    try:
        server.start()
        yield server
    finally:
        server.remove()


def _measured(name: str, target: str, bare: Callable[[list[str]], float]) -> Row:
    mine, floors = iter(_batches()), iter(_batches())
    with asyncio.Runner() as runner:
        store = runner.run(open_store(target, host="bench", pid=os.getpid()))
        try:
            ours, floor = interleaved(
                lambda: runner.run(_pressed(store, next(mine))), lambda: bare(next(floors)), RUNS, name
            )
        finally:
            runner.run(store.close())
    return Row(name, ours, floor, "presses/s", RUNS, least=LEAST)


def _batches() -> list[list[str]]:
    return [ALL[start : start + PRESSES] for start in range(0, len(ALL), PRESSES)]


async def _pressed(store: SqlStore, clicks: list[str]) -> float:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for click_id in clicks:
        pressed = await store.handoff.press(click_id, "ada", NOW)
        if not pressed.consumed:
            raise RuntimeError(f"the press of {click_id} was refused: {pressed.refusal}")
    return len(clicks) / (loop.time() - begun)


def _bare(execute: Execute, mark: str, begin: str) -> Callable[[list[str]], float]:
    """What runs the same update, ledger row and head through a driver's own connection, prepared as far as it can."""
    row = click_row(ClickEvent.CONSUMED, at=NOW, click_id="c", question="q", user="ada").values()
    names = ["seq", "before", "digest", *row]
    places = ", ".join([mark] * len(names))
    consume = (
        f"UPDATE clicks SET state = 'consumed', closed_us = {mark} WHERE click_id = {mark} AND state = 'pending'"  # noqa: S608 - ours
    )
    append = f"INSERT INTO ledger ({', '.join(names)}) VALUES ({places})"  # noqa: S608 - ours
    move = f"UPDATE head SET seq = {mark}, digest = {mark} WHERE id = 1"  # noqa: S608 - ours
    values, seqs, at = tuple(row.values()), iter(range(1, len(ALL) + 1)), micros(NOW)

    def press(click_id: str, seq: int) -> None:
        execute(begin, ())
        execute(consume, (at, click_id))
        execute(append, (seq, GENESIS, GENESIS, *values))
        execute(move, (seq, GENESIS))
        execute("COMMIT", ())

    def presses(clicks: list[str]) -> float:
        pairs = [(click_id, next(seqs)) for click_id in clicks]

        def act() -> None:
            for pair in pairs:
                press(*pair)

        return len(clicks) / seconds(act)

    return presses


def _filled(target: str) -> None:
    """A new store in which every click is pending, each in a thread of its own."""
    asyncio.run(_made(target))
    act = {
        "question_key": "q",
        "requester": "ada",
        "surface": "chat",
        "line": "unit restart web",
        "runner": "daemon",
        "state": "clicked",
        "at_us": micros(NOW),
        "fate": "click",
        "reason": "class write takes a click",
        "command": "restart",
        "kind": "write",
        "words": '["unit", "restart", "web"]',
        "pid": 0,
        "host": "",
        "started": "",
        "ended": "",
    }
    click = {name: act[name] for name in ("question_key", "requester", "line", "command", "kind")}
    click |= {"state": "pending", "minted_us": micros(NOW), "expires_us": micros(NOW + timedelta(minutes=10))}
    engine = create_engine(locate(target).url)
    with engine.begin() as connection:
        own = [(name, f"act-{name}") for name in ALL]
        connection.execute(insert(ACTS), [{**act, "act_id": a, "thread": c, "click_id": c} for c, a in own])
        connection.execute(insert(CLICKS), [{**click, "click_id": c, "thread": c, "act_id": a} for c, a in own])
    engine.dispose()


async def _made(target: str) -> None:
    async with await open_store(target, host="bench", pid=os.getpid()):
        pass
