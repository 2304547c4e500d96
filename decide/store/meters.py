"""Meters: readings of seats' windows kept, and what grew between them put down to the consultations that ran."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, func, insert, literal_column, select, text, update

from decide.ledger import Row, RowKind
from decide.meter import MeterSample
from decide.points import MILLION, Certainty, Taken, Work, consulted, taken
from decide.quota import WindowKind
from decide.store import receipts
from decide.store.moments import micros, moment
from decide.store.prepared import Prepared
from decide.store.rows import Writing
from decide.store.tables import LEDGER, RUNS
from decide.store.tables_meters import IS_UNSPLIT, METERS

Seat = tuple[str, str]

_COLUMNS = ("rung", "seat", "kind", "scope", "at_us", "used_micro", "resets_us")
_WINDOW = _COLUMNS[:4]
_GIVEN = [bindparam(f"new_{name}", type_=METERS.c[name].type) for name in _COLUMNS]
_LATER = select(METERS.c.at_us).where(
    *(METERS.c[name] == bindparam(f"new_{name}") for name in _WINDOW), METERS.c.at_us >= bindparam("new_at_us")
)
_KEEP = Prepared(
    insert(METERS).from_select([*_COLUMNS, "split"], select(*_GIVEN, literal_column("0")).where(~_LATER.exists()))
)
"""A reading that is no later than the last of its window says nothing new."""
_AFTER, _BEFORE, _EARLIER = METERS.alias("later"), METERS.alias("before"), METERS.alias("earlier")
_SAME = and_(*(_BEFORE.c[name] == _AFTER.c[name] for name in _WINDOW))
_LAST = (
    select(func.max(_EARLIER.c.at_us))
    .where(*(_EARLIER.c[name] == _AFTER.c[name] for name in _WINDOW), _EARLIER.c.at_us < _AFTER.c.at_us)
    .scalar_subquery()
)
_GAPS = (
    select(
        *(_AFTER.c[name] for name in _COLUMNS), *(_BEFORE.c[name] for name in ("at_us", "used_micro", "resets_us"))
    )
    .select_from(_AFTER.join(_BEFORE, _SAME & (_BEFORE.c.at_us == _LAST)))
    .where(text("later.split = 0"), _AFTER.c.at_us <= bindparam("upto_us"))
    .order_by(*(_AFTER.c[name] for name in ("at_us", *_WINDOW)))
)
_SPLIT = update(METERS).where(IS_UNSPLIT, METERS.c.at_us <= bindparam("upto_us")).values(split=1)
_UNDER_WAY = select(func.min(RUNS.c.at_us)).where(RUNS.c.ended_us.is_(None), RUNS.c.until_us > bindparam("now_us"))
_TOKENS = sum(
    (LEDGER.c[f"{kind}_tokens"] for kind in ("cache_read", "cache_write", "output", "reasoning")),
    LEDGER.c.input_tokens,
)
# spelt out, not bound: only then is the index over these rows used
_PASSES = (
    select(*(LEDGER.c[name] for name in ("rung", "seat", "receipt", "question", "level", "role")))
    .add_columns(LEDGER.c.at_us, LEDGER.c.duration_us, _TOKENS)
    .where(text(f"kind = '{RowKind.PASS.value}'"), LEDGER.c.at_us > bindparam("since_us"))
    .order_by(LEDGER.c.seq)
)
_SINCE = (
    select(*(METERS.c[name] for name in _COLUMNS))
    .where(METERS.c.at_us >= bindparam("since_us"))
    .order_by(*(METERS.c[name] for name in ("at_us", *_WINDOW)))
)


@dataclass(frozen=True, slots=True)
class _Gap:
    """Two readings of a window that follow one another."""

    before: MeterSample
    after: MeterSample

    @property
    def seat(self) -> Seat:
        return self.after.rung, self.after.seat


def keep(writing: Writing, samples: Iterable[MeterSample], *, at: datetime) -> None:
    """Keep readings, and append a row for what each consultation took between two of them, on its receipt as well.

    What grew is split once, as soon as no run is under way that may still tell of a pass before the later reading.
    """
    new = [
        {f"new_{name}": value for name, value in zip(_COLUMNS, _values(sample), strict=True)} for sample in samples
    ]
    _KEEP.run_each(writing.connection, new)
    began_us = writing.connection.execute(_UNDER_WAY, {"now_us": micros(at)}).scalar()
    upto = {"upto_us": micros(at) if began_us is None else began_us}
    gaps = [_Gap(_sample(*row[:4], *row[7:]), _sample(*row[:7])) for row in writing.connection.execute(_GAPS, upto)]
    writing.connection.execute(_SPLIT, upto)
    if gaps:
        work = _work(writing.connection, min(gap.before.at for gap in gaps))
        _tell(writing, [(gap, each) for gap in gaps for each in taken(gap.before, gap.after, work[gap.seat])])


def since(connection: Connection, at: datetime) -> tuple[MeterSample, ...]:
    """Readings of `at` or later, in order of time."""
    return tuple(_sample(*row) for row in connection.execute(_SINCE, {"since_us": micros(at)}))


def purge(connection: Connection, before: datetime) -> int:
    """Let readings go that are older than that, and say how many; what was made of them stays in the ledger."""
    return connection.execute(delete(METERS).where(METERS.c.at_us < micros(before))).rowcount


def _work(connection: Connection, after: datetime) -> Mapping[Seat, list[Work]]:
    """The passes of each seat that ended after a moment."""
    found: dict[Seat, list[Work]] = defaultdict(list)
    for row in connection.execute(_PASSES, {"since_us": micros(after)}):
        rung, seat, receipt, question, level, role, at_us, duration_us, tokens = row
        whose = consulted(receipt, question, level, role)
        found[rung, seat].append(Work(whose, moment(at_us - duration_us), moment(at_us), tokens))
    return found


def _tell(writing: Writing, found: list[tuple[_Gap, Taken]]) -> None:
    """Write what was taken to the ledger and on the receipts."""
    writing.append(_row(gap, each) for gap, each in found)
    told: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for gap, each in found:
        told[each.consulted.receipt].append(_entry(gap.after, each))
    for receipt, entries in told.items():
        receipts.took(writing.connection, receipt, entries)


def _row(gap: _Gap, each: Taken) -> Row:
    after, whose = gap.after, each.consulted
    return Row(
        RowKind.QUOTA,
        after.at,
        level=whose.level,
        rung=after.rung,
        seat=after.seat,
        role=whose.role,
        result=each.certainty.value,
        question=whose.question,
        receipt=whose.receipt,
        window_kind=after.kind.value,
        micro_ratio=each.micro_ratio,
        body=json.dumps({"scope": after.scope, "since": gap.before.at.isoformat()}),
    )


def _entry(after: MeterSample, each: Taken) -> dict[str, Any]:
    return {
        "rung": after.rung,
        "seat": after.seat,
        "role": each.consulted.role,
        "window": after.kind.value,
        "scope": after.scope or None,
        "points": each.micro_ratio * 100 / MILLION,
        "shared": each.certainty is Certainty.SHARED,
    }


def _values(sample: MeterSample) -> tuple[str | int | None, ...]:
    resets_us = None if sample.resets_at is None else micros(sample.resets_at)
    used = round(sample.used * MILLION)
    return sample.rung, sample.seat, sample.kind.value, sample.scope, micros(sample.at), used, resets_us


def _sample(rung: str, seat: str, kind: str, scope: str, at_us: int, used: int, resets_us: int | None) -> MeterSample:
    resets_at = None if resets_us is None else moment(resets_us)
    return MeterSample(rung, seat, WindowKind(kind), scope, moment(at_us), used / MILLION, resets_at)
