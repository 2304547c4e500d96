"""Learning from history: what is demanded, what a decision takes, what is assumed and when too little is known."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from canary.capacity.arrivals import arrivals
from canary.capacity.history import Decision, History, RungUse
from canary.capacity.hours import HOUR_S, HOURS
from canary.capacity.learn import Learned, learn, points_per_token
from canary.capacity.scenario import Scenario, ScenarioError, Take
from decide.quota import WindowKind
from tests.canary.capacity.histories import HOUR, MONDAY, USE, decision, history, meter, office_hours
from tests.canary.capacity.scenes import RUNGS, SESSION

STATED = {"medium": {"fable": Take(2, 0, {SESSION: 1.0}), "astra": Take(2, 0, {SESSION: 1.0})}}


def learned(given: History, stated: Mapping[str, Mapping[str, Take]] = STATED, zone: str = "UTC") -> Learned:
    return learn(given, rungs=RUNGS, zone=zone, stated=stated)


@pytest.mark.parametrize(
    ("decisions", "message"),
    [
        ((), "holds no decision"),
        (office_hours(1), "42 decisions over 1.0 weeks; a plan needs 50 over 2 weeks or more"),
        (office_hours(1, 2), "82 decisions over 1.0 weeks"),
        ((*[decision(MONDAY)] * 48, decision(MONDAY + timedelta(weeks=3))), "49 decisions over 3.0 weeks"),
    ],
)
def test_too_little_history_is_refused_with_the_reason(decisions: tuple[Decision, ...], message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        learned(History(decisions))
    assert message in str(caught.value)


def test_each_recorded_hour_is_kept_empty_ones_too() -> None:
    demand = learned(history(3)).demand
    assert [len(demand.blocks[hour]) for hour in (0, 9, 100, 167)] == [4, 3, 3, 3]
    assert all(len(block) == 1 for block in demand.blocks[9])
    assert demand.blocks[8] == ((), (), ())
    assert sum(len(block) for blocks in demand.blocks for block in blocks) == 3 * 40 + 2


def test_hours_are_those_of_the_zone() -> None:
    blocks = learned(history(3), zone="Europe/Berlin").demand.blocks
    assert [len(blocks[hour][0]) for hour in (10, 11, 18, 19)] == [0, 1, 1, 0], "two hours ahead in June"


def test_resampled_weeks_are_as_busy_as_the_recorded_ones() -> None:
    made = Scenario(RUNGS, (), learned(history(3)).demand)
    found = arrivals(made, 10, seed=1, batch=0)
    hours = found.seconds // HOUR_S % HOURS
    assert len(found.seconds) == pytest.approx(10 * 40, abs=10)
    assert {int(hour) % 24 for hour in hours} <= {0, *range(9, 17)}
    assert len(arrivals(replace(made, factor=2.5), 10, seed=1, batch=0).seconds) == pytest.approx(1000, rel=0.1)


def test_points_are_the_growth_of_the_meters_split_by_tokens() -> None:
    growing = tuple(meter(lambda hour: (hour % 5) / 10, 3 * 168, resets=[5 * n for n in range(1, 120)]))
    given = history(3, growing)
    taken = points_per_token(given)["fable", SESSION]
    total = 3 * 168 / 5 * 0.5 * 100  # less what came between the last reading before each reset and it
    assert taken * 1000 * len(given.decisions) == pytest.approx(total * 59 / 60, rel=0.01)
    draws = learned(given, {"medium": {"astra": STATED["medium"]["astra"]}}).demand.draws
    assert draws[0].takes["fable"].points == {SESSION: pytest.approx(taken * 1000)}


def test_own_points_and_a_scenarios_word_come_before_what_meters_grew() -> None:
    own = {"fable": replace(USE, points={SESSION: 7.0}), "astra": USE}
    given = History(tuple(replace(each, uses=own) for each in office_hours(3)))
    told = learned(given, {"medium": {"astra": Take(1, 5, {SESSION: 3.0})}}).demand.draws[0]
    assert told.takes["fable"].points == {SESSION: 7.0}
    assert told.takes["astra"] == Take(1, 5, {SESSION: 3.0})


def test_a_stated_take_is_repeated_where_the_primary_reconsidered() -> None:
    again = {"fable": replace(USE, passes=4, reconsidering=2), "astra": USE}
    first, *others = office_hours(3)
    draws = learned(History((replace(first, uses=again), *others))).demand.draws
    assert [draw.takes["fable"].points[SESSION] for draw in draws[:2]] == [2.0, 1.0]
    assert draws[0].takes["fable"].passes == 4


def test_what_a_missing_rung_would_have_taken_is_the_mean_of_its_level() -> None:
    first, second, *others = office_hours(3)
    lone = replace(first, outcome="single_rung", uses={"astra": USE})
    none = replace(second, outcome="needs_human", uses={})
    found = learned(History((lone, none, *others)))
    assert found.demand.draws[0].takes["fable"].passes == 2
    assert found.demand.draws[1].takes == {}, "a row of the policy held it: no rung was wanted"
    assert any(text.startswith("1 consultations that never ran") for text in found.assumptions)


def test_a_history_without_points_says_what_to_give() -> None:
    free = {"fable": RungUse(2, 0, 100), "astra": RungUse(2, 0, 100)}
    with pytest.raises(ScenarioError, match=r"levels.LEVEL.rungs.fable.points in a scenario, or --prometheus"):
        learned(History(tuple(replace(each, uses=free) for each in office_hours(3))), {})


def test_assumptions_name_how_much_stands_behind_them() -> None:
    few = decision(MONDAY + 3 * HOUR, level="low")
    ordered = sorted((few, *office_hours(3)), key=lambda each: each.at)
    told = learned(replace(history(3), decisions=tuple(ordered), even=True)).assumptions
    assert any("123 decisions over 3.0 weeks" in text for text in told)
    assert "level low is known from 1 decisions only" in told
    assert any("evenly within their hour" in text for text in told)


def test_a_kind_of_window_that_nobody_read_has_no_points() -> None:
    assert ("fable", WindowKind.WEEKLY) not in points_per_token(
        history(3, tuple(meter(lambda hour: hour / 999, 500)))
    )
