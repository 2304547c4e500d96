"""Cross check: what a look for faults in an agreed answer comes to, and which checks a run can skip (design 4.3)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from decide.consultation import Ballot, Declined, gated
from decide.gate import GateRow
from decide.verdict import Decline, NoVerdict
from decide.verdict import Declined as PassDeclined
from decide.verdict import Resolved as PassResolved


class Check(StrEnum):
    """What a level may ask for beside votes, and a run may have to leave out."""

    CROSS_CHECK = "cross_check"
    SPLIT_REREAD = "split_reread"


NO_PASS = "no pass is left"  # noqa: S105 - a model call, not a secret
"""Why a check is skipped that `max_passes` has nothing left for."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A check that was due and was not made, or came to nothing."""

    check: Check
    why: str


@dataclass(frozen=True, slots=True)
class NoFault:
    """The check names the agreed option."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault: the option to take instead, or why it cannot be decided; `text` is what the primary is shown."""

    text: str
    option_id: str = ""
    kind: Decline | None = None


Checked = NoFault | Finding | Declined | Skipped
"""What a check comes to; `Declined` names the policy row that the check's verdict touches."""

_STOPS = {
    Decline.NEEDS_HUMAN: "a person must decide",
    Decline.INSUFFICIENT_EVIDENCE: "evidence is missing",
    Decline.OUTSIDE_AUTHORITY: "this is outside the reviewers' authority",
}


def read_check(ballot: Ballot, *, agreed: str, rows: Iterable[GateRow]) -> Checked:
    """What the pass comes to that looked for faults in the option `agreed`.

    A policy row holds whatever any verdict touches, this one's too (design 4.2, rule 3). A refusal of the model is no
    finding: it says nothing of the answer.
    """
    held = gated([ballot.result], rows, "")
    if held is not None:
        return held
    match ballot.result:
        case PassResolved(option_id=option) if option == agreed:
            return NoFault()
        case PassResolved(option_id=option, rationale=said):
            return Finding(_text(f"{option} is to be taken instead", said), option_id=option)
        case PassDeclined(kind=kind) if kind not in _STOPS:
            return Skipped(Check.CROSS_CHECK, kind.value)
        case PassDeclined(kind=kind, gap=gap, rationale=said):
            return Finding(_text(_STOPS[kind], gap, said), kind=kind)
        case NoVerdict() as none:
            return Skipped(Check.CROSS_CHECK, none.failure.value)


def _text(first: str, *more: str) -> str:
    return ": ".join([first, *(part for part in more if part.strip())])
