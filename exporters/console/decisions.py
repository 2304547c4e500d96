"""Decisions: how runs ended, what they cost, and each receipt in full."""

import json
from datetime import UTC, timedelta

from starlette.responses import Response

from decide.handoff.ports import Standing
from decide.ruling import Outcome
from exporters.console.costs import billings, by_level
from exporters.console.outcomes import HEIGHT, KINDS, answered, days, kind_of, total
from exporters.console.pressing import outcome
from exporters.console.receipt import shown
from exporters.console.site import Asked, found, optional

DAYS = 14
"""How many days are drawn."""
LINES = 50
"""How many receipts a page lists."""


async def decisions_page(asked: Asked) -> Response:
    """The days, the costs, and the list."""
    today = asked.now.astimezone(UTC).date()
    begin = asked.now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=DAYS - 1)
    drawn = days(await asked.desk.outcomes_by_day(begin), today, DAYS)
    before = asked.query("before")
    lines = await found(asked.desk.receipts(LINES + 1, before or None))
    counts = asked.view.ledger.counts if asked.view.ledger else None
    costs = by_level(counts) if counts else []
    sums = total(drawn)
    return asked.show(
        "decisions.html",
        here="/decisions",
        days=drawn,
        kinds=KINDS,
        kind_of=kind_of,
        height=HEIGHT,
        sums=sums,
        outcomes=[one.value for one in Outcome],
        answered=answered(sums),
        alone=sums.get(Outcome.SINGLE_RUNG.value, 0),
        costs=costs,
        billings=billings(costs),
        lines=lines[:LINES],
        before=before,
        older=lines[LINES - 1].receipt_id if len(lines) > LINES else "",
    )


async def receipt_page(asked: Asked) -> Response:
    """One receipt, with where its question and its command stand now."""
    receipt = await found(asked.desk.receipt(asked.part("receipt")))
    stands = await optional(asked.desk.handoff.standing(receipt["id"])) or Standing(None, None, None)
    act = await optional(asked.desk.handoff.act(receipt["id"]))
    return asked.show(
        "receipt.html",
        here="/decisions",
        receipt=receipt,
        told=shown(receipt),
        entry=stands.entry,
        item=stands.item,
        act=act,
        act_word=outcome(act)[0] if act else "",
        kind=kind_of(str(receipt["outcome"])),
    )


async def receipt_document(asked: Asked) -> Response:
    """One receipt as it is kept."""
    receipt = await found(asked.desk.receipt(asked.part("receipt")))
    return Response(json.dumps(receipt, indent=2), media_type="application/json")
