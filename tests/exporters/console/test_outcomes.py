"""Days and costs add up: nothing is counted twice, no kind of billing is added to another."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.ruling import Outcome
from exporters.console.costs import billings, by_level
from exporters.console.outcomes import HEIGHT, KINDS, answered, days, kind_of, total
from exporters.fold import Counts
from tests.exporters.ledgers import busy_ledger, counts_of

LAST = date(2026, 7, 1)
FOUND = st.lists(
    st.tuples(
        st.integers(18, 32).map(lambda day: date(2026, 6, min(day, 30)).isoformat()),
        st.sampled_from([*Outcome, "unheard of"]),
        st.integers(0, 10_000),
    ),
    max_size=30,
)


@given(FOUND)
def test_bars_stand_on_one_another_and_none_is_higher_than_the_drawing(found: list[tuple[str, str, int]]) -> None:
    shown = days(found, LAST, 14)
    assert sum(total(shown).values()) == sum(count for _, _, count in found)
    highest = max(day.total for day in shown)
    for day in shown:
        height = sum(part for _, _, part in day.bar)
        assert height == pytest.approx(day.total * HEIGHT / highest if highest else 0, abs=0.05)
        assert all(-0.01 <= y <= HEIGHT for _, y, _ in day.bar)


def test_each_outcome_is_of_one_kind() -> None:
    assert sorted(o for _, outcomes in KINDS.values() for o in outcomes) == sorted(Outcome)
    assert [kind_of(o) for o in ("agreed", "single_rung", "needs_human", "held", "?")] == [*KINDS, "none"]


def test_only_answers_are_answers() -> None:
    assert answered({"agreed": 3, "reconsidered": 2, "single_rung": 1, "needs_human": 9}) == 6


def test_billing_is_kept_apart() -> None:
    costs = by_level(counts_of(*busy_ledger()))
    assert billings(costs) == ["subscription", "metered", "barter"]
    (medium,) = [cost for cost in costs if cost.level == "medium"]
    assert (medium.usd("metered"), medium.usd("subscription")) == ("0.90", "0.09")
    assert (medium.answered, medium.each("metered"), medium.each("subscription")) == (1, "0.90", "0.09")
    (low,) = [cost for cost in costs if cost.level == "low"]
    assert (low.usd("metered"), low.each("metered"), low.decisions) == ("0.07", "", 1)


def test_every_level_is_there_from_the_start() -> None:
    assert [cost.level for cost in by_level(Counts({}, {}, {}))][:2] == ["low", "medium"]
