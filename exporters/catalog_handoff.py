"""Catalog of the handoff: the metrics of queue, inbox and clicks, and their labels' closed sets (design 6)."""

from decide.handoff.click import NO_REASON, ClickEvent
from decide.handoff.entry import Why
from decide.handoff.execution import Refusal
from decide.handoff.inbox import ItemState
from decide.handoff.ports import Delivery
from decide.handoff.urgency import Urgency
from exporters.metric import Label, closed, counter, gauge, group, histogram

INBOX_STATES: tuple[ItemState, ...] = tuple(state for state in ItemState if state is not ItemState.DONE)
"""Where a raised question can stand that is not done."""
_UNCOUNTED = (Refusal.NOT_LISTED, Refusal.TYPED_FORM, Refusal.STORE, Refusal.BAD_LINK)
CLICK_REFUSALS: tuple[Refusal, ...] = tuple(refusal for refusal in Refusal if refusal not in _UNCOUNTED)
"""Why a click, or a press of one, can be refused and counted.

Two others refuse a command before there is a click; a store that cannot be used records nothing; and what is no link
of ours is not recorded, or anybody who reaches the console could fill the ledger.
"""
CLICK_SERIES: tuple[tuple[str, str], ...] = tuple(
    (event.value, reason)
    for event in ClickEvent
    for reason in (map(str, CLICK_REFUSALS) if event is ClickEvent.REFUSED else (NO_REASON,))
)
"""Every pair of event and reason that there is."""


def _open(name: str, values: tuple[str, ...]) -> Label:
    return Label(name, values, open=True)


QUEUE = group(
    "Queue and inbox",
    "queue",
    gauge(
        "ladder_inbox_depth",
        "Raised questions that are not done, by state; those that are queued wait for a person.",
        closed("state", INBOX_STATES),
    ),
    gauge(
        "ladder_inbox_oldest_timestamp_seconds",
        "When the oldest raised question that the daemon has still to ask was raised; absent while there is none.",
        unit="seconds",
    ),
    counter(
        "ladder_queue_entries_total",
        "Questions that came before a person, by why they did.",
        _open("why", tuple(why.value for why in Why)),
    ),
    gauge(
        "ladder_queue_depth",
        "Questions that wait for a person, by how urgent they are now, which never comes from an outage.",
        closed("urgency", Urgency),
    ),
    gauge(
        "ladder_queue_oldest_timestamp_seconds",
        "When the longest waiting question of this urgency came before a person; absent while none waits.",
        closed("urgency", Urgency),
        unit="seconds",
    ),
    gauge(
        "ladder_queue_next_deadline_timestamp_seconds",
        "The earliest deadline, even a past one, of the waiting questions whose urgency is wake or becomes it as "
        "time passes; absent while there is none.",
        unit="seconds",
    ),
    histogram(
        "ladder_queue_answer_seconds",
        "How long questions had waited when a person answered; those that ended otherwise do not count.",
    ),
    counter(
        "ladder_webhook_deliveries_total",
        "Attempts at telling a raiser; a failed one is tried again, one that was given up is not.",
        _open("result", tuple(result.value for result in Delivery)),
    ),
)

CLICKS = group(
    "Clicks",
    "clicks",
    counter(
        "ladder_confirm_clicks_total",
        "What happened to clicks; refused alone has a reason, and counts each press that was refused.",
        _open("event", tuple(event.value for event in ClickEvent)),
        _open("reason", (NO_REASON, *(refusal.value for refusal in CLICK_REFUSALS))),
    ),
    gauge("ladder_confirm_pending", "Clicks that wait to be pressed."),
    gauge(
        "ladder_confirm_oldest_pending_timestamp_seconds",
        "When the oldest click that waits to be pressed was minted; absent while none waits.",
        unit="seconds",
    ),
    histogram(
        "ladder_confirm_consume_seconds",
        "How long clicks had waited when they were consumed; those that expired do not count.",
    ),
)
