"""Properties: more seats never raise the missing share beyond the interval, and more demand never lowers it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canary.capacity.batch import Task, mix_of, simulate
from canary.capacity.estimate import Estimate, share
from canary.capacity.outcome import working_share
from canary.capacity.scenario import Scenario
from tests.canary.capacity.scenes import team

WEEKS, NUMBER = 3, 6
FEW = settings(max_examples=12, deadline=None, derandomize=True)


def missing(scenario: Scenario, seats: int, factor: float = 1.0, seed: int = 1) -> Estimate:
    tasks = (Task("fable", mix_of({"max": seats}), batch, WEEKS, seed, factor=factor) for batch in range(NUMBER))
    return share([working_share(simulate(scenario, task), scenario) for task in tasks], WEEKS * NUMBER)


@FEW
@given(st.floats(0.25, 4), st.integers(1, 4), st.integers(1, 9))
def test_more_seats_never_raise_it(per_hour: float, seats: int, seed: int) -> None:
    made = team({"medium": per_hour})
    assert missing(made, seats + 1, seed=seed).low <= missing(made, seats, seed=seed).high


@FEW
@given(st.floats(0.25, 3), st.floats(1.1, 3), st.integers(1, 4), st.integers(1, 9))
def test_more_demand_never_lowers_it(per_hour: float, more: float, seats: int, seed: int) -> None:
    made = team({"medium": per_hour})
    assert missing(made, seats, more, seed).high >= missing(made, seats, 1.0, seed).low


@pytest.mark.parametrize("seats", [1, 2, 3])
def test_the_steps_are_real(seats: int) -> None:
    """The properties above must not hold for want of anything missing."""
    made = team({"medium": 3.0})
    assert missing(made, seats).mean > missing(made, seats + 1).mean
    assert missing(made, seats, 2.0).mean > missing(made, seats).mean
