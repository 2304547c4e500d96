"""Chain: whether stored rows follow one another as they were written, but for what a named person accepted."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from decide.ledger import GENESIS, Entry, Row, RowKind, first_broken, seal
from decide.store.moments import moment


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the chain: a row, or what stands before the first, and its digest."""

    seq: int = 0
    digest: str = GENESIS


@dataclass(frozen=True, slots=True)
class Stored:
    """A row as it was found, whatever it holds; `values` are the columns of `Row.values`."""

    seq: int
    before: str
    digest: str
    values: Mapping[str, Any]

    def entry(self) -> Entry:
        """The row as it was written; raises ValueError or TypeError for what no row can hold."""
        fields = dict(self.values)
        kind, at_us, clears_us = RowKind(fields.pop("kind")), fields.pop("at_us"), fields.pop("clears_at_us")
        clears_at = None if clears_us is None else moment(clears_us)
        return Entry(self.seq, Row(kind, moment(at_us), clears_at=clears_at, **fields), self.before, self.digest)


@dataclass(frozen=True, slots=True)
class Fault:
    """The first row that does not fit: `found` stands for exactly what was found there, `onward` is where the chain
    goes on once that is accepted.
    """

    seq: int
    text: str
    found: str
    onward: Mark

    @property
    def pin(self) -> tuple[int, str]:
        """What a person accepts, and nothing else."""
        return self.seq, self.found


Accepted = Callable[[], frozenset[tuple[int, str]]]
"""The pins of what was accepted, looked up once there is a fault."""


def walk(rows: Iterable[Stored], mark: Mark, accepted: Accepted) -> Mark | Fault:
    """The place of the last row when all follow the one at `mark`, else the first fault that nobody accepted."""
    for row in rows:
        while (fault := _fault(row, mark)) is not None:
            if fault.pin not in accepted():
                return fault
            mark = fault.onward
            if mark.seq == row.seq:
                break
        else:
            mark = Mark(row.seq, row.digest)
    return mark


def at_end(mark: Mark, head: Mark, accepted: Accepted) -> Fault | None:
    """The fault when the last row is not the one that was written last."""
    if mark == head:
        return None
    if mark.seq < head.seq:
        fault = _missing(mark.seq + 1, head.seq + 1, head.digest)
    elif mark.seq == head.seq:
        fault = Fault(mark.seq, f"row {mark.seq} is not the one that was written last", mark.digest, mark)
    else:
        text = f"row {head.seq + 1} stands behind the one that was written last"
        fault = Fault(head.seq + 1, text, mark.digest, mark)
    return None if fault.pin in accepted() else fault


def _fault(row: Stored, mark: Mark) -> Fault | None:
    if row.seq != mark.seq + 1:
        return _missing(mark.seq + 1, row.seq, row.before)
    try:
        entry = row.entry()
        if entry.before == mark.digest and entry.digest == seal(row.values, seq=row.seq, before=row.before):
            return None
        broken = first_broken([entry], after=mark.seq, before=mark.digest)
    except (ValueError, TypeError, OverflowError, AttributeError):
        broken = row.seq, f"row {row.seq} is not what was written"
    if broken is None:
        return None
    found = _digest([row.seq, row.before, row.digest, sorted(row.values.items())])
    return Fault(row.seq, broken[1], found, Mark(row.seq, row.digest))


def _missing(first: int, then: int, before: str) -> Fault:
    """Rows from `first` on are missing; the next that stands is `then`, or would be, and carries `before`."""
    return Fault(first, f"row {first} is missing", _digest(["missing", first, then, before]), Mark(then - 1, before))


def _digest(what: list[Any]) -> str:
    canonical = json.dumps(what, ensure_ascii=True, separators=(",", ":"), default=repr)
    return "sha256:" + hashlib.sha256(canonical.encode("ascii")).hexdigest()
