"""Citing: an entry that lacked evidence is resolved by the answer to a new question that cites it (design 4.5)."""

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from decide.handoff.entry import Entry, EntryState
from decide.handoff.rows import QueueEvent, queue_row
from decide.ledger import Row
from decide.question import Question
from decide.store import entries, items, receipts

LACKED = "insufficient_evidence"
"""The non-vote that a new question may answer; whatever else waits, waits for a person (design 4.5)."""


def resolved(connection: Connection, question: Question, receipt_id: str, at: datetime) -> list[Row]:
    """Close the open entry that an answered question cites, where it lacked evidence; the row that says so."""
    entry = _cited(connection, question.cites) if question.cites else None
    if entry is None:
        return []
    closed = replace(entry, state=EntryState.RESOLVED, closed_at=at, closed_by=receipt_id)
    entries.close(connection, closed)
    items.answered_by(connection, entry.question.key, receipt_id)
    told = {"entry_id": entry.id, "question": entry.question.key}
    return [queue_row(QueueEvent.RESOLVED, at=at, why=entry.why, since=entry.entered_at, **told)]


def _cited(connection: Connection, receipt_id: str) -> Entry | None:
    entry = entries.exact(connection, receipt_id)
    if entry is None or entry.state is not EntryState.OPEN:
        return None
    non_vote = receipts.document(connection, receipt_id).get("non_vote") or {}
    return entry if non_vote.get("kind") == LACKED else None
