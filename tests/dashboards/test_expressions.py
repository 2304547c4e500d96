"""Every expression names only what the catalog has: its metrics, labels and label values."""

import re
import subprocess
import sys

import pytest

from dashboards.promql import Selectors, UnknownError, codes
from dashboards.rule import Alert
from tests.dashboards.expressions import wrong
from tests.dashboards.promtool import RULES
from tests.dashboards.shown import BOARDS, annotations, every_target, variables

RULE_EXPRS = [(rule.name, rule.expr) for group in RULES for rule in group.rules]
PANEL_EXPRS = [(f"{uid}: {title} {target['refId']}", target["expr"]) for uid, title, target in every_target()]
NOTES = [(f"{uid}: {one['name']}", one["expr"]) for uid, board in BOARDS.items() for one in annotations(board)]
CHOICES = [
    (f"{uid}: ${name}", one["query"]["query"].removeprefix("label_values(").rpartition(", ")[0])
    for uid, board in BOARDS.items()
    for name, one in variables(board).items()
    if one["type"] == "query"
]
EXPRS = [*RULE_EXPRS, *PANEL_EXPRS, *NOTES, *CHOICES]
_ASKED = re.compile(r"printf `([^`]*)`")


@pytest.mark.parametrize("expr", [expr for _, expr in EXPRS], ids=[name for name, _ in EXPRS])
def test_it_names_only_what_is_there(expr: str) -> None:
    assert list(wrong(expr)) == []


ASKING = [rule for group in RULES for rule in group.rules if isinstance(rule, Alert) and "printf" in rule.description]


@pytest.mark.parametrize("rule", ASKING, ids=[rule.name for rule in ASKING])
def test_what_an_alert_asks_for_its_text_is_there_too(rule: Alert) -> None:
    asked = _ASKED.findall(rule.description)
    assert asked
    for text in asked:
        assert list(wrong(text.replace("%q", '"x"'))) == []


@pytest.mark.parametrize(
    ("expr", "told"),
    [
        ("ladder_states", "no metric 'ladder_states' is in the catalog"),
        ("ladder_seats_total", "no metric 'ladder_seats_total' is in the catalog"),
        ('ladder_state{word="ok"}', "ladder_state has no label 'word'"),
        ('ladder_state{state="fine"}', "ladder_state: state is never 'fine', but one of ok, degraded, down, blind"),
        (
            'ladder_state{state=~"ok|fine"}',
            "ladder_state: state is never 'fine', but one of ok, degraded, down, blind",
        ),
        ("sum by (colour) (ladder_state)", "no series here has a label 'colour'"),
        ("ladder_state / on (seat) up", "no series here has a label 'seat'"),
    ],
)
def test_what_is_not_there_is_found(expr: str, told: str) -> None:
    assert list(wrong(expr)) == [told]


@pytest.mark.parametrize(
    ("name", "labels"),
    [("ladder_rung_up", {}), ("ladder_state", {"state": "fine"}), ("ladder_state", {"colour": "red"})],
)
def test_what_the_catalog_lacks_is_no_building_stone(name: str, labels: dict[str, str]) -> None:
    with pytest.raises(UnknownError):
        Selectors()(name, **labels)


def test_a_state_set_is_coded_whole() -> None:
    with pytest.raises(UnknownError, match="ok, degraded, down, blind"):
        codes(Selectors(), "ladder_state", ("ok", "down"), "job")


RENAMED = """
import sys
import exporters.catalog as catalog
from dataclasses import replace
catalog.CATALOG = tuple(
    replace(one, name="renamed_" + one.name) if one.name == sys.argv[1] else one for one in catalog.CATALOG
)
from dashboards.build import files
from dashboards.settings import Settings
files(Settings())
"""


@pytest.mark.parametrize(
    "name",
    [
        "ladder_state",
        "ladder_seat_quota_used_ratio",
        "ladder_canary_missed_ticks_total",
        "ladder_pass_duration_seconds",
        "ladder_cap_usd_limit",
        "ladder_webhook_deliveries_total",
        "ladder_confirm_consume_seconds",
    ],
)
def test_a_metric_that_is_renamed_breaks_the_build(name: str) -> None:
    done = subprocess.run((sys.executable, "-c", RENAMED, name), capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "UnknownError: no metric" in done.stderr
    assert name in done.stderr.splitlines()[-1]
