"""Migration: a store of the first shape is brought up with all that it holds, whoever opens it, and once."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text

from decide.handoff.entry import Why
from decide.ports import Decided
from decide.store import runs
from decide.store.alive import process
from decide.store.audit import Verified
from decide.store.migrate import MIGRATIONS, NEWEST, VERSION_TABLE
from decide.store.place import locate
from decide.store.rows import locked
from tests.decide.store.handed import asking, ran
from tests.decide.store.work import HOST, NOW, claiming, ending, opened, passed, reserving, sql

RUNS = 20
PROCESSES = 4


LATER = ("window_kind", "micro_ratio")
"""Columns of the ledger that the first shape lacks."""


def first_shape(target: str) -> None:
    """A store of the first shape, in which runs ended."""
    engine = create_engine(locate(target).url)
    me = process(HOST, 1)
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.set_main_option("path_separator", "os")
        config.attributes.update(connection=connection, version_table=VERSION_TABLE)
        command.upgrade(config, "0001")
        for name in LATER:
            connection.execute(text(f"ALTER TABLE ledger ADD COLUMN {name} TEXT"))
    for number in range(RUNS):
        with engine.begin() as connection:
            writing, run = locked(connection), f"r{number}"
            runs.claim(writing, claiming(run, f"q{number}"), me=me)
            runs.reserve(writing, reserving(run, f"c{number}", key=f"q{number}"))
            runs.settle(writing, [passed(f"c{number}")])
            runs.end(writing, ending(run, key=f"q{number}"))
    with engine.begin() as connection:
        for name in LATER:
            connection.execute(text(f"ALTER TABLE ledger DROP COLUMN {name}"))
    engine.dispose()


@pytest.fixture
def old(target: str) -> str:
    """A store of the first shape; its file is private, as every store's is."""
    if "://" not in target:
        Path(target).touch(mode=0o600)
    first_shape(target)
    return target


async def test_a_store_of_the_first_shape_keeps_all_that_it_holds(old: str) -> None:
    ledger = sql(old, "SELECT * FROM ledger ORDER BY seq")
    receipts = sql(old, "SELECT * FROM receipts ORDER BY place")
    async with await opened(old) as store:
        assert await store.verify() == Verified(2 * RUNS)
        assert sql(old, "SELECT * FROM ledger ORDER BY seq") == [(*row, "", 0) for row in ledger]
        assert sql(old, "SELECT * FROM receipts ORDER BY place") == receipts
        assert isinstance(await store.claim(claiming("again", "q3")), Decided)
        assert await store.handoff.waiting() == ()
        await ran(store, "new", asking(), why=Why.WALLED)
        assert len(await store.handoff.waiting()) == 1
        assert await store.outcomes_by_day(NOW) == (("2026-10-15", "agreed", RUNS), ("2026-10-15", "walled", 1))
        assert isinstance(await store.verify(), Verified)
    assert sql(old, "SELECT version_num FROM rungwatch_schema") == [(NEWEST,)]


def test_the_ledger_stays_append_only(old: str) -> None:
    asyncio.run(_open_once(old))
    with pytest.raises(Exception, match="the ledger is append-only"):
        sql(old, "UPDATE ledger SET body = 'x' WHERE seq = 1")


async def _open_once(target: str) -> None:
    async with await opened(target):
        pass


def test_many_processes_that_open_an_old_store_at_once_agree(old: str) -> None:
    script = (
        "import asyncio, os, sys\n"
        "from decide.store.opening import open_store\n"
        "async def main():\n"
        "    async with await open_store(sys.argv[1], host='h', pid=os.getpid()) as store:\n"
        "        assert await store.handoff.waiting() == ()\n"
        "input()\n"
        "asyncio.run(main())\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", script, old], stdin=subprocess.PIPE)
        for _ in range(PROCESSES)
    ]
    for one in started:
        assert one.stdin is not None
        one.stdin.write(b"\n")
        one.stdin.flush()
    codes = []
    for one in started:
        one.communicate(timeout=120)
        codes.append(one.returncode)
    assert codes == [0] * PROCESSES
    assert sql(old, "SELECT version_num FROM rungwatch_schema") == [(NEWEST,)]


async def test_a_migration_that_cannot_be_made_leaves_the_store_as_it_was(old: str) -> None:
    sql(old, "CREATE TABLE clicks (of_another_program INTEGER)")
    before = sql(old, "SELECT count(*) FROM ledger")
    with pytest.raises(Exception, match="cannot be"):
        await opened(old)
    assert sql(old, "SELECT version_num FROM rungwatch_schema") == [("0001",)]
    assert sql(old, "SELECT count(*) FROM ledger") == before
    engine = create_engine(locate(old).url)
    with engine.connect() as connection, pytest.raises(Exception, match="entries"):
        connection.execute(text("SELECT 1 FROM entries"))
    engine.dispose()
