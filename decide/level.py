"""Level: what a question may cost, as presets whose every value lands on the receipt (design 4.4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from decide.question import LevelName

EVIDENCE_BUDGET = 24_000
"""Characters of evidence that a brief of level `low` carries."""


@dataclass(frozen=True, slots=True)
class Level:
    """A level's values: `votes` per order, `effort` as sent to the rung, `evidence_budget` in characters or None.

    `max_passes` are reserved before asking: the most model calls that a run can make.
    """

    name: LevelName
    votes: int
    effort: str
    one_sentence: bool
    evidence_budget: int | None
    max_passes: int


LEVELS: Mapping[LevelName, Level] = MappingProxyType(
    {
        LevelName.LOW: Level(LevelName.LOW, 1, "low", True, EVIDENCE_BUDGET, 9),
        LevelName.MEDIUM: Level(LevelName.MEDIUM, 1, "medium", False, None, 9),
    }
)
