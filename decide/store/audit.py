"""Audit: the whole ledger looked at, its first fault, and a named person's word that lets the chain go on from it."""

import json
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from decide.ledger import Row, RowKind
from decide.store.chain import Fault, Mark, at_end, walk
from decide.store.rows import Writing, head, last, pins, stored_after

CHUNK = 1000
"""How many rows are looked at before other work of the store gets its turn."""


@dataclass(frozen=True, slots=True)
class Verified:
    """Every row is as it was written, or a named person accepted that it is not."""

    rows: int


@dataclass(frozen=True, slots=True)
class Broken:
    """The first row that is not as it was written and that nobody accepted; `fault` says what is wrong with it."""

    seq: int
    fault: str


@dataclass(frozen=True, slots=True)
class Step:
    """How far an audit has come: the row at `mark` was reached, and `end` is where the ledger ends."""

    mark: Mark
    end: Mark
    done: bool = False
    fault: Fault | None = None


def step(connection: Connection, mark: Mark) -> Step:
    """The next rows after the one at `mark`, looked at as of one moment."""

    def accepted() -> frozenset[tuple[int, str]]:
        return pins(connection)

    end = head(connection)
    rows = stored_after(connection, mark.seq, CHUNK)
    reached = walk(rows, mark, accepted)
    if isinstance(reached, Fault):
        return Step(mark, end, True, reached)
    if len(rows) == CHUNK:
        return Step(reached, end)
    return Step(reached, end, True, at_end(reached, end, accepted))


def accept(writing: Writing, fault: Fault, *, person: str, note: str, at: datetime) -> None:
    """Append a person's word on exactly this fault; the chain goes on from what is there."""
    told = {
        "seq": fault.seq,
        "found": fault.found,
        "fault": fault.text,
        "person": person.strip(),
        "note": note.strip(),
    }
    stands = last(writing.connection)
    onward = Writing(writing.connection, writing.head if writing.head.seq > stands.seq else stands)
    onward.append([Row(RowKind.ACCEPT, at, body=json.dumps(told))])
