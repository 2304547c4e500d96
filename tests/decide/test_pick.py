"""pick_seat: the incident, the order of preference, and what holds for any seats at all."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from decide.pick import pick_seat, preference
from decide.quota import Measure, Reading, Window, WindowKind, WindowState
from decide.reason import Reason
from decide.seat import Quota, Seat, SeatState, Token, TokenState, Wall

NOW = datetime(2026, 9, 10, 19, 30, tzinfo=UTC)
LIVE = Token(TokenState.LIVE)


def seat(name: str, *windows: Window, at: datetime = NOW, token: Token = LIVE) -> Seat:
    return Seat(name, token, readings=(Reading("claude-usage", at, windows),), scopes=("Fable",))


def incident() -> list[Seat]:
    """Six seats at 100-101 % of their weekly model window, one session-capped at 101 % until 20:40Z (ADR-0016)."""
    weekly_reset = datetime(2026, 9, 14, 0, 0, tzinfo=UTC)
    spent = [
        seat(
            f"desk-{number}",
            Window(WindowKind.SESSION, 0.05, NOW + timedelta(hours=3)),
            Window(WindowKind.WEEKLY, 0.58, weekly_reset),
            Window(WindowKind.WEEKLY_MODEL, 1.0 + (number % 2) / 100, weekly_reset, "Fable"),
        )
        for number in range(1, 7)
    ]
    capped = seat(
        "desk-7",
        Window(WindowKind.SESSION, 1.01, datetime(2026, 9, 10, 20, 40, tzinfo=UTC)),
        Window(WindowKind.WEEKLY_MODEL, 0.40, weekly_reset, "Fable"),
    )
    return [*spent, capped]


def test_the_incident_leaves_nothing_to_pick_and_clears_at_2040() -> None:
    pick = pick_seat(incident(), now=NOW)
    assert pick.picked is None
    assert pick.clears_at == datetime(2026, 9, 10, 20, 40, tzinfo=UTC)
    reasons = {status.name: status.reason for status in pick.passed_over}
    assert reasons == {f"desk-{number}": Reason.WEEKLY_MODEL_CAP for number in range(1, 7)} | {
        "desk-7": Reason.SESSION_CAP
    }


def test_preference_is_metered_by_headroom_then_unmetered_then_unknown_and_ties_go_by_name() -> None:
    seats = [
        Seat("unknown", LIVE),
        Seat("unmetered", LIVE, quota=Quota.UNMETERED),
        seat("b-half", Window(WindowKind.SESSION, 0.5)),
        seat("a-half", Window(WindowKind.SESSION, 0.5)),
        seat("tight", Window(WindowKind.SESSION, 0.1), Window(WindowKind.WEEKLY, 0.9)),
        seat("wide", Window(WindowKind.SESSION, 0.2), Window(WindowKind.WEEKLY, 0.3)),
        seat("full", Window(WindowKind.SESSION, 1.0)),
        Seat("dead", Token(TokenState.NEEDS_LOGIN, Reason.EXPIRED)),
    ]
    order = [status.name for status in pick_seat(seats, now=NOW).seats]
    assert order == ["wide", "a-half", "b-half", "tight", "unmetered", "unknown", "full", "dead"]


def test_the_first_to_clear_counts_and_a_seat_clears_with_its_last_full_window() -> None:
    late = seat(
        "late",
        Window(WindowKind.SESSION, 1, NOW + timedelta(hours=1)),
        Window(WindowKind.WEEKLY, 1, NOW + timedelta(days=2)),
    )
    soon = seat("soon", Window(WindowKind.SESSION, 1, NOW + timedelta(hours=4)))
    pick = pick_seat([late, soon], now=NOW)
    assert {status.name: status.clears_at for status in pick.seats} == {
        "late": NOW + timedelta(days=2),
        "soon": NOW + timedelta(hours=4),
    }
    assert pick.clears_at == NOW + timedelta(hours=4)


def test_a_full_window_without_a_future_reset_has_no_clear_time() -> None:
    unknown = seat("x", Window(WindowKind.SESSION, 1, None), Window(WindowKind.WEEKLY, 1, NOW + timedelta(days=2)))
    overdue = seat("y", Window(WindowKind.SESSION, 1, NOW - timedelta(minutes=5)))
    assert [status.clears_at for status in pick_seat([unknown, overdue], now=NOW).seats] == [None, None]


windows = st.builds(
    Window,
    kind=st.sampled_from(WindowKind),
    used=st.floats(0, 1.2),
    resets_at=st.none() | st.timedeltas(timedelta(days=-2), timedelta(days=8)).map(lambda ahead: NOW + ahead),
    scope=st.sampled_from(["", "Fable", "Opus"]),
    measure=st.sampled_from(Measure),
)
readings = st.builds(
    Reading,
    source=st.sampled_from(["a", "b"]),
    fetched_at=st.timedeltas(timedelta(hours=-3), timedelta(minutes=2)).map(lambda ago: NOW + ago),
    windows=st.lists(windows, max_size=5).map(tuple),
    permits_overage=st.booleans(),
)
seats = st.builds(
    Seat,
    name=st.sampled_from([f"s{number}" for number in range(9)]),
    token=st.builds(Token, st.sampled_from(TokenState), st.just(Reason.EXPIRED)),
    quota=st.sampled_from(Quota),
    readings=st.lists(readings, max_size=3).map(tuple),
    failure=st.none() | st.sampled_from([Reason.HTTP_429, Reason.NETWORK]),
    scopes=st.sampled_from([(), ("Fable",)]),
    reports_scopes=st.booleans(),
    ignore_windows=st.sampled_from([(), ("spend",), ("opus",)]),
    allow_overage=st.booleans(),
    wall=st.none()
    | st.builds(Wall, st.just(NOW - timedelta(minutes=10)), st.none() | st.just(NOW + timedelta(hours=1))),
)
fleets = st.lists(seats, max_size=7, unique_by=lambda one: one.name)


@given(fleets)
def test_never_a_dead_token_nor_a_full_binding_window(fleet: list[Seat]) -> None:
    picked = pick_seat(fleet, now=NOW).picked
    if picked is None:
        return
    assert picked.token.state is not TokenState.NEEDS_LOGIN
    metered = picked.quota is Quota.METERED
    assert not metered or all(verdict.state is not WindowState.FULL for verdict in picked.binding)


@given(fleets)
def test_unknown_only_when_nothing_is_available(fleet: list[Seat]) -> None:
    pick = pick_seat(fleet, now=NOW)
    states = {status.state for status in pick.seats}
    if pick.picked is not None and pick.picked.state is SeatState.UNKNOWN:
        assert SeatState.AVAILABLE not in states
    if pick.picked is None:
        assert states <= {SeatState.CAPPED, SeatState.NO_TOKEN}


@given(fleets)
def test_headroom_orders_available_metered_seats(fleet: list[Seat]) -> None:
    rooms = [status.headroom for status in pick_seat(fleet, now=NOW).seats if status.headroom is not None]
    assert rooms == sorted(rooms, reverse=True)


@given(fleets, st.randoms(use_true_random=False))
def test_the_order_of_the_list_never_matters(fleet: list[Seat], random: object) -> None:
    shuffled = list(fleet)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis hands a random.Random
    assert pick_seat(shuffled, now=NOW) == pick_seat(fleet, now=NOW)


@given(fleets, seats.map(lambda one: Seat("added", one.token, one.quota, one.readings)))
def test_adding_a_seat_never_turns_a_pick_into_none(fleet: list[Seat], added: Seat) -> None:
    before = pick_seat(fleet, now=NOW).picked
    after = pick_seat([*fleet, added], now=NOW).picked
    if before is not None:
        assert after is not None
        assert preference(after) <= preference(before)


@given(fleets)
def test_a_clear_time_is_ahead_and_only_capped_seats_have_one(fleet: list[Seat]) -> None:
    for status in pick_seat(fleet, now=NOW).seats:
        assert status.clears_at is None or (status.state is SeatState.CAPPED and status.clears_at > NOW)


@given(fleets)
def test_every_seat_that_is_not_available_says_why(fleet: list[Seat]) -> None:
    for status in pick_seat(fleet, now=NOW).seats:
        assert (status.reason is None) == (status.state is SeatState.AVAILABLE)
