"""Reading: receipts, rows, refusals and evidence as others ask for them."""

from datetime import timedelta

import pytest

from decide.fault import StoreError, StoreFault
from decide.ledger import Row, RowKind, first_broken
from decide.snapshot import load
from decide.store.receipts import ReceiptLine
from decide.store.refusals import Refused
from decide.store.store import SqlStore
from tests.decide.store.work import (
    NOW,
    OTHER_SNAPSHOT,
    SNAPSHOT,
    claiming,
    decided,
    ending,
    reserving,
    sql,
)

MINUTE = timedelta(minutes=1)


async def test_rows_are_read_as_they_were_written(store: SqlStore) -> None:
    row = Row(
        RowKind.PASS,
        NOW,
        *("high", "fable", "desk", "primary", "resolved", "metered", "reported"),
        *(10**12, 1, 2, 3, 4, 5, 2**53),
        *("row", "stage", "q", "receipt", "call"),
        clears_at=NOW + MINUTE,
        body='{"why": "ünïcode \\u0000"}',
    )
    await store.claim(claiming("r"))
    await store.end(ending("r", rows=(row, Row(RowKind.DECISION, NOW))))
    entries = await store.rows_after(0, 10)
    assert [entry.row for entry in entries] == [row, Row(RowKind.DECISION, NOW)]
    assert first_broken(entries) is None
    assert [entry.seq for entry in await store.rows_after(1, 10)] == [2]
    assert [entry.seq for entry in await store.rows_after(0, 1)] == [1]
    assert await store.last_seq() == 2


async def test_a_row_that_cannot_be_one_is_told(target: str, store: SqlStore) -> None:
    await decided(store, "r")
    sql(target, "UPDATE ledger SET kind = 'x' WHERE seq = 2", guarded=False)
    with pytest.raises(StoreError, match="row 2 is not what was written") as caught:
        await store.rows_after(0, 10)
    assert caught.value.fault is StoreFault.BROKEN


async def test_columns_come_as_plain_tuples_in_order(store: SqlStore) -> None:
    await decided(store, "r", calls=3)
    columns = ("seq", "kind", "micro_usd", "clears_at_us", "call_id")
    found = await store.columns_after(1, 3, columns)
    assert found == [(n, "pass", 210_000, None, f"r-{n - 2}") for n in (2, 3, 4)]
    assert {type(row) for row in found} == {tuple}
    assert [row[:2] for row in await store.columns_after(4, 100, columns)] == [(5, "decision")]
    assert await store.columns_after(5, 100, columns) == []
    with pytest.raises(ValueError, match="no column 'id; DROP'"):
        await store.columns_after(0, 1, ("seq", "id; DROP"))


async def test_receipts_come_latest_first_and_page_by_page(store: SqlStore) -> None:
    for run in ("r1", "r2", "r3"):
        await decided(store, run)
    assert await store.receipts(2) == (
        ReceiptLine("receipt-r3", NOW, "q-r3", "agreed", 0),
        ReceiptLine("receipt-r2", NOW, "q-r2", "agreed", 0),
    )
    assert [line.receipt_id for line in await store.receipts(2, before="receipt-r2")] == ["receipt-r1"]
    with pytest.raises(LookupError, match="no receipt 'absent'"):
        await store.receipts(2, before="absent")


async def test_a_receipt_is_named_by_its_id_or_enough_of_it(store: SqlStore) -> None:
    for run in ("a1", "a1b", "B2", "b3%"):
        await decided(store, run)
    assert (await store.receipt("receipt-a1"))["run"] == "a1"
    assert (await store.receipt("receipt-a1b"))["run"] == "a1b"
    assert (await store.receipt("receipt-b"))["run"] == "b3%"
    with pytest.raises(LookupError, match=r"several receipts begin with 'receipt-a': receipt-a1b, receipt-a1$"):
        await store.receipt("receipt-a")
    for absent in ("receipt-x", "", "%", "receipt_a1"):
        with pytest.raises(LookupError, match="there is no receipt"):
            await store.receipt(absent)


async def test_an_ambiguous_id_names_a_few(store: SqlStore) -> None:
    for number in range(7):
        await decided(store, f"r{number}")
    with pytest.raises(LookupError, match=r"receipt-r6, receipt-r5, receipt-r4, receipt-r3, receipt-r2 and more$"):
        await store.receipt("rec")


async def test_refusals_since_a_moment_are_told(store: SqlStore) -> None:
    refusals = tuple(
        Row(RowKind.REFUSED, NOW + n * MINUTE, rung="fable", seat=f"s{n}", result="seat_capped", clears_at=clears)
        for n, clears in enumerate((None, NOW + 9 * MINUTE, None))
    )
    await store.claim(claiming("r"))
    await store.end(ending("r", rows=(*refusals, Row(RowKind.PASS, NOW + 5 * MINUTE))))
    assert await store.refused_since(NOW + MINUTE) == (
        Refused("fable", "s1", "seat_capped", NOW + 9 * MINUTE, NOW + MINUTE),
        Refused("fable", "s2", "seat_capped", None, NOW + 2 * MINUTE),
    )
    assert await store.refused_since(NOW + 3 * MINUTE) == ()


async def test_evidence_is_kept_for_a_time_and_its_digest_for_good(store: SqlStore) -> None:
    digest, other = load(SNAPSHOT).digest, load(OTHER_SNAPSHOT).digest
    await store.claim(claiming("r1"))
    await store.reserve(reserving("r1", "a"))
    await store.claim(claiming("r2", "q2"))
    await store.reserve(reserving("r2", "b", key="q2", evidence=OTHER_SNAPSHOT, at=NOW + MINUTE))
    assert await store.evidence(digest) == SNAPSHOT
    assert await store.purge_evidence(NOW) == 0
    assert await store.purge_evidence(NOW + MINUTE) == 1
    assert await store.purge_evidence(NOW + MINUTE) == 0
    assert await store.evidence(digest) is None
    assert await store.evidence(other) == OTHER_SNAPSHOT
    with pytest.raises(LookupError, match="no snapshot 'sha256:0'"):
        await store.evidence("sha256:0")


async def test_evidence_that_is_used_again_is_kept_from_then_on(store: SqlStore) -> None:
    await decided(store, "r1")
    await store.claim(claiming("r2", "q2"))
    await store.reserve(reserving("r2", "b", key="q2", at=NOW + MINUTE))
    assert await store.purge_evidence(NOW + MINUTE) == 0
    with pytest.raises(ValueError, match="no snapshot"):
        await store.reserve(reserving("r2", "c", key="q2", evidence="[1]"))


async def test_a_probe_writes(target: str, store: SqlStore) -> None:
    await store.probe(NOW)
    (first,) = sql(target, "SELECT probed_us FROM head")
    await store.probe(NOW + MINUTE)
    (second,) = sql(target, "SELECT probed_us FROM head")
    assert second[0] - first[0] == 60_000_000
