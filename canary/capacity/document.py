"""Document: a plan as JSON for a machine, and its published schema (draft 2020-12)."""

from collections.abc import Sequence

from canary.capacity.backtest import LEAD, RANGE, WITHIN, Backtest, Score
from canary.capacity.batch import Mix
from canary.capacity.cost import LevelCost
from canary.capacity.cost_document import LEVEL_COST, level_document
from canary.capacity.estimate import CONFIDENCE, Estimate
from canary.capacity.hours import HOURS
from canary.capacity.outcome import Outcome, Spend
from canary.capacity.plan import Moved, Next, Plan, RungPlan
from canary.capacity.schema import (
    COUNT,
    DRAFT,
    FLAG,
    MONEY,
    NUMBER,
    RATIO,
    TEXT,
    TIME,
    Json,
    list_of,
    map_of,
    maybe,
    object_of,
)
from decide.money import dollars
from decide.reply import Billing
from exporters.moment import iso

SCHEMA_VERSION = 1


def plan_document(plan: Plan, costs: Sequence[LevelCost] | None = None) -> Json:
    """The plan as its schema has it, with the costs by level of the history that it came from, None without one."""
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
        "history_levels": None if costs is None else [level_document(each) for each in costs],
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


_ESTIMATE = object_of({"mean": NUMBER, "low": NUMBER, "high": NUMBER})
_LEVEL = object_of(
    {
        "level": TEXT,
        **dict.fromkeys(("consultations_per_week", "missed_per_week", "passes_per_week"), _ESTIMATE),
        **{f"{each}_usd_per_week": _ESTIMATE for each in Billing},
    }
)
_OUTCOME = object_of(
    {
        "seats": map_of({"type": "integer", "minimum": 1}),
        "weeks": COUNT,
        "usd_per_month": maybe(MONEY),
        "missing": _ESTIMATE,
        "meets_target": FLAG,
        "missing_by_hour": list_of(RATIO, minItems=HOURS, maxItems=HOURS),
        "levels": list_of(_LEVEL),
    }
)
_NEXT = object_of(
    {
        "kind": TEXT,
        "after": {"$ref": "#/$defs/outcome"},
        "change_missing": _ESTIMATE,
        "change_usd_per_month": maybe(MONEY),
    }
)
_MAYBE_OUTCOME = maybe({"$ref": "#/$defs/outcome"})
_MOVED = object_of(
    {
        "share_of_high": RATIO,
        "after": {"$ref": "#/$defs/outcome"},
        "change_missing": _ESTIMATE,
        "cheapest": _MAYBE_OUTCOME,
    },
    {f"change_{each}_usd_per_week": _ESTIMATE for each in Billing},
)
_RUNG = object_of(
    {
        "name": TEXT,
        "have": _MAYBE_OUTCOME,
        "by_seats": list_of({"$ref": "#/$defs/outcome"}),
        "cheapest": _MAYBE_OUTCOME,
        "next": list_of(_NEXT),
        "moved": maybe(_MOVED),
    }
)
_SCORE = object_of(
    {
        "exhaustions": COUNT,
        "foreseen_ratio": maybe(RATIO),
        "alarms": COUNT,
        "false_alarm_ratio": maybe(RATIO),
        "intervals": COUNT,
        "interval_coverage_ratio": maybe(RATIO),
    }
)
_SCORES = object_of({"forecast": _SCORE, "predict_linear": _SCORE})

PLAN_SCHEMA: Json = {
    "$schema": DRAFT,
    "title": "rungwatch plan",
    **object_of(
        {
            "schema_version": {"const": SCHEMA_VERSION},
            "assumptions": list_of(TEXT),
            "simulated": object_of({"weeks": COUNT, "seed": COUNT, "confidence": RATIO, "stopped": FLAG}),
            "target_missing": RATIO,
            "working_hours": list_of({"type": "integer", "minimum": 0, "maximum": HOURS - 1}),
            "ladder": object_of({"either_missing": maybe(_ESTIMATE), "both_missing": maybe(_ESTIMATE)}),
            "rungs": list_of(_RUNG),
            "history_levels": maybe(list_of({"$ref": "#/$defs/level_cost"})),
        }
    ),
    "$defs": {"outcome": _OUTCOME, "level_cost": LEVEL_COST},
}
"""What `rungwatch plan --json` prints; `working_hours` and `missing_by_hour` count hours from Monday 00:00."""

BACKTEST_SCHEMA: Json = {
    "$schema": DRAFT,
    "title": "rungwatch plan --backtest",
    **object_of(
        {
            "schema_version": {"const": SCHEMA_VERSION},
            "samples": COUNT,
            "from": TIME,
            "to": TIME,
            "lead_seconds": NUMBER,
            "alarm_within_seconds": NUMBER,
            "predict_linear_range_seconds": NUMBER,
            "windows": _SCORES,
            "rungs": _SCORES,
        }
    ),
}
"""What `rungwatch plan --backtest --json` prints."""
