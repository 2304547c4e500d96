"""Schema: the JSON Schema (draft 2020-12) of the report; a change that is not an addition raises `schema_version`."""

from collections.abc import Iterable, Mapping
from typing import Any

from decide.ladder import LadderWord, Role, RungState
from decide.quota import Measure, WindowKind, WindowState
from decide.reason import Reason
from decide.seat import Quota, SeatState, TokenState

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_AMOUNT: Schema = {"type": "number", "minimum": 0}
_TIME: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}


def _one_of(members: Iterable[str]) -> Schema:
    return {"enum": [str(member) for member in members]}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(required: Mapping[str, Schema], optional: Mapping[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


_REASON = _one_of(Reason)

_FORECAST = {
    "description": "When it is expected to be spent; without `latest` that may not come before a reset.",
    **_object({"at": _TIME, "earliest": _TIME}, {"latest": _TIME}),
}

_WINDOW = _object(
    {
        "kind": _one_of(WindowKind),
        "measure": _one_of(Measure),
        "state": _one_of(WindowState),
        "binding": _FLAG,
        "source": _TEXT,
        "fetched_at": _TIME,
        "age_seconds": _AMOUNT,
    },
    {"scope": _TEXT, "used_ratio": _AMOUNT, "resets_at": _TIME, "reason": _REASON},
)

_SEAT = _object(
    {
        "name": {"type": "string", "minLength": 1},
        "state": _one_of(SeatState),
        "token": _object({"state": _one_of(TokenState)}, {"reason": _REASON, "expires_at": _TIME}),
        "quota": _one_of(Quota),
        "windows": _list(_WINDOW),
    },
    {
        "reason": _REASON,
        "reason_text": _TEXT,
        "remedy": _TEXT,
        "headroom_ratio": {"type": "number", "minimum": 0, "maximum": 1},
        "clears_at": _TIME,
        "forecast": _FORECAST,
        "reading_at": _TIME,
    },
)

_RUNG = _object(
    {
        "name": _TEXT,
        "role": _one_of(Role),
        "state": _one_of(RungState),
        "reasons": _list(_REASON),
        "reasons_text": _list(_TEXT),
        "seats": _list(_SEAT),
    },
    {
        "since": _TIME,
        "remedy": _TEXT,
        "picked": _TEXT,
        "clears_at": _TIME,
        "seats_configured": _COUNT,
        "forecast": _FORECAST,
    },
)

REPORT_SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "rungwatch report",
    "description": "What is not known has no key. Times are UTC, spans are seconds, ratios count 1 as full.",
    **_object(
        {
            "schema_version": {"const": 1},
            "stale": _FLAG,
            "ladder": _object({"state": _one_of(LadderWord)}, {"since": _TIME, "last_ok_at": _TIME}),
            "rungs": _list(_RUNG),
            "notes": _list(_REASON),
            "demo": _FLAG,
        },
        {"at": _TIME, "age_seconds": _AMOUNT, "skew_seconds": {"type": "number"}, "caption": _TEXT},
    ),
}
