"""The simulator against what can be calculated: loss systems, and one window that fills by chance."""

import math

import pytest

from canary.capacity.batch import Task, mix_of, simulate
from canary.capacity.estimate import estimate
from canary.capacity.hours import HOURS, WEEK_S
from canary.capacity.outcome import working_share
from canary.capacity.scenario import Draw, Rates, Scenario, SeatKind, Starts, Take, WindowRule
from tests.canary.capacity.scenes import RUNGS, SESSION, WEEKLY

OTHER = SeatKind("other", "astra")


def scenario(window: WindowRule, per_hour: float, points: float) -> Scenario:
    """Questions by chance, day and night, for seats of one window."""
    demand = Rates({"medium": (per_hour,) * HOURS}, (Draw("medium", {"fable": Take(2, 0, {window.kind: points})}),))
    return Scenario(RUNGS, (SeatKind("seat", "fable", (window,)), OTHER), demand)


REPEATS, HELD = 5, 4
"""Of five intervals that hold the truth 95 times in 100, four or more hold it 98 times in 100; seeds are fixed."""


def held(made: Scenario, seats: int, truth: float) -> int:
    """How many of the simulated intervals of the missing share hold the calculated one; none may be vague."""
    count = 0
    for seed in range(REPEATS):
        tasks = [Task("fable", mix_of({"seat": seats}), batch, 6, seed) for batch in range(10)]
        found = estimate([working_share(simulate(made, task), made) for task in tasks])
        assert found.high - found.low < 0.1
        count += found.low <= truth <= found.high
    return count


def erlang_b(servers: int, load: float) -> float:
    """The share of time in which all servers of a loss system are busy."""
    blocked = 1.0
    for number in range(1, servers + 1):
        blocked = load * blocked / (number + load * blocked)
    return blocked


@pytest.mark.parametrize(("seats", "per_hour"), [(1, 0.1), (1, 0.4), (2, 0.4), (3, 0.5), (5, 1.0)])
def test_seats_that_one_question_fills_are_erlangs_loss_system(seats: int, per_hour: float) -> None:
    """Each question takes a free seat for the five hours of its session: M/D/c/c, which is as M/M/c/c."""
    assert held(scenario(WindowRule(SESSION), per_hour, 100.0), seats, erlang_b(seats, per_hour * 5)) >= HELD


def poisson_at_least(count: int, mean: float) -> float:
    return 1 - sum(math.exp(-mean) * mean**each / math.factorial(each) for each in range(count))


def time_after(count: int, rate: float, length: float) -> float:
    """The expected time from the `count`-th arrival to the end of a stretch, in which it may not come at all."""
    return length - sum(poisson_at_least(each + 1, rate * length) for each in range(count)) / rate


@pytest.mark.parametrize(("fills", "per_hour"), [(2, 0.3), (4, 0.8), (10, 2.0)])
def test_a_session_that_several_questions_fill(fills: int, per_hour: float) -> None:
    """A cycle is the wait for a first question and five hours; it is spent from the last that fits in to the end."""
    truth = time_after(fills - 1, per_hour, 5.0) / (1 / per_hour + 5.0)
    assert held(scenario(WindowRule(SESSION), per_hour, 100.0 / fills + 1e-9), 1, truth) >= HELD


@pytest.mark.parametrize(("fills", "per_hour"), [(100, 0.5), (100, 0.7), (20, 0.1)])
def test_a_week_that_starts_at_its_anchor(fills: int, per_hour: float) -> None:
    """The moment of exhaustion is Erlang's distribution; the rest of the week is missing."""
    window = WindowRule(WEEKLY, starts=Starts.ANCHOR, length_s=WEEK_S)
    truth = time_after(fills, per_hour, HOURS) / HOURS
    assert held(scenario(window, per_hour, 100.0 / fills + 1e-9), 1, truth) >= HELD
