"""Table of meters: what sources said of seats' windows, one row for each reading of each."""

from sqlalchemy import Column, Index, Table, Text, text

from decide.store.tables import BIG, METADATA

METERS = Table(
    "meters",
    METADATA,
    *(Column(name, Text, primary_key=True) for name in ("rung", "seat", "kind", "scope")),
    Column("at_us", BIG, primary_key=True, autoincrement=False),
    Column("used_micro", BIG, nullable=False),
    Column("resets_us", BIG),
    Column("split", BIG, nullable=False),
)
"""`used_micro` is in millionths of the window; `split` is 1 once what grew up to here was told to consultations."""
IS_UNSPLIT = text("split = 0")
Index("meters_unsplit", METERS.c.at_us, sqlite_where=IS_UNSPLIT, postgresql_where=IS_UNSPLIT)
Index("meters_by_time", METERS.c.at_us)
