"""Receipt schema: the JSON Schema (draft 2020-12) of a receipt; a change that is no addition raises its version."""

from collections.abc import Iterable, Mapping
from typing import Any

from decide.consultation import PASS_CANCELLED, ModelFrom, Order, PassRole
from decide.cross_check import Check
from decide.gate import Stage
from decide.handoff.command import CommandClass
from decide.handoff.execution import Fate, Surface
from decide.ladder import Role
from decide.level import TieBreak
from decide.passes import CostSource
from decide.question import Consequence, LevelName
from decide.quota import WindowKind
from decide.receipt import SCHEMA
from decide.receipt_check import CheckWord
from decide.reply import Billing, Failure, Usage
from decide.ruling import ANSWERED, RULING_EXITS, Outcome
from decide.slots import CROSS_CHECK, PARTS
from decide.snapshot import SourceKind
from decide.verdict import Decline

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_NAME: Schema = {"type": "string", "minLength": 1}
_FLAG: Schema = {"type": "boolean"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_SPAN: Schema = {"type": "number", "minimum": 0}
_TIME: Schema = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?[+-]\d\d:\d\d$",
}
_DIGEST: Schema = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_USD: Schema = {"type": "string", "pattern": r"^\d+\.\d{2,6}$"}


def _one_of(members: Iterable[str]) -> Schema:
    return {"enum": [str(member) for member in members]}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _object(fields: Mapping[str, Schema]) -> Schema:
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


_ANSWERED_BY = _object({"model": _NAME, "from": _one_of(ModelFrom)})
_NON_VOTES = ("unavailable", "insufficient_evidence", "outside_authority")

_STATE: Schema = {
    "anyOf": [
        _object({"state": {"const": "resolved"}, "option": _NAME, "answered_by": _ANSWERED_BY}),
        _object(
            {
                "state": {"const": "declined"},
                "kind": _one_of(Decline),
                "row": _or_null(_NAME),
                "gap": _or_null(_TEXT),
            }
        ),
        _object(
            {"state": {"const": "incomplete"}, "named": _list(_NAME), "failures": _list(_one_of(Failure))},
        ),
        _object(
            {
                "state": {"const": "unreachable"},
                "failures": _list(_one_of(Failure)),
                "durable": _FLAG,
                "clears_at": _or_null(_TIME),
            }
        ),
    ]
}

_RESULT: Schema = {
    "anyOf": [
        _object({"state": {"const": "resolved"}, "option": _NAME, "touches": _list(_TEXT), "rationale": _TEXT}),
        _object(
            {
                "state": {"const": "declined"},
                "kind": _one_of(Decline),
                "touches": _list(_TEXT),
                "rationale": _TEXT,
                "gap": _TEXT,
            }
        ),
        _object(
            {
                "state": {"const": "no_verdict"},
                "reason": _one_of(Failure),
                "durable": _FLAG,
                "detail": _TEXT,
                "window": _or_null(_one_of(WindowKind)),
                "clears_at": _or_null(_TIME),
            }
        ),
        _object({"state": {"const": PASS_CANCELLED}}),
    ]
}

_PASS = _object(
    {
        "call_id": _NAME,
        "consultation": _one_of((*PARTS, CROSS_CHECK)),
        "role": _one_of(PassRole),
        "order": _one_of(Order),
        "rung": _NAME,
        "seat": _NAME,
        "billing": _one_of(Billing),
        "began_at": _TIME,
        "duration_s": _SPAN,
        "answered_by": _ANSWERED_BY,
        "tokens": _or_null(_object(dict.fromkeys(Usage.__slots__, _COUNT))),
        "cost": _or_null(_object({"usd": _USD, "source": _one_of(CostSource)})),
        "charged_usd": _USD,
        "left_out": {"type": "array", "items": {"type": "string"}},
        "verdict": {"type": ["string", "object", "null"]},
        "result": {"$ref": "#/$defs/result"},
        "kept": _FLAG,
    }
)

_QUESTION = _object(
    {
        "id": _or_null(_NAME),
        "digest": _DIGEST,
        "text": _NAME,
        "options": _list(_object({"id": _NAME, "text": _NAME, "action": _or_null(_NAME), "acts": _list(_TEXT)})),
        "consequence": _one_of(Consequence),
        "deadline": _or_null(_TIME),
        "raised_by": _or_null(_NAME),
        "cites": _or_null(_NAME),
    }
)

_SOURCE = _object(
    {
        "kind": _one_of(SourceKind),
        "name": _TEXT,
        "digest": _DIGEST,
        "note": _or_null(_TEXT),
        "cut": _or_null(_object({"kept_chars": _COUNT, "of_chars": _COUNT})),
    }
)

_LEVEL = _object(
    {
        "name": _one_of(LevelName),
        "votes": {"type": "integer", "minimum": 1},
        "effort": _TEXT,
        "one_sentence": _FLAG,
        "evidence_budget": _or_null(_COUNT),
        "max_passes": _COUNT,
        "split_reread": _FLAG,
        "cross_check": _FLAG,
        "models": {"type": "object", "additionalProperties": _NAME},
        "tie_break": _one_of(TieBreak),
    }
)

