"""Memory: what the canary keeps between ticks and over restarts; holds no secret."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from pydantic import SecretStr

from canary.budget import Backoff, clamped, recent
from decide.ladder import LadderState
from decide.quota import CLOCK_TOLERANCE, Reading
from decide.reason import Reason
from exporters.view import Forecasts, TickResult


@dataclass(frozen=True, slots=True)
class SourceMemory:
    """The readings of a source that still count, the latest first, and why its last read failed, if it did."""

    readings: tuple[Reading, ...] = ()
    failure: Reason | None = None

    @property
    def latest(self) -> Reading | None:
        """The latest reading, or None before the first."""
        return self.readings[0] if self.readings else None


@dataclass(frozen=True, slots=True)
class SeatMemory:
    """What is kept of a seat: `login_digest` and `identity` are keyed digests; `rejected` is the digest of a login
    that the vendor refused, until another one is found or that one is taken again.
    """

    sources: Mapping[str, SourceMemory] = field(default_factory=dict)
    polls: tuple[datetime, ...] = ()
    backoff: Backoff | None = None
    login_digest: str = ""
    identity: str = ""
    rejected: str = ""


@dataclass(frozen=True, slots=True)
class Counters:
    """Counts that never go back while the state folder is kept; `reads` is keyed "source result"."""

    ticks: Mapping[TickResult, int] = field(default_factory=dict)
    missed: int = 0
    reads: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Memory:
    """Everything that is kept. `salt` keys aliases and digests; `seats` is keyed "rung/seat"."""

    salt: bytes = field(repr=False)
    seats: Mapping[str, SeatMemory] = field(default_factory=dict)
    state: LadderState | None = None
    counters: Counters = field(default_factory=Counters)
    last_tick_at: datetime | None = None
    last_success_at: datetime | None = None
    skew_s: float | None = None
    skew_at: datetime | None = None
    forecasts: Forecasts = field(default_factory=Forecasts)

    def seat(self, key: str) -> SeatMemory:
        """What is kept of a seat, or a blank."""
        return self.seats.get(key, SeatMemory())


def digest(salt: bytes, *parts: str) -> str:
    """A keyed digest by which something is recognised again without being kept."""
    return hmac.new(salt, "\0".join(parts).encode(errors="replace"), hashlib.sha256).hexdigest()[:16]


def login_digest(salt: bytes, secret: SecretStr | None) -> str:
    """The digest of a login, empty without one."""
    return digest(salt, "login", secret.get_secret_value()) if secret is not None else ""


def settled(seat: SeatMemory, now: datetime) -> SeatMemory:
    """A seat's memory fit for `now`: polls of the last hour, and nothing from ahead of a clock that stepped back."""
    sources = {
        name: replace(kept, readings=tuple(reading for reading in kept.readings if not _ahead(reading, now)))
        for name, kept in seat.sources.items()
    }
    return replace(seat, sources=sources, polls=recent(seat.polls, now), backoff=clamped(seat.backoff, now))


def _ahead(reading: Reading, now: datetime) -> bool:
    return reading.fetched_at - now > CLOCK_TOLERANCE


def counted(counters: Counters, result: TickResult, reads: Mapping[str, int], missed: int) -> Counters:
    """The counters after one more tick."""
    ticks = dict(counters.ticks) | {result: counters.ticks.get(result, 0) + 1}
    total = dict(counters.reads)
    for key, count in reads.items():
        total[key] = total.get(key, 0) + count
    return Counters(ticks, counters.missed + missed, total)
