"""History from the ledger: its rows' columns become decisions with what each took."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from canary.capacity.history import Decision, RungUse, decisions
from decide.ledger import Row
from tests.exporters.ledgers import CONSULTATION, DECISION, PASS, QUESTION, REFUSED
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
    assert found == (Decision(LATE, "medium", "agreed", {"fable": fable, "astra": RungUse(1, 0, tokens)}, 42.0),)


def test_runs_at_once_are_told_apart_and_a_run_without_a_receipt_took_nothing() -> None:
    other = replace(PASS, receipt="r-2", rung="astra")
    held = replace(DECISION, result="held", receipt="", level="low")
    found = read(PASS, other, held, replace(DECISION, receipt="r-2"), DECISION)
    assert [(each.outcome, sorted(each.uses)) for each in found] == [
        ("held", []),
        ("agreed", ["astra"]),
        ("agreed", ["fable"]),
    ]


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
