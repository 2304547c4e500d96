"""Receipt: what one run did and why it ended so, as one JSON document (design 4.6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from decide.consultation import UNKNOWN_MODEL, Declined, Incomplete, ModelFrom, Resolved, State, Unreachable
from decide.cross_check import Skipped
from decide.handoff.execution import Sentence
from decide.level import Level
from decide.passes import Pass, record
from decide.ports import KeptPass
from decide.question import Option, Question
from decide.receipt_check import checked
from decide.ruling import ANSWERED, RULING_EXITS, Outcome, Ruling
from decide.snapshot import Cut, Snapshot
from decide.verdict import Decline

SCHEMA = "rungwatch.receipt/1"


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt's document; `stored` is False when no store could take it."""

    document: Mapping[str, Any]
    stored: bool = True

    @property
    def id(self) -> str:
        """The receipt's own id."""
        return str(self.document["id"])

    @property
    def outcome(self) -> Outcome:
        """How the run ended."""
        return Outcome(self.document["outcome"])

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ran it (design 4.3); 0 once a person has answered instead."""
        return 0 if self.document.get("person") else int(self.document["exit_code"])

    @property
    def option_id(self) -> str | None:
        """The option that was decided for, None without an answer."""
        answer = self.document["answer"]
        return None if answer is None else str(answer["option"])


@dataclass(frozen=True, slots=True)
class Facts:
    """What every receipt of a run holds, whatever its outcome."""

    id: str
    question: Question
    level: Level
    began: datetime
    rungs: tuple[tuple[str, str, str], ...]
    key: str
    tie_break: str = ""
    attempts: int = 0
    snapshot: Snapshot | None = None
    cuts: tuple[Cut, ...] = ()

    @property
    def frozen(self) -> Snapshot:
        """The snapshot; raises ValueError while there is none."""
        if self.snapshot is None:
            raise ValueError("the evidence is not frozen yet")
        return self.snapshot


@dataclass(frozen=True, slots=True)
class Close:
    """How a run ended: its ruling if there is one, and what else its receipt tells of the end."""

    outcome: Outcome
    at: datetime
    why: str
    exit_code: int
    ruling: Ruling | None = None
    gate: tuple[Mapping[str, str], ...] = ()
    retry_at: datetime | None = None
    passes: Sequence[Pass] = ()
    refused: Sequence[Pass] = ()
    kept: Sequence[KeptPass] = ()
    skipped: Sequence[Skipped] = ()
    execution: Sentence | None = None


def exit_of(outcome: Outcome, *, by_ledger: bool = False) -> int:
    """The exit code of an outcome: a hold by a cap rolls over (2), one by the ledger waits for a person (4)."""
    if outcome is Outcome.HELD:
        return 4 if by_ledger else 2
    return RULING_EXITS[outcome]


def document(facts: Facts, close: Close) -> dict[str, Any]:
    """The receipt as JSON values, in the order in which a person reads it."""
    ruling = close.ruling
    wait = None if close.retry_at is None else max(0, round((close.retry_at - close.at).total_seconds()))
    return {
        "schema": SCHEMA,
        "id": facts.id,
        "outcome": close.outcome.value,
        "exit_code": close.exit_code,
        "answer": _answer(facts.question, ruling),
        "answered_by": _answered_by(ruling),
        "single_rung": close.outcome is Outcome.SINGLE_RUNG,
        "fallback": _fallback(facts, close.outcome, ruling),
        "non_vote": _non_vote(close),
        "why": close.why,
        "gate": [dict(row) for row in close.gate],
        "retry_after_s": wait,
        "retry_at": None if close.retry_at is None else close.retry_at.isoformat(),
        "attempts": facts.attempts,
        "question": _question(facts.question),
        "snapshot": _snapshot(facts),
        "level": _level(facts),
        "rungs": [{"name": name, "role": role, "model": model} for name, role, model in facts.rungs],
        "consultations": _consultations(ruling),
        "passes": [*(dict(one.record) | {"kept": True} for one in close.kept), *map(record, close.passes)],
        "refused": [record(one) for one in close.refused],
        "cross_check": None if ruling is None else checked(ruling.cross_check),
        "skipped_checks": [{"check": one.check.value, "why": one.why} for one in close.skipped],
        "began_at": facts.began.isoformat(),
        "ended_at": close.at.isoformat(),
        "duration_s": round((close.at - facts.began).total_seconds(), 3),
        "execution": None if close.execution is None else execution(close.execution),
        "person": None,
        "quota": [],
    }


def execution(ruled: Sentence) -> dict[str, Any]:
    """What becomes of the command that an answer stands for, as a receipt names it (design 4.8)."""
    return {
        "line": ruled.line,
        "command": ruled.command or None,
        "class": ruled.kind or None,
        "fate": ruled.fate.value,
        "reason": ruled.reason,
    }


def _level(facts: Facts) -> dict[str, Any]:
    values = {one.name: getattr(facts.level, one.name) for one in fields(facts.level)}
    level = facts.level
    return values | {"name": level.name.value, "models": dict(level.models), "tie_break": facts.tie_break}


def _answer(question: Question, ruling: Ruling | None) -> dict[str, Any] | None:
    if ruling is None or ruling.outcome not in ANSWERED:
        return None
    option = next(option for option in question.options if option.id == ruling.option_id)
    return {"option": option.id, "text": option.text, "action": option.action or None}


def _answered_by(ruling: Ruling | None) -> dict[str, str] | None:
    if ruling is None or ruling.answered_by is None:
        return None
    return {"model": ruling.answered_by.model, "from": ruling.answered_by.source.value}


def _fallback(facts: Facts, outcome: Outcome, ruling: Ruling | None) -> dict[str, Any] | None:
    """Which rung never ran and why, where the other one's answer stands alone (design 4.6)."""
    if ruling is None or outcome is not Outcome.SINGLE_RUNG:
        return None
    (primary, *_), (second, *_) = facts.rungs
    for state, missing, other in ((ruling.primary, primary, second), (ruling.second, second, primary)):
        if isinstance(state, Unreachable):
            return {"from": missing, "to": other, "reason": _reason(state)}
    return None


