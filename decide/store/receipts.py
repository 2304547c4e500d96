"""Receipts: one document for each run, the latest first."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select

from decide.ports import Ending
from decide.store.moments import micros, moment
from decide.store.tables import RECEIPTS

_NAMED = 5
"""How many receipts an ambiguous id names."""
_NEXT = select(func.coalesce(func.max(RECEIPTS.c.place), 0) + 1).scalar_subquery()
_NEW = insert(RECEIPTS).values(place=_NEXT)
_LINES = select(
    RECEIPTS.c.receipt_id, RECEIPTS.c.at_us, RECEIPTS.c.question_key, RECEIPTS.c.outcome, RECEIPTS.c.exit_code
)
_PLACE = select(RECEIPTS.c.place).where(RECEIPTS.c.receipt_id == bindparam("id"))
_EXACT = select(RECEIPTS.c.document).where(RECEIPTS.c.receipt_id == bindparam("id"))


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
    fields: Mapping[str, Any] = {
        "receipt_id": ending.receipt_id,
        "question_key": ending.question_key,
        "run_id": ending.run_id,
        "outcome": str(ending.receipt.get("outcome", "")),
        "exit_code": int(ending.receipt.get("exit_code", 0)),
        "at_us": micros(ending.at),
        "document": json.dumps(dict(ending.receipt)),
    }
    connection.execute(_NEW, fields)


def lines(connection: Connection, limit: int, before: str | None) -> tuple[ReceiptLine, ...]:
    """Up to `limit` receipts, the latest first, or those that came before one, which LookupError says is unknown."""
    wanted = _LINES.order_by(RECEIPTS.c.place.desc()).limit(limit)
    if before is not None:
        place = connection.execute(_PLACE, {"id": before}).scalar()
        if place is None:
            raise LookupError(f"there is no receipt {before!r}")
        wanted = wanted.where(RECEIPTS.c.place < place)
    return tuple(ReceiptLine(row[0], moment(row[1]), *row[2:]) for row in connection.execute(wanted))


def document(connection: Connection, receipt_id: str) -> dict[str, Any]:
    """The receipt of an id, or of the beginning of one; raises LookupError when none or several are meant."""
    exact = connection.execute(_EXACT, {"id": receipt_id}).scalar()
    if exact is None:
        # LIKE ignores case in SQLite
        begins = func.substr(RECEIPTS.c.receipt_id, 1, len(receipt_id)) == receipt_id
        wanted = select(RECEIPTS.c.receipt_id, RECEIPTS.c.document).where(begins)
        found = connection.execute(wanted.order_by(RECEIPTS.c.place.desc()).limit(_NAMED + 1)).all()
        if not found or not receipt_id:
            raise LookupError(f"there is no receipt {receipt_id!r}")
        if len(found) > 1:
            more = " and more" if len(found) > _NAMED else ""
            named = ", ".join(row[0] for row in found[:_NAMED])
            raise LookupError(f"several receipts begin with {receipt_id!r}: {named}{more}")
        exact = found[0][1]
    loaded: dict[str, Any] = json.loads(exact)
    return loaded
