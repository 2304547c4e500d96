"""Rows: the ledger as it is appended to and read, each row at its place in the chain."""

import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.exc import NoResultFound

from decide.ledger import Row, RowKind, seal
from decide.store.chain import Fault, Mark, Stored, at_end, walk
from decide.store.prepared import Prepared
from decide.store.tables import HEAD, LEDGER

TAIL = 256
"""How many rows a process looks at before it trusts a ledger that it has not read."""

_LOCK = Prepared(select(HEAD.c.seq, HEAD.c.digest, HEAD.c.held).where(HEAD.c.id == 1).with_for_update())
_HEAD = Prepared(select(HEAD.c.seq, HEAD.c.digest).where(HEAD.c.id == 1))
_MOVE = Prepared(update(HEAD).where(HEAD.c.id == 1).values(seq=bindparam("to_seq"), digest=bindparam("to_digest")))
_APPEND = Prepared(insert(LEDGER))
_AFTER = select(LEDGER).where(LEDGER.c.seq > bindparam("after")).order_by(LEDGER.c.seq).limit(bindparam("most"))
_REST = Prepared(select(LEDGER).where(LEDGER.c.seq > bindparam("after")).order_by(LEDGER.c.seq))
_BACK = Prepared(
    select(LEDGER.c.seq, LEDGER.c.digest)
    .where(LEDGER.c.seq <= bindparam("upto"))
    .order_by(LEDGER.c.seq.desc())
    .limit(1)
)
_LAST = select(LEDGER.c.seq, LEDGER.c.digest).order_by(LEDGER.c.seq.desc()).limit(1)
_ACCEPTS = select(LEDGER.c.body).where(LEDGER.c.kind == RowKind.ACCEPT.value)
_VALUES = tuple(column.name for column in LEDGER.c if column.name not in ("seq", "before", "digest"))


@dataclass(slots=True)
class Writing:
    """A transaction that holds the head of the ledger, so that nobody else appends until it ends.

    `held` is the fault for which every question is held, empty when there is none. `written` are the rows that were
    appended, by their number and as the table holds them.
    """

    connection: Connection
    head: Mark
    held: str = ""
    written: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    def append(self, rows: Iterable[Row]) -> None:
        """Append rows, each with the digest of the one before it."""
        written = []
        for row in rows:
            seq = self.head.seq + 1
            values = row.values()
            own = seal(values, seq=seq, before=self.head.digest)
            written.append({"seq": seq, "before": self.head.digest, "digest": own, **values})
            self.written[seq] = (seq, self.head.digest, own, *[values[name] for name in _VALUES])
            self.head = Mark(seq, own)
        if written:
            _APPEND.run_each(self.connection, written)
            _MOVE.run(self.connection, {"to_seq": self.head.seq, "to_digest": self.head.digest})


def locked(connection: Connection) -> Writing:
    """The transaction as the only one that writes."""
    found = _one(_LOCK.run(connection).fetchone())
    return Writing(connection, _mark(found), found[2])


def head(connection: Connection) -> Mark:
    """Where the ledger ends."""
    return _mark(_one(_HEAD.run(connection).fetchone()))


def last(connection: Connection) -> Mark:
    """The row of the highest number, whatever the head says."""
    found = connection.execute(_LAST).first()
    return Mark() if found is None else _mark(found)


def check_tail(
    connection: Connection, end: Mark, known: Mark | None, own: Mapping[int, tuple[Any, ...]]
) -> Mark | Fault:
    """The last row once those since `known` were looked at and `end`, the head, names it; else the first fault.

    With nothing known these are the last `TAIL` rows: a ledger of years is not read before every question, and what
    a crash, a full disk or a torn page spoils is what was written last. `verify` reads all of it. A row that is found
    just as this process wrote it, one of `own`, needs no digest made again.
    """
    start = known if known is not None and known.seq <= end.seq else _start(connection, end.seq - TAIL)

    def accepted() -> frozenset[tuple[int, str]]:
        return pins(connection)

    rows = deque(_REST.run(connection, {"after": start.seq}).fetchall())
    while rows and tuple(rows[0]) == own.get(start.seq + 1) and rows[0][1] == start.digest:
        start = Mark(start.seq + 1, rows.popleft()[2])
    reached = walk(map(_stored, rows), start, accepted)
    if isinstance(reached, Fault):
        return reached
    return at_end(reached, end, accepted) or reached


def stored_after(connection: Connection, seq: int, limit: int) -> list[Stored]:
    """Up to `limit` rows after `seq` as they are found."""
    return [_stored(row) for row in connection.execute(_AFTER, {"after": seq, "most": limit})]


def columns_after(connection: Connection, seq: int, limit: int, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """Up to `limit` rows after `seq`, only those columns; raises ValueError for a column that there is not."""
    unknown = [name for name in columns if name not in LEDGER.c]
    if unknown:
        raise ValueError(f"the ledger has no column {unknown[0]!r}")
    # the driver's own tuples: a million of SQLAlchemy's rows take a second longer
    return list(_columns(tuple(columns)).run(connection, {"after": seq, "most": limit}).fetchall())


@lru_cache(maxsize=64)
def _columns(columns: tuple[str, ...]) -> Prepared:
    wanted = select(*(LEDGER.c[name] for name in columns)).where(LEDGER.c.seq > bindparam("after"))
    return Prepared(wanted.order_by(LEDGER.c.seq).limit(bindparam("most")))


def pins(connection: Connection) -> frozenset[tuple[int, str]]:
    """What named persons accepted."""
    found = set()
    for (body,) in connection.execute(_ACCEPTS):
        try:
            told = json.loads(body)
            found.add((int(told["seq"]), str(told["found"])))
        except (ValueError, TypeError, KeyError):
            continue  # an accept row that was overwritten accepts nothing
    return frozenset(found)


def _start(connection: Connection, upto: int) -> Mark:
    found = _BACK.run(connection, {"upto": upto}).fetchone()
    return Mark() if found is None else _mark(found)


def _one(row: Sequence[Any] | None) -> Sequence[Any]:
    if row is None:
        raise NoResultFound("the head of the ledger is lost")
    return row


def _stored(row: Sequence[Any]) -> Stored:
    return Stored(row[0], row[1], row[2], dict(zip(_VALUES, row[3:], strict=True)))


def _mark(row: Sequence[Any]) -> Mark:
    return Mark(row[0], row[1])
