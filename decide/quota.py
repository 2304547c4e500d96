"""Window: one quota meter of a seat, how sources report it in a reading, and what it means at a given moment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from decide.reason import Reason

CLOCK_TOLERANCE = timedelta(seconds=60)
"""How far ahead of `now` a reading may lie before the clock is doubted (formats 7, point 59)."""


class WindowKind(StrEnum):
    """The meters a seat can have (design 3)."""

    SESSION = "session"
    WEEKLY = "weekly"
    WEEKLY_MODEL = "weekly_model"
    MONTHLY = "monthly"
    SPEND = "spend"
    OTHER = "other"


class Measure(StrEnum):
    """What a source said of a window."""

    METERED = "metered"
    UNLIMITED = "unlimited"
    REFUSED = "refused"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Window:
    """One meter as a source reported it.

    `used` is a ratio: 0.42 is 42 %, above 1 as read; it counts only while `measure` is METERED. `scope` is the
    model's display name for a per-model window, or the vendor's key for one that this version does not know.
    `resets_at` None means that no reset time was reported. `fault` says what is wrong with a MALFORMED one.
    """

    kind: WindowKind
    used: float = 0.0
    resets_at: datetime | None = None
    scope: str = ""
    measure: Measure = Measure.METERED
    fault: Reason = Reason.MALFORMED

    def __post_init__(self) -> None:
        """Refuse a ratio that is negative or not finite, and a reset without a zone."""
        if not 0.0 <= self.used < float("inf"):
            raise ValueError(f"used must be a finite ratio from 0, not {self.used!r}")
        if self.resets_at is not None and self.resets_at.tzinfo is None:
            raise ValueError(f"resets_at must be aware, not {self.resets_at!r}")

    @property
    def key(self) -> tuple[WindowKind, str]:
        """What makes two reports the same window."""
        return self.kind, self.scope.casefold()

    @property
    def full(self) -> bool:
        """Whether the report itself says that nothing is left."""
        return self.measure is Measure.REFUSED or (self.measure is Measure.METERED and self.used >= 1.0)


_WEIGHT = {Measure.UNLIMITED: 0, Measure.METERED: 1, Measure.MALFORMED: 2, Measure.REFUSED: 3}


def fuller(first: Window, second: Window) -> Window:
    """The more binding of two reports of one window, with the later reset of equals."""
    return max(first, second, key=_binding_order)


def _binding_order(window: Window) -> tuple[bool, int, float, float]:
    reset = window.resets_at.timestamp() if window.resets_at else float("-inf")
    return window.full, _WEIGHT[window.measure], window.used, reset


@dataclass(frozen=True, slots=True)
class Reading:
    """What one source said of one seat at `fetched_at` (aware UTC); windows are unique by key.

    `permits_overage`: the vendor lets work go on past a full window (credits, overage). `models` are the case-folded
    display names of the models whose own windows it could have named, None for any.
    """

    source: str
    fetched_at: datetime
    windows: tuple[Window, ...] = ()
    permits_overage: bool = False
    models: frozenset[str] | None = None

    def __post_init__(self) -> None:
        """Refuse a naive clock; of two reports of one window keep the fuller."""
        if self.fetched_at.tzinfo is None:
            raise ValueError(f"fetched_at must be aware, not {self.fetched_at!r}")
        merged: dict[tuple[WindowKind, str], Window] = {}
        for window in self.windows:
            known = merged.get(window.key)
            merged[window.key] = fuller(known, window) if known else window
        object.__setattr__(self, "windows", tuple(merged.values()))


def succeed(previous: Iterable[Reading], new: Reading) -> tuple[Reading, ...]:
    """The readings of a source that still say something: the new one, and of older ones what it does not mention.

    A window's newest report counts (design 5), and a report that leaves it out is not a newer one: a full window
    whose reset is ahead is kept as it was reported, with its own age.
    """
    named = {window.key for window in new.windows}
    kept = [new]
    for reading in previous:
        left = tuple(window for window in reading.windows if window.key not in named and _lasts(window, new))
        named |= {window.key for window in left}
        if left:
            kept.append(replace(reading, windows=left))
    return tuple(kept)


def _lasts(window: Window, new: Reading) -> bool:
    return window.full and window.resets_at is not None and window.resets_at > new.fetched_at


class WindowState(StrEnum):
    """What a window means now."""

    OPEN = "open"
    FULL = "full"
    UNKNOWN = "unknown"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class WindowVerdict:
    """A window as judged at a moment, with the source that spoke and when."""

    window: Window
    source: str
    fetched_at: datetime
    state: WindowState
    reason: Reason | None = None


CAPS: Mapping[WindowKind, Reason] = MappingProxyType(
    {
        WindowKind.SESSION: Reason.SESSION_CAP,
        WindowKind.WEEKLY: Reason.WEEKLY_CAP,
        WindowKind.WEEKLY_MODEL: Reason.WEEKLY_MODEL_CAP,
        WindowKind.MONTHLY: Reason.MONTHLY_CAP,
        WindowKind.SPEND: Reason.SPEND_CAP,
        WindowKind.OTHER: Reason.REFUSED,
    }
)


def judge_window(
    window: Window, reading: Reading, *, now: datetime, stale_after: timedelta, overage: bool
) -> WindowVerdict:
    """What a window of a reading means at `now` (design 5, the freshness table); `overage`: it may be lifted."""
    state, reason = _judge(window, reading, now, stale_after, overage)
    return WindowVerdict(window, reading.source, reading.fetched_at, state, reason)


def _judge(
    window: Window, reading: Reading, now: datetime, stale_after: timedelta, overage: bool
) -> tuple[WindowState, Reason | None]:
    reset, fetched_at = window.resets_at, reading.fetched_at
    if window.measure is Measure.MALFORMED:
        return WindowState.UNKNOWN, window.fault
    lifted = overage and _liftable(window, reading) and _aged(fetched_at, now, stale_after) is None
    if window.full and not lifted:
        if window.kind is WindowKind.OTHER and window.measure is not Measure.REFUSED:
            return WindowState.UNKNOWN, Reason.UNKNOWN_WINDOW
        if reset is not None and reset > now:
            return WindowState.FULL, _cap(window)
        if reset is not None and fetched_at < reset:
            return WindowState.UNKNOWN, Reason.STALE
        return _aged(fetched_at, now, stale_after) or _full_without_future_reset(window)
    if reset is not None and reset <= now and not window.full:
        return WindowState.DROPPED, None
    return _aged(fetched_at, now, stale_after) or (WindowState.OPEN, None)


def _liftable(window: Window, reading: Reading) -> bool:
    """Whether overage goes on past this window: not past the purse that pays, nor past one that is not known."""
    unpaid = window.kind in (WindowKind.SPEND, WindowKind.OTHER)
    return reading.permits_overage and window.measure is Measure.METERED and not unpaid


def _aged(fetched_at: datetime, now: datetime, stale_after: timedelta) -> tuple[WindowState, Reason | None] | None:
    if fetched_at - now > CLOCK_TOLERANCE:
        return WindowState.UNKNOWN, Reason.CLOCK
    if now - fetched_at > stale_after:
        return WindowState.UNKNOWN, Reason.STALE
    return None


def _full_without_future_reset(window: Window) -> tuple[WindowState, Reason | None]:
    return WindowState.FULL, _cap(window) if window.resets_at is None else Reason.RESET_OVERDUE


def _cap(window: Window) -> Reason:
    if window.measure is Measure.REFUSED and window.kind is not WindowKind.SPEND:
        return Reason.REFUSED
    return CAPS[window.kind]


def newest(readings: Iterable[Reading]) -> tuple[tuple[Window, Reading], ...]:
    """Each window of all readings once, with the reading that reported it last; of equally old ones the fuller."""
    found: dict[tuple[WindowKind, str], tuple[Window, Reading]] = {}
    for reading in readings:
        for window in reading.windows:
            known = found.get(window.key)
            if known is None or (reading.fetched_at, _binding_order(window)) > (
                known[1].fetched_at,
                _binding_order(known[0]),
            ):
                found[window.key] = (window, reading)
    return tuple(found.values())


DISAGREEMENT = 0.10
"""By how much of a window two fresh readings may differ before it is told."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two sources that say different things of one window; `spoke` is the one that counts, being the newer."""

    kind: WindowKind
    scope: str
    spoke: str
    used: float
    other: str
    other_used: float


def disagreements(readings: Iterable[Reading], *, now: datetime, stale_after: timedelta) -> tuple[Disagreement, ...]:
    """Where fresh readings of one window differ by more than the tolerance."""
    fresh = sorted(
        (reading for reading in readings if _aged(reading.fetched_at, now, stale_after) is None),
        key=lambda reading: reading.fetched_at,
        reverse=True,
    )
    spoke: dict[tuple[WindowKind, str], tuple[Window, str]] = {}
    found = []
    for reading in fresh:
        for window in reading.windows:
            if window.measure is not Measure.METERED or (window.resets_at and window.resets_at <= now):
                continue
            first = spoke.setdefault(window.key, (window, reading.source))
            if abs(first[0].used - window.used) > DISAGREEMENT:
                found.append(
                    Disagreement(window.kind, window.scope, first[1], first[0].used, reading.source, window.used)
                )
    return tuple(found)
