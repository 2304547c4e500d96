"""Public cases of kind 8: alerts that stay quiet where they should not, and dashboards that show nothing or too much."""

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from exporters.exposition import Exposition
from tests.canary.fakes import NOW
from tests.cases.adapter import given
from tests.dashboards.alert_facts import FACTS
from tests.dashboards.lint import SOURCE, hundredfold, short_windows, sources
from tests.dashboards.promtool import Case, Fires, Gives, Quiet, failures, placed
from tests.dashboards.record_facts import RECORDS
from tests.dashboards.shown import BOARDS, every_panel
from tests.dashboards.test_quiet import MORE
from tests.exporters.ledgers import ledger_view

NEUTRAL = {
    "decide_single_rung_total": ("ladder_decisions_total", {"outcome": "single_rung"}),
    "decide_runs_total": ("ladder_decisions_total", {"outcome": "agreed"}),
}
"""The cases' own names of what our counters say, with the labels that ours need beside."""
promtool = pytest.mark.prometheus


def ours(case: str) -> Mapping[str, str]:
    """A case's series by our names."""
    found = {}
    for one in given(case)["promtool"]["input_series"]:
        name, _, labels = one["series"].partition("{")
        renamed, more = NEUTRAL.get(name, (name, {}))
        listed = [part for part in labels.rstrip("}").split(",") if part]
        if more and not listed:
            listed = ['level="medium"']
        found[f"{renamed}{{{','.join([*listed, *(f'{key}={json.dumps(value)}' for key, value in more.items())])}}}"] = one["values"]  # fmt: skip
    return found


def at(case: str) -> str:
    """When a case looks."""
    return str(given(case)["promtool"]["eval_time"])


@promtool
def test_alr_01_nothing_at_all_is_the_worst_outage(tmp_path: Path) -> None:
    """ALR-01."""
    silent = Case("no series", ours("ALR-01"), (Fires("CanarySilent", at("ALR-01"), {"job": "rungwatch"}),))
    stands = placed("ladder_canary_last_tick_timestamp_seconds")
    stopped = Case("three ticks", {stands: "0x60"}, (Quiet("CanarySilent", "15m"), Fires("CanarySilent", "30m")))
    assert failures(tmp_path, [silent, stopped]) == ""


@promtool
def test_alr_02_the_rung_that_is_no_longer_shown_is_named(tmp_path: Path) -> None:
    """ALR-02."""
    fires = Fires("RungMissing", at("ALR-02"), {"rung": "fable"})
    quiet = Gives('count(ALERTS{alertname="RungMissing", rung="astra"})', at("ALR-02"), {})
    assert failures(tmp_path, [Case("fable is gone", ours("ALR-02"), (fires, quiet))]) == ""


@promtool
def test_alr_04_the_first_event_counts_since_its_counter_was_there_before(tmp_path: Path) -> None:
    """ALR-04."""
    (late,) = ours("ALR-04").items()
    increase = 'increase(ladder_decisions_total{outcome="single_rung"}[10m]) > bool 0'
    labels = '{level="medium",outcome="single_rung"}'
    born_at_1 = Case("born at 1", dict([late]), (Gives(increase, at("ALR-04"), {labels: 0}),))
    from_0 = Case("from 0 on", {late[0]: "0x10 1x30"}, (Gives(increase, at("ALR-04"), {labels: 1}),))
    assert failures(tmp_path, [born_at_1, from_0]) == ""


def test_alr_04_the_exporter_writes_0_from_the_first_scrape() -> None:
    """ALR-04."""
    text = Exposition(ledger_view(), lambda: NOW).text().decode()
    samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
    counted = {tuple(s.labels.values()): s.value for s in samples if s.name == "ladder_decisions_total"}
    assert 0 in counted.values()
    assert {level for level, _ in counted} >= {"low", "medium", "high"}


@promtool
def test_alr_06_scrapes_that_fail_reset_no_alert(tmp_path: Path) -> None:
    """ALR-06."""
    naive = re.sub(" for .*", "", given("ALR-06")["naive_rule"])
    seen = Gives(f"count_over_time(({naive})[10m:1m]) < bool 11", at("ALR-06"), {'{rung="fable"}': 1})
    case = Case("flaky", ours("ALR-06"), (Fires("RungMissing", at("ALR-06"), {"rung": "fable"}), seen))
    assert failures(tmp_path, [case]) == ""


