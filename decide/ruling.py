"""Ruling: what two consultations make, as one total function whose rows are those of the table (design 4.3)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from decide.consultation import AnsweredBy, Declined, Incomplete, Resolved, State, Unreachable
from decide.cross_check import Checked, Finding, NoFault, Skipped
from decide.verdict import accepts


class Outcome(StrEnum):
    """How a run ends."""

    AGREED = "agreed"
    RECONSIDERED = "reconsidered"
    SINGLE_RUNG = "single_rung"
    NEEDS_HUMAN = "needs_human"
    WALLED = "walled"
    ERROR = "error"
    HELD = "held"
    CANCELLED = "cancelled"


ANSWERED = (Outcome.AGREED, Outcome.RECONSIDERED, Outcome.SINGLE_RUNG)
"""The outcomes that carry an answer (design 6)."""

RULING_EXITS: Mapping[Outcome, int] = MappingProxyType(
    {
        Outcome.AGREED: 0,
        Outcome.RECONSIDERED: 0,
        Outcome.SINGLE_RUNG: 0,
        Outcome.NEEDS_HUMAN: 3,
        Outcome.WALLED: 4,
        Outcome.ERROR: 2,
        Outcome.CANCELLED: 130,
    }
)
"""Exit codes by outcome; `held` has two: 2 for a cap that rolls, 4 for a ledger that a person has to clear."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a run decided: `option_id` and `answered_by` only with an outcome that carries an answer.

    `cross_check` is what a look for faults in an agreed answer came to, None where none was due.

    Raises ValueError for an `agreed` that two known, different models did not make.
    """

    outcome: Outcome
    primary: State
    second: State
    option_id: str = ""
    answered_by: AnsweredBy | None = None
    reconsideration: State | None = None
    cross_check: Checked | None = None

    def __post_init__(self) -> None:
        """Refuse an agreement of fewer than two models, and an answer that nobody gave."""
        if self.outcome is Outcome.AGREED and not _agree(self.primary, self.second, self.option_id):
            raise ValueError("agreed takes two consultations resolved to one option by two known, different models")
        answered = self.outcome in ANSWERED
        if answered != bool(self.option_id) or answered != (self.answered_by is not None):
            raise ValueError(f"{self.outcome} and the answer {self.option_id!r} do not go together")
        states = (self.primary, self.second, self.reconsideration)
        given = [(one.option_id, one.answered_by) for one in states if isinstance(one, Resolved)]
        if answered and (self.option_id, self.answered_by) not in given:
            raise ValueError(f"no consultation gave {self.option_id!r} by {self.answered_by!r}")


@dataclass(frozen=True, slots=True)
class Reconsider:
    """Two known models differ: the primary is asked once more."""

    primary: Resolved
    second: Resolved


def rule(primary: State, second: State) -> Ruling | Reconsider:
    """The ruling of two consultations, or that the primary reconsiders; every pair of states has its row."""
    if isinstance(primary, Declined) or isinstance(second, Declined):
        return Ruling(Outcome.NEEDS_HUMAN, primary, second)
    match primary:
        case Resolved():
            return _beside_resolved(primary, second)
        case Incomplete():
            return Ruling(Outcome.ERROR, primary, second)
        case Unreachable():
            return _beside_unreachable(primary, second)


def _beside_resolved(primary: Resolved, second: Resolved | Incomplete | Unreachable) -> Ruling | Reconsider:
    match second:
        case Resolved():
            return _both_resolved(primary, second)
        case Unreachable():
            return _single(primary, primary, second)
        case Incomplete():
            if second.named == (primary.option_id,):
                return _single(primary, primary, second)
            return Ruling(Outcome.ERROR, primary, second)


def _beside_unreachable(primary: Unreachable, second: Resolved | Incomplete | Unreachable) -> Ruling:
    match second:
        case Resolved():
            return _single(second, primary, second)
        case Incomplete():
            return Ruling(Outcome.ERROR, primary, second)
        case Unreachable():
            durable = primary.durable and second.durable
            return Ruling(Outcome.WALLED if durable else Outcome.ERROR, primary, second)


def rule_again(primary: Resolved, second: Resolved, again: State) -> Ruling:
    """The ruling after the one reconsideration of the primary."""
    match again:
        case Resolved() if again.answered_by.known:
            outcome, by = Outcome.RECONSIDERED, again.answered_by
            return Ruling(outcome, primary, second, again.option_id, by, reconsideration=again)
        case Declined():
            return Ruling(Outcome.NEEDS_HUMAN, primary, second, reconsideration=again)
        case Unreachable() if again.durable:
            return Ruling(Outcome.WALLED, primary, second, reconsideration=again)
        case Resolved() | Unreachable() | Incomplete():
            return Ruling(Outcome.ERROR, primary, second, reconsideration=again)


def rule_checked(agreed: Ruling, found: NoFault | Declined | Skipped) -> Ruling:
    """The ruling after a look for faults that found none, met a policy row, or was not made (design 4.3)."""
    if isinstance(found, Declined):
        return Ruling(Outcome.NEEDS_HUMAN, agreed.primary, agreed.second, cross_check=found)
    return replace(agreed, cross_check=found)


def rule_found(agreed: Ruling, found: Finding, again: State) -> Ruling:
    """The ruling after the reconsideration that a finding asked for: without a verdict, the agreement stands.

    A verdict whose model nobody knows neither stands nor lets the agreement stand, as in any reconsideration.
    """
    primary, second = agreed.primary, agreed.second
    match again:
        case Resolved() if again.answered_by.known:
            outcome, by = Outcome.RECONSIDERED, again.answered_by
            return Ruling(outcome, primary, second, again.option_id, by, again, found)
        case Resolved():
            return Ruling(Outcome.ERROR, primary, second, reconsideration=again, cross_check=found)
        case Declined():
            return Ruling(Outcome.NEEDS_HUMAN, primary, second, reconsideration=again, cross_check=found)
        case Incomplete() | Unreachable():
            return replace(agreed, reconsideration=again, cross_check=found)


def _both_resolved(primary: Resolved, second: Resolved) -> Ruling | Reconsider:
    same = primary.option_id == second.option_id
    if _two_models(primary, second):
        if not same:
            return Reconsider(primary, second)
        return Ruling(Outcome.AGREED, primary, second, primary.option_id, primary.answered_by)
    if same:
        return _single(primary if primary.answered_by.known else second, primary, second)
    return Ruling(Outcome.NEEDS_HUMAN, primary, second)


def _single(answer: Resolved, primary: State, second: State) -> Ruling:
    return Ruling(Outcome.SINGLE_RUNG, primary, second, answer.option_id, answer.answered_by)


def _two_models(primary: Resolved, second: Resolved) -> bool:
    """Whether two known, different models answered: one model twice is no second opinion."""
    one, other = primary.answered_by, second.answered_by
    alike = accepts((one.model,), other.model) or accepts((other.model,), one.model)
    return one.known and other.known and not alike


def _agree(primary: State, second: State, option_id: str) -> bool:
    if not (isinstance(primary, Resolved) and isinstance(second, Resolved)):
        return False
    return primary.option_id == second.option_id == option_id and _two_models(primary, second)
