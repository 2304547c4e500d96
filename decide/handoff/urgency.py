"""Urgency: how pressing a waiting question is, by its deadline and what waiting does alone (design 4.5)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from decide.question import LEAD, Consequence


class Urgency(StrEnum):
    """What a waiting question asks of people: only `wake` pages anybody."""

    ROUTINE = "routine"
    SOON = "soon"
    WAKE = "wake"


_ROWS: Mapping[Consequence, tuple[Urgency, Urgency, Urgency]] = MappingProxyType(
    {
        Consequence.NONE: (Urgency.ROUTINE, Urgency.ROUTINE, Urgency.SOON),
        Consequence.REVERSIBLE: (Urgency.ROUTINE, Urgency.ROUTINE, Urgency.SOON),
        Consequence.COSTLY: (Urgency.ROUTINE, Urgency.SOON, Urgency.WAKE),
        Consequence.IRREVERSIBLE: (Urgency.SOON, Urgency.SOON, Urgency.WAKE),
    }
)
"""By consequence: without a deadline, with one later than the lead, with one within it or past (design 4.5)."""


def urgency(consequence: Consequence, deadline: datetime | None, *, now: datetime, lead: timedelta = LEAD) -> Urgency:
    """The urgency at a moment; it rises once, when `lead` before the deadline has come."""
    never, later, near = _ROWS[consequence]
    if deadline is None:
        return never
    return near if deadline - now <= lead else later
