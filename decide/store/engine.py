"""Engine: one connection to either database, with the settings that make a commit durable."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine

from decide.store.place import Place


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait for another process (seconds), and how many pages of 4 KiB a SQLite file may have."""

    busy_s: float = 30.0
    max_pages: int | None = None


@dataclass(slots=True)
class Engines:
    """Two ways to begin a transaction on the same connection: to read what one moment held, and to write alone."""

    place: Place
    reading: Engine
    writing: Engine
    _held: Connection | None = field(default=None, init=False)

    @property
    def error(self) -> type[Exception]:
        """What the driver's own errors are."""
        error: type[Exception] = self.writing.dialect.loaded_dbapi.Error
        return error

    @contextmanager
    def begin(self, *, writing: bool) -> Iterator[Connection]:
        """A transaction as it means to go on: one that will write takes its lock before it reads."""
        if self.place.path is None:
            with (self.writing if writing else self.reading).begin() as connection:
                yield connection
            return
        # handed out by the pool once: that takes longer than SQLite does for a whole transaction
        connection = self._held = self._held or self.writing.connect()
        driver = connection.connection
        try:
            driver.cursor().execute("BEGIN IMMEDIATE" if writing else "BEGIN")
            yield connection
            driver.commit()
        except BaseException:
            driver.rollback()
            self.let_go()
            raise

    def close(self) -> None:
        """Close the connection."""
        self.let_go()
        self.writing.dispose()

    def let_go(self) -> None:
        """Give the connection back to its pool."""
        held, self._held = self._held, None
        if held is not None:
            held.close()


def engines(place: Place, limits: Limits) -> Engines:
    """The engines of a place; nothing is opened before the first use."""
    return _postgresql(place, limits) if place.path is None else _sqlite(place, place.path, limits)


def _sqlite(place: Place, path: Path, limits: Limits) -> Engines:
    # mode=rw: SQLite itself never makes the file, so that a lost ledger is not replaced by an empty one
    uri = path.as_uri() + "?mode=rw"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            uri, uri=True, timeout=limits.busy_s, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA synchronous = FULL")
            if limits.max_pages is not None:
                connection.execute(f"PRAGMA max_page_count = {limits.max_pages:d}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    # every transaction is begun and ended by hand: nothing is left to reset when the connection goes back
    options: dict[str, Any] = {
        "pool_size": 1,
        "max_overflow": 0,
        "pool_reset_on_return": None,
        "isolation_level": "AUTOCOMMIT",
    }
    base = create_engine(place.url, creator=connect, hide_parameters=True, **options)
    return Engines(place, base, base)


def _postgresql(place: Place, limits: Limits) -> Engines:
    arguments: dict[str, Any] = {"application_name": "rungwatch"}
    if "connect_timeout" not in place.url.query:
        arguments["connect_timeout"] = max(2, int(limits.busy_s))
    if "options" not in place.url.query:
        arguments["options"] = f"-c synchronous_commit=on -c lock_timeout={int(limits.busy_s * 1000)}"
    base = create_engine(
        place.url, connect_args=arguments, pool_size=1, max_overflow=0, pool_pre_ping=True, hide_parameters=True
    )
    one_moment = base.execution_options(isolation_level="REPEATABLE READ")
    return Engines(place, one_moment, base.execution_options(isolation_level="READ COMMITTED"))
