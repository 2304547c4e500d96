"""Receipts: one document for each run, the latest first."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from decide.handoff.entry import Answer
from decide.handoff.ports import Hold
from decide.ports import Ending
from decide.store.moments import micros, moment
from decide.store.prepared import Prepared
from decide.store.tables import RECEIPTS
from decide.store.words import meant

_WHAT = ("rung", "seat", "role", "window", "scope")
"""What tells one entry of a receipt's quota from another."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_US = timedelta(days=1) // timedelta(microseconds=1)
_NEXT = select(func.coalesce(func.max(RECEIPTS.c.place), 0) + 1).scalar_subquery()
_GIVEN = ("receipt_id", "question_key", "run_id", "outcome", "exit_code", "at_us", "document")
_NEW = Prepared(insert(RECEIPTS).values(place=_NEXT, **{name: bindparam(f"new_{name}") for name in _GIVEN}))
_LINES = select(
    RECEIPTS.c.receipt_id, RECEIPTS.c.at_us, RECEIPTS.c.question_key, RECEIPTS.c.outcome, RECEIPTS.c.exit_code
)
_PLACE = select(RECEIPTS.c.place).where(RECEIPTS.c.receipt_id == bindparam("id"))
_DOCUMENT = select(RECEIPTS.c.document).where(RECEIPTS.c.receipt_id == bindparam("id"))
_LAST = (
    select(RECEIPTS.c.document)
    .where(RECEIPTS.c.question_key == bindparam("key"))
    .order_by(RECEIPTS.c.place.desc())
    .limit(1)
)
_FROM = select(RECEIPTS.c.receipt_id, RECEIPTS.c.document).where(
    RECEIPTS.c.question_key == bindparam("key"),
    RECEIPTS.c.place >= select(RECEIPTS.c.place).where(RECEIPTS.c.receipt_id == bindparam("id")).scalar_subquery(),
)
_REWRITE = Prepared(
    update(RECEIPTS).where(RECEIPTS.c.receipt_id == bindparam("id")).values(document=bindparam("to_document"))
)
_BY_DAY = (
    select((RECEIPTS.c.at_us // _DAY_US).label("day"), RECEIPTS.c.outcome, func.count())
    .where(RECEIPTS.c.at_us >= bindparam("since_us"))
    .group_by("day", RECEIPTS.c.outcome)
    .order_by("day", RECEIPTS.c.outcome)
)


@dataclass(frozen=True, slots=True)
class ReceiptLine:
    """A receipt in one line."""

    receipt_id: str
    at: datetime
    question_key: str
    outcome: str
    exit_code: int


def keep(connection: Connection, ending: Ending) -> None:
    """Keep the receipt of a run that ends."""
    _keep(connection, ending.receipt_id, ending.question_key, ending.run_id, ending.receipt, ending.at)


def keep_held(connection: Connection, hold: Hold) -> bool:
    """Keep the receipt of a question that was held; False when it is there."""
    if connection.execute(_DOCUMENT, {"id": hold.receipt_id}).first() is not None:
        return False
    _keep(connection, hold.receipt_id, hold.question.key, hold.receipt_id, hold.receipt, hold.at)
    return True


def answered(connection: Connection, question_key: str, receipt_id: str, answer: Answer) -> None:
    """Put a person's answer on a receipt of a question, and on those of it that came later."""
    person = {
        "name": answer.person,
        "option": answer.option or None,
        "text": answer.text or None,
        "at": answer.at.isoformat(),
        "surface": answer.surface,
    }
    for one, text in connection.execute(_FROM, {"key": question_key, "id": receipt_id}).all():
        told = json.loads(text) | {"person": person}
        _REWRITE.run(connection, {"id": one, "to_document": json.dumps(told)})


def took(connection: Connection, receipt_id: str, entries: Iterable[Mapping[str, Any]]) -> None:
    """Add what consultations took of their seats' windows to their receipt, where there is one."""
    found = connection.execute(_DOCUMENT, {"id": receipt_id}).scalar()
    if found is None:
        return
    told = _loaded(found)
    whole = {tuple(one[name] for name in _WHAT): dict(one) for one in told.get("quota", ())}
    for entry in entries:
        known = whole.setdefault(tuple(entry[name] for name in _WHAT), {**entry, "points": 0.0, "shared": False})
        known["points"] = round(known["points"] + entry["points"], 4)
        known["shared"] = known["shared"] or entry["shared"]
    told["quota"] = list(whole.values())
    _REWRITE.run(connection, {"id": receipt_id, "to_document": json.dumps(told)})


def lines(connection: Connection, limit: int, before: str | None) -> tuple[ReceiptLine, ...]:
    """Up to `limit` receipts, the latest first, or those that came before one, which LookupError says is unknown."""
    wanted = _LINES.order_by(RECEIPTS.c.place.desc()).limit(limit)
    if before is not None:
        place = connection.execute(_PLACE, {"id": before}).scalar()
        if place is None:
            raise LookupError(f"there is no receipt {before!r}")
        wanted = wanted.where(RECEIPTS.c.place < place)
    return tuple(ReceiptLine(row[0], moment(row[1]), *row[2:]) for row in connection.execute(wanted))


def outcomes_by_day(connection: Connection, since: datetime) -> tuple[tuple[str, str, int], ...]:
    """How many runs ended on each day in UTC with each outcome, at `since` or later, by day."""
    found = connection.execute(_BY_DAY, {"since_us": micros(since)})
    return tuple(((_EPOCH + timedelta(days=day)).date().isoformat(), outcome, many) for day, outcome, many in found)


def last(connection: Connection, question_key: str) -> dict[str, Any] | None:
    """The receipt of a question's latest run, None without one."""
    found = connection.execute(_LAST, {"key": question_key}).scalar()
    return None if found is None else _loaded(found)


def document(connection: Connection, receipt_id: str) -> dict[str, Any]:
    """The receipt of an id, or of the beginning of one; raises LookupError when none or several are meant."""
    whole = meant(connection, RECEIPTS.c.receipt_id, RECEIPTS.c.place, receipt_id, "receipt")
    return _loaded(connection.execute(_DOCUMENT, {"id": whole}).scalar_one())


def _keep(
    connection: Connection,
    receipt_id: str,
    question_key: str,
    run_id: str,
    receipt: Mapping[str, Any],
    at: datetime,
) -> None:
    fields: Mapping[str, Any] = {
        "receipt_id": receipt_id,
        "question_key": question_key,
        "run_id": run_id,
        "outcome": str(receipt.get("outcome", "")),
        "exit_code": int(receipt.get("exit_code", 0)),
        "at_us": micros(at),
        "document": json.dumps(dict(receipt)),
    }
    _NEW.run(connection, {f"new_{name}": fields[name] for name in _GIVEN})


def _loaded(text: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(text)
    return loaded
