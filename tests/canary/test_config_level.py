"""Levels in a configuration: every field of each can be overridden, and what is left out is the preset's."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from canary.config import Config, config_schema
from canary.config_level import LevelSection
from canary.policy import levels_of
from decide.level import LEVELS, Level
from decide.question import LevelName
from tests.canary.test_config import document

OVERRIDES: dict[str, tuple[Any, Any]] = {
    # field of a level: as it is written, as it is used
    "votes": (2, 2),
    "effort": ("xhigh", "xhigh"),
    "one_sentence": (True, True),
    "evidence_budget": (5_000, 5_000),
    "max_passes": (40, 40),
    "split_reread": (False, False),
    "cross_check": (False, False),
    "models": ({"fable": "claude-fable-5-20261014"}, (("fable", "claude-fable-5-20261014"),)),
}


def levels(**sections: Any) -> Any:
    """The levels of a configuration with such sections."""
    return levels_of(Config.model_validate(document(level=sections)))


def key(field: str) -> str:
    """How a field of a level is written."""
    return "model" if field == "models" else field


def test_without_any_override_the_presets_hold() -> None:
    assert dict(levels_of(Config.model_validate(document()))) == dict(LEVELS)
    assert dict(levels(high={})) == dict(LEVELS)


@pytest.mark.parametrize("field", OVERRIDES)
@pytest.mark.parametrize("level", LevelName)
def test_each_field_of_each_level_can_be_overridden_alone(level: LevelName, field: str) -> None:
    written, used = OVERRIDES[field]
    more: dict[str, Any] = {"max_passes": 12} if field == "votes" and level is not LevelName.HIGH else {}
    made = levels(**{level.value: {key(field): written, **more}})
    assert made[level] == replace(LEVELS[level], **{field: used}, **more)
    assert {name: one for name, one in made.items() if name is not level} == {
        name: one for name, one in LEVELS.items() if name is not level
    }


def test_every_field_but_the_name_can_be_written() -> None:
    assert {key(one.name) for one in fields(Level)} - {"name"} == set(LevelSection.model_fields)
    assert {one.name for one in fields(Level)} - {"name"} == set(OVERRIDES)


def test_a_level_that_is_cut_can_be_made_full_again() -> None:
    assert levels(low={"evidence_budget": "full"})[LevelName.LOW].evidence_budget is None


@pytest.mark.parametrize(
    ("section", "fits"),
    [
        ({"votes": 9, "max_passes": 200}, True),
        ({"evidence_budget": "full", "effort": ""}, True),
        ({"model": {"fable": "claude-fable-5"}}, True),
        ({"votes": 0}, False),
        ({"votes": 10}, False),
        ({"max_passes": 201}, False),
        ({"evidence_budget": "half"}, False),
        ({"evidence_budget": 0}, False),
        ({"evidence_budget": True}, False),
        ({"name": "huge"}, False),
        ({"split_reread": "yes"}, False),
    ],
)
def test_the_published_schema_takes_what_a_configuration_may_hold(section: dict[str, Any], fits: bool) -> None:
    asked = document(level={"high": section})
    assert jsonschema.Draft202012Validator(config_schema()).is_valid(asked) is fits
    if fits:
        Config.model_validate(asked)
        return
    with pytest.raises(ValueError, match="level"):
        Config.model_validate(asked)


def test_a_configuration_is_still_one_value(tmp_path: Path) -> None:
    made = Config.model_validate(document(level={"high": {"model": {"fable": "claude-fable-5"}}}))
    assert made == Config.model_validate(document(level={"high": {"model": {"fable": "claude-fable-5"}}}))
