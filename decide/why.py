"""Why: a ruling's reason in words, and the policy rows that held it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from decide.consultation import Declined, Incomplete, Resolved, State, Unreachable
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
            return f"{primary} and {second} name the same option"
        case Outcome.RECONSIDERED:
            return f"{primary} and {second} differed, and {primary} reconsidered once"
        case Outcome.SINGLE_RUNG:
            return f"one rung alone: {_each(ruling, primary, second)}"
        case _:
            return _each(ruling, primary, second)


def _each(ruling: Ruling, primary: str, second: str) -> str:
    told = [(primary, ruling.primary), (second, ruling.second)]
    if ruling.reconsideration is not None:
        told.append((f"{primary}, reconsidering,", ruling.reconsideration))
    return "; ".join(f"{name} {_says(state)}" for name, state in told)


def _says(state: State) -> str:
    match state:
        case Resolved():
            return f"names {state.option_id} (model {state.answered_by.model})"
        case Declined():
            row = f" ({state.row})" if state.row else ""
            gap = f": {' '.join(state.gap.split())[:200]}" if state.gap else ""
            return DECLINES[state.kind] + row + gap
        case Incomplete():
            return f"gave no whole answer ({', '.join(dict.fromkeys(state.failures))})"
        case Unreachable():
            return f"was not reached ({', '.join(dict.fromkeys(state.failures))})"


def _states(ruling: Ruling) -> tuple[State, ...]:
    again = () if ruling.reconsideration is None else (ruling.reconsideration,)
    return (ruling.primary, ruling.second, *again)
