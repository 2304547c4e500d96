"""Seat: one login with its quota, and the table that says in which state it is at a given moment."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from decide.quota import (
    Measure,
    Reading,
    Window,
    WindowKind,
    WindowState,
    WindowVerdict,
    judge_window,
    newest,
)
from decide.reason import Reason

STALE_AFTER = timedelta(seconds=900)
"""Older than this, a reading or a tick says nothing of now (design 5)."""
WALL_LASTS = timedelta(hours=1)
"""How long a wall met by a decision run counts when nothing newer is known (design 5)."""


class TokenState(StrEnum):
    """Whether a login can be used (design 5)."""

    LIVE = "live"
    REFRESHABLE = "refreshable"
    NEEDS_LOGIN = "needs_login"
    UNKNOWN = "unknown"


class Auth(StrEnum):
    """How a seat proves who it is."""

    OAUTH = "oauth"
    API_KEY = "api_key"
    NONE = "none"


class Quota(StrEnum):
    """Whether a seat has meters that can run out."""

    METERED = "metered"
    UNMETERED = "unmetered"


class SeatState(StrEnum):
    """What a seat is good for now; the order is the order of the table (design 5)."""

    NO_TOKEN = "no_token"  # noqa: S105 - a state, not a secret
    CAPPED = "capped"
    UNKNOWN = "unknown"
    AVAILABLE = "available"


@dataclass(frozen=True, slots=True)
class Token:
    """A login as judged, without the secret; `expires_at` None means that no expiry is known or none exists.

    `renewable` is False where nothing renews it: once it lapses, a person has to log in.
    """

    state: TokenState
    reason: Reason | None = None
    expires_at: datetime | None = None
    renewable: bool = True


@dataclass(frozen=True, slots=True)
class Wall:
    """A refusal that a decision run met on a seat; `resets_at` None when the refusal named no time."""

    at: datetime
    resets_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Seat:
    """All that is known of one seat of one rung.

    `readings` hold the latest of each source; `failure` is why the last read failed, when all sources did.
    `scopes` are the display names of the per-model windows that bind; `reports_scopes` whether a source of the
    seat can report such windows at all. `ignore_windows` are kinds, or names of windows, that never bind.
    """

    name: str
    token: Token
    quota: Quota = Quota.METERED
    readings: tuple[Reading, ...] = ()
    failure: Reason | None = None
    scopes: tuple[str, ...] = ()
    reports_scopes: bool = True
    ignore_windows: tuple[str, ...] = ()
    allow_overage: bool = False
    wall: Wall | None = None


@dataclass(frozen=True, slots=True)
class SeatStatus:
    """A seat as judged at a moment.

    `headroom` is the ratio left on the tightest binding window, None while unknown or unmetered. `clears_at` is
    the latest reset of its full windows, None when one of them has no future reset or none is full. `windows` are
    those that were judged, binding or not; `reading_at` is the newest reading's own time.
    """

    name: str
    state: SeatState
    reason: Reason | None
    token: Token
    quota: Quota
    windows: tuple[WindowVerdict, ...] = ()
    binding: tuple[WindowVerdict, ...] = ()
    headroom: float | None = None
    clears_at: datetime | None = None
    reading_at: datetime | None = None


def judge_seat(seat: Seat, *, now: datetime, stale_after: timedelta = STALE_AFTER) -> SeatStatus:
    """The state of a seat at `now`: the first row of the seat table that holds (design 5)."""
    judged = tuple(_judged(window, reading, seat, now, stale_after) for window, reading in newest(seat.readings))
    binding = tuple(_scoped(verdict, seat) for verdict in judged if binds(verdict.window, seat))
    fresh = [reading for reading in seat.readings if now - reading.fetched_at <= stale_after]
    state, reason = _state(seat, binding, now, fresh)
    full = [verdict for verdict in binding if verdict.state is WindowState.FULL]
    return SeatStatus(
        name=seat.name,
        state=state,
        reason=reason,
        token=seat.token,
        quota=seat.quota,
        windows=judged,
        binding=binding,
        headroom=_headroom(binding) if state is SeatState.AVAILABLE and seat.quota is Quota.METERED else None,
        clears_at=_clears_at(full, seat, now) if state is SeatState.CAPPED else None,
        reading_at=max((reading.fetched_at for reading in seat.readings), default=None),
    )


def _judged(window: Window, reading: Reading, seat: Seat, now: datetime, stale_after: timedelta) -> WindowVerdict:
    overage = seat.allow_overage and not _unscoped(window, seat)
    return judge_window(window, reading, now=now, stale_after=stale_after, overage=overage)


def binds(window: Window, seat: Seat) -> bool:
    """Whether a window can stop this seat: design 5, "which windows bind"."""
    if _ignored(window, seat.ignore_windows):
        return False
    match window.kind:
        case WindowKind.SESSION | WindowKind.WEEKLY | WindowKind.MONTHLY | WindowKind.SPEND:
            return True
        case WindowKind.WEEKLY_MODEL:
            if seat.scopes and window.scope:
                return window.scope.casefold() in {scope.casefold() for scope in seat.scopes}
            return window.full or window.measure is Measure.MALFORMED
        case WindowKind.OTHER:
            return window.full or window.measure is Measure.MALFORMED


def _ignored(window: Window, names: Iterable[str]) -> bool:
    folded = {name.casefold() for name in names}
    return window.kind.value in folded or (window.scope != "" and window.scope.casefold() in folded)


def _scoped(verdict: WindowVerdict, seat: Seat) -> WindowVerdict:
    if not _unscoped(verdict.window, seat) or verdict.state is not WindowState.FULL:
        return verdict
    return WindowVerdict(verdict.window, verdict.source, verdict.fetched_at, WindowState.UNKNOWN, Reason.SCOPE_UNREAD)


def _unscoped(window: Window, seat: Seat) -> bool:
    """Whether it cannot be told if a per-model window is that of the rung's model."""
    return window.kind is WindowKind.WEEKLY_MODEL and not (seat.scopes and window.scope)


