"""Document: a plan as JSON for a machine, and its published schema (draft 2020-12)."""

from collections.abc import Mapping
from typing import Any

from canary.capacity.backtest import LEAD, RANGE, WITHIN, Backtest, Score
from canary.capacity.batch import Mix
from canary.capacity.estimate import CONFIDENCE, Estimate
from canary.capacity.hours import HOURS
from canary.capacity.outcome import Outcome, Spend
from canary.capacity.plan import Moved, Next, Plan, RungPlan
from decide.money import dollars
from decide.reply import Billing
from exporters.moment import iso

SCHEMA_VERSION = 1
Json = dict[str, Any]


def plan_document(plan: Plan) -> Json:
    """The plan as its schema has it."""
    return {
        "schema_version": SCHEMA_VERSION,
        "assumptions": [*plan.scenario.assumptions, *plan.notes],
        "simulated": {
            "weeks": plan.budget.weeks,
            "seed": plan.budget.seed,
            "confidence": CONFIDENCE,
            "stopped": plan.stopped,
        },
        "target_missing": plan.scenario.target,
        "working_hours": sorted(plan.scenario.working),
        "ladder": {"either_missing": _estimate(plan.either), "both_missing": _estimate(plan.both)},
        "rungs": [_rung(each, plan.scenario.target) for each in plan.rungs],
    }


def _rung(rung: RungPlan, target: float) -> Json:
    return {
        "name": rung.rung,
        "have": _outcome(rung.have, target),
        "by_seats": [_outcome(each, target) for each in rung.by_seats],
        "cheapest": _outcome(rung.cheapest, target),
        "next": [_next(each, target) for each in rung.nexts],
        "moved": None if rung.moved is None else _moved(rung.moved, target),
    }


def _outcome(outcome: Outcome | None, target: float) -> Json | None:
    if outcome is None:
        return None
    return {
        "seats": _mix(outcome.mix),
        "weeks": outcome.weeks,
        "usd_per_month": _usd(outcome.month_micro_usd),
        "missing": _estimate(outcome.missing),
        "meets_target": outcome.meets(target),
        "missing_by_hour": [round(each, 6) for each in outcome.by_hour],
        "levels": [_spend(each) for each in outcome.spend],
    }


def _spend(spend: Spend) -> Json:
    return {
        "level": spend.level,
        "consultations_per_week": _estimate(spend.wanted),
        "missed_per_week": _estimate(spend.blocked),
        "passes_per_week": _estimate(spend.passes),
        **{f"{each}_usd_per_week": _dollars(spend.micro_usd[each]) for each in Billing},
    }


def _next(each: Next, target: float) -> Json:
    return {
        "kind": each.kind,
        "after": _outcome(each.after, target),
        "change_missing": _estimate(each.missing),
        "change_usd_per_month": _signed(each.month_micro_usd),
    }


def _moved(moved: Moved, target: float) -> Json:
    usd = {
        f"change_{each}_usd_per_week": _dollars(moved.micro_usd_per_week[each])
        for each in Billing
        if each in moved.micro_usd_per_week
    }
    return {
        "share_of_high": moved.share,
        "after": _outcome(moved.after, target),
        "change_missing": _estimate(moved.missing),
        **usd,
        "cheapest": _outcome(moved.cheapest, target),
    }


def _mix(mix: Mix) -> dict[str, int]:
    return dict(mix)


def _estimate(found: Estimate | None) -> Json | None:
    return None if found is None else {name: round(getattr(found, name), 6) for name in ("mean", "low", "high")}


def _dollars(found: Estimate) -> Json:
    return {name: round(getattr(found, name) / 1e6, 4) for name in ("mean", "low", "high")}


def _usd(micro: int | None) -> str | None:
    return None if micro is None else dollars(micro)


def _signed(micro: int | None) -> str | None:
    return None if micro is None else ("-" if micro < 0 else "") + dollars(abs(micro))


def backtest_document(found: Backtest) -> Json:
    """A backtest as its schema has it."""
    return {
        "schema_version": SCHEMA_VERSION,
        "samples": found.samples,
        "from": iso(found.span[0]),
        "to": iso(found.span[1]),
        "lead_seconds": LEAD.total_seconds(),
        "alarm_within_seconds": WITHIN.total_seconds(),
        "predict_linear_range_seconds": RANGE.total_seconds(),
        "windows": {"forecast": _score(found.windows), "predict_linear": _score(found.windows_naive)},
        "rungs": {"forecast": _score(found.rungs), "predict_linear": _score(found.rungs_naive)},
    }


