"""Ledger: the rows that say what happened, each with the digest of the row before it; append-only (design 8)."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from json.encoder import encode_basestring_ascii


class RowKind(StrEnum):
    """What a ledger row records."""

    QUESTION = "question"
    PASS = "pass"  # noqa: S105 - a model call, not a secret
    REFUSED = "refused"
    CONSULTATION = "consultation"
    DECISION = "decision"
    GATE = "gate"
    SKIPPED = "skipped"
    SETTLEMENT = "settlement"
    ACCEPT = "accept"
    QUEUE = "queue"
    INBOX = "inbox"
    ACT = "act"
    CLICK = "click"
    WEBHOOK = "webhook"
    QUOTA = "quota"


GENESIS = "sha256:" + "0" * 64
"""What stands for the digest of the row before the first."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that happened; unused fields are empty or 0. Changing this changes every digest, but for the last two
    fields, which are newer than the first ledgers and in no digest while they are empty.

    `result` is a pass's or consultation's result, a decision's outcome, or which check was skipped; `role` a pass's
    role; `billing` and `source` say whose money and how it is known. A `refused` row says that a seat is not to be
    used for a while: `clears_at` is when it said that it clears. A `quota` row says what a consultation took of a
    window of its seat, in millionths of it (`micro_ratio`), and in `result` how surely. `body` is JSON text with what
    no counter needs.
    """

    kind: RowKind
    at: datetime
    level: str = ""
    rung: str = ""
    seat: str = ""
    role: str = ""
    result: str = ""
    billing: str = ""
    source: str = ""
    micro_usd: int = 0
    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    duration_us: int = 0
    gate_row: str = ""
    stage: str = ""
    question: str = ""
    receipt: str = ""
    call_id: str = ""
    clears_at: datetime | None = None
    body: str = field(default="{}", repr=False)
    window_kind: str = ""
    micro_ratio: int = 0

    def __post_init__(self) -> None:
        """Refuse a clock without a zone, and money or tokens below zero."""
        if self.at.tzinfo is None or (self.clears_at is not None and self.clears_at.tzinfo is None):
            raise ValueError(f"times must be aware: {self.at!r}, {self.clears_at!r}")
        if min([getattr(self, name) for name in _NUMBERS]) < 0:
            raise ValueError(f"numbers must not be negative: {self!r}")

    def values(self) -> dict[str, str | int | None]:
        """The row as plain columns: times are microseconds since 1970 in `at_us` and `clears_at_us`."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        clears_us = None if self.clears_at is None else _micros(self.clears_at)
        return {"kind": self.kind.value, "at_us": _micros(self.at), "clears_at_us": clears_us, **plain}


_PLAIN = tuple(one.name for one in fields(Row) if one.name not in ("at", "clears_at", "kind"))
_NUMBERS = tuple(one.name for one in fields(Row) if one.type is int)
_LATER = ("micro_ratio", "window_kind")
_SORTED = sorted({*_PLAIN, "kind", "at_us", "clears_at_us"} - {*_LATER})
_CANONICAL = "[%s,%s,[" + ",".join(f'["{name}",%s]' for name in _SORTED) + "%s]]"


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _micros(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)


def digest(row: Row, *, seq: int, before: str) -> str:
    """The digest that the row at `seq` carries when `before` is that of the row before it."""
    return seal(row.values(), seq=seq, before=before)


def seal(values: Mapping[str, str | int | None], *, seq: int, before: str) -> str:
    """The same for a row's plain columns; raises KeyError where one is missing."""
    cells = [_cell(one) for one in (seq, before, *[values[name] for name in _SORTED])]
    later = "".join([f',["{name}",{_cell(one)}]' for name in _LATER if (one := values[name])])
    canonical = _CANONICAL % (*cells, later)
    return "sha256:" + hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _cell(value: str | int | None) -> str:
    """A value as `json.dumps` writes it in ASCII, without the time that it takes to begin."""
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    return str(value) if type(value) is int else json.dumps(value)


@dataclass(frozen=True, slots=True)
class Entry:
    """A row as the ledger holds it: its place, the digest before it and its own."""

    seq: int
    row: Row
    before: str
    digest: str


def first_broken(entries: Iterable[Entry], *, after: int = 0, before: str = GENESIS) -> tuple[int, str] | None:
    """The place and fault of the first entry that does not fit the one before it, None when all do.

    `entries` follow the row at `after`, whose digest is `before`.
    """
    for entry in entries:
        after += 1
        if entry.seq != after:
            return after, f"row {after} is missing"
        if entry.before != before:
            return after, f"row {after} does not carry the digest of the row before it"
        if entry.digest != digest(entry.row, seq=after, before=before):
            return after, f"row {after} is not what was written"
        before = entry.digest
    return None
