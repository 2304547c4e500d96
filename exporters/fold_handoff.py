"""Fold of the handoff: what the ledger's rows of queue, webhooks and clicks add up to (design 6)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from decide.handoff.click import ClickEvent
from decide.handoff.rows import QueueEvent
from exporters.histogram import ANSWER_BOUNDS, CLICK_BOUNDS, Histogram, Observations, nothing
from exporters.ledger_rows import Alike, observe


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """Entries by why they came, how long those that a person answered had waited, and deliveries by result."""

    entries: Mapping[str, int]
    answers: Histogram
    deliveries: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ClickCounts:
    """What happened to clicks, by (event, reason), and how long the consumed ones had waited."""

    events: Mapping[tuple[str, str], int]
    consumed: Histogram


NO_QUEUE = QueueCounts({}, nothing(ANSWER_BOUNDS), {})
NO_CLICKS = ClickCounts({}, nothing(CLICK_BOUNDS))


class QueueFold:
    """Entries and what raisers were told, being counted."""

    def __init__(self) -> None:
        self._entries: Counter[str] = Counter()
        self._answers = Observations(ANSWER_BOUNDS)
        self._deliveries: Counter[str] = Counter()
        self._counts: QueueCounts | None = NO_QUEUE

    def queued(self, found: Alike) -> None:
        """Count entries that came, and time those that a person answered; how others ended says nothing of people."""
        if found.result == QueueEvent.ENTERED:
            self._entries[found.stage] += len(found.rows)
        elif found.result == QueueEvent.ANSWERED:
            observe(self._answers, found)
        else:
            return
        self._counts = None

    def told(self, found: Alike) -> None:
        """Count attempts at telling a raiser."""
        self._deliveries[found.result] += len(found.rows)
        self._counts = None

    def counts(self) -> QueueCounts:
        """What has been counted until now; the same object as before while nothing was added."""
        if self._counts is None:
            self._counts = QueueCounts(dict(self._entries), self._answers.histogram(), dict(self._deliveries))
        return self._counts


class ClickFold:
    """Clicks, being counted."""

    def __init__(self) -> None:
        self._events: Counter[tuple[str, str]] = Counter()
        self._consumed = Observations(CLICK_BOUNDS)
        self._counts: ClickCounts | None = NO_CLICKS

    def clicked(self, found: Alike) -> None:
        """Count what happened to clicks, and time those that were consumed."""
        self._events[found.result, found.stage] += len(found.rows)
        if found.result == ClickEvent.CONSUMED:
            observe(self._consumed, found)
        self._counts = None

    def counts(self) -> ClickCounts:
        """What has been counted until now; the same object as before while nothing was added."""
        if self._counts is None:
            self._counts = ClickCounts(dict(self._events), self._consumed.histogram())
        return self._counts
