"""History from the ledger: its rows' columns become decisions with what each took."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from canary.capacity.history import Decision, RungUse, decisions
from decide.ledger import Row
from decide.quota import WindowKind
from tests.exporters.ledgers import CONSULTATION, DECISION, PASS, QUESTION, QUOTA, REFUSED
from tests.exporters.scenes import NOW

LATE = NOW + timedelta(minutes=5)


class Ledger:
    """Rows in memory, read like the store's."""

    def __init__(self, *rows: Row, portion: int = 3) -> None:
        self._rows, self._portion = rows, portion

    async def columns_after(self, seq: int, limit: int, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        rows = self._rows[seq : seq + min(limit, self._portion)]
        values = ({"seq": place, **row.values()} for place, row in enumerate(rows, seq + 1))
        return [tuple(value[name] for name in columns) for value in values]


def read(*rows: Row, since: timedelta = timedelta(days=1)) -> tuple[Decision, ...]:
    return asyncio.run(decisions(Ledger(*rows), since=NOW - since))


def test_a_decision_has_what_its_passes_took() -> None:
    again = replace(PASS, role="reconsideration", micro_usd=100_000, source="price_table")
    unknown = replace(PASS, rung="astra", source="", micro_usd=0)
    found = read(QUESTION, PASS, again, REFUSED, unknown, CONSULTATION, replace(DECISION, at=LATE))
    tokens = 100 + 20 + 3 + 40 + 5
    fable = RungUse(2, 1, 2 * tokens, {("metered", "provider"): 400_000, ("metered", "price_table"): 100_000})
    astra = RungUse(1, 0, tokens, unpriced=1)
    assert found == (Decision(LATE, "medium", "agreed", {"fable": fable, "astra": astra}, 42.0),)


def test_runs_at_once_are_told_apart_and_a_run_without_a_receipt_took_nothing() -> None:
    other = replace(PASS, receipt="r-2", rung="astra")
    held = replace(DECISION, result="held", receipt="", level="low")
    found = read(PASS, other, held, replace(DECISION, receipt="r-2"), DECISION)
    assert [(each.outcome, sorted(each.uses)) for each in found] == [
        ("held", []),
        ("agreed", ["astra"]),
        ("agreed", ["fable"]),
    ]


WITHOUT_COST = [
    ("resolved", 1),
    ("needs_human", 1),
    ("model_refusal", 1),
    ("timeout", 1),
    ("malformed", 1),
    ("substituted", 1),
    ("cancelled", 1),
    ("network", 0),
    ("server_error", 0),
    ("rate_limited", 0),
    ("seat_capped", 0),
    ("not_installed", 0),
]


@pytest.mark.parametrize(("result", "unpriced"), WITHOUT_COST)
def test_a_cost_is_unknown_only_where_a_model_may_have_worked(result: str, unpriced: int) -> None:
    (found,) = read(PASS, replace(PASS, source="", micro_usd=0, result=result), DECISION)
    assert found.uses["fable"].unpriced == unpriced


def test_what_it_took_of_windows_comes_after_it() -> None:
    weekly = replace(QUOTA, window_kind="weekly", micro_ratio=0)
    nobodys = replace(QUOTA, receipt="r-9", micro_ratio=1)
    (found,) = read(PASS, DECISION, QUOTA, replace(QUOTA, micro_ratio=2_500), weekly, nobodys)
    assert found.uses["fable"].points == {WindowKind.SESSION: 3.25, WindowKind.WEEKLY: 0.0}
    assert list(found.uses) == ["fable"]


def test_what_ended_before_is_left_out_and_the_rest_is_in_order_of_time() -> None:
    rows = [replace(DECISION, at=NOW - timedelta(hours=hours)) for hours in (30, 2, 5)]
    assert [each.at for each in read(*rows)] == [NOW - timedelta(hours=5), NOW - timedelta(hours=2)]


def test_an_empty_ledger_has_no_decisions() -> None:
    assert read() == ()


def test_a_real_store_is_read_the_same(tmp_path: Path) -> None:
    from decide.store.opening import open_store

    async def opened() -> tuple[Decision, ...]:
        async with await open_store(tmp_path / "ledger.sqlite", host="here", pid=1) as store:
            return await decisions(store, since=NOW)

    assert asyncio.run(opened()) == ()
