"""Faults: each way in which a store cannot be used is told as what it is, and nothing is reset (LED-07, LED-09)."""

import contextlib
import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from decide.fault import StoreError, StoreFault
from decide.store.audit import Verified
from decide.store.engine import Limits
from decide.store.opening import open_store
from decide.store.store import SqlStore
from tests.decide.store.cluster import PASSWORD, Cluster
from tests.decide.store.work import DAY, HOST, NOW, claiming, decided, ending, opened, passed, reserving, sql

READ, WRITE, BROKEN = StoreFault.UNREADABLE, StoreFault.UNWRITABLE, StoreFault.BROKEN


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def content(path: Path) -> bytes:
    """What a file holds, nothing where there is none."""
    return path.read_bytes() if path.is_file() else b""


def chmod(path: Path, mode: int) -> None:
    path.chmod(mode)


def move(path: Path, onto: Path) -> None:
    path.replace(onto)


def fill(path: Path, whole: bytes) -> None:
    path.write_bytes(whole)


async def refused(store: SqlStore) -> set[StoreFault]:
    """The faults that a claim and a probe meet."""
    faults = set()
    for attempt in (store.claim(claiming("late", "late")), store.probe(NOW)):
        with pytest.raises(StoreError) as caught:
            await attempt
        faults.add(caught.value.fault)
    return faults


def nuls(path: Path) -> None:
    path.write_bytes(bytes(4096))


def cut_short(path: Path) -> None:
    path.write_bytes(b"")


def prose(path: Path) -> None:
    path.write_text("not a database at all, but long enough to have a header of its own\n" * 80)


def another(path: Path) -> None:
    sql(str(path), "CREATE TABLE theirs (x INTEGER)")


def newer(path: Path) -> None:
    sql(str(path), "CREATE TABLE rungwatch_schema (version_num TEXT)", "INSERT INTO rungwatch_schema VALUES ('9999')")


def folder(path: Path) -> None:
    path.mkdir()


AT_OPENING: list[tuple[Callable[[Path], None], str]] = [
    (nuls, "file is not a database; nothing was changed; restore a copy"),
    (cut_short, "is empty, and its ledger with it"),
    (prose, "file is not a database"),
    (folder, "is a directory; name a file"),
    (another, "is a database of another program"),
    (newer, "shape '9999', which a later rungwatch made"),
]


@pytest.mark.parametrize(("spoil", "match"), AT_OPENING)
async def test_what_is_no_store_is_not_opened_and_not_touched(
    path: Path, spoil: Callable[[Path], None], match: str
) -> None:
    spoil(path)
    before = content(path)
    with pytest.raises(StoreError, match=match) as caught:
        await opened(str(path))
    assert caught.value.fault is READ
    assert str(path) in str(caught.value)
    assert content(path) == before


@pytest.mark.parametrize(("mode", "fault"), [(0o400, WRITE), (0o000, READ)])
async def test_mode_bits_count_whoever_runs_it(path: Path, mode: int, fault: StoreFault) -> None:
    async with await opened(str(path)) as store:
        await decided(store, "r1")
        chmod(path, mode)
        assert await refused(store) == {fault}
        chmod(path, 0o400)
        assert await store.day_usage(DAY) == (1, 210_000)
        chmod(path, 0o600)
        await decided(store, "r2")


async def test_a_store_that_may_only_be_read_is_read(path: Path) -> None:
    async with await opened(str(path)) as store:
        await decided(store, "r1")
    chmod(path, 0o400)
    async with await opened(str(path)) as store:
        assert await store.verify() == Verified(3)
        assert await refused(store) == {WRITE}
    chmod(path, 0o600)


async def test_a_file_that_is_gone_or_replaced_takes_no_writes(path: Path) -> None:
    async with await opened(str(path)) as store:
        await decided(store, "r1")
        moved = path.with_name("moved.db")
        move(path, moved)
        assert await refused(store) == {READ}
        assert content(path) == b""
        async with await opened(str(path)):
            with pytest.raises(StoreError, match="was replaced while it was open"):
                await store.probe(NOW)
        move(moved, path)
        await store.probe(NOW)


@pytest.mark.parametrize("big", [False, True])
async def test_a_full_disk_refuses_what_is_new_and_keeps_what_is_there(path: Path, big: bool) -> None:
    async with await opened(str(path)) as store:
        await decided(store, "r1")
    pages = len(content(path)) // 4096
    limits = Limits(max_pages=pages)
    async with await open_store(path, host=HOST, pid=os.getpid(), limits=limits) as store:
        await until_full(store, "x" * 3000 if big else "x")
        assert await store.day_usage(DAY) >= (1, 210_000)
    async with await opened(str(path)) as store:
        assert isinstance(await store.verify(), Verified)
        await decided(store, "after")


async def until_full(store: SqlStore, filler: str) -> None:
    """Run after run until the store is full, and then once more."""
    with pytest.raises(StoreError, match="full; make room") as caught:
        await run_on(store, filler)
    assert caught.value.fault is WRITE