def _reason(state: Unreachable) -> str:
    return ", ".join(dict.fromkeys(failure.value for failure in state.failures))


_NON_VOTES = {
    Decline.INSUFFICIENT_EVIDENCE: "insufficient_evidence",
    Decline.OUTSIDE_AUTHORITY: "outside_authority",
}


def _non_vote(close: Close) -> dict[str, Any] | None:
    """What was no vote, by its remedy (design 4.5)."""
    if close.outcome in (Outcome.WALLED, Outcome.ERROR, Outcome.HELD):
        return {"kind": "unavailable", "durable": close.exit_code == 4, "gap": None}
    held = None if close.ruling is None else close.ruling.cross_check
    declined = [state for state in (*states(close.ruling), held) if isinstance(state, Declined)]
    for state in declined:
        if state.kind in _NON_VOTES:
            return {"kind": _NON_VOTES[state.kind], "durable": True, "gap": state.gap or None}
    if close.outcome is Outcome.NEEDS_HUMAN and close.ruling is None:
        return {"kind": "outside_authority", "durable": True, "gap": None}
    return None


def states(ruling: Ruling | None) -> tuple[State, ...]:
    """The consultations of a ruling."""
    if ruling is None:
        return ()
    again = () if ruling.reconsideration is None else (ruling.reconsideration,)
    return (ruling.primary, ruling.second, *again)


def _question(question: Question) -> dict[str, Any]:
    return {
        "id": question.id or None,
        "digest": question.digest,
        "text": question.text,
        "options": [_option(option) for option in question.options],
        "consequence": question.consequence.value,
        "deadline": None if question.deadline is None else question.deadline.isoformat(),
        "raised_by": question.raised_by or None,
        "cites": question.cites or None,
    }


def _option(option: Option) -> dict[str, Any]:
    return {"id": option.id, "text": option.text, "action": option.action or None, "acts": list(option.acts)}


def _snapshot(facts: Facts) -> dict[str, Any] | None:
    if facts.snapshot is None:
        return None
    cuts = {cut.name: {"kept_chars": cut.kept, "of_chars": cut.of} for cut in facts.cuts}
    sources = [
        {
            "kind": item.kind.value,
            "name": item.name,
            "digest": item.digest,
            "note": item.note or None,
            "cut": cuts.get(item.name),
        }
        for item in facts.snapshot.items
    ]
    return {"digest": facts.snapshot.digest, "sources": sources}


