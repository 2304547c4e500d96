"""View: everything that a way out may show, as one immutable value that the canary publishes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from decide.ladder import LadderState, Role
from decide.seat import STALE_AFTER

if TYPE_CHECKING:  # a command that shows no metric does without the fold
    from exporters.ledger_facts import LedgerFacts


class TickResult(StrEnum):
    """How a tick ended: in time, with a read that did not end in its time, or by an exception of ours."""

    OK = "ok"
    TIMEOUT = "timeout"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class RungName:
    """A configured rung, known before any tick."""

    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class CanaryFacts:
    """What the canary says of itself.

    Counts never go back while the state folder is kept. `reads` counts source reads by (source, result), the
    result being "ok", "held" (skipped to keep the budget or a back-off) or a `Reason` value. `poll_used` is the
    share (0-1) of its hourly poll budget that each (rung, seat) has used.
    """

    ticks: Mapping[TickResult, int] = field(default_factory=dict)
    missed_ticks: int = 0
    last_tick_at: datetime | None = None
    last_success_at: datetime | None = None
    tick_duration_s: float | None = None
    reads: Mapping[tuple[str, str], int] = field(default_factory=dict)
    poll_used: Mapping[tuple[str, str], float] = field(default_factory=dict)
    skew_s: float | None = None
    reload_ok: bool = True


@dataclass(frozen=True, slots=True)
class Forecast:
    """When a seat or the last seat of a rung is expected to be spent.

    `earliest` and `latest` are the ends of an interval that is to hold the true moment 90 times in 100; `latest` None
    says that it may not come before a reset.
    """

    at: datetime
    earliest: datetime
    latest: datetime | None = None


@dataclass(frozen=True, slots=True)
class Forecasts:
    """What a tick expected, by rung, and of seats by rung and seat; `made_at` is that tick's time, None before any.

    Whatever is not known, or not expected to be spent, has no entry.
    """

    made_at: datetime | None = None
    rungs: Mapping[str, Forecast] = field(default_factory=dict)
    seats: Mapping[str, Mapping[str, Forecast]] = field(default_factory=dict)

    def seat(self, rung: str, seat: str) -> Forecast | None:
        """What is expected of a seat, or None."""
        return self.seats.get(rung, {}).get(seat)


@dataclass(frozen=True, slots=True)
class View:
    """The present, for every way out.

    `state` is None before the first tick, `ledger` while no ledger is followed; `caption` is the demo's, else empty.
    """

    rungs: tuple[RungName, ...]
    sources: tuple[str, ...]
    state: LadderState | None = None
    canary: CanaryFacts = field(default_factory=CanaryFacts)
    stale_after: timedelta = STALE_AFTER
    interval: timedelta = timedelta(minutes=5)
    version: str = ""
    caption: str = ""
    ledger: "LedgerFacts | None" = None
    forecasts: Forecasts = field(default_factory=Forecasts)


@dataclass(frozen=True, slots=True)
class ProbeLog:
    """One rung's tick step by step, free of secrets: `lines` are whole lines in order."""

    rung: str
    at: datetime
    lines: tuple[str, ...]
    failed: bool


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the daemon is alive and whether it is ready to be scraped, each with the reason when not."""

    alive: bool
    ready: bool
    detail: str = ""