@promtool
def test_alr_08_a_ratio_of_nothing_neither_alerts_nor_hides(tmp_path: Path) -> None:
    """ALR-08: one single_rung answer of one does not alert: the rule asks for five answers."""
    still = Case(
        "a quiet hour",
        ours("ALR-08"),
        (Quiet("SingleRungRateHigh", at("ALR-08")), Gives("job_level:ladder_single_rung:ratio_increase6h", at("ALR-08"), {})),
        interval=given("ALR-08")["promtool"]["interval"],
    )  # fmt: skip
    one = {placed("ladder_decisions_total", level="medium", outcome="single_rung"): "0x10 1x170"}
    alone = Case("one of one", one, (Quiet("SingleRungRateHigh", "2h"),))
    assert failures(tmp_path, [still]) + failures(tmp_path, [alone]) == ""


def test_alr_08_the_panel_says_that_there_were_no_questions() -> None:
    """ALR-08."""
    told = {panel["title"]: panel["fieldConfig"]["defaults"]["noValue"] for _, panel in every_panel()}
    assert told["Of these, on one rung alone"] == "no questions"


def test_alr_09_a_share_is_not_multiplied_by_100() -> None:
    """ALR-09."""
    panel = given("ALR-09")["panel"]
    assert hundredfold(panel["expr"], panel["unit"])
    assert not hundredfold("ladder_seat_quota_used_ratio", "percentunit")


@pytest.mark.parametrize("reference", given("ALR-11")["datasource_refs"][:3], ids=str)
def test_alr_11_another_data_source_is_found(reference: Any) -> None:
    """ALR-11."""
    document = deepcopy(BOARDS["rungwatch-oncall"])
    document["panels"][0]["targets"][0]["datasource"] = reference
    assert [one for one in sources(document) if one != SOURCE] == [reference]


def test_alr_12_a_window_as_short_as_a_tick_is_found() -> None:
    """ALR-12."""
    tick = given("ALR-12")["canary_interval_s"]
    exprs = given("ALR-12")["exprs"]
    panel: dict[str, Any] = {"targets": [{"expr": expr} for expr in exprs]}
    assert short_windows(panel, tick) == exprs
    assert short_windows(panel | {"interval": "5m"}, tick) == exprs[:2]


@promtool
def test_alr_12_with_a_sample_each_tick_the_expressions_give_a_value(tmp_path: Path) -> None:
    """ALR-12: Grafana's rate interval is four times the interval that the data source is told."""
    ticks = {placed("ladder_canary_ticks_total", result="ok"): "0+1x30"}
    facts = (Gives("sum by (result) (increase(ladder_canary_ticks_total[20m]))", "2h", {'{result="ok"}': 4}),)
    assert failures(tmp_path, [Case("5m apart", ticks, facts, interval="5m")]) == ""


_TOKEN = re.compile(r"([^x\s]+?)(?:x(\d+))?")


def _steps(values: str) -> int:
    """How many intervals a series covers."""
    steps = 0
    for token in values.split():
        found = _TOKEN.fullmatch(token)
        assert found, token
        steps += int(found[2] or 0) + (0 if found[2] and found[1] == "_" else 1)
    return steps


def _seconds(text: str) -> int:
    return sum(int(number) * {"h": 3600, "m": 60, "s": 1}[unit] for number, unit in re.findall(r"(\d+)([hms])", text))


@pytest.mark.parametrize("case", [*FACTS, *RECORDS, *MORE], ids=lambda case: case.name)
def test_alr_14_no_fact_rests_on_a_series_that_has_ended(case: Case) -> None:
    """ALR-14."""
    assert _seconds(case.interval) > 0
    latest = max(_seconds(fact.at) for fact in case.facts)
    for name, values in case.series.items():
        covered = (_steps(values) - 1) * _seconds(case.interval)
        assert covered >= latest or values.endswith("stale"), (name, covered, latest)


def test_alr_14_a_series_that_ends_too_early_is_found() -> None:
    """ALR-14."""
    test = given("ALR-14")["test"]
    assert test["interval"] is None
    assert (_steps(test["values"]) - 1) * 60 < _seconds(test["eval_time"])
