"""Migrate: the shape of a store brought up to this version's, by Alembic and in one transaction."""

from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, func, inspect, select, text

from decide.fault import StoreError, StoreFault
from decide.store.place import RESTORE, Place

NEWEST = "0003"
"""The revision of this version's shape."""
VERSION_TABLE = "rungwatch_schema"
MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK_KEY = 7_811_940_521_136_045_001
_ONE_AT_A_TIME = Lock()
"""Alembic keeps what it works on in globals of the process."""
_VERSION = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - a name of ours


def current(connection: Connection) -> str | None:
    """The revision of a store's shape, None for a database that has none."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(_VERSION).scalar()


def bring_up(connection: Connection, place: Place, *, new: bool) -> None:
    """Bring the shape up to the newest; the connection's transaction holds all of it.

    Raises StoreError for one that is not `new` and none of ours, and for a shape that only a later version knows.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK_KEY)))
    found = current(connection)
    if found == NEWEST:
        return
    if found is None and not new:
        told = f"the store {place.label} is a database of another program; name another file"
        raise StoreError(StoreFault.UNREADABLE, told)
    if found is not None and found not in _known():
        told = f"the store {place.label} has shape {found!r}, which a later rungwatch made; install that. {RESTORE}"
        raise StoreError(StoreFault.UNREADABLE, told)
    _upgrade(connection)


def _known() -> frozenset[str]:
    return frozenset(path.name.partition("_")[0].lstrip("r") for path in (MIGRATIONS / "versions").glob("r*_*.py"))


def _upgrade(connection: Connection) -> None:
    # imported here: a store of the newest shape opens without it
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    config.attributes["version_table"] = VERSION_TABLE
    with _ONE_AT_A_TIME:
        command.upgrade(config, "head")
