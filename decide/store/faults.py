"""Faults: what a database's error means for whoever needs the store, in a text that says what to do."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, NoResultFound
from sqlalchemy.exc import TimeoutError as PoolTimeout

from decide.fault import StoreError, StoreFault
from decide.store.engine import Engines
from decide.store.place import RESTORE, Place

_READABLE, _WRITABLE, _CHAIN = StoreFault.UNREADABLE, StoreFault.UNWRITABLE, StoreFault.BROKEN

_CONTRADICTS = (_CHAIN, "what it holds contradicts itself; run `rungwatch ledger verify`")
_SQLITE = {
    sqlite3.SQLITE_BUSY: (_WRITABLE, "another process held it for too long; see which one does"),
    sqlite3.SQLITE_CONSTRAINT: _CONTRADICTS,
    sqlite3.SQLITE_FULL: (_WRITABLE, "make room on its file system"),
    sqlite3.SQLITE_READONLY: (_WRITABLE, "let this user write the file and its folder"),
    sqlite3.SQLITE_CORRUPT: (_READABLE, RESTORE),
    sqlite3.SQLITE_NOTADB: (_READABLE, RESTORE),
    sqlite3.SQLITE_CANTOPEN: (_READABLE, "let this user read and write the file and its folder"),
}
"""By SQLite's primary result code: the fault, and what helps."""
_POSTGRESQL = {
    "08": (_READABLE, "see that the server runs and can be reached"),
    "23": _CONTRADICTS,
    "25": (_WRITABLE, "name a server that takes writes"),
    "28": (_READABLE, "see that user and password are right"),
    "3D": (_READABLE, "make the database, or name another"),
    "42": (_READABLE, "let this user use the tables; no other program may own tables of these names"),
    "53": (_WRITABLE, "make room on the server"),
    "55": (_WRITABLE, "another process held it for too long; see which one does"),
    "57": (_READABLE, "see that the server runs and can be reached"),
    "58": (_WRITABLE, "see the server's log"),
    "P0": _CONTRADICTS,
    "XX": (_READABLE, RESTORE),
}
"""By the class of PostgreSQL's SQLSTATE: the fault, and what helps."""
_UNKNOWN_HELP = "see whether its disk and its server are well"


@contextmanager
def telling(engines: Engines, *, writing: bool) -> Iterator[None]:
    """Raises StoreError for whatever a database raises within."""
    try:
        yield
    except DBAPIError as error:
        raise _told(engines.place, error.orig or error, writing=writing) from None
    except (engines.error, NoResultFound, PoolTimeout, OSError) as error:
        raise _told(engines.place, error, writing=writing) from None


def _told(place: Place, error: BaseException, *, writing: bool) -> StoreError:
    fault, helps = _meaning(error, writing=writing)
    tried = "written" if writing else "read"
    return StoreError(fault, f"the store {place.label} cannot be {tried}: {place.clean(str(error))}; {helps}")


def _meaning(error: BaseException, *, writing: bool) -> tuple[StoreFault, str]:
    otherwise = (_WRITABLE if writing else _READABLE, _UNKNOWN_HELP)
    if isinstance(error, sqlite3.Error):
        # the low byte is the primary code; one that Python raised itself has none
        return _SQLITE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, otherwise)
    if isinstance(error, NoResultFound):
        return _CONTRADICTS
    if isinstance(error, OSError | PoolTimeout):
        return otherwise
    # psycopg has no SQLSTATE for a connection that could not be made or was lost
    return _POSTGRESQL.get((getattr(error, "sqlstate", None) or "08")[:2], otherwise)
