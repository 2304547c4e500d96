"""Levels: the presets of design 4.4 as the table has them."""

from dataclasses import fields

import pytest

from decide.level import EVIDENCE_BUDGET, LEVELS, Level
from decide.question import LevelName

TABLE = [
    # name, votes per order, effort, one sentence, evidence budget, passes reserved
    ("low", 1, "low", True, EVIDENCE_BUDGET, 9),
    ("medium", 1, "medium", False, None, 9),
]


@pytest.mark.parametrize("row", TABLE)
def test_each_preset(row: tuple[str, int, str, bool, int | None, int]) -> None:
    level = LEVELS[LevelName(row[0])]
    assert tuple(getattr(level, one.name) for one in fields(Level)) == row


def test_every_level_that_a_question_can_name_has_a_preset() -> None:
    assert list(LEVELS) == list(LevelName)
    assert {row[0] for row in TABLE} == {name.value for name in LevelName}


def test_the_passes_reserved_pay_for_both_consultations_and_the_reconsideration_with_some_to_ask_again() -> None:
    for level in LEVELS.values():
        assert level.max_passes > 3 * 2 * level.votes


def test_a_low_level_still_shows_evidence() -> None:
    assert EVIDENCE_BUDGET > 10_000
