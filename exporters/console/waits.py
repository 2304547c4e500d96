"""Waits: what waits for a person, as the status page tells it; what the questions say is for those who may read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from starlette.requests import Request

from decide.fault import StoreError
from decide.handoff.entry import Waiting
from decide.handoff.urgency import Urgency
from exporters.console.access import Gate, may_read
from exporters.console.caller import at_our_name, caller_of
from exporters.console.queue import by_urgency, pressing
from exporters.console.site import Console

SHOWN = 3
"""How many questions are told, the most pressing."""


@dataclass(frozen=True, slots=True)
class Waits:
    """How many wait at each urgency and how many clicks are pending; `known` is False while the store is down.

    `first` are the most pressing questions with their urgency, none for those who may not read them.
    """

    known: bool
    counts: Mapping[Urgency, int] = field(default_factory=dict)
    deadline: datetime | None = None
    clicks: int = 0
    first: tuple[tuple[Waiting, Urgency], ...] = ()

    @property
    def total(self) -> int:
        """All that wait in the queue."""
        return sum(self.counts.values())


async def waits(console: Console, request: Request, now: datetime) -> Waits:
    """What waits now, as far as this request may see it."""
    desk = console.desk
    try:
        facts = await desk.handoff.handoff_facts()
    except StoreError:
        return Waits(known=False)
    ordered = pressing(facts.waiting, now, desk.lead)
    reader = may_read(console.access, caller_of(request, console.access)) is Gate.OPEN
    shown = ordered[:SHOWN] if reader and at_our_name(request, console.access) else []
    return Waits(
        True,
        by_urgency(ordered),
        min((one.deadline for one in facts.waiting if one.deadline is not None), default=None),
        facts.clicks,
        tuple(shown),
    )
