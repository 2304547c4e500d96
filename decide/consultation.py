"""Consultation: one rung's passes on one snapshot, and the one state they make, by fixed precedence (design 4.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from decide.gate import GateRow, Stage, touched
from decide.reply import Failure
from decide.verdict import Decline, NoVerdict, Result
from decide.verdict import Declined as PassDeclined
from decide.verdict import Resolved as PassResolved


class Order(StrEnum):
    """In which order a pass sees the options (design 3)."""

    FORWARD = "forward"
    REVERSED = "reversed"


class PassRole(StrEnum):
    """What a pass is for: a vote, the same order asked once more, or part of the reconsideration."""

    VOTE = "vote"
    REPEAT = "repeat"
    RECONSIDERATION = "reconsideration"


PASS_CANCELLED = "cancelled"  # noqa: S105 - a model call, not a secret
"""The result of a pass whose run was cancelled while it was out."""


class ModelFrom(StrEnum):
    """How it is known which model answered (design 4.2, rule 7)."""

    REPORTED = "reported"
    REQUESTED = "requested"
    UNKNOWN = "UNKNOWN"


UNKNOWN_MODEL = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class AnsweredBy:
    """The model that gave an answer, never a rung's name; UNKNOWN where neither wire nor client names it."""

    model: str
    source: ModelFrom

    def __post_init__(self) -> None:
        """Refuse a model's name from nowhere, and a source without a name."""
        if (self.source is ModelFrom.UNKNOWN) != (self.model == UNKNOWN_MODEL) or not self.model:
            raise ValueError(f"no model is known to have answered as {self!r}")

    @property
    def known(self) -> bool:
        """Whether the model is known."""
        return self.source is not ModelFrom.UNKNOWN


NOBODY = AnsweredBy(UNKNOWN_MODEL, ModelFrom.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Ballot:
    """One pass as it counts: its order and what it yielded, with the model that answered."""

    order: Order
    result: Result
    answered_by: AnsweredBy = NOBODY


@dataclass(frozen=True, slots=True)
class Resolved:
    """Both orders name one option."""

    option_id: str
    answered_by: AnsweredBy


@dataclass(frozen=True, slots=True)
class Declined:
    """The rung was reached and does not decide; `row` names the gate row that fired, `gap` the missing evidence."""

    kind: Decline
    row: str = ""
    gap: str = ""


@dataclass(frozen=True, slots=True)
class Incomplete:
    """The rung was reached, and an order stayed without a verdict; `named` are the options of valid verdicts."""

    named: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    answered_by: AnsweredBy = NOBODY


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The rung was not reached; durable only if every pass failed durably. `clears_at` is when a seat clears."""

    failures: tuple[Failure, ...]
    clears_at: datetime | None = None
    retry_after_s: float | None = None

    @property
    def durable(self) -> bool:
        """Whether asking again soon cannot help."""
        return bool(self.failures) and all(failure.durable for failure in self.failures)


State = Resolved | Declined | Incomplete | Unreachable


@dataclass(frozen=True, slots=True)
class AskAgain:
    """What is still to be asked: these orders, once more each."""

    orders: tuple[Order, ...]


def reached(results: Iterable[Result]) -> bool:
    """Whether any pass brought a verdict object, even a malformed one, or a refusal (design 4.2)."""
    return any(result.reached if isinstance(result, NoVerdict) else True for result in results)


def consult(
    ballots: Sequence[Ballot], *, rows: Iterable[GateRow], class_row: str, votes: int, may_repeat: bool
) -> State | AskAgain:
    """The state that passes make, or which orders are to be asked once more (design 4.2, rules 1 to 7).

    `class_row` names the class row that the question itself fired, empty when none did; `may_repeat` is False once
    an order was asked again, or when no pass is left to pay for it.
    """
    results = [ballot.result for ballot in ballots]
    declines = [result for result in results if isinstance(result, PassDeclined)]
    if declines:
        first = min(declines, key=lambda declined: tuple(Decline).index(declined.kind))
        return Declined(first.kind, gap=first.gap)
    if not reached(results):
        return unreached(results)
    gated = _gated(results, rows, class_row)
    if gated is not None:
        return gated
    short = tuple(order for order in Order if len(_named(ballots, order)) < votes // 2 + 1)
    if short:
        return AskAgain(short) if may_repeat else _incomplete(ballots)
    chosen = {order: _named(ballots, order) for order in Order}
    named = {option for options in chosen.values() for option in options}
    if len(named) > 1:
        return Declined(Decline.FLIP)
    return Resolved(named.pop(), _answered_by(ballots))


def unreached(results: Iterable[Result]) -> Unreachable:
    """What passes without any verdict object make."""
    troubles = [result.trouble for result in results if isinstance(result, NoVerdict)]
    clears = [trouble.clears_at for trouble in troubles if trouble.clears_at is not None]
    waits = [trouble.retry_after_s for trouble in troubles if trouble.retry_after_s is not None]
    return Unreachable(
        tuple(trouble.failure for trouble in troubles), min(clears, default=None), max(waits, default=None)
    )


def _gated(results: Iterable[Result], rows: Iterable[GateRow], class_row: str) -> Declined | None:
    """The decline that a policy row makes of any answer: authority rows before class rows (rule 3)."""
    words = [word for result in results for word in result.touches]
    fired = touched(tuple(rows), words)
    authority = next((one.row.id for one in fired if one.row.stage is Stage.AUTHORITY), None)
    if authority is not None:
        return Declined(Decline.OUTSIDE_AUTHORITY, row=authority)
    class_row = class_row or next((one.row.id for one in fired), "")
    return Declined(Decline.CLASS_GATE, row=class_row) if class_row else None


def _named(ballots: Iterable[Ballot], order: Order) -> list[str]:
    return [b.result.option_id for b in ballots if b.order is order and isinstance(b.result, PassResolved)]


def _incomplete(ballots: Sequence[Ballot]) -> Incomplete:
    named = dict.fromkeys(b.result.option_id for b in ballots if isinstance(b.result, PassResolved))
    failures = tuple(b.result.failure for b in ballots if isinstance(b.result, NoVerdict))
    return Incomplete(tuple(named), failures, _answered_by(ballots))


def _answered_by(ballots: Iterable[Ballot]) -> AnsweredBy:
    """Who gave the verdicts that count: the least certain of them, in the order of asking."""
    answers = [ballot.answered_by for ballot in ballots if isinstance(ballot.result, PassResolved)]
    return max(answers, key=lambda answer: tuple(ModelFrom).index(answer.source), default=NOBODY)