def walled(seat: Seat, now: datetime) -> bool:
    """Whether a wall that a decision run met still counts: no reset, no newer reading, no hour has come."""
    wall = seat.wall
    if wall is None or now >= wall.at + WALL_LASTS or (wall.resets_at and now >= wall.resets_at):
        return False
    return all(reading.fetched_at <= wall.at for reading in seat.readings)


def _state(
    seat: Seat, binding: tuple[WindowVerdict, ...], now: datetime, fresh: Sequence[Reading]
) -> tuple[SeatState, Reason | None]:
    if seat.token.state is TokenState.NEEDS_LOGIN:
        return SeatState.NO_TOKEN, seat.token.reason
    metered = seat.quota is Quota.METERED
    full = [verdict for verdict in binding if verdict.state is WindowState.FULL] if metered else []
    if full:
        return SeatState.CAPPED, max(full, key=_reset_or_never).reason
    if walled(seat, now):
        return SeatState.CAPPED, Reason.WALLED
    if seat.token.state is TokenState.UNKNOWN:
        return SeatState.UNKNOWN, seat.token.reason
    doubt = _doubt(seat, binding, fresh) if metered else None
    if doubt is not None:
        return SeatState.UNKNOWN, doubt
    return SeatState.AVAILABLE, None


def _doubt(seat: Seat, binding: tuple[WindowVerdict, ...], fresh: Sequence[Reading]) -> Reason | None:
    """Why a metered seat that is not capped cannot be called available, or None."""
    asleep = seat.token.state is TokenState.REFRESHABLE
    if seat.failure is not None:
        return seat.failure
    if not seat.readings:
        return Reason.ASLEEP if asleep else Reason.NEVER_READ
    if seat.scopes and not (seat.reports_scopes and all(_nameable(scope, fresh) for scope in seat.scopes)):
        return Reason.SCOPE_UNREAD
    for verdict in binding:
        if verdict.state is WindowState.UNKNOWN:
            if verdict.window.measure is Measure.MALFORMED:
                return Reason.NO_WINDOW
            return Reason.ASLEEP if asleep and verdict.reason is Reason.STALE else verdict.reason
    if not any(verdict.state is WindowState.OPEN for verdict in binding):
        return Reason.ASLEEP if asleep else Reason.NO_WINDOW
    return None


def _nameable(scope: str, fresh: Sequence[Reading]) -> bool:
    """Whether a fresh reading could have named the model's window; without one, its age is the matter."""
    return not fresh or any(reading.models is None or scope.casefold() in reading.models for reading in fresh)


def _headroom(binding: tuple[WindowVerdict, ...]) -> float | None:
    left = [
        max(0.0, 1.0 - verdict.window.used)
        for verdict in binding
        if verdict.state is WindowState.OPEN and verdict.window.measure is Measure.METERED
    ]
    return min(left, default=None)


def _reset_or_never(verdict: WindowVerdict) -> float:
    reset = verdict.window.resets_at
    overdue = verdict.reason is Reason.RESET_OVERDUE
    return reset.timestamp() if reset and not overdue else float("inf")


def _clears_at(full: list[WindowVerdict], seat: Seat, now: datetime) -> datetime | None:
    resets = [verdict.window.resets_at for verdict in full]
    if walled(seat, now) and seat.wall is not None:
        resets.append(seat.wall.resets_at)
    known = [reset for reset in resets if reset is not None and reset > now]
    return max(known) if known and len(known) == len(resets) else None
