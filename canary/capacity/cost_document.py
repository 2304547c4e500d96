"""Cost document: what decisions of each level took as JSON for a machine, and its published schema."""

from collections.abc import Sequence
from datetime import datetime

from canary.capacity.cost import FEWEST_P95, Figure, LevelCost, Quantity
from canary.capacity.schema import (
    COUNT,
    DRAFT,
    FLAG,
    MONEY,
    NUMBER,
    TEXT,
    TIME,
    Json,
    list_of,
    map_of,
    maybe,
    object_of,
)
from decide.money import dollars
from decide.quota import WindowKind
from exporters.moment import iso

SCHEMA_VERSION = 1
_MONEYED = frozenset({Quantity.USD_METERED, Quantity.USD_SUBSCRIPTION})


def cost_document(costs: Sequence[LevelCost], *, ledger: str, since: datetime) -> Json:
    """The costs of runs that ended at `since` or later, from the ledger that is called so."""
    return {
        "schema_version": SCHEMA_VERSION,
        "ledger": ledger,
        "since": iso(since),
        "fewest_for_p95": FEWEST_P95,
        "levels": [level_document(each) for each in costs],
    }


def level_document(cost: LevelCost) -> Json:
    """The costs of a level, dollars as decimal text and quota in percents of a window."""
    return {
        "level": cost.level,
        "runs": cost.runs,
        "outcomes": dict(cost.outcomes),
        "answered": cost.answered,
        "held_or_walled": cost.unasked,
        **{quantity.value: _figure(each, money=quantity in _MONEYED) for quantity, each in cost.figures.items()},
        "quota_points": [
            {"rung": rung, "window": kind.value, **_figure(each)} for (rung, kind), each in cost.points.items()
        ],
        "runs_without_known_cost": dict(cost.unpriced),
        "runs_without_known_points": dict(cost.unread),
    }


def _figure(figure: Figure, *, money: bool = False) -> Json:
    values = {name: getattr(figure, name) for name in ("median", "p95", "mean", "total", "per_answer")}
    values["held_or_walled"] = figure.unasked
    return {
        "known": figure.known,
        "of": figure.of,
        **{name: None if each is None else _shown(each, money=money) for name, each in values.items()},
        "at_least": figure.at_least,
    }


def _shown(value: float, *, money: bool) -> str | float:
    return dollars(round(value)) if money else round(value, 6)


def _figure_of(value: Json) -> dict[str, Json]:
    names = ("median", "p95", "mean", "total", "per_answer", "held_or_walled")
    return {"known": COUNT, "of": COUNT, **dict.fromkeys(names, maybe(value)), "at_least": FLAG}


LEVEL_COST = object_of(
    {
        "level": TEXT,
        "runs": COUNT,
        "outcomes": map_of(COUNT),
        "answered": COUNT,
        "held_or_walled": COUNT,
        **{each.value: object_of(_figure_of(MONEY if each in _MONEYED else NUMBER)) for each in Quantity},
        "quota_points": list_of(
            object_of({"rung": TEXT, "window": {"enum": [each.value for each in WindowKind]}, **_figure_of(NUMBER)})
        ),
        "runs_without_known_cost": map_of(COUNT),
        "runs_without_known_points": map_of(COUNT),
    }
)
"""What runs of a level took.

`median`, `p95` and `mean` are over the `known` of `of` answered runs; `total` is what all runs took, and `per_answer`
that by answered run, with `at_least` where not all is known; `held_or_walled` is what those runs would have taken.
Null is unknown.
"""

COST_SCHEMA: Json = {
    "$schema": DRAFT,
    "title": "rungwatch ledger cost",
    **object_of(
        {
            "schema_version": {"const": SCHEMA_VERSION},
            "ledger": TEXT,
            "since": TIME,
            "fewest_for_p95": COUNT,
            "levels": list_of({"$ref": "#/$defs/level_cost"}),
        }
    ),
    "$defs": {"level_cost": LEVEL_COST},
}
"""What `rungwatch ledger cost --json` prints."""
