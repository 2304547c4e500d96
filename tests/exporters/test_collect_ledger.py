"""Ledger collectors: what a page says of decisions and money."""

from dataclasses import replace
from itertools import product

import pytest

from decide.consultation import PassRole
from decide.cross_check import Check
from decide.ledger import Row
from decide.question import LevelName
from decide.quota import WindowKind
from exporters.catalog_ledger import CONSULTATION_RESULTS, PASS_RESULTS
from exporters.exposition import Exposition
from exporters.ledger_facts import CapFacts, LedgerFacts
from tests.exporters.ledgers import (
    CONSULTATION,
    DECISION,
    GATE,
    GATE_ROWS,
    PASS,
    QUESTION,
    QUOTA,
    SETTLEMENT,
    SKIPPED,
    facts_of,
    ledger_view,
)
from tests.exporters.pages import OPENMETRICS, page, series, value, values
from tests.exporters.scenes import NOW, ok_view, view

LEVELS, ROLES = len(LevelName), len(PassRole)
USD = "ladder_spend_usd_total"
QUOTA_USED = "ladder_quota_used_ratio_total"
LEDGER_WORDS = (
    "questions",
    "decision",
    "consultations",
    "passes",
    "pass_",
    "gate",
    "skipped",
    "spend",
    "token",
    "cap",
    "ledger",
)


def shown(*rows: Row, **changes: object) -> str:
    """The page of a ledger of those rows."""
    return page(replace(ok_view(), ledger=replace(facts_of(*rows), **changes)))  # type: ignore[arg-type]


def test_every_counter_is_there_from_the_start_for_each_rung_and_closed_value() -> None:
    text = page(replace(view(), ledger=facts_of()))
    found = series(text)
    ours = {key: n for key, n in found.items() if key[0].removeprefix("ladder_").startswith(LEDGER_WORDS)}
    zero = {key for key, n in ours.items() if n == 0}
    assert len(values(text, "ladder_passes_total")) == 2 * LEVELS * ROLES * len(PASS_RESULTS)
    assert len(values(text, "ladder_consultations_total")) == 2 * LEVELS * len(CONSULTATION_RESULTS)
    assert len(values(text, "ladder_decisions_total")) == LEVELS * 8
    assert len(values(text, USD)) == 2 * LEVELS * ROLES * 2 * 2
    assert len(values(text, "ladder_tokens_total")) == 2 * LEVELS * 5
    assert values(text, QUOTA_USED) == [0] * (2 * LEVELS * len(WindowKind))
    assert values(text, "ladder_questions_total") == [0] * LEVELS
    assert values(text, "ladder_unpriced_tokens_total") == [0, 0]
    assert values(text, "ladder_skipped_checks_total") == [0] * (LEVELS * len(Check))
    assert values(text, "ladder_decision_duration_seconds_count") == [0] * LEVELS
    assert values(text, "ladder_pass_duration_seconds_count") == [0, 0]
    assert {value(text, "ladder_gate_total", row=row, stage=stage) for row, stage in GATE_ROWS} == {0}
    assert {key[0] for key in ours.keys() - zero if "token_" not in key[0]} == {"ladder_ledger_readable"}
    assert not [key for key in ours if "other" in dict(key[1]).values()]


def test_decisions() -> None:
    text = shown(QUESTION, QUESTION, DECISION, replace(DECISION, level="low", result="held", duration_us=0))
    assert value(text, "ladder_questions_total", level="medium") == 2
    assert value(text, "ladder_decisions_total", level="medium", outcome="agreed") == 1
    assert value(text, "ladder_decisions_total", level="low", outcome="held") == 1
    assert sum(values(text, "ladder_decisions_total")) == 2
    assert value(text, "ladder_decision_duration_seconds_sum", level="medium") == 42
    assert value(text, "ladder_decision_duration_seconds_bucket", level="medium", le="30.0") == 0
    assert value(text, "ladder_decision_duration_seconds_bucket", level="medium", le="60.0") == 1
    assert value(text, "ladder_decision_duration_seconds_bucket", level="medium", le="+Inf") == 1


