"""Every dashboard keeps the rules of Grafana's dashboard-linter, each a test of its own."""

import json
from typing import Any

import promql_parser as parser
import pytest

from tests.dashboards.expressions import is_counter, matchers, nodes, selectors
from tests.dashboards.lint import SOURCE, hundredfold, short_windows, sources
from tests.dashboards.shown import BOARDS, annotations, every_panel, every_target, panels, variables

UNITS = frozenset({"none", "short", "percentunit", "s", "dtdurations", "currencyUSD"})
"""The units that are used, all of Grafana's own list."""
QUERIES = [(f"{uid}: {title} {target['refId']}", target["expr"]) for uid, title, target in every_target()]
each_board = pytest.mark.parametrize("uid", BOARDS)
each_query = pytest.mark.parametrize("expr", [expr for _, expr in QUERIES], ids=[name for name, _ in QUERIES])


@each_board
def test_template_datasource_rule(uid: str) -> None:
    (one,) = (found for found in variables(BOARDS[uid]).values() if found["type"] == "datasource")
    assert (one["name"], one["label"], one["query"]) == ("datasource", "Data source", "prometheus")


@each_board
@pytest.mark.parametrize(("name", "label"), [("job", "Job"), ("instance", "Instance")])
def test_template_job_and_instance_rules(uid: str, name: str, label: str) -> None:
    one = variables(BOARDS[uid])[name]
    assert (one["type"], one["label"], one["multi"], one["includeAll"]) == ("query", label, True, True)
    assert (one["allValue"], one["datasource"]) == (".+", SOURCE)


@each_board
def test_every_other_variable_takes_several_values_or_all(uid: str) -> None:
    for name, one in variables(BOARDS[uid]).items():
        if one["type"] == "query":
            assert (name, one["multi"], one["includeAll"], one["allValue"]) == (name, True, True, ".+")


@each_board
def test_template_label_promql_rule(uid: str) -> None:
    for name, one in variables(BOARDS[uid]).items():
        if one["type"] == "query":
            inner, _, label = one["query"]["query"].removeprefix("label_values(").rpartition(", ")
            assert label == f"{name})"
            parser.parse(inner)


@each_board
def test_template_on_time_change_reload_rule(uid: str) -> None:
    assert {one["refresh"] for one in variables(BOARDS[uid]).values() if one["type"] == "query"} == {2}


@each_board
def test_a_variable_is_there_to_be_used(uid: str) -> None:
    text = json.dumps([panels(BOARDS[uid]), annotations(BOARDS[uid])])
    assert [name for name in variables(BOARDS[uid]) if f"${name}" not in text and f"${{{name}}}" not in text] == []


def test_panel_datasource_rule() -> None:
    assert [panel["title"] for _, panel in every_panel() if panel["datasource"] != SOURCE] == []


def test_panel_title_and_description_rule() -> None:
    lacking = [panel["title"] for _, panel in every_panel() if not (panel["title"] and panel["description"])]
    assert lacking == []


def test_panel_units_rule() -> None:
    assert [p["title"] for _, p in every_panel() if p["fieldConfig"]["defaults"]["unit"] not in UNITS] == []
    for _, panel in every_panel():
        for override in panel["fieldConfig"]["overrides"]:
            units = [one["value"] for one in override["properties"] if one["id"] == "unit"]
            assert set(units) <= UNITS


def test_panel_no_targets_rule() -> None:
    assert [panel["title"] for _, panel in every_panel() if not panel["targets"]] == []


@each_query
def test_target_promql_rule(expr: str) -> None:
    assert list(nodes(expr))


@each_query
def test_target_job_and_instance_rules(expr: str) -> None:
    for selector, _ in selectors(expr):
        assert {("job", "=~", "$job"), ("instance", "=~", "$instance")} <= set(matchers(selector))


@each_query
def test_target_rate_interval_rule(expr: str) -> None:
    for node, above in nodes(expr):
        if isinstance(node, parser.MatrixSelector) and isinstance(above[-1], parser.Call):
            if above[-1].func.name in ("rate", "irate"):
                assert "[$__rate_interval]" in expr
                assert node.range.total_seconds() == 20 * 60
            elif above[-1].func.name == "increase":
                assert node.range.total_seconds() in (20 * 60, 6 * 3600)


@each_query
def test_target_counter_agg_rule(expr: str) -> None:
    for selector, above in selectors(expr):
        if is_counter(selector.name):
            assert isinstance(above[-1], parser.MatrixSelector)
            assert above[-2].func.name in ("rate", "increase")


@each_board
def test_uneditable_dashboard_rule(uid: str) -> None:
    assert BOARDS[uid]["editable"] is False


def test_no_share_is_shown_a_hundred_times_as_large() -> None:
    for _, panel in every_panel():
        unit = panel["fieldConfig"]["defaults"]["unit"]
        assert [target["expr"] for target in panel["targets"] if hundredfold(target["expr"], unit)] == []


@each_board
def test_the_dashboards_own_variable_is_the_only_data_source(uid: str) -> None:
    document = BOARDS[uid]
    assert [one for one in sources(document) if one != SOURCE] == []
    assert not {"__inputs", "__requires", "id"} & document.keys()


@each_board
def test_no_window_is_shorter_than_four_ticks(uid: str) -> None:
    assert [found for panel in panels(BOARDS[uid]) for found in short_windows(panel, 300)] == []


def _exemplars() -> list[Any]:
    return [title for _, title, target in every_target() if target["exemplar"]]


def test_durations_open_receipts_by_their_exemplars() -> None:
    assert len(_exemplars()) == 4
