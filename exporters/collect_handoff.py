"""Handoff collectors: what waits for people, how urgent it is now, and what was counted of it (design 6)."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from decide.handoff.entry import Waiting
from decide.handoff.urgency import Urgency
from exporters.catalog_handoff import CLICK_SERIES, INBOX_STATES
from exporters.counted import plain
from exporters.fold_handoff import ClickCounts, QueueCounts
from exporters.ledger_facts import LedgerFacts
from exporters.parts import Part, Samples, timestamp
from exporters.present import Present
from exporters.view import View

Waits = tuple[int, datetime | None]
"""How many wait, and since when the longest waiting of them does."""


def queue(view: View, seen: Present) -> Iterable[Part]:
    """Queue and inbox; nothing where no ledger is followed."""
    return queue_parts(view.ledger, seen.now) if view.ledger else ()


def clicks(view: View, seen: Present) -> Iterable[Part]:
    """Clicks; nothing where no ledger is followed."""
    return click_parts(view.ledger) if view.ledger else ()


def queue_parts(facts: LedgerFacts, now: datetime) -> Iterator[Part]:
    """The parts of the group Queue and inbox; urgency is that of `now`, whenever the entries were read."""
    found = facts.handoff
    if found is not None:
        waits = waits_by_urgency(found.waiting, now, facts.lead)
        yield Part(("queue", "", "waiting"), (waits, next_wake_deadline(found.waiting, facts.lead)), _waiting)
        depths = tuple(found.items.get(state, 0) for state in INBOX_STATES)
        yield Part(("queue", "", "inbox"), (depths, found.oldest_item_at), _inbox)
    if facts.counts is not None:
        yield Part(("queue", "", "counts"), (facts.counts.queue,), _queue)


def click_parts(facts: LedgerFacts) -> Iterator[Part]:
    """The parts of the group Clicks."""
    if facts.handoff is not None:
        yield Part(("clicks", "", "pending"), (facts.handoff.clicks, facts.handoff.oldest_click_at), _pending)
    if facts.counts is not None:
        yield Part(("clicks", "", "counts"), (facts.counts.clicks,), _clicks)


def waits_by_urgency(waiting: Iterable[Waiting], now: datetime, lead: timedelta) -> tuple[Waits, ...]:
    """What waits at a moment, for each urgency in order."""
    entered: dict[Urgency, list[datetime]] = {one: [] for one in Urgency}
    for entry in waiting:
        entered[entry.urgency(now, lead)].append(entry.entered_at)
    return tuple((len(moments), min(moments, default=None)) for moments in entered.values())


def next_wake_deadline(waiting: Iterable[Waiting], lead: timedelta) -> datetime | None:
    """The earliest deadline that makes its entry wake somebody, even a past one; None where no entry has one."""
    deadlines = (one.deadline for one in waiting if one.deadline and one.urgency(one.deadline, lead) is Urgency.WAKE)
    return min(deadlines, default=None)


def _waiting(waits: tuple[Waits, ...], deadline: datetime | None) -> Samples:
    by_urgency = list(zip(Urgency, waits, strict=True))
    oldest = [sample for one, (_, since) in by_urgency for sample in timestamp((one,), since)]
    return {
        "ladder_queue_depth": [((one,), float(count)) for one, (count, _) in by_urgency],
        "ladder_queue_oldest_timestamp_seconds": oldest,
        "ladder_queue_next_deadline_timestamp_seconds": timestamp((), deadline),
    }


def _inbox(depths: tuple[int, ...], oldest_at: datetime | None) -> Samples:
    return {
        "ladder_inbox_depth": [((s,), float(count)) for s, count in zip(INBOX_STATES, depths, strict=True)],
        "ladder_inbox_oldest_timestamp_seconds": timestamp((), oldest_at),
    }


def _queue(counts: QueueCounts) -> Samples:
    entries = (((why,), count) for why, count in counts.entries.items())
    deliveries = (((result,), count) for result, count in counts.deliveries.items())
    return {
        "ladder_queue_entries_total": plain("ladder_queue_entries_total", (), entries),
        "ladder_queue_answer_seconds": [((), counts.answers)],
        "ladder_webhook_deliveries_total": plain("ladder_webhook_deliveries_total", (), deliveries),
    }


def _pending(count: int, oldest_at: datetime | None) -> Samples:
    return {
        "ladder_confirm_pending": [((), float(count))],
        "ladder_confirm_oldest_pending_timestamp_seconds": timestamp((), oldest_at),
    }


def _clicks(counts: ClickCounts) -> Samples:
    events = counts.events.items()
    return {
        "ladder_confirm_clicks_total": plain("ladder_confirm_clicks_total", (), events, known=CLICK_SERIES),
        "ladder_confirm_consume_seconds": [((), counts.consumed)],
    }
