"""Opening: a store found or made, brought up to this version's shape, and only then handed out."""

import os
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from decide.fault import StoreError, StoreFault
from decide.store.alive import process
from decide.store.database import Database
from decide.store.engine import Engines, Limits, engines
from decide.store.faults import telling
from decide.store.migrate import NEWEST, bring_up, current
from decide.store.place import Place, check, identity, locate
from decide.store.store import SqlStore
from decide.store.worker import Worker

T = TypeVar("T")


async def open_store(target: str | Path, *, host: str, pid: int, limits: Limits | None = None) -> SqlStore:
    """The store in a SQLite file (made where there is none, mode 0600) or at a `postgresql://` URL.

    `host` is what this machine is called and `pid` this process: by both, another process knows whether a claim's
    run is gone. Raises ValueError for another kind of URL, StoreError for a store that cannot be used.
    """
    place = locate(target)
    worker = Worker()
    try:
        database = await worker.run(partial(_opened, place, limits or Limits()))
    except BaseException:
        worker.close()
        raise
    return SqlStore(database, worker, process(host, pid))


def _opened(place: Place, limits: Limits) -> Database:
    if place.path is not None:
        if not os.path.lexists(place.path):
            _make(place, place.path, limits)
        check(place.path, writing=False)
    both = engines(place, limits)
    try:
        _bring_up(both, place, new=place.path is None)
        opened = None if place.path is None else identity(place.path)
    except BaseException:
        both.close()
        raise
    return Database(both, opened)


def _bring_up(both: Engines, place: Place, *, new: bool) -> None:
    with telling(both, writing=False), both.begin(writing=False) as connection:
        newest = current(connection) == NEWEST
    if not newest:
        with telling(both, writing=True), both.begin(writing=True) as connection:
            bring_up(connection, place, new=new)
    if place.path is not None:
        _log_ahead(both)


def _log_ahead(both: Engines) -> None:
    """See that the file is in WAL mode, which it keeps; a copy that was restored may have lost it."""
    both.let_go()
    with telling(both, writing=True), closing(both.writing.raw_connection()) as connection:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode")
        if cursor.fetchone() != ("wal",):
            cursor.execute("PRAGMA journal_mode = WAL")


def _make(place: Place, path: Path, limits: Limits) -> None:
    """Make the file elsewhere and give it its name once it is whole: an empty one is always a loss, never a start."""
    draft = _attempt(path, partial(_draft, path.parent))
    try:
        both = engines(Place(place.url, place.label, draft), limits)
        try:
            _bring_up(both, place, new=True)
        finally:
            both.close()
        # another process may have been first: then its file stays
        with suppress(FileExistsError):
            _attempt(path, partial(os.link, draft, path))
    finally:
        for left in (draft, Path(f"{draft}-wal"), Path(f"{draft}-shm")):
            left.unlink(missing_ok=True)


def _draft(folder: Path) -> Path:
    for missing in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".new-store-", dir=folder)
    os.close(handle)
    return Path(name)


def _attempt(path: Path, act: Callable[[], T]) -> T:
    try:
        return act()
    except FileExistsError:
        raise
    except OSError as error:
        text = f"the store {path} cannot be made: {error.strerror}; let this user write its folder, or name another"
        raise StoreError(StoreFault.UNWRITABLE, text) from error