def test_consultations_passes_and_gate_rows() -> None:
    text = shown(CONSULTATION, replace(CONSULTATION, result="flip"), PASS, PASS, replace(PASS, rung="astra"), GATE)
    assert value(text, "ladder_consultations_total", rung="fable", level="medium", result="flip") == 1
    made = {"rung": "fable", "level": "medium", "role": "vote", "result": "resolved"}
    assert value(text, "ladder_passes_total", **made) == 2
    assert sum(values(text, "ladder_passes_total")) == 3
    assert value(text, "ladder_pass_duration_seconds_bucket", rung="astra", le="2.0") == 1
    assert value(text, "ladder_pass_duration_seconds_count", rung="fable") == 2
    assert value(text, "ladder_gate_total", row="money", stage="authority") == 1
    assert value(text, "ladder_gate_total", row="outward", stage="class") == 0


def test_money_is_exact_and_kept_apart_by_who_pays() -> None:
    notional = replace(PASS, billing="subscription", source="price_table", micro_usd=1_000_001)
    text = shown(PASS, replace(PASS, micro_usd=500_000), replace(PASS, micro_usd=300_000), notional, SETTLEMENT)
    assert value(text, USD, rung="fable", billing="metered", source="provider", level="medium", role="vote") == 1.2
    assert (
        value(text, USD, rung="fable", billing="subscription", source="price_table", role="vote", level="medium")
        == 1.000001
    )
    assert value(text, USD, rung="astra", billing="metered", source="price_table", role="repeat", level="low") == 0.07
    assert sum(values(text, "ladder_passes_total")) == 4


def test_tokens_by_kind_and_those_that_nobody_can_price() -> None:
    text = shown(PASS, replace(PASS, source="", micro_usd=0))
    kinds = {"input": 200, "cache_read": 40, "cache_write": 6, "output": 80, "reasoning": 10}
    for kind, count in kinds.items():
        assert value(text, "ladder_tokens_total", rung="fable", level="medium", kind=kind) == count
    assert value(text, "ladder_unpriced_tokens_total", rung="fable") == 168
    assert sum(values(text, USD)) == 0.4
    assert values(text, USD, source="other") == []


def test_checks_that_were_skipped_are_counted_by_check_and_level() -> None:
    text = shown(SKIPPED, SKIPPED, replace(SKIPPED, result="split_reread"), replace(SKIPPED, level="medium"))
    assert value(text, "ladder_skipped_checks_total", check="cross_check", level="high") == 2
    assert value(text, "ladder_skipped_checks_total", check="cross_check", level="medium") == 1
    assert value(text, "ladder_skipped_checks_total", check="split_reread", level="high") == 1
    assert sum(values(text, "ladder_skipped_checks_total")) == 4


def test_what_consultations_took_of_windows_is_a_ratio() -> None:
    text = shown(QUOTA, replace(QUOTA, result="shared", micro_ratio=1_500_000), replace(QUOTA, window_kind="weekly"))
    assert value(text, QUOTA_USED, rung="fable", level="medium", window="session") == 1.53
    assert value(text, QUOTA_USED, rung="fable", level="medium", window="weekly") == 0.03
    assert sum(values(text, QUOTA_USED)) == 1.56


def test_words_of_a_newer_version_are_shown_as_other() -> None:
    text = page(ledger_view())
    assert value(text, "ladder_questions_total", level="other") == 1
    assert value(text, "ladder_decisions_total", level="other", outcome="other") == 1
    assert value(text, "ladder_decision_duration_seconds_count", level="other") == 1
    assert value(text, "ladder_consultations_total", rung="fable", level="medium", result="other") == 1
    assert value(text, "ladder_passes_total", rung="nova", level="other", role="other", result="other") == 1
    assert value(text, USD, rung="nova", level="other", role="other", billing="other", source="other") == 0.4
    assert value(text, "ladder_tokens_total", rung="nova", level="other", kind="input") == 100
    assert value(text, QUOTA_USED, rung="nova", level="other", window="other") == 0.03
    assert value(text, "ladder_gate_total", row="money", stage="other") == 1
    assert value(text, "ladder_skipped_checks_total", check="other", level="other") == 1
    assert "abstained" not in text
    assert "barter" not in text


def test_several_unknown_words_are_one_other() -> None:
    huge, max_ = replace(DECISION, level="huge"), replace(DECISION, level="max", duration_us=1)
    text = shown(huge, max_, replace(huge, result="x"), replace(huge, result="y"))
    assert value(text, "ladder_decisions_total", level="other", outcome="agreed") == 2
    assert value(text, "ladder_decisions_total", level="other", outcome="other") == 2
    assert value(text, "ladder_decision_duration_seconds_count", level="other") == 4
    assert value(text, "ladder_decision_duration_seconds_bucket", level="other", le="0.5") == 1