def _consultations(ruling: Ruling | None) -> dict[str, Any]:
    if ruling is None:
        return {"primary": None, "second": None, "reconsideration": None}
    again = None if ruling.reconsideration is None else told(ruling.reconsideration)
    return {"primary": told(ruling.primary), "second": told(ruling.second), "reconsideration": again}


def told(state: State) -> dict[str, Any]:
    """A consultation's state as JSON values."""
    match state:
        case Resolved():
            by = {"model": state.answered_by.model, "from": state.answered_by.source.value}
            return {"state": "resolved", "option": state.option_id, "answered_by": by}
        case Declined():
            why = {"kind": state.kind.value, "row": state.row or None, "gap": state.gap or None}
            return {"state": "declined", **why}
        case Incomplete():
            failures = [failure.value for failure in state.failures]
            return {"state": "incomplete", "named": list(state.named), "failures": failures}
        case Unreachable():
            failures = [failure.value for failure in state.failures]
            clears = None if state.clears_at is None else state.clears_at.isoformat()
            return {"state": "unreachable", "failures": failures, "durable": state.durable, "clears_at": clears}


def word(state: State) -> str:
    """A consultation's result in one word: a label value (design 6)."""
    match state:
        case Resolved():
            return "resolved"
        case Declined():
            return state.kind.value
        case Incomplete():
            return "incomplete"
        case Unreachable():
            return "unreachable"


CONSULTATION_RESULTS: tuple[str, ...] = ("resolved", *(kind.value for kind in Decline), "incomplete", "unreachable")
"""Every word for a consultation's result."""


def headline(receipt: Mapping[str, Any]) -> str:
    """The ruling in one line, naming the model that answered, UNKNOWN when none is known (design 4.6)."""
    if receipt["answer"] is None:
        return f"{str(receipt['outcome']).upper().replace('_', ' ')}: {receipt['why']}"
    return f"RESOLVED via {_via(receipt)}: {receipt['answer']['option']}, {receipt['answer']['text']}"


def _via(receipt: Mapping[str, Any]) -> str:
    """The rungs that an answer is from, each with the model that spoke."""
    by, consulted = receipt["answered_by"], receipt["consultations"]
    if by["from"] == ModelFrom.UNKNOWN:
        return UNKNOWN_MODEL
    spoke = [("primary", by)]
    if receipt["outcome"] == Outcome.AGREED:
        spoke = [(role, consulted[role]["answered_by"]) for role in ("primary", "second")]
    elif receipt["outcome"] == Outcome.SINGLE_RUNG and consulted["primary"].get("answered_by") != by:
        spoke = [("second", by)]
    names = {rung["role"]: rung["name"].upper() for rung in receipt["rungs"]}
    return " and ".join(f"{names[role]} ({answered['model']})" for role, answered in spoke)


def person_line(receipt: Mapping[str, Any]) -> str:
    """What a person answered, in one line; empty where none did (design 4.5)."""
    person = receipt["person"]
    if person is None:
        return ""
    texts = {option["id"]: option["text"] for option in receipt["question"]["options"]}
    option = person["option"] and f"{person['option']}, {texts[person['option']]}"
    return f"ANSWERED by {person['name']}: {'; '.join(part for part in (option, person['text']) if part)}"


def banner(receipt: Mapping[str, Any]) -> str:
    """What a reader must not miss: that one rung alone stands behind the answer, and why; empty otherwise."""
    return f"SINGLE RUNG: {_alone(receipt)}" if receipt["single_rung"] else ""


def _alone(receipt: Mapping[str, Any]) -> str:
    """Why the other rung is no second opinion."""
    fallback, consulted = receipt["fallback"], receipt["consultations"]
    names = {rung["role"]: rung["name"].upper() for rung in receipt["rungs"]}
    if fallback is not None:
        return f"{fallback['from'].upper()} never ran ({fallback['reason']})"
    if consulted["second"]["state"] == "incomplete":
        return f"{names['second']} gave no whole answer ({', '.join(dict.fromkeys(consulted['second']['failures']))})"
    by = {role: consulted[role]["answered_by"]["from"] for role in ("primary", "second")}
    nameless = [names[role] for role in by if by[role] == ModelFrom.UNKNOWN]
    if nameless:
        return f"the model that answered as {' and as '.join(nameless)} is {UNKNOWN_MODEL}"
    return f"one model answered as {names['primary']} and as {names['second']}"