_GATE = _object({"row": _NAME, "stage": _one_of(Stage), "where": _TEXT, "means": _TEXT, "remedy": _TEXT})

_EXECUTION = _object(
    {
        "line": _NAME,
        "command": _or_null(_NAME),
        "class": _or_null(_one_of(CommandClass)),
        "fate": _one_of(Fate),
        "reason": _NAME,
    }
)
"""What becomes of the command that an answer stands for."""
_PERSON = _object(
    {
        "name": _NAME,
        "option": _or_null(_NAME),
        "text": _or_null(_NAME),
        "at": _TIME,
        "surface": _one_of(Surface),
    }
)
"""A person's answer to a question that waited for one."""

_CROSS_CHECK = _object(
    {
        "result": _one_of(CheckWord),
        "option": _or_null(_NAME),
        "kind": _or_null(_one_of(Decline)),
        "row": _or_null(_NAME),
        "says": _or_null(_TEXT),
    }
)
"""What a look for faults in an agreed answer came to; null where none was due."""

_QUOTA = _object(
    {
        "rung": _NAME,
        "seat": _NAME,
        "role": _one_of((PassRole.VOTE, PassRole.RECONSIDERATION, PassRole.CROSS_CHECK)),
        "window": _one_of(WindowKind),
        "scope": _or_null(_NAME),
        "points": {"type": "number", "minimum": 0},
        "shared": _FLAG,
    }
)
"""What a consultation took of a window of its seat, in hundredths of that: `shared` where others ran meanwhile, and
their part was told apart by tokens. It is added when the canary has read the seat again; empty means not known.
"""

_FIELDS: Mapping[str, Schema] = {
    "schema": {"const": SCHEMA},
    "id": _NAME,
    "outcome": _one_of(Outcome),
    "exit_code": {"enum": sorted({*RULING_EXITS.values()})},
    "answer": _or_null(_object({"option": _NAME, "text": _NAME, "action": _or_null(_NAME)})),
    "answered_by": _or_null(_ANSWERED_BY),
    "single_rung": _FLAG,
    "fallback": _or_null(_object({"from": _NAME, "to": _NAME, "reason": _TEXT})),
    "non_vote": _or_null(_object({"kind": _one_of(_NON_VOTES), "durable": _FLAG, "gap": _or_null(_TEXT)})),
    "why": _TEXT,
    "gate": _list(_GATE),
    "retry_after_s": _or_null(_COUNT),
    "retry_at": _or_null(_TIME),
    "attempts": _COUNT,
    "question": _QUESTION,
    "snapshot": _or_null(_object({"digest": _DIGEST, "sources": _list(_SOURCE)})),
    "level": _LEVEL,
    "rungs": _list(_object({"name": _NAME, "role": _one_of(Role), "model": _NAME})),
    "consultations": _object({part: _or_null({"$ref": "#/$defs/state"}) for part in PARTS}),
    "passes": _list({"$ref": "#/$defs/pass"}),
    "refused": _list({"$ref": "#/$defs/pass"}),
    "cross_check": _or_null(_CROSS_CHECK),
    "skipped_checks": _list(_object({"check": _one_of(Check), "why": _TEXT})),
    "began_at": _TIME,
    "ended_at": _TIME,
    "duration_s": {"type": "number"},
    "execution": _or_null(_EXECUTION),
    "person": _or_null(_PERSON),
    "quota": _list(_QUOTA),
}


def _when(outcomes: Iterable[Outcome], then: Mapping[str, Schema], otherwise: Mapping[str, Schema]) -> Schema:
    asked = {"properties": {"outcome": _one_of(outcomes)}}
    return {"if": asked, "then": {"properties": dict(then)}, "else": {"properties": dict(otherwise)}}


_NULL: Schema = {"type": "null"}
_THERE: Schema = {"type": "object"}

RECEIPT_SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "rungwatch receipt",
    "description": "What one run did and why it ended so. What does not apply or is not known is null.",
    **_object(_FIELDS),
    "allOf": [
        _when(
            ANSWERED,
            {"answer": _THERE, "answered_by": _THERE, "exit_code": {"const": 0}},
            {"answer": _NULL, "answered_by": _NULL, "exit_code": {"not": {"const": 0}}},
        ),
        _when([Outcome.SINGLE_RUNG], {"single_rung": {"const": True}}, {"single_rung": {"const": False}}),
        {
            "if": {"properties": {"exit_code": {"const": 2}}},
            "then": {"properties": {"retry_after_s": _COUNT, "retry_at": _TIME}},
        },
    ],
    "$defs": {"state": _STATE, "result": _RESULT, "pass": _PASS},
}
"""The published schema of a receipt; its conditions are those of the ruling table (design 4.3)."""
