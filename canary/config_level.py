"""Configuration of levels: what a question may cost, each value of a preset overridable (design 4.4)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from canary.config_types import Section
from decide.level import EFFORT_LIMIT, LEVELS, PASSES_LIMIT, VOTES_LIMIT, Level, model_faults
from decide.question import LevelName

FULL = "full"


def _budget(value: object) -> object:
    if value == FULL or (type(value) is int and value >= 1):
        return value
    raise ValueError(f'must be "{FULL}" or a number of characters, 1 or more')


EvidenceBudget = Annotated[
    str | int,
    BeforeValidator(_budget),
    WithJsonSchema({"anyOf": [{"const": FULL}, {"type": "integer", "minimum": 1}]}),
]


class LevelSection(Section):
    """One level; what is left out stays as its preset has it."""

    votes: int | None = Field(default=None, ge=1, le=VOTES_LIMIT)
    """votes of each order of the options"""
    effort: str | None = Field(default=None, max_length=EFFORT_LIMIT)
    """reasoning effort sent to both rungs, as their vendors word it; empty: none is sent"""
    one_sentence: bool | None = None
    """whether a verdict gives one sentence for its reasons"""
    evidence_budget: EvidenceBudget | None = None
    """characters of evidence that a brief carries, or "full"; what is cut is on the receipt"""
    max_passes: int | None = Field(default=None, ge=1, le=PASSES_LIMIT)
    """model calls that are reserved before asking, 6 times `votes` or more"""
    split_reread: bool | None = None
    """whether an order without a majority gets one more vote, shown the options that disagreed"""
    cross_check: bool | None = None
    """whether an agreed answer is looked through for faults once"""
    model: Mapping[str, str] = Field(default_factory=dict)
    """models to ask rungs for at this level, by the rung's name; each must be one that the rung accepts"""

    def over(self, preset: Level) -> Level:
        """The preset with these values in place of its own; raises ValueError, which begins with the field."""
        given: dict[str, Any] = {name: value for name in _PLAIN if (value := getattr(self, name)) is not None}
        if self.evidence_budget is not None:
            given["evidence_budget"] = None if self.evidence_budget == FULL else self.evidence_budget
        return replace(preset, **given, models=tuple(self.model.items()))


_PLAIN = ("votes", "effort", "one_sentence", "max_passes", "split_reread", "cross_check")


class LevelsSection(Section):
    """What differs from the presets of the levels."""

    low: LevelSection = LevelSection()
    """the cheapest: evidence is cut to a budget"""
    medium: LevelSection = LevelSection()
    """the usual one"""
    high: LevelSection = LevelSection()
    """three votes of each order, a re-read of a split, a cross-check of an agreement"""

    def made(self) -> Mapping[LevelName, Level]:
        """Every level as a question finds it; raises ValueError, which begins with the key, for a bad one."""
        return MappingProxyType({name: self._made(name) for name in LevelName})

    def problems(self, accepted: Mapping[str, Iterable[str]]) -> Iterator[str]:
        """What is wrong with these levels; `accepted` are the models that each rung accepts, by its name."""
        for name in LevelName:
            try:
                yield from model_faults(self._made(name), accepted)
            except ValueError as error:
                yield str(error)

    def _made(self, name: LevelName) -> Level:
        try:
            section: LevelSection = getattr(self, name)
            return section.over(LEVELS[name])
        except ValueError as error:
            raise ValueError(f"level.{name}.{error}") from error
