"""Seats: each row of the seat table of design 5, which windows bind, and walls."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from decide.quota import Measure, Reading, Window, WindowKind
from decide.reason import Reason
from decide.seat import Quota, Seat, SeatState, Token, TokenState, Wall, binds, judge_seat

NOW = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LIVE = Token(TokenState.LIVE)
ASLEEP = Token(TokenState.REFRESHABLE, Reason.EXPIRED)
LOST = Token(TokenState.UNKNOWN, Reason.UNREADABLE)
DEAD = Token(TokenState.NEEDS_LOGIN, Reason.EXPIRED)
OPEN = Window(WindowKind.SESSION, 0.4, NOW + 60 * MINUTE)
FULL = Window(WindowKind.SESSION, 1.0, NOW + 60 * MINUTE)
NO_TOKEN, CAPPED, UNKNOWN, AVAILABLE = SeatState


def read(*windows: Window, ago: int = 0) -> tuple[Reading, ...]:
    return (Reading("s", NOW - ago * MINUTE, windows),)


SEATS = [
    (Seat("dead beats full", DEAD, readings=read(FULL)), NO_TOKEN, Reason.EXPIRED),
    (Seat("dead, unmetered", DEAD, quota=Quota.UNMETERED), NO_TOKEN, Reason.EXPIRED),
    (Seat("full", LIVE, readings=read(FULL)), CAPPED, Reason.SESSION_CAP),
    (Seat("full beats an unknown token", LOST, readings=read(FULL)), CAPPED, Reason.SESSION_CAP),
    (Seat("full through a failed read", LIVE, readings=read(FULL, ago=5), failure=Reason.NETWORK), CAPPED, Reason.SESSION_CAP),
    (Seat("full through an old reading", LIVE, readings=read(FULL, ago=300)), CAPPED, Reason.SESSION_CAP),
    (Seat("walled", LIVE, readings=read(OPEN, ago=5), wall=Wall(NOW - MINUTE)), CAPPED, Reason.WALLED),
    (Seat("walled, unmetered", LIVE, quota=Quota.UNMETERED, wall=Wall(NOW - MINUTE)), CAPPED, Reason.WALLED),
    (Seat("token unknown", LOST, readings=read(OPEN)), UNKNOWN, Reason.UNREADABLE),
    (Seat("token unknown, unmetered", LOST, quota=Quota.UNMETERED), UNKNOWN, Reason.UNREADABLE),
    (Seat("last read failed", LIVE, readings=read(OPEN), failure=Reason.HTTP_429), UNKNOWN, Reason.HTTP_429),
    (Seat("never read", LIVE), UNKNOWN, Reason.NEVER_READ),
    (Seat("never read, asleep", ASLEEP), UNKNOWN, Reason.ASLEEP),
    (Seat("stale", LIVE, readings=read(OPEN, ago=16)), UNKNOWN, Reason.STALE),
    (Seat("asleep", ASLEEP, readings=read(OPEN, ago=16)), UNKNOWN, Reason.ASLEEP),
    (Seat("no window at all", LIVE, readings=read()), UNKNOWN, Reason.NO_WINDOW),
    (Seat("only a dropped one", LIVE, readings=read(Window(WindowKind.SESSION, 0.4, NOW - MINUTE))), UNKNOWN, Reason.NO_WINDOW),
    (Seat("a malformed one", LIVE, readings=read(OPEN, Window(WindowKind.WEEKLY, measure=Measure.MALFORMED))), UNKNOWN, Reason.NO_WINDOW),
    (Seat("malformed beside full", LIVE, readings=read(FULL, Window(WindowKind.WEEKLY, measure=Measure.MALFORMED))), CAPPED, Reason.SESSION_CAP),
    (Seat("unknown window full", LIVE, readings=read(OPEN, Window(WindowKind.OTHER, 1.0, scope="x"))), UNKNOWN, Reason.UNKNOWN_WINDOW),
    (Seat("scopes that nothing can report", LIVE, readings=read(OPEN), scopes=("Fable",), reports_scopes=False), UNKNOWN, Reason.SCOPE_UNREAD),
    (Seat("scopes that its reading cannot name", LIVE, readings=(Reading("s", NOW, (OPEN,), models=frozenset({"opus"})),), scopes=("Fable",)), UNKNOWN, Reason.SCOPE_UNREAD),
    (Seat("scopes that its reading could name", LIVE, readings=(Reading("s", NOW, (OPEN,), models=frozenset({"opus"})),), scopes=("Opus",)), AVAILABLE, None),
    (Seat("per-model full, no scopes", LIVE, readings=read(OPEN, Window(WindowKind.WEEKLY_MODEL, 1.0, NOW + MINUTE, "Opus"))), UNKNOWN, Reason.SCOPE_UNREAD),
    (Seat("dropped beside open", LIVE, readings=read(Window(WindowKind.WEEKLY, 0.9, NOW - MINUTE), OPEN)), AVAILABLE, None),
    (Seat("open", LIVE, readings=read(OPEN)), AVAILABLE, None),
    (Seat("open, renewed by its client", ASLEEP, readings=read(OPEN, ago=5)), AVAILABLE, None),
    (Seat("unmetered", LIVE, quota=Quota.UNMETERED), AVAILABLE, None),
    (Seat("unmetered, renewed by its client", ASLEEP, quota=Quota.UNMETERED), AVAILABLE, None),
    (Seat("unlimited spend", LIVE, readings=read(Window(WindowKind.SPEND, measure=Measure.UNLIMITED))), AVAILABLE, None),
    (Seat("another model's week", LIVE, readings=read(OPEN, Window(WindowKind.WEEKLY_MODEL, 1.0, NOW + MINUTE, "Opus")), scopes=("Fable",)), AVAILABLE, None),
    (Seat("ignored", LIVE, readings=read(OPEN, Window(WindowKind.SPEND, 1.0)), ignore_windows=("spend",)), AVAILABLE, None),
]  # fmt: skip


@pytest.mark.parametrize(("seat", "state", "reason"), SEATS, ids=[row[0].name for row in SEATS])
def test_each_row_of_the_seat_table(seat: Seat, state: SeatState, reason: Reason | None) -> None:
    status = judge_seat(seat, now=NOW)
    assert (status.state, status.reason) == (state, reason)


@pytest.mark.parametrize(
    ("minutes", "reset", "newer", "state"),
    [
        (-59, None, False, CAPPED),
        (-60, None, False, UNKNOWN),
        (-10, 1, False, CAPPED),
        (-10, 0, False, UNKNOWN),
        (-10, 240, False, CAPPED),
        (-60, 240, False, UNKNOWN),
        (-10, 240, True, AVAILABLE),
    ],
)
def test_a_wall_ends_with_its_reset_a_newer_reading_or_an_hour(
    minutes: int, reset: int | None, newer: bool, state: SeatState
) -> None:
    wall = Wall(NOW + minutes * MINUTE, None if reset is None else NOW + reset * MINUTE)
    seat = Seat("s", LIVE, readings=read(OPEN, ago=0 if newer else 61), wall=wall)
    assert judge_seat(seat, now=NOW).state is state


def test_a_wall_counts_as_a_full_window_in_the_clear_time() -> None:
    seat = Seat("s", LIVE, readings=read(FULL, ago=20), wall=Wall(NOW - 10 * MINUTE, NOW + 90 * MINUTE))
    assert judge_seat(seat, now=NOW).clears_at == NOW + 90 * MINUTE
    unknown = replace(seat, wall=Wall(NOW - 10 * MINUTE))
    assert judge_seat(unknown, now=NOW).clears_at is None


BINDING = [
    (WindowKind.SESSION, "", (), True),
    (WindowKind.WEEKLY, "", (), True),
    (WindowKind.MONTHLY, "", (), True),
    (WindowKind.SPEND, "", (), True),
    (WindowKind.WEEKLY_MODEL, "Fable", ("fable",), True),
    (WindowKind.WEEKLY_MODEL, "Opus", ("Fable",), False),
    (WindowKind.WEEKLY_MODEL, "Opus", (), False),
    (WindowKind.OTHER, "x", (), False),
]


@pytest.mark.parametrize(("kind", "scope", "scopes", "expected"), BINDING)
def test_which_windows_bind(kind: WindowKind, scope: str, scopes: tuple[str, ...], expected: bool) -> None:
    seat = Seat("s", LIVE, scopes=scopes)
    assert binds(Window(kind, 0.5, scope=scope), seat) is expected
    assert not binds(Window(kind, 0.5, scope=scope), replace(seat, ignore_windows=(kind.value,)))
    if scope:
        assert not binds(Window(kind, 1.0, scope=scope), replace(seat, ignore_windows=(scope.upper(),)))


def test_overage_lifts_no_per_model_window_that_may_be_anothers() -> None:
    full = Reading("s", NOW, (OPEN, Window(WindowKind.WEEKLY_MODEL, 1.0, NOW + MINUTE, "Opus")), permits_overage=True)
    unscoped = Seat("s", LIVE, readings=(full,), allow_overage=True)
    assert judge_seat(unscoped, now=NOW).reason is Reason.SCOPE_UNREAD
    assert judge_seat(replace(unscoped, scopes=("Opus",)), now=NOW).state is AVAILABLE


def test_headroom_is_that_of_the_tightest_binding_window() -> None:
    seat = Seat("s", LIVE, readings=read(OPEN, Window(WindowKind.WEEKLY, 0.75)))
    assert judge_seat(seat, now=NOW).headroom == 0.25
    lifted = Seat(
        "s", LIVE, readings=(Reading("s", NOW, (replace(FULL, used=1.2),), permits_overage=True),), allow_overage=True
    )
    assert judge_seat(lifted, now=NOW).headroom == 0.0


def test_the_reason_of_a_capped_seat_is_the_window_that_clears_last() -> None:
    seat = Seat("s", LIVE, readings=read(FULL, Window(WindowKind.WEEKLY, 1.0, NOW + timedelta(days=3))))
    assert judge_seat(seat, now=NOW).reason is Reason.WEEKLY_CAP
