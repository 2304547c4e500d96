"""Meters in the store: readings kept once, what grew told once, on ledger and receipt, and only when all is in."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from decide.fault import StoreError
from decide.ledger import Row, RowKind
from decide.meter import MeterSample
from decide.ports import Settlement
from decide.quota import WindowKind
from decide.store.audit import Verified
from decide.store.store import SqlStore
from tests.decide.store.work import LEASE, NOW, claiming, ending, opened, reserving, sql

SESSION, WEEKLY = WindowKind.SESSION, WindowKind.WEEKLY_MODEL
DESK = MeterSample("fable", "desk", SESSION, "", NOW, 0.25, NOW + timedelta(hours=3))


def later(minutes: float, used: float, sample: MeterSample = DESK) -> MeterSample:
    """A later reading of a window."""
    return replace(sample, at=NOW + timedelta(minutes=minutes), used=used)


def settling(call: str, receipt: str, minutes: float, *, tokens: int = 1000, **more: Any) -> Settlement:
    """A pass of a minute that ended so many minutes after NOW."""
    row = Row(
        RowKind.PASS,
        NOW + timedelta(minutes=minutes),
        level="medium",
        rung="fable",
        seat="desk",
        role="vote",
        question="q",
        receipt=receipt,
        call_id=call,
        input_tokens=tokens,
        duration_us=60_000_000,
    )
    return Settlement(call, 0, replace(row, **more))


async def ran(store: SqlStore, run: str, *settled: Settlement, ended: bool = True, at: datetime = NOW) -> None:
    """A run whose passes are those, with a receipt of its own name."""
    calls = [one.call_id for one in settled]
    await store.claim(claiming(run, f"q-{run}", at=at))
    await store.reserve(reserving(run, *calls, key=f"q-{run}", at=at))
    await store.settle(settled)
    if ended:
        receipt = {"outcome": "agreed", "exit_code": 0, "quota": []}
        await store.end(ending(run, key=f"q-{run}", receipt_id=run, receipt=receipt))


async def told(store: SqlStore) -> list[tuple[Any, ...]]:
    """What the ledger says was taken: receipt, role, window, millionths, how surely."""
    names = ("kind", "receipt", "role", "window_kind", "micro_ratio", "result", "rung", "seat", "level")
    rows = await store.columns_after(0, 1000, names)
    assert all(row[6:] == ("fable", "desk", "medium") for row in rows if row[0] == RowKind.QUOTA.value)
    return [row[1:6] for row in rows if row[0] == RowKind.QUOTA.value]


async def test_readings_are_kept_in_order_and_each_once(store: SqlStore) -> None:
    model = MeterSample("fable", "desk", WEEKLY, "Fable", NOW + timedelta(minutes=1), 1.25)
    await store.meter([DESK, model], NOW)
    await store.meter([later(5, 0.28), DESK, later(-5, 0.1), model], NOW + timedelta(minutes=5))
    assert await store.metered_since(NOW) == (DESK, model, later(5, 0.28))
    assert await store.metered_since(NOW + timedelta(microseconds=1)) == (model, later(5, 0.28))


async def test_what_grew_is_told_on_the_ledger_and_on_the_receipt(store: SqlStore) -> None:
    model = MeterSample("fable", "desk", WEEKLY, "Fable", NOW, 0.5)
    await ran(store, "r1", settling("c1", "r1", 2), settling("c2", "r1", 3, role="repeat"))
    await store.meter([DESK, model], NOW)
    await store.meter([later(5, 0.28), later(5, 0.5, model)], NOW + timedelta(minutes=5))
    wanted = [("r1", "vote", "session", 30_000, "attributed"), ("r1", "vote", "weekly_model", 0, "attributed")]
    assert await told(store) == wanted
    seen = {"rung": "fable", "seat": "desk", "role": "vote", "shared": False}
    assert (await store.receipt("r1"))["quota"] == [
        seen | {"window": "session", "scope": None, "points": 3.0},
        seen | {"window": "weekly_model", "scope": "Fable", "points": 0.0},
    ]
    assert isinstance(await store.verify(), Verified)


async def test_a_consultation_over_two_gaps_is_summed_and_shared_once_it_was(store: SqlStore) -> None:
    await ran(store, "r1", settling("c1", "r1", 4), settling("c2", "r1", 8))
    await ran(store, "r2", settling("c3", "r2", 9, tokens=3000))
    await store.meter([DESK, later(5, 0.26), later(10, 0.30)], NOW + timedelta(minutes=10))
    assert await told(store) == [
        ("r1", "vote", "session", 10_000, "attributed"),
        ("r1", "vote", "session", 10_000, "shared"),
        ("r2", "vote", "session", 30_000, "shared"),
    ]
    quota = {run: (await store.receipt(run))["quota"] for run in ("r1", "r2")}
    assert [(one["points"], one["shared"]) for run in ("r1", "r2") for one in quota[run]] == [
        (2.0, True),
        (3.0, True),
    ]


async def test_it_is_told_once(store: SqlStore) -> None:
    await ran(store, "r1", settling("c1", "r1", 4))
    for _ in range(3):
        await store.meter([DESK, later(5, 0.26)], NOW + timedelta(minutes=6))
    await store.meter([], NOW + timedelta(minutes=7))
    assert await told(store) == [("r1", "vote", "session", 10_000, "attributed")]
    assert [one["points"] for one in (await store.receipt("r1"))["quota"]] == [1.0]


async def test_it_waits_for_a_run_that_may_still_tell_of_a_pass(store: SqlStore) -> None:
    await ran(store, "r1", settling("c1", "r1", 2), ended=False, at=NOW + timedelta(minutes=1))
    await store.meter([DESK, later(5, 0.28)], NOW + timedelta(minutes=5))
    assert await told(store) == []
    await store.settle([])
    await ran(store, "r1", settling("c1", "r1", 2))
    await store.meter([], NOW + timedelta(minutes=6))
    assert await told(store) == [("r1", "vote", "session", 30_000, "attributed")]


async def test_it_does_not_wait_for_a_run_that_began_later_or_whose_lease_is_over(store: SqlStore) -> None:
    await ran(store, "r1", settling("c1", "r1", 2))
    await ran(store, "old", settling("c2", "old", -70), ended=False, at=NOW - LEASE - timedelta(minutes=1))
    await ran(store, "new", settling("c3", "new", 7), ended=False, at=NOW + timedelta(minutes=5))
    await store.meter([DESK, later(5, 0.28), later(10, 0.4)], NOW + timedelta(minutes=10))
    assert await told(store) == [("r1", "vote", "session", 30_000, "attributed")]


async def test_other_seats_and_passes_without_a_receipt_do_no_harm(store: SqlStore) -> None:
    await ran(store, "r1", settling("c1", "gone", 2), settling("c2", "r1", 3, seat="other"))
    await store.meter([DESK, later(5, 0.28)], NOW + timedelta(minutes=5))
    assert await told(store) == [("gone", "vote", "session", 30_000, "attributed")]
    assert (await store.receipt("r1"))["quota"] == []


async def test_old_readings_go_and_what_was_made_of_them_stays(store: SqlStore) -> None:
    await ran(store, "r1", settling("c1", "r1", 2))
    await store.meter([DESK, later(5, 0.28)], NOW + timedelta(minutes=5))
    assert await store.purge_meters(NOW + timedelta(minutes=1)) == 1
    assert await store.metered_since(NOW) == (later(5, 0.28),)
    assert len(await told(store)) == 1


async def test_a_broken_ledger_keeps_nothing(target: str) -> None:
    async with await opened(target) as store:
        await ran(store, "r1", settling("c1", "r1", 2))
        sql(target, "UPDATE ledger SET micro_ratio = 7 WHERE seq = 1", guarded=False)
    async with await opened(target) as store:
        with pytest.raises(StoreError, match=r"the ledger .* is broken: row 1"):
            await store.meter([DESK], NOW)
        assert await store.metered_since(NOW) == ()


async def test_the_readings_that_are_split_are_found_by_their_index(tmp_path: Path) -> None:
    """In SQLite: PostgreSQL plans by what a table holds."""
    target = str(tmp_path / "store.db")
    async with await opened(target):
        pass
    plan = sql(target, "EXPLAIN QUERY PLAN SELECT 1 FROM meters AS later WHERE later.split = 0 AND later.at_us <= 5")
    assert "meters_unsplit" in str(plan)
