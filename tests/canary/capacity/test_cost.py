"""Costs by level: tables whose answers were worked by hand, unknowns that are never 0, and rules over any history."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from canary.capacity.cost import FEWEST_P95, Figure, LevelCost, Quantity, level_costs
from canary.capacity.cost_document import COST_SCHEMA, cost_document
from canary.capacity.history import Decision, RungUse
from decide.quota import WindowKind
from decide.ruling import Outcome
from tests.canary.capacity.histories import MONDAY

SESSION, WEEKLY = WindowKind.SESSION, WindowKind.WEEKLY
METERED, NOTIONAL = Quantity.USD_METERED, Quantity.USD_SUBSCRIPTION
TOKENS, PASSES, SECONDS = Quantity.TOKENS, Quantity.PASSES, Quantity.SECONDS
FABLE = RungUse(2, 0, 900, {("subscription", "provider"): 60_000}, {SESSION: 2.0, WEEKLY: 0.25})
ASTRA = RungUse(2, 0, 600, {("metered", "provider"): 90_000})
UNPRICED = replace(ASTRA, micro_usd={})


def run(outcome: str = "agreed", level: str = "medium", seconds: float = 20.0, **uses: RungUse) -> Decision:
    """A run that took so from the rungs."""
    return Decision(MONDAY, level, outcome, uses, seconds if uses else 0.0)


def one(decisions: Sequence[Decision], *, even: bool = False) -> LevelCost:
    """The cost of the one level that there is."""
    (found,) = level_costs(decisions, even=even)
    return found


def paid(micro: int) -> Decision:
    """A run of which the metered rung alone was called."""
    return run(astra=replace(ASTRA, micro_usd={("metered", "provider"): micro}))


def test_what_a_level_took_worked_by_hand() -> None:
    again = replace(FABLE, passes=4, reconsidering=2, tokens=2100, points={SESSION: 5.0, WEEKLY: 1.0})
    declined = replace(FABLE, points={SESSION: 3.0, WEEKLY: 0.75})
    cost = one(
        [
            run(seconds=10, fable=FABLE, astra=ASTRA),
            run("reconsidered", seconds=40, fable=again, astra=ASTRA),
            run("single_rung", seconds=31, fable=FABLE),
            run("needs_human", seconds=15, fable=declined, astra=replace(ASTRA, passes=1)),
            run("held"),
            run("walled"),
            run("held"),
        ]
    )
    assert (cost.runs, cost.answered, cost.unasked) == (7, 3, 3)
    assert list(cost.outcomes.items()) == [
        ("agreed", 1),
        ("reconsidered", 1),
        ("single_rung", 1),
        ("needs_human", 1),
        ("walled", 1),
        ("held", 2),
    ]
    assert cost.figures == {
        METERED: Figure(3, 3, 90_000, None, 60_000, 270_000, 90_000, False, 180_000),
        NOTIONAL: Figure(3, 3, 60_000, None, 60_000, 240_000, 80_000, False, 180_000),
        TOKENS: Figure(3, 3, 1500, None, 1700, 6600, 2200, False, 5100),
        PASSES: Figure(3, 3, 4, None, 4, 15, 5, False, 12),
        SECONDS: Figure(3, 3, 31, None, 27, 96, 32, False, 81),
    }
    assert cost.points == {
        ("fable", SESSION): Figure(3, 3, 2, None, 3, 12, 4, False, 9),
        ("fable", WEEKLY): Figure(3, 3, 0.25, None, 0.5, 2.25, 0.75, False, 1.5),
    }
    assert (cost.unpriced, cost.unread) == ({}, {"astra": 3})


@pytest.mark.parametrize(
    ("micro", "middle", "greatest_but_one"),
    [
        ([5, 1, 3], 3, None),
        ([4, 1, 3, 2], 2.5, None),
        (range(1, 20), 10, None),
        (range(1, 21), 10.5, 19),
        (range(1, 22), 11, 20),
        (range(1, 101), 50.5, 95),
        ([7] * 19 + [900], 7, 7),
        ([7] * 18 + [900] * 2, 7, 900),
    ],
)
def test_median_and_95th_percentile_by_nearest_rank(
    micro: Sequence[int], middle: float, greatest_but_one: float | None
) -> None:
    figure = one([paid(each) for each in micro]).figures[METERED]
    assert (figure.median, figure.p95) == (middle, greatest_but_one)


def test_levels_are_apart_the_cheapest_first_and_one_that_this_version_lacks_last() -> None:
    found = level_costs([run(level=level, fable=FABLE) for level in ("high", "beyond", "low", "medium", "low")])
    assert [(each.level, each.runs) for each in found] == [("low", 2), ("medium", 1), ("high", 1), ("beyond", 1)]
    assert level_costs([]) == ()


def test_a_run_with_a_rung_of_unknown_cost_has_no_dollars_and_sums_say_that_they_are_the_least() -> None:
    cost = one([run(fable=FABLE, astra=UNPRICED), run(fable=FABLE, astra=UNPRICED), run("held")])
    assert cost.figures[METERED] == Figure(0, 2, None, None, None, None, None, True, None)
    assert cost.figures[NOTIONAL] == Figure(0, 2, None, None, None, 120_000, 60_000, True, None)
    assert cost.unpriced == {"astra": 2}
    assert cost.figures[PASSES].known == 2
    partly = one([run(fable=FABLE, astra=UNPRICED), run(fable=FABLE, astra=ASTRA)])
    assert partly.figures[METERED] == Figure(1, 2, 90_000, None, 90_000, 90_000, 45_000, True, 0)
    assert partly.figures[NOTIONAL].mean == 60_000
    of_two = one([run(fable=FABLE, astra=replace(ASTRA, unpriced=1))])
    assert of_two.figures[METERED] == Figure(0, 1, None, None, None, 90_000, 90_000, True, None)
    assert of_two.unpriced == {"astra": 1}


def test_a_price_of_0_is_known() -> None:
    free = replace(ASTRA, micro_usd={("metered", "price_table"): 0})
    assert one([run(astra=free)]).figures[METERED] == Figure(1, 1, 0, None, 0, 0, 0, False, 0)


def test_calls_without_tokens_and_runs_without_time_are_unknown() -> None:
    cost = one([run(seconds=0, fable=FABLE, astra=replace(ASTRA, tokens=0)), run("held")])
    assert cost.figures[TOKENS] == Figure(0, 1, None, None, None, 900, 900, True, None)
    assert cost.figures[SECONDS] == Figure(0, 1, None, None, None, None, None, True, None)


def test_points_are_of_runs_that_asked_the_rung_and_of_which_they_are_known() -> None:
    cost = one(
        [
            run(fable=FABLE, astra=ASTRA),
            run(fable=replace(FABLE, points={SESSION: 4.0}), astra=ASTRA),
            run(fable=replace(FABLE, points={}), astra=ASTRA),
            run("single_rung", astra=ASTRA),
            run("error", fable=FABLE),
        ]
    )
    assert cost.points == {
        ("fable", SESSION): Figure(2, 3, 3, None, 3, 8, 2, True, 0),
        ("fable", WEEKLY): Figure(1, 3, 0.25, None, 0.25, 0.5, 0.125, True, 0),
    }
    assert cost.unread == {"astra": 4, "fable": 1}


def test_where_nothing_was_answered_nothing_is_said_of_an_answer() -> None:
    cost = one([run("needs_human", fable=FABLE), run("held"), run("walled")])
    assert cost.figures[NOTIONAL] == Figure(0, 0, None, None, None, 60_000, None, False, None)
    assert cost.points["fable", SESSION] == Figure(0, 0, None, None, None, 2, None, False, None)


def test_decisions_that_are_alike_because_they_come_from_counts_tell_of_sums_alone() -> None:
    cost = one([run(seconds=0, fable=FABLE, astra=ASTRA)] * 30 + [run("held", seconds=0, fable=FABLE)], even=True)
    assert cost.figures[NOTIONAL] == Figure(0, 30, None, None, None, 31 * 60_000, 62_000, False, None)
    assert cost.figures[SECONDS].total is None


Draft202012Validator.check_schema(COST_SCHEMA)
VALID = Draft202012Validator(COST_SCHEMA)
USES = st.builds(
    RungUse,
    st.integers(1, 9),
    st.just(0),
    st.integers(0, 5000),
    st.dictionaries(st.sampled_from([("metered", "provider"), ("subscription", "provider")]), st.integers(0, 10**6)),
    st.dictionaries(st.sampled_from([SESSION, WEEKLY]), st.integers(0, 50)),
)
RUNS = st.lists(
    st.builds(
        Decision,
        st.just(MONDAY),
        st.sampled_from(["low", "high"]),
        st.sampled_from([each.value for each in Outcome]),
        st.dictionaries(st.sampled_from(["fable", "astra"]), USES),
        st.integers(0, 90),
    ),
    max_size=60,
)


@given(RUNS, st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(runs: list[Decision], rng: Random) -> None:
    shuffled = list(runs)
    rng.shuffle(shuffled)
    assert level_costs(shuffled) == level_costs(runs)


@given(RUNS, st.integers(2, 5))
def test_more_of_the_same_runs_leave_what_one_takes_and_multiply_the_sums(runs: list[Decision], times: int) -> None:
    for once, more in zip(level_costs(runs), level_costs(runs * times), strict=True):
        pairs = [(once.figures[each], more.figures[each]) for each in Quantity]
        pairs += [(once.points[each], more.points[each]) for each in once.points]
        for before, after in pairs:
            assert after.median == before.median
            assert after.mean == pytest.approx(before.mean)
            assert after.per_answer == pytest.approx(before.per_answer)
            assert after.total == (None if before.total is None else times * before.total)
            assert before.p95 is None or after.p95 == before.p95


@given(RUNS)
def test_a_percentile_is_one_of_the_values_and_only_of_enough(runs: list[Decision]) -> None:
    for cost in level_costs(runs):
        for figure in (*cost.figures.values(), *cost.points.values()):
            assert figure.known <= figure.of <= cost.answered
            assert (figure.p95 is not None) == (figure.known >= FEWEST_P95)
            assert (figure.median is None) == (figure.mean is None) == (figure.known == 0)
            assert figure.p95 is None or figure.median is None or figure.p95 >= figure.median


@given(RUNS)
def test_any_cost_keeps_to_its_schema(runs: list[Decision]) -> None:
    document = cost_document(level_costs(runs), ledger="ledger.db", since=MONDAY - timedelta(days=1))
    VALID.validate(json.loads(json.dumps(document)))


def test_a_document_tells_dollars_as_text_and_what_is_not_known_as_null() -> None:
    document = cost_document(level_costs([run(fable=FABLE, astra=UNPRICED)]), ledger="here", since=MONDAY)
    (level,) = document["levels"]
    assert level["usd_subscription"] == {
        "known": 0,
        "of": 1,
        "median": None,
        "p95": None,
        "mean": None,
        "total": "0.06",
        "per_answer": "0.06",
        "held_or_walled": None,
        "at_least": True,
    }
    assert (
        level["quota_points"][0] | {"rung": "fable", "window": "session", "median": 2.0} == level["quota_points"][0]
    )
    assert (level["runs_without_known_cost"], level["outcomes"]) == ({"astra": 1}, {"agreed": 1})
