"""The catalog: names, types and help texts are pinned; ladder and label sets are closed."""

import importlib
from collections.abc import Callable

import pytest

import exporters.catalog as catalog
from decide.consultation import PASS_CANCELLED
from decide.cross_check import Check
from decide.question import LevelName
from decide.reason import Reason
from decide.reply import Billing, Failure, Usage
from decide.ruling import Outcome
from decide.seat import SeatState
from decide.verdict import Decline
from exporters.catalog import CATALOG, COLLECTOR_NAMES, READ_RESULTS, Label, Metric, MetricType, markdown
from exporters.collect import COLLECTORS


def test_exp_16_names_types_units_and_help_are_pinned(golden: Callable[[str, str], None]) -> None:
    rows = [f"{m.name} {m.type} {m.unit or '-'} {','.join(m.label_names) or '-'} {m.help}" for m in CATALOG]
    golden("catalog.txt", "\n".join(rows) + "\n")


def test_the_table_holds_every_metric_once_with_its_closed_sets(golden: Callable[[str, str], None]) -> None:
    table = markdown()
    for metric in CATALOG:
        assert table.count(f"| `{metric.name}` |") == 1
    assert "`state`: no_token, capped, unknown, available" in table
    golden("metrics.md", table)


def test_every_metric_is_named_by_the_rules() -> None:
    for metric in CATALOG:
        assert metric.name.startswith("ladder_")
        assert metric.help.endswith(".")
        assert "\n" not in metric.help
        assert metric.family.endswith("_ratio") == (metric.unit == "ratio")
        assert metric.name.endswith("_seconds") == (metric.unit == "seconds")
        assert metric.group in ("Ladder", "Seats", "Canary", "Decisions", "Spend", "Queue and inbox", "Clicks")


def test_exp_09_no_two_metrics_share_a_family() -> None:
    families = [metric.family for metric in CATALOG]
    assert len(families) == len(set(families)) == len({metric.name for metric in CATALOG})


def test_exp_09_reloading_the_catalog_raises_nothing() -> None:
    again = importlib.reload(catalog)
    assert [metric.name for metric in again.CATALOG] == [metric.name for metric in CATALOG]


@pytest.mark.parametrize(
    ("name", "kind", "unit"),
    [
        ("ladder_ticks", MetricType.COUNTER, ""),
        ("ladder_ticks_total", MetricType.GAUGE, ""),
        ("ladder_build", MetricType.INFO, ""),
        ("ladder_used", MetricType.GAUGE, "ratio"),
        ("ladder_wait_seconds_sum", MetricType.HISTOGRAM, ""),
        ("ladder_wait_total", MetricType.HISTOGRAM, ""),
    ],
)
def test_a_name_that_contradicts_its_type_or_unit_is_refused(name: str, kind: MetricType, unit: str) -> None:
    with pytest.raises(ValueError, match=name):
        Metric(name, kind, "Help.", unit)


def test_closed_sets_follow_the_rules_own_enums() -> None:
    sets = {(metric.name, label.name): label.values for metric in CATALOG for label in metric.labels}
    assert sets["ladder_rung_blocked", "reason"] == tuple(Reason)
    assert sets["ladder_seats", "state"] == tuple(SeatState)
    assert sets["ladder_rung_blocked", "rung"] == ()
    assert Label("rung") == Label("rung", ())


def test_the_ledgers_closed_sets_hold_every_word_that_a_run_writes() -> None:
    sets = {(metric.name, label.name): set(label.values) for metric in CATALOG for label in metric.labels}
    declines = {kind.value for kind in Decline}
    assert sets["ladder_consultations_total", "result"] == {"resolved", "incomplete", "unreachable", *declines}
    gated = {"class_gate", "split", "flip"}
    ended = {"resolved", PASS_CANCELLED, *map(str, Failure)}
    assert sets["ladder_passes_total", "result"] == (declines - gated) | ended
    assert sets["ladder_decisions_total", "outcome"] == set(Outcome)
    assert sets["ladder_spend_usd_total", "billing"] == set(Billing)
    assert sets["ladder_tokens_total", "kind"] == set(Usage.__slots__)
    assert sets["ladder_gate_total", "row"] == set()
    assert sets["ladder_skipped_checks_total", "check"] == set(Check)
    assert sets["ladder_skipped_checks_total", "level"] == set(LevelName)


def test_only_words_of_the_ledger_may_be_other() -> None:
    for metric in CATALOG:
        for label in metric.labels:
            assert not label.open or (metric.type is not MetricType.GAUGE and label.values)
            assert not label.open or metric.collector in ("decisions", "spend", "queue", "clicks")


def test_read_results_are_failures_and_never_caps() -> None:
    assert READ_RESULTS[:2] == ("ok", "held")
    assert {"malformed", "missing", "timeout", "http_429", "rejected"} <= set(READ_RESULTS)
    assert not {"weekly_cap", "walled", "no_seat", "never_read"} & set(READ_RESULTS)


def test_each_metric_has_a_collector_that_exists() -> None:
    assert tuple(COLLECTORS) == COLLECTOR_NAMES
    assert {metric.collector for metric in CATALOG} == {*COLLECTOR_NAMES, ""}
