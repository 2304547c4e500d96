"""A plan and a backtest as JSON keep to their published schemas, and as pictures they are what they say."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from canary.capacity.backtest import backtest
from canary.capacity.cost import level_costs
from canary.capacity.document import BACKTEST_SCHEMA, PLAN_SCHEMA, backtest_document, plan_document
from canary.capacity.picture import draw
from canary.capacity.plan import Budget, Plan, make_plan
from canary.capacity.scenario import SeatKind
from canary.capacity.work import Work
from decide.reply import Billing
from tests.canary.capacity.histories import meter, office_hours
from tests.canary.capacity.scenes import MAX, PRO, team


@pytest.fixture(scope="module")
def plan() -> Plan:
    scenario = team({"medium": 1.0, "high": 0.1}, most={"max": 3, "pro": 2}, have={"max": 2})
    return make_plan(scenario, Budget(weeks=20), Work(scenario))


def valid(document: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json.loads(json.dumps(document)))


def test_a_plan_keeps_to_its_schema(plan: Plan) -> None:
    document = plan_document(plan)
    valid(document, PLAN_SCHEMA)
    fable, astra = document["rungs"]
    assert [each["seats"] for each in fable["by_seats"]] == [{"max": 1}, {"max": 2}, {"max": 3}]
    assert fable["have"]["usd_per_month"] == "400.00"
    assert (astra["have"]["seats"], astra["have"]["missing"]["mean"]) == ({}, 1.0)
    assert fable["next"][0]["change_usd_per_month"] == "200.00"
    assert fable["moved"]["share_of_high"] == 0.25
    assert document["simulated"] == {"weeks": 20, "seed": 1, "confidence": 0.95, "stopped": False}
    assert document["history_levels"] is None


def test_a_plan_from_history_tells_what_its_levels_cost(plan: Plan) -> None:
    document = plan_document(plan, level_costs(office_hours(1)))
    valid(document, PLAN_SCHEMA)
    assert [each["usd_subscription"]["median"] for each in document["history_levels"]] == ["0.10"]


def test_a_plan_without_prices_or_today_keeps_to_it_too(plan: Plan) -> None:
    kinds = (replace(MAX, micro_usd_per_month=None), PRO)
    bare = replace(plan.rungs[0], have=None, cheapest=None, nexts=(), moved=None)
    valid(plan_document(replace(plan, rungs=(bare,), either=None, both=None)), PLAN_SCHEMA)
    scenario = replace(plan.scenario, kinds=kinds, most={"max": 1, "pro": 1}, have={"max": 1, "pro": 1})
    document = plan_document(make_plan(scenario, Budget(weeks=20), Work(scenario)))
    valid(document, PLAN_SCHEMA)
    assert document["rungs"][0]["have"]["usd_per_month"] is None


def test_a_backtest_keeps_to_its_schema() -> None:
    found = backtest(meter(lambda hour: min(1.0, hour % 5 / 4), 30, resets=[5.0 * each for each in range(1, 9)]))
    assert found is not None
    document = backtest_document(found)
    valid(document, BACKTEST_SCHEMA)
    assert document["windows"]["forecast"]["foreseen_ratio"] == 1.0
    still = backtest(meter(lambda _: 0.1, 1))
    assert still is not None
    valid(backtest_document(still), BACKTEST_SCHEMA)


@pytest.mark.parametrize(("name", "begins"), [("plan.svg", b"<?xml"), ("plan.png", b"\x89PNG")])
def test_a_picture_is_drawn_by_the_ending_of_its_name(plan: Plan, tmp_path: Path, name: str, begins: bytes) -> None:
    draw(plan, tmp_path / name)
    data = (tmp_path / name).read_bytes()
    assert data.startswith(begins)
    assert len(data) > 10_000


def test_a_picture_shows_each_kind_of_seat(plan: Plan, tmp_path: Path) -> None:
    small = SeatKind("mini", "fable", MAX.windows, 90_000_000)
    scenario = replace(plan.scenario, kinds=(MAX, small, PRO), most={"max": 2, "mini": 2, "pro": 1})
    draw(make_plan(scenario, Budget(weeks=20), Work(scenario)), tmp_path / "three.svg")
    text = (tmp_path / "three.svg").read_text(encoding="utf-8")
    assert all(f"seats of kind {name}" in text for name in ("max", "mini", "pro"))


def drawn(plan: Plan, path: Path) -> str:
    """The text of the picture as SVG, where matplotlib keeps words beside their outlines."""
    draw(plan, path)
    return path.read_text(encoding="utf-8")


def test_a_picture_shows_spend_by_level_with_its_interval_metered_and_subscription_apart(
    plan: Plan, tmp_path: Path
) -> None:
    text = drawn(plan, tmp_path / "spend.svg")
    have = plan.rungs[0].have
    assert have is not None
    for each in have.spend:
        usd = each.micro_usd[Billing.SUBSCRIPTION]
        words = f"{usd.mean / 1e6:.2f}  ({usd.low / 1e6:.2f} to {usd.high / 1e6:.2f})"
        assert usd.low < usd.mean < usd.high
        assert f"<!-- {words} -->" in text
        assert f"<!-- {each.level} -->" in text
    for words in ("paid by use", "covered by subscriptions (notional)"):
        assert f"<!-- spend by level, {words} -->" in text
    assert "<!-- 0.00 USD a week with today" in text, "nothing is metered"


def test_a_picture_of_a_plan_that_was_stopped_says_that_spend_was_not_simulated(plan: Plan, tmp_path: Path) -> None:
    stopped = replace(plan, rungs=tuple(replace(rung, have=None) for rung in plan.rungs))
    assert drawn(stopped, tmp_path / "stopped.svg").count("<!-- not simulated -->") == 2


def test_one_plan_gives_one_picture(plan: Plan, tmp_path: Path) -> None:
    assert drawn(plan, tmp_path / "once.svg") == drawn(plan, tmp_path / "again.svg")
