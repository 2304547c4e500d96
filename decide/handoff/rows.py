"""Rows of the handoff: each thing that happens to entries, items, acts and clicks, as the ledger records it.

`result` is what happened and `stage` is why or of which kind; the fold counts by these two and by the duration.
"""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum

from decide.handoff.act import ActEnd, ActState
from decide.handoff.click import NO_REASON, ClickEvent
from decide.handoff.entry import Why
from decide.handoff.execution import Refusal
from decide.handoff.ports import Delivery
from decide.ledger import Row, RowKind


class QueueEvent(StrEnum):
    """What happens to an entry."""

    ENTERED = "entered"
    ANSWERED = "answered"
    RESOLVED = "resolved"
    CANCELLED = "cancelled"


def queue_row(
    event: QueueEvent, *, at: datetime, entry_id: str, question: str, why: Why, since: datetime, person: str = ""
) -> Row:
    """An entry that came or went; `since` is when it entered, so that the row's duration is how long it waited."""
    body = json.dumps({"person": person} if person else {})
    row = Row(RowKind.QUEUE, at, result=event.value, stage=why.value, question=question, receipt=entry_id, body=body)
    return _lasting(row, since)


def raised_row(*, at: datetime, item_id: str, question: str, surface: str) -> Row:
    """A question that was raised."""
    return Row(RowKind.INBOX, at, result="raised", stage=surface, question=question, call_id=item_id)


def act_row(
    state: ActState,
    *,
    at: datetime,
    act_id: str,
    question: str,
    kind: str,
    line: str,
    since: datetime | None = None,
    end: ActEnd | None = None,
) -> Row:
    """An act that was refused, started, or ended; `kind` is the command's class, empty for a line of no list."""
    told = {"line": line} if end is None else {"line": line, "code": end.code, "why": end.why}
    body = json.dumps(told)
    row = Row(RowKind.ACT, at, result=state.value, stage=kind, question=question, call_id=act_id, body=body)
    return _lasting(row, since or at)


def click_row(
    event: ClickEvent,
    *,
    at: datetime,
    click_id: str,
    question: str,
    user: str,
    since: datetime | None = None,
    refusal: Refusal | None = None,
) -> Row:
    """A click that was minted, pressed or refused, or that expired; a consumed one lasted `since` it was minted."""
    reason = refusal.value if refusal else NO_REASON
    body = json.dumps({"user": user} if user else {})
    row = Row(RowKind.CLICK, at, result=event.value, stage=reason, question=question, call_id=click_id, body=body)
    return _lasting(row, since or at)


def webhook_row(result: Delivery, *, at: datetime, item_id: str, question: str, mark: str) -> Row:
    """One attempt at telling a raiser."""
    body = json.dumps({"mark": mark})
    return Row(RowKind.WEBHOOK, at, result=result.value, question=question, call_id=item_id, body=body)


def _lasting(row: Row, since: datetime) -> Row:
    lasted = max(timedelta(), row.at - since)
    return replace(row, duration_us=lasted // timedelta(microseconds=1))
