"""Opening: a store is made private and whole, once, and is brought up to shape whoever comes first."""

import asyncio
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from decide.ledger import Row, RowKind
from decide.ports import Store
from decide.store.audit import Verified
from decide.store.migrate import MIGRATIONS, NEWEST, VERSION_TABLE
from decide.store.place import locate
from decide.store.store import SqlStore
from decide.store.tables import LEDGER, METADATA
from tests.decide.store.work import NOW, decided, opened, sql


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_a_new_file_and_its_folders_are_private(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "store.db"
    async with await opened(str(path)) as store:
        await decided(store, "r1")
        beside = sorted(one.name for one in path.parent.iterdir())
        assert beside == ["store.db", "store.db-shm", "store.db-wal"]
        assert {mode(path.parent / name) for name in beside} == {0o600}
    assert mode(path.parent) == mode(path.parent.parent) == 0o700


async def test_a_commit_is_durable_when_it_returns(tmp_path: Path) -> None:
    async with await opened(str(tmp_path / "store.db")) as store:
        pragmas = ("journal_mode", "synchronous", "busy_timeout")
        found = [
            await store._read(lambda c, p=name: c.exec_driver_sql(f"PRAGMA {p}").scalar())  # type: ignore[misc]
            for name in pragmas
        ]
        assert found == ["wal", 2, 30_000]


async def test_a_copy_that_was_restored_is_in_wal_mode_again(tmp_path: Path) -> None:
    source, copy = tmp_path / "store.db", tmp_path / "copy.db"
    async with await opened(str(source)) as store:
        await decided(store, "r1")
    with closing(sqlite3.connect(source)) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    async with await opened(str(copy)) as store:
        assert await store.verify() == Verified(3)
        await decided(store, "r2")
        assert [one.name for one in files(tmp_path) if one.name.endswith("-wal")] == ["copy.db-wal"]


def test_it_is_the_store_that_a_run_needs(tmp_path: Path) -> None:
    async def port() -> Store:
        return await opened(str(tmp_path / "store.db"))

    async def once() -> None:
        store = await port()
        assert isinstance(store, SqlStore)
        await store.close()

    asyncio.run(once())


async def test_what_was_written_is_there_when_it_is_opened_again(target: str, store: SqlStore) -> None:
    await decided(store, "r1")
    async with await opened(target) as again:
        assert await again.verify() == Verified(3)
        assert [line.receipt_id for line in await again.receipts(9)] == ["receipt-r1"]


def test_the_migrations_make_the_tables_that_the_code_knows(target: str) -> None:
    asyncio.run(_open_once(target))
    engine = create_engine(locate(target).url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


async def _open_once(target: str) -> None:
    async with await opened(target):
        pass


def test_the_newest_revision_is_the_one_that_the_code_expects() -> None:
    assert ScriptDirectory(str(MIGRATIONS)).get_heads() == [NEWEST]


def test_the_ledger_has_a_column_for_each_field_of_a_row() -> None:
    fields = Row(RowKind.PASS, NOW).values()
    assert set(LEDGER.c.keys()) == {"seq", "before", "digest", *fields}


@pytest.mark.parametrize("rounds", [3])
def test_many_processes_that_open_a_new_store_at_once_agree(target: str, rounds: int) -> None:
    script = (
        "import asyncio, os, sys\n"
        "from decide.store.opening import open_store\n"
        "async def main():\n"
        "    async with await open_store(sys.argv[1], host='h', pid=os.getpid()) as store:\n"
        "        assert await store.last_seq() == 0\n"
        "input()\n"
        "asyncio.run(main())\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", script, target], stdin=subprocess.PIPE)
        for _ in range(rounds * 2)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    codes = []
    for process in processes:
        process.communicate(timeout=120)
        codes.append(process.returncode)
    assert codes == [0] * len(processes)
    if "://" not in target:
        assert [one.name for one in Path(target).parent.iterdir()] == ["store.db"]
    assert sql(target, "SELECT version_num FROM rungwatch_schema") == [(NEWEST,)]


def test_the_port_costs_no_database(tmp_path: Path) -> None:
    code = (
        "import sys, decide, decide.ports, decide.store\n"
        "heavy = {'sqlalchemy', 'alembic', 'psycopg', 'sqlite3'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


async def test_a_store_of_the_newest_shape_opens_without_alembic(tmp_path: Path) -> None:
    target = str(tmp_path / "store.db")
    await _open_once(target)
    code = (
        "import asyncio, sys\n"
        "from decide.store.opening import open_store\n"
        "async def main():\n"
        "    async with await open_store(sys.argv[1], host='h', pid=1):\n"
        "        assert 'alembic' not in sys.modules\n"
        "asyncio.run(main())\n"
    )
    subprocess.run([sys.executable, "-c", code, target], check=True, timeout=60)  # noqa: ASYNC221 - nothing else runs
