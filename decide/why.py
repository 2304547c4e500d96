"""Why: a ruling's reason in words, and the policy rows that held it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from decide.consultation import Declined, Incomplete, Resolved, State, Unreachable
from decide.cross_check import Checked, Finding, NoFault, Skipped
from decide.gate import Fired, GateRow
from decide.ruling import Outcome, Ruling
from decide.verdict import Decline

DECLINES: Mapping[Decline, str] = MappingProxyType(
    {
        Decline.OUTSIDE_AUTHORITY: "says that this is outside the ladder's authority",
        Decline.MODEL_REFUSAL: "refused to answer (its vendor's usage policy)",
        Decline.NEEDS_HUMAN: "says that a person must decide",
        Decline.INSUFFICIENT_EVIDENCE: "says that evidence is missing",
        Decline.CLASS_GATE: "answered, and a policy row holds the answer for a person",
        Decline.SPLIT: "was split over the answer",
        Decline.FLIP: "changed its answer with the order of the options",
    }
)


@dataclass(frozen=True, slots=True)
class Held:
    """A policy row that held an answer, and where it fired."""

    row: GateRow
    where: str


def held_by(ruling: Ruling, fired: Sequence[Fired], rows: Iterable[GateRow]) -> tuple[Held, ...]:
    """The policy rows that made a consultation decline, each once."""
    by_id = {row.id: row for row in rows}
    places = {one.row.id: one.where for one in reversed(fired)}
    names = dict.fromkeys(state.row for state in _states(ruling) if isinstance(state, Declined) and state.row)
    return tuple(Held(by_id[name], places.get(name, "a verdict's touches")) for name in names)


def explain(ruling: Ruling, primary: str, second: str) -> str:
    """Why a run ended as it did, in one line that names the rungs."""
    match ruling.outcome:
        case Outcome.AGREED:
            return f"{primary} and {second} name the same option{_looked(ruling, primary)}"
        case Outcome.RECONSIDERED if ruling.cross_check is not None:
            agreed = f"{primary} and {second} named the same option"
            return f"{agreed}, a cross-check found a fault in it, and {primary} reconsidered once"
        case Outcome.RECONSIDERED:
            return f"{primary} and {second} differed, and {primary} reconsidered once"
        case Outcome.SINGLE_RUNG:
            return f"one rung alone: {_each(ruling, primary, second)}"
        case _:
            return _each(ruling, primary, second)


def _each(ruling: Ruling, primary: str, second: str) -> str:
    told = [(primary, ruling.primary), (second, ruling.second)]
    checked = ruling.cross_check
    if isinstance(checked, Declined):
        told.append(("the cross-check", checked))
    found = [f"a cross-check found a fault ({_short(checked.text)})"] if isinstance(checked, Finding) else []
    if ruling.reconsideration is not None:
        told.append((f"{primary}, reconsidering,", ruling.reconsideration))
    each = [f"{name} {_says(state)}" for name, state in told]
    return "; ".join([*each[:2], *found, *each[2:]])


def _looked(ruling: Ruling, primary: str) -> str:
    """What a look for faults came to, after which the agreement stands all the same."""
    match ruling.cross_check:
        case NoFault():
            return ", and a cross-check found no fault"
        case Skipped(why=why):
            return f"; the cross-check was skipped ({why})"
        case Finding(text=text) if ruling.reconsideration is not None:
            again = f"{primary}, reconsidering, {_says(ruling.reconsideration)}"
            return f"; a cross-check found a fault ({_short(text)}), {again}, so that the agreement stands"
        case _:
            return ""


def _short(text: str) -> str:
    return " ".join(text.split())[:200]


def _says(state: State) -> str:
    match state:
        case Resolved():
            return f"names {state.option_id} (model {state.answered_by.model})"
        case Declined():
            row = f" ({state.row})" if state.row else ""
            gap = f": {_short(state.gap)}" if state.gap else ""
            return DECLINES[state.kind] + row + gap
        case Incomplete():
            return f"gave no whole answer ({', '.join(dict.fromkeys(state.failures))})"
        case Unreachable():
            return f"was not reached ({', '.join(dict.fromkeys(state.failures))})"


def _states(ruling: Ruling) -> tuple[State | Checked, ...]:
    later = (ruling.reconsideration, ruling.cross_check)
    return (ruling.primary, ruling.second, *(one for one in later if one is not None))