def _score(score: Score) -> Json:
    return {
        "exhaustions": score.spent,
        "foreseen_ratio": score.foreseen,
        "alarms": score.alarms,
        "false_alarm_ratio": score.false,
        "intervals": score.intervals,
        "interval_coverage_ratio": score.covered,
    }


_RATIO: Json = {"type": "number", "minimum": 0, "maximum": 1}
_NUMBER: Json = {"type": "number"}
_COUNT: Json = {"type": "integer", "minimum": 0}
_TEXT: Json = {"type": "string"}
_FLAG: Json = {"type": "boolean"}
_TIME: Json = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}
_MONEY: Json = {"type": "string", "pattern": r"^-?\d+\.\d{2,6}$"}


def _object(properties: Mapping[str, Json], optional: Mapping[str, Json] | None = None) -> Json:
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Json, **bounds: int) -> Json:
    return {"type": "array", "items": items, **bounds}


def _maybe(schema: Json) -> Json:
    return {"anyOf": [schema, {"type": "null"}]}


_ESTIMATE = _object({"mean": _NUMBER, "low": _NUMBER, "high": _NUMBER})
_LEVEL = _object(
    {
        "level": _TEXT,
        **dict.fromkeys(("consultations_per_week", "missed_per_week", "passes_per_week"), _ESTIMATE),
        **{f"{each}_usd_per_week": _ESTIMATE for each in Billing},
    }
)
_OUTCOME = _object(
    {
        "seats": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
        "weeks": _COUNT,
        "usd_per_month": _maybe(_MONEY),
        "missing": _ESTIMATE,
        "meets_target": _FLAG,
        "missing_by_hour": _list(_RATIO, minItems=HOURS, maxItems=HOURS),
        "levels": _list(_LEVEL),
    }
)
_NEXT = _object(
    {
        "kind": _TEXT,
        "after": {"$ref": "#/$defs/outcome"},
        "change_missing": _ESTIMATE,
        "change_usd_per_month": _maybe(_MONEY),
    }
)
_MAYBE_OUTCOME = _maybe({"$ref": "#/$defs/outcome"})
_MOVED = _object(
    {
        "share_of_high": _RATIO,
        "after": {"$ref": "#/$defs/outcome"},
        "change_missing": _ESTIMATE,
        "cheapest": _MAYBE_OUTCOME,
    },
    {f"change_{each}_usd_per_week": _ESTIMATE for each in Billing},
)
_RUNG = _object(
    {
        "name": _TEXT,
        "have": _MAYBE_OUTCOME,
        "by_seats": _list({"$ref": "#/$defs/outcome"}),
        "cheapest": _MAYBE_OUTCOME,
        "next": _list(_NEXT),
        "moved": _maybe(_MOVED),
    }
)
_SCORE = _object(
    {
        "exhaustions": _COUNT,
        "foreseen_ratio": _maybe(_RATIO),
        "alarms": _COUNT,
        "false_alarm_ratio": _maybe(_RATIO),
        "intervals": _COUNT,
        "interval_coverage_ratio": _maybe(_RATIO),
    }
)
_SCORES = _object({"forecast": _SCORE, "predict_linear": _SCORE})
_DRAFT = "https://json-schema.org/draft/2020-12/schema"

PLAN_SCHEMA: Json = {
    "$schema": _DRAFT,
    "title": "rungwatch plan",
    **_object(
        {
            "schema_version": {"const": SCHEMA_VERSION},
            "assumptions": _list(_TEXT),
            "simulated": _object({"weeks": _COUNT, "seed": _COUNT, "confidence": _RATIO, "stopped": _FLAG}),
            "target_missing": _RATIO,
            "working_hours": _list({"type": "integer", "minimum": 0, "maximum": HOURS - 1}),
            "ladder": _object({"either_missing": _maybe(_ESTIMATE), "both_missing": _maybe(_ESTIMATE)}),
            "rungs": _list(_RUNG),
        }
    ),
    "$defs": {"outcome": _OUTCOME},
}
"""What `rungwatch plan --json` prints; `working_hours` and `missing_by_hour` count hours from Monday 00:00."""

BACKTEST_SCHEMA: Json = {
    "$schema": _DRAFT,
    "title": "rungwatch plan --backtest",
    **_object(
        {
            "schema_version": {"const": SCHEMA_VERSION},
            "samples": _COUNT,
            "from": _TIME,
            "to": _TIME,
            "lead_seconds": _NUMBER,
            "alarm_within_seconds": _NUMBER,
            "predict_linear_range_seconds": _NUMBER,
            "windows": _SCORES,
            "rungs": _SCORES,
        }
    ),
}
"""What `rungwatch plan --backtest --json` prints."""
