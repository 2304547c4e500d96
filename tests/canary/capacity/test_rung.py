"""The simulated pick is decide's own, question by question, and a replay written from the design text agrees."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from canary.capacity.batch import Task, mix_of, simulate
from canary.capacity.rung import BLOCKED, RungLog, Use, best, picked, run_rung
from canary.capacity.scenario import EPOCH, SeatKind, Starts, WindowRule
from canary.capacity.seats import SimSeat
from decide.quota import WindowKind
from decide.seat import SeatState
from tests.canary.capacity.brute import BruteSeat, BruteWindow, replay
from tests.canary.capacity.scenes import MAX, PRO, SESSION, WEEKLY, team

HOLDS = 64
"""A power of two, so that shares of whole points add up without rounding."""
HOUR = 3600
KIND = SeatKind(
    "desk",
    "fable",
    (WindowRule(SESSION, HOLDS), WindowRule(WEEKLY, HOLDS, Starts.ANCHOR, 48 * HOUR)),
)
MINUTES = 4 * 1440
ASKED = st.lists(st.tuples(st.integers(0, MINUTES - 1), st.integers(0, 40), st.integers(0, 12)), max_size=150).map(
    sorted
)

MANY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine takes long to draw a day's questions; that is no fault of theirs."""


def seats_of(kind: SeatKind, count: int) -> list[SimSeat]:
    return [SimSeat(kind, number) for number in range(count)]


def uses_of(asked: Sequence[tuple[int, int, int]]) -> list[Use]:
    return [Use(minute * 60, ((session / HOLDS, weekly / HOLDS),)) for minute, session, weekly in asked]


def log_of(count: int, asked: Sequence[tuple[int, int, int]], choose: object = best) -> RungLog:
    return run_rung(seats_of(KIND, count), [0] * count, uses_of(asked), MINUTES * 60, choose)  # type: ignore[arg-type]


def minutes_of(log: RungLog) -> set[int]:
    return {minute for begin, end in log.missing for minute in range(begin // 60, end // 60)}


@MANY
@given(st.integers(1, 5), ASKED)
def test_the_kept_pick_is_the_one_that_decide_makes_each_time(count: int, asked: list[tuple[int, int, int]]) -> None:
    kept, naive = log_of(count, asked), log_of(count, asked, picked)
    assert kept.picks == naive.picks
    assert kept.missing == naive.missing


@pytest.mark.parametrize(("rung", "mix"), [("fable", {"max": 2}), ("fable", {"max": 3}), ("astra", {"pro": 1})])
def test_whole_batches_are_the_same_as_with_every_pick_made_by_decide(rung: str, mix: dict[str, int]) -> None:
    task = Task(rung, mix_of(mix), 0, 2, 3)
    kept, naive = simulate(team(), task), simulate(team(), task, picked)
    assert kept.missing == naive.missing
    assert kept.levels == naive.levels
    assert kept.missing, "the case must have something to miss"


@MANY
@given(st.integers(1, 4), ASKED)
def test_a_replay_minute_by_minute_agrees(count: int, asked: list[tuple[int, int, int]]) -> None:
    seats = seats_of(KIND, count)
    for seat in seats:
        seat.start([0.0, 0.0], [None, (seat.resets[1] or 0) // 60 * 60], 0)
    brute = [
        BruteSeat(
            seat.name,
            [
                BruteWindow("session", HOLDS, 300, first_use=True),
                BruteWindow("weekly", HOLDS, 2880, first_use=False, over=(seat.resets[1] or 0) // 60),
            ],
        )
        for seat in seats
    ]
    asked_by_kind = [(minute, {"session": session, "weekly": weekly}) for minute, session, weekly in asked]
    expected = replay(brute, asked_by_kind, MINUTES)
    log = run_rung(seats, [0] * count, uses_of(asked), MINUTES * 60)
    names = [seats[index].name if index != BLOCKED else "" for index in log.picks]
    assert names == expected.picks
    assert minutes_of(log) == expected.missing


def test_a_session_starts_at_its_first_use_and_not_at_a_reset() -> None:
    seat = SimSeat(KIND, 0)
    assert seat.resets[0] is None
    seat.take((0.25, 0.0), 1000)
    assert seat.resets[0] == 1000 + 5 * HOUR
    seat.roll(1000 + 5 * HOUR)
    assert (seat.used[0], seat.resets[0]) == (0.0, None)


def test_a_seat_is_judged_as_decide_judges_it() -> None:
    seat = SimSeat(MAX, 0)
    seat.take((0.5, 0.1, 1.0), 60)
    assert seat.status.state is SeatState.CAPPED
    assert seat.status.clears_at == EPOCH + timedelta(seconds=seat.resets[2] or 0)


def test_no_seats_miss_all_the_time() -> None:
    log = run_rung([], [], uses_of([(5, 1, 1)]), 600)
    assert (log.picks, log.missing) == ([BLOCKED], [(0, 600)])


def test_an_unmetered_seat_is_never_spent_and_taken_last() -> None:
    seats = [SimSeat(PRO, 0), SimSeat(SeatKind("key", "astra"), 0)]
    uses = [Use(60 * number, ((0.5, 0.0), ())) for number in range(4)]
    log = run_rung(seats, [0, 1], uses, 3600)
    assert log.picks == [0, 0, 1, 1]
    assert log.missing == []


def test_people_who_use_a_seat_fill_it_and_are_no_consultations() -> None:
    seats = seats_of(KIND, 2)
    log = run_rung(seats, [0, 0], [Use(60, ((1.0, 0.0),), 0), Use(120, ((0.1, 0.0),))], 3600)
    assert log.picks == [1]
    assert not seats[0].usable


def test_a_window_kind_that_a_seat_lacks_costs_it_nothing() -> None:
    seat = SimSeat(PRO, 0)
    assert WindowKind.WEEKLY_MODEL not in {window.kind for window in seat.kind.windows}
    seat.take((0.1, 0.1), 0)
    assert seat.usable