async def run_on(store: SqlStore, filler: str) -> None:
    for number in range(2000):
        run = f"{filler}{number}"
        await store.claim(claiming(run, run))
        await store.reserve(reserving(run, run, key=run))
        await store.settle([passed(run)])
        await store.end(ending(run, key=run))


@contextlib.contextmanager
def tiny_disk(folder: Path) -> Iterator[None]:
    """A file system of 400 KiB; without the right to mount one the test is skipped."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", folder], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("no right to mount a file system; the test with a page limit stands for this one")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


async def test_a_file_system_without_room_refuses_too(tmp_path: Path) -> None:
    with tiny_disk(tmp_path):
        async with await opened(str(tmp_path / "store.db")) as store:
            await decided(store, "r1")
            await until_full(store, "x" * 2000)
            assert isinstance(await store.verify(), Verified)


async def test_an_overwritten_page_is_told_and_left_as_it_is(path: Path) -> None:
    async with await opened(str(path)) as store:
        await decided(store, "r1", calls=200)
    whole = bytearray(content(path))
    ((page,),) = sql(str(path), "SELECT rootpage FROM sqlite_master WHERE name = 'ledger'")
    whole[(page - 1) * 4096 : page * 4096] = os.urandom(4096)
    fill(path, bytes(whole))
    async with await opened(str(path)) as store:
        for attempt in (store.verify(), store.claim(claiming("r2")), store.accept("Ada", "", at=NOW)):
            with pytest.raises(StoreError, match="malformed; nothing was changed; restore a copy") as caught:
                await attempt
            assert caught.value.fault is READ
    assert content(path) == bytes(whole)


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be made") as caught:
        await opened(str(tmp_path / "file" / "store.db"))
    assert caught.value.fault is WRITE


async def test_a_store_that_another_process_holds_too_long_is_told(path: Path) -> None:
    async with await open_store(path, host=HOST, pid=os.getpid(), limits=Limits(busy_s=0.05)) as store:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert await refused(store) == {WRITE}
            assert await store.last_seq() == 0
            other.execute("ROLLBACK")
        await store.probe(NOW)


@pytest.mark.parametrize(
    "statement",
    ["UPDATE ledger SET seat = 'x'", "DELETE FROM ledger", "DELETE FROM ledger WHERE seq = 1"],
)
async def test_the_database_itself_refuses_to_change_a_row(target: str, store: SqlStore, statement: str) -> None:
    await decided(store, "r1")
    with pytest.raises(Exception, match="the ledger is append-only"):
        sql(target, statement)
    assert await store.verify() == Verified(3)


async def test_no_row_is_replaced_or_truncated(target: str, store: SqlStore) -> None:
    await decided(store, "r1")
    replace = "INSERT OR REPLACE INTO ledger SELECT * FROM ledger WHERE seq = 1"
    with pytest.raises(Exception, match="the ledger is append-only"):
        sql(target, "TRUNCATE ledger" if "://" in target else replace)
    assert await store.verify() == Verified(3)


async def test_a_head_that_is_lost_is_a_contradiction(target: str, store: SqlStore) -> None:
    await decided(store, "r1")
    sql(target, "DELETE FROM head")
    assert await refused(store) == {BROKEN}


async def test_a_settlement_behind_a_head_that_went_back_is_refused(target: str, store: SqlStore) -> None:
    await decided(store, "r1")
    await store.claim(claiming("r2"))
    await store.reserve(reserving("r2", "c"))
    sql(target, "UPDATE head SET seq = 1")
    with pytest.raises(StoreError, match="contradicts itself") as caught:
        await store.settle([passed("c")])
    assert caught.value.fault is BROKEN
    assert await store.day_usage(DAY) == (2, 510_000)


async def test_a_server_that_stops_and_comes_back(cluster: Cluster) -> None:
    async with await opened(cluster.new_database()) as store:
        await decided(store, "r1")
        cluster.stop()
        assert await refused(store) == {READ}
        with pytest.raises(StoreError, match="see that the server runs") as caught:
            await store.settle([passed("r1-0")])
        assert PASSWORD not in str(caught.value)
        cluster.start()
        await store.probe(NOW)
        await decided(store, "r2")
        assert await store.verify() == Verified(6)


async def test_a_server_that_refuses_names_no_password(cluster: Cluster, capfd: pytest.CaptureFixture[str]) -> None:
    wrong = cluster.url("postgres").replace(PASSWORD, "a-wrong-secret")
    with pytest.raises(StoreError, match="password authentication failed") as caught:
        await opened(wrong)
    told = str(caught.value)
    assert "a-wrong-secret" not in told
    assert "postgresql://postgres:***@" in told
    assert caught.value.fault is READ
    absent = cluster.url("absent")
    with pytest.raises(StoreError, match='"absent" does not exist'):
        await opened(absent)
    assert PASSWORD not in "".join(capfd.readouterr())


async def test_a_database_that_takes_no_writes(cluster: Cluster) -> None:
    target = cluster.new_database()
    async with await opened(target) as store:
        await decided(store, "r1")
    name = target.partition("@/")[2].partition("?")[0]
    sql(target, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    async with await opened(target) as store:
        assert await store.verify() == Verified(3)
        assert await refused(store) == {WRITE}
