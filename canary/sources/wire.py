"""Numbers and times as vendors write them, read strictly: what is not plausible is a fault, never a guess."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any

from decide.quota import Measure, Window, WindowKind
from decide.reason import Reason

RESET_RANGE = (timedelta(days=-30), timedelta(days=400))
"""How far from now a reset may lie (case QUO-14)."""
EXPIRY_RANGE = (timedelta(days=-5 * 365), timedelta(days=400))
"""How far from now an expiry may lie: a login may have lapsed long ago, but not in 1970 (case TOK-08)."""

DAY_S = 86_400


def ratio_of_percent(value: Any) -> float | None:
    """0-100 as a ratio, above 1 as read; None for what is not a finite number from 0. Never guessed by size."""
    number = finite(value)
    return number / 100 if number is not None and number >= 0 else None


def finite(value: Any) -> float | None:
    """A JSON number as a float; None for anything else, a boolean and NaN among it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


@dataclass(frozen=True, slots=True)
class Instant:
    """A time as read: `at` (aware UTC), or None with the `fault`; both None when the field said nothing."""

    at: datetime | None = None
    fault: Reason | None = None


def reset_time(value: Any, now: datetime) -> Instant:
    """A reset: ISO 8601 with a zone, or epoch seconds or milliseconds, told apart by what is plausible."""
    if value is None:
        return Instant()
    if isinstance(value, str):
        return iso_time(value, now, RESET_RANGE)
    number = finite(value)
    if number is None:
        return Instant(fault=Reason.MALFORMED)
    for seconds in (number, number / 1000):
        instant = _epoch(seconds, now, RESET_RANGE)
        if instant.at is not None:
            return instant
    return Instant(fault=Reason.IMPLAUSIBLE_TIME)


def expiry_in_ms(value: Any, now: datetime) -> Instant:
    """An expiry in epoch milliseconds by contract; seconds by mistake are implausible, not long past."""
    if value is None:
        return Instant()
    number = finite(value)
    return Instant(fault=Reason.EXP_NOT_NUMERIC) if number is None else _epoch(number / 1000, now, EXPIRY_RANGE)


def expiry_in_s(value: Any, now: datetime) -> Instant:
    """An expiry in epoch seconds by contract, fractions kept."""
    if value is None:
        return Instant()
    number = finite(value)
    return Instant(fault=Reason.EXP_NOT_NUMERIC) if number is None else _epoch(number, now, EXPIRY_RANGE)


def iso_time(text: str, now: datetime, allowed: tuple[timedelta, timedelta]) -> Instant:
    """An ISO 8601 time with a zone inside the plausible range."""
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        return Instant(fault=Reason.MALFORMED)
    if at.tzinfo is None:
        return Instant(fault=Reason.MALFORMED)
    try:
        return _bounded(at.astimezone(UTC), now, allowed)
    except OverflowError:  # the first or last day of the calendar, in a zone that goes beyond it
        return Instant(fault=Reason.IMPLAUSIBLE_TIME)


def _epoch(seconds: float, now: datetime, allowed: tuple[timedelta, timedelta]) -> Instant:
    try:
        at = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return Instant(fault=Reason.IMPLAUSIBLE_TIME)
    return _bounded(at, now, allowed)


def _bounded(at: datetime, now: datetime, allowed: tuple[timedelta, timedelta]) -> Instant:
    if allowed[0] <= at - now <= allowed[1]:
        return Instant(at)
    return Instant(fault=Reason.IMPLAUSIBLE_TIME)


def meter(kind: WindowKind, percent: Any, reset: Any, now: datetime, *, scope: str = "") -> Window | None:
    """A window from a percentage and a reset as a vendor wrote them; None when the percentage is null or absent."""
    if percent is None:
        return None
    used, resets = ratio_of_percent(percent), reset_time(reset, now)
    if used is None:
        return malformed(kind, scope)
    if resets.fault is not None and used < 1:
        return malformed(kind, scope, resets.fault)
    return Window(kind, used, resets.at, scope)


def malformed(kind: WindowKind, scope: str = "", fault: Reason = Reason.MALFORMED) -> Window:
    """A window that was reported, but not as its format says."""
    return Window(kind, scope=scope, measure=Measure.MALFORMED, fault=fault)


def kind_of_duration(seconds: float) -> WindowKind:
    """A window's meaning is its duration, not its slot (formats 0, point 2)."""
    if seconds < DAY_S:
        return WindowKind.SESSION
    if 6 * DAY_S <= seconds <= 8 * DAY_S:
        return WindowKind.WEEKLY
    if 28 * DAY_S <= seconds <= 31 * DAY_S:
        return WindowKind.MONTHLY
    return WindowKind.OTHER