def test_a_rung_or_gate_row_that_is_not_configured_any_more_keeps_what_it_did() -> None:
    text = shown(replace(PASS, rung="old rung"), replace(GATE, gate_row="old row"))
    assert value(text, "ladder_passes_total", rung="old rung", level="medium", role="vote", result="resolved") == 1
    assert sum(values(text, USD, rung="old rung")) == 0.4
    assert value(text, "ladder_gate_total", row="old row", stage="authority") == 1
    assert values(text, "ladder_rung_reachable", rung="old rung") == []


def test_no_ledger_is_no_series() -> None:
    found = {name for name, _ in series(page(ok_view()))}
    assert not [n for n in found if n.removeprefix("ladder_").startswith(LEDGER_WORDS) and "_token_" not in n]


@pytest.mark.parametrize(("readable", "rows"), [(True, 9), (False, None)])
def test_counters_are_absent_until_the_ledger_was_folded_once(readable: bool, rows: int | None) -> None:
    facts = LedgerFacts(readable, None, rows, rows, CapFacts(5), GATE_ROWS)
    text = page(replace(ok_view(), ledger=facts))
    for name in ("ladder_passes_total", USD, "ladder_questions_total", "ladder_pass_duration_seconds_count"):
        assert values(text, name) == []
    assert value(text, "ladder_ledger_readable") == readable
    assert values(text, "ladder_ledger_fold_lag_rows") == values(text, "ladder_ledger_rows_total") == [9] * readable
    assert value(text, "ladder_cap_passes_limit") == 5


def test_an_unreadable_ledger_leaves_the_counters_where_they_are() -> None:
    text = shown(PASS, readable=False, caps=CapFacts(200, None, 20_000_000, None))
    assert value(text, "ladder_ledger_readable") == 0
    assert sum(values(text, USD)) == 0.4
    assert values(text, "ladder_cap_passes_used") == values(text, "ladder_cap_usd_used") == []
    assert (value(text, "ladder_cap_passes_limit"), value(text, "ladder_cap_usd_limit")) == (200, 20)


def test_caps_and_the_ledger_itself() -> None:
    text = shown(PASS, lag_rows=3, rows=4, caps=CapFacts(200, 17, None, None))
    assert (value(text, "ladder_cap_passes_limit"), value(text, "ladder_cap_passes_used")) == (200, 17)
    assert values(text, "ladder_cap_usd_limit") == values(text, "ladder_cap_usd_used") == []
    assert (value(text, "ladder_ledger_rows_total"), value(text, "ladder_ledger_fold_lag_rows")) == (4, 3)
    both = page(ledger_view())
    assert (value(both, "ladder_cap_usd_limit"), value(both, "ladder_cap_usd_used")) == (20, 0.99)


def test_exemplars_carry_the_receipt_in_openmetrics_only() -> None:
    text = page(ledger_view(), OPENMETRICS)
    assert series(text) == series(page(ledger_view()))
    line = next(
        one
        for one in text.splitlines()
        if one.startswith('ladder_pass_duration_seconds_bucket{le="2.0",rung="fable"')
    )
    assert line.endswith('# {receipt="r-3"} 1.8 1782907209.000000000')
    assert 'receipt="r-1"' in text
    assert "receipt" not in page(ledger_view())


def test_the_page_of_one_rung_has_its_counts() -> None:
    text = Exposition(ledger_view(), lambda: NOW).page(rung="astra").body.decode()
    assert {name for name, _ in series(text)} >= {"ladder_passes_total", USD, "ladder_pass_duration_seconds_bucket"}
    assert {dict(labels).get("rung") for _, labels in series(text)} == {"astra"}


def test_every_metric_of_the_ledger_has_series_once_all_is_known() -> None:
    names = {name.removesuffix("_bucket") for name, _ in series(page(ledger_view()))}
    cap = {f"ladder_cap_{unit}_{what}" for unit, what in product(("passes", "usd"), ("limit", "used"))}
    assert cap < names
    assert {"ladder_decision_duration_seconds", "ladder_gate_total", "ladder_unpriced_tokens_total"} < names
