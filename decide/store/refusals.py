"""Refusals: what seats refused unbilled, as the ledger tells it."""

import json
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select, text

from decide.ledger import RowKind
from decide.store.moments import micros, moment
from decide.store.tables import LEDGER

_COLUMNS = select(LEDGER.c.rung, LEDGER.c.seat, LEDGER.c.result, LEDGER.c.clears_at_us, LEDGER.c.at_us, LEDGER.c.body)
# spelt out, not bound: only then is the index over these rows used
_REFUSED = _COLUMNS.where(text(f"kind = '{RowKind.REFUSED.value}'")).order_by(LEDGER.c.seq)


@dataclass(frozen=True, slots=True)
class Refused:
    """A seat that refused a call, why, when it said that it clears, and a mark of the login that was used."""

    rung: str
    seat: str
    result: str
    clears_at: datetime | None
    at: datetime
    credential: str = ""


def since(connection: Connection, at: datetime) -> tuple[Refused, ...]:
    """What was refused at `at` or later, the earliest first."""
    found = connection.execute(_REFUSED.where(LEDGER.c.at_us >= micros(at)))
    return tuple(
        Refused(
            rung,
            seat,
            result,
            None if clears is None else moment(clears),
            moment(when),
            str(json.loads(body).get("credential", "")),
        )
        for rung, seat, result, clears, when, body in found
    )
