"""Level: what a question may cost, as presets whose every value lands on the receipt (design 4.4)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from decide.question import LevelName
from decide.verdict import accepts

EVIDENCE_BUDGET = 24_000
"""Characters of evidence that a brief of level `low` carries."""
VOTES_LIMIT = 9
PASSES_LIMIT = 200
EFFORT_LIMIT = 32
_ORDERS = 2
_CONSULTATIONS = 3
"""Both rungs' own, and the reconsideration."""


class TieBreak(StrEnum):
    """What the reconsideration is shown: nothing new, or both rationales unattributed (design 4.3)."""

    FRESH = "fresh"
    WITH_RATIONALES = "with_rationales"


@dataclass(frozen=True, slots=True)
class Level:
    """A level's values: `votes` per order, `effort` as sent to the rung, `evidence_budget` in characters or None.

    `max_passes` are reserved before asking: the most model calls that a run can make. `split_reread`: an order whose
    votes have no majority is read once more. `cross_check`: an agreed answer is looked through for faults. `models`
    are what rungs are asked with at this level in place of their own, as pairs of rung and model. No rule reads a
    level's name. Raises ValueError, which begins with the field, for values that no run could keep.
    """

    name: LevelName
    votes: int
    effort: str
    one_sentence: bool
    evidence_budget: int | None
    max_passes: int
    split_reread: bool = False
    cross_check: bool = False
    models: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what could not pay for both consultations and the reconsideration."""
        if not 1 <= self.votes <= VOTES_LIMIT:
            raise ValueError(f"votes: must be 1 to {VOTES_LIMIT} for each order, not {self.votes}")
        if not least_passes(self.votes) <= self.max_passes <= PASSES_LIMIT:
            why = f"with {self.votes} for each order, two consultations and the reconsideration take the least"
            allowed = f"{least_passes(self.votes)} to {PASSES_LIMIT}"
            raise ValueError(f"max_passes: must be {allowed}, not {self.max_passes}; {why}")
        if self.evidence_budget is not None and self.evidence_budget < 1:
            raise ValueError(f"evidence_budget: must be 1 character or more, not {self.evidence_budget}")
        if len(self.effort) > EFFORT_LIMIT or not all(char.isalnum() or char in "-_" for char in self.effort):
            raise ValueError(f"effort: must be a word of at most {EFFORT_LIMIT} letters, not {self.effort[:40]!r}")


def least_passes(votes: int) -> int:
    """The passes that both orders of every consultation take when nothing has to be asked again."""
    return _CONSULTATIONS * _ORDERS * votes


LEVELS: Mapping[LevelName, Level] = MappingProxyType(
    {
        LevelName.LOW: Level(LevelName.LOW, 1, "low", True, EVIDENCE_BUDGET, 9),
        LevelName.MEDIUM: Level(LevelName.MEDIUM, 1, "medium", False, None, 9),
        LevelName.HIGH: Level(LevelName.HIGH, 3, "high", False, None, 24, split_reread=True, cross_check=True),
    }
)


def model_faults(level: Level, accepted: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """What is wrong with the models that a level asks rungs for; `accepted` are those of each rung, by its name."""
    for name, model in level.models:
        if name not in accepted:
            yield f"level.{level.name}.model: no rung is named {name!r}; the rungs are {', '.join(accepted)}"
        elif not accepts(accepted[name], model):
            allowed = ", ".join(map(repr, sorted(accepted[name])))
            yield f"level.{level.name}.model: rung {name!r} accepts {allowed}, not {model!r}; see rung.accepts"
