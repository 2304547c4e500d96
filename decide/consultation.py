"""Consultation: one rung's passes on one snapshot, and the one state they make, by fixed precedence (design 4.2)."""

from collections import Counter
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
    """What a pass is for: a vote, an order asked once more for want of verdicts or of a majority, part of the
    reconsideration, or the look for faults in an agreed answer.
    """

    VOTE = "vote"
    REPEAT = "repeat"
    REREAD = "reread"
    RECONSIDERATION = "reconsideration"
    CROSS_CHECK = "cross_check"


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
    """One pass as it counts: its order and what it yielded, with the model that answered.

    `reread` says that it was shown the options between which its order's votes were split.
    """

    order: Order
    result: Result
    answered_by: AnsweredBy = NOBODY
    reread: bool = False


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
    """What is still to be asked, once more each: `orders` that lack verdicts, `split` ones that lack a majority."""

    orders: tuple[Order, ...]
    split: tuple[Order, ...] = ()


def reached(results: Iterable[Result]) -> bool:
    """Whether any pass brought a verdict object, even a malformed one, or a refusal (design 4.2)."""
    return any(result.reached if isinstance(result, NoVerdict) else True for result in results)


def consult(
    ballots: Sequence[Ballot],
    *,
    rows: Iterable[GateRow],
    class_row: str,
    votes: int,
    may_repeat: bool,
    split_reread: bool = False,
) -> State | AskAgain:
    """The state that passes make, or which orders are to be asked once more (design 4.2, rules 1 to 7).

    `class_row` names the class row that the question itself fired, empty when none did; `may_repeat` is False once
    an order was asked again, or when no pass is left to pay for it. A split order is asked again with `split_reread`
    only.
    """
    results = [ballot.result for ballot in ballots]
    declines = [result for result in results if isinstance(result, PassDeclined)]
    if declines:
        first = min(declines, key=lambda declined: tuple(Decline).index(declined.kind))
        return Declined(first.kind, gap=first.gap)
    if not reached(results):
        return unreached(results)
    held = gated(results, rows, class_row)
    if held is not None:
        return held
    short = tuple(order for order in Order if len(_named(ballots, order)) < votes // 2 + 1)
    chosen = {order: _choice(ballots, order, votes) for order in Order if order not in short}
    split = tuple(order for order, option in chosen.items() if option is None)
    owed = tuple(order for order in split if split_reread and not _reread(ballots, order))
    if may_repeat and (short or owed):
        return AskAgain(short, owed)
    if short or any(_reread_in_vain(ballots, order) for order in split):
        return _incomplete(ballots)
    if split:
        return Declined(Decline.SPLIT)
    named = {option for option in chosen.values() if option is not None}
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


def gated(results: Iterable[Result], rows: Iterable[GateRow], class_row: str) -> Declined | None:
    """The decline that a policy row makes of any answer: authority rows before class rows (rule 3)."""
    words = [word for result in results for word in result.touches]
    fired = touched(tuple(rows), words)
    authority = next((one.row.id for one in fired if one.row.stage is Stage.AUTHORITY), None)
    if authority is not None:
        return Declined(Decline.OUTSIDE_AUTHORITY, row=authority)
    class_row = class_row or next((one.row.id for one in fired), "")
    return Declined(Decline.CLASS_GATE, row=class_row) if class_row else None


def wanting(ballots: Sequence[Ballot], order: Order, votes: int) -> int:
    """How many votes an order still lacks, in a consultation of which `ballots` stand.

    None once a pass of either order declined, and none for an order that was split and read again.
    """
    if any(isinstance(ballot.result, PassDeclined) for ballot in ballots) or _reread(ballots, order):
        return 0
    named = _named(ballots, order)
    if named and _choice(ballots, order, votes) is not None:
        return 0
    return max(0, votes - len(named))


def disagreed(ballots: Iterable[Ballot], order: Order) -> tuple[str, ...]:
    """The options between which the votes of an order are split, each once, sorted: no place tells who came first."""
    return tuple(sorted(set(_named(ballots, order))))


def _choice(ballots: Sequence[Ballot], order: Order, votes: int) -> str | None:
    """The option that an order stands for: that of the majority, else the one of them that its re-read names."""
    named = _named(ballots, order)
    option, count = Counter(named).most_common(1)[0]
    if count >= max(votes, len(named)) // 2 + 1:
        return option
    named_again = {b.result.option_id for b in _reread(ballots, order) if isinstance(b.result, PassResolved)}
    among = named_again & set(named)
    return among.pop() if len(among) == 1 else None


def _reread(ballots: Iterable[Ballot], order: Order) -> list[Ballot]:
    return [ballot for ballot in ballots if ballot.reread and ballot.order is order]


def _reread_in_vain(ballots: Iterable[Ballot], order: Order) -> bool:
    """Whether an order was read once more without any verdict."""
    again = _reread(ballots, order)
    return bool(again) and all(isinstance(ballot.result, NoVerdict) for ballot in again)


def _named(ballots: Iterable[Ballot], order: Order) -> list[str]:
    """What the votes of an order name, re-reads left out."""
    votes = [ballot.result for ballot in ballots if ballot.order is order and not ballot.reread]
    return [result.option_id for result in votes if isinstance(result, PassResolved)]


def _incomplete(ballots: Sequence[Ballot]) -> Incomplete:
    named = dict.fromkeys(b.result.option_id for b in ballots if isinstance(b.result, PassResolved))
    failures = tuple(b.result.failure for b in ballots if isinstance(b.result, NoVerdict))
    return Incomplete(tuple(named), failures, _answered_by(ballots))


def _answered_by(ballots: Iterable[Ballot]) -> AnsweredBy:
    """Who gave the verdicts that count: the least certain of them, in the order of asking."""
    answers = [ballot.answered_by for ballot in ballots if isinstance(ballot.result, PassResolved)]
    return max(answers, key=lambda answer: tuple(ModelFrom).index(answer.source), default=NOBODY)
