"""Levels: the presets of design 4.4 as the table has them, and values that no run could keep."""

from dataclasses import fields, replace
from typing import Any

import pytest

from decide.level import EVIDENCE_BUDGET, LEVELS, PASSES_LIMIT, VOTES_LIMIT, Level, least_passes
from decide.question import LevelName

TABLE: list[tuple[Any, ...]] = [
    # name, votes per order, effort, one sentence, evidence budget, passes reserved, re-read, cross-check, models
    ("low", 1, "low", True, EVIDENCE_BUDGET, 9, False, False, ()),
    ("medium", 1, "medium", False, None, 9, False, False, ()),
    ("high", 3, "high", False, None, 24, True, True, ()),
]


@pytest.mark.parametrize("row", TABLE)
def test_each_preset(row: tuple[Any, ...]) -> None:
    level = LEVELS[LevelName(row[0])]
    assert tuple(getattr(level, one.name) for one in fields(Level)) == row


def test_every_level_that_a_question_can_name_has_a_preset() -> None:
    assert list(LEVELS) == list(LevelName)
    assert {row[0] for row in TABLE} == {name.value for name in LevelName}


def test_the_passes_reserved_pay_for_both_consultations_and_the_reconsideration_with_some_to_ask_again() -> None:
    for level in LEVELS.values():
        assert level.max_passes > least_passes(level.votes) == 3 * 2 * level.votes


def test_what_high_reserves_is_one_more_for_every_order() -> None:
    high = LEVELS[LevelName.HIGH]
    assert high.max_passes == 3 * 2 * (high.votes + 1)


def test_a_low_level_still_shows_evidence() -> None:
    assert EVIDENCE_BUDGET > 10_000


HIGH = LEVELS[LevelName.HIGH]
BAD: list[tuple[dict[str, Any], str]] = [
    ({"votes": 0}, "votes: must be 1 to 9"),
    ({"votes": VOTES_LIMIT + 1, "max_passes": 100}, "votes: must be 1 to 9"),
    ({"max_passes": 17}, "max_passes: must be 18 to 200, not 17"),
    ({"votes": 5}, "max_passes: must be 30 to 200, not 24"),
    ({"max_passes": PASSES_LIMIT + 1}, "max_passes: must be 18 to 200"),
    ({"evidence_budget": 0}, "evidence_budget: must be 1 character or more"),
    ({"effort": "very high"}, "effort: must be a word"),
    ({"effort": "x" * 33}, "effort: must be a word"),
]


@pytest.mark.parametrize(("values", "told"), BAD)
def test_values_that_no_run_could_keep_are_refused(values: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        replace(HIGH, **values)


@pytest.mark.parametrize(
    "values",
    [{"max_passes": 18}, {"votes": VOTES_LIMIT, "max_passes": 54}, {"effort": ""}, {"evidence_budget": 1}],
)
def test_values_at_their_edge_are_taken(values: dict[str, Any]) -> None:
    assert replace(HIGH, **values)
