"""Audit: verify names the first broken row in either database, and accept lets the chain go on from it alone."""

import json

import pytest

from decide.fault import StoreError, StoreFault
from decide.ledger import RowKind
from decide.ports import Ready
from decide.store import audit
from decide.store.audit import Broken, Verified
from decide.store.store import SqlStore
from tests.decide.store.work import NOW, claiming, decided, opened, reserving, sql

SPOILS = [
    (["UPDATE ledger SET micro_usd = 1 WHERE seq = 3"], 3, "row 3 is not what was written"),
    (["UPDATE ledger SET micro_usd = -1 WHERE seq = 3"], 3, "row 3 is not what was written"),
    (["UPDATE ledger SET kind = '' WHERE seq = 3"], 3, "row 3 is not what was written"),
    (["UPDATE ledger SET before = 'x' WHERE seq = 2"], 2, "row 2 does not carry the digest of the row before it"),
    (["DELETE FROM ledger WHERE seq = 1"], 1, "row 1 is missing"),
    (["DELETE FROM ledger WHERE seq IN (4, 5)"], 4, "row 4 is missing"),
    (["DELETE FROM ledger WHERE seq >= 5"], 5, "row 5 is missing"),
    (["DELETE FROM ledger"], 1, "row 1 is missing"),
    (
        ["DELETE FROM ledger WHERE seq = 6", "UPDATE head SET seq = 5, digest = 'x'"],
        5,
        "row 5 is not the one that was written last",
    ),
    (["UPDATE head SET seq = 4"], 5, "row 5 stands behind the one that was written last"),
]


@pytest.mark.parametrize(("statements", "seq", "fault"), SPOILS)
async def test_the_first_broken_row_is_named_and_holds_until_a_person_accepts_it(
    target: str, store: SqlStore, statements: list[str], seq: int, fault: str
) -> None:
    await decided(store, "r1")
    await decided(store, "r2")
    assert await store.verify() == Verified(6)
    sql(target, *statements, guarded=False)
    async with await opened(target) as fresh:
        assert await fresh.verify() == Broken(seq, fault)
        for refused in (fresh.claim(claiming("r3")), fresh.probe(NOW)):
            with pytest.raises(StoreError, match=fault) as caught:
                await refused
            assert caught.value.fault is StoreFault.BROKEN
        assert await fresh.accept("Ada", "seen on the disk", at=NOW) == Broken(seq, fault)
        assert isinstance(await fresh.verify(), Verified)
        assert await fresh.claim(claiming("r3")) == Ready()
        await decided(fresh, "r4")
        assert isinstance(await fresh.verify(), Verified)


async def test_an_accept_row_says_who_and_what(target: str, store: SqlStore) -> None:
    await decided(store, "r1")
    sql(target, "UPDATE ledger SET micro_usd = 1 WHERE seq = 2", guarded=False)
    await store.accept(" Ada ", " seen ", at=NOW)
    row = (await store.rows_after(3, 9))[0].row
    told = json.loads(row.body)
    assert (row.kind, row.at) == (RowKind.ACCEPT, NOW)
    assert told.pop("found").startswith("sha256:")
    assert told == {"seq": 2, "fault": "row 2 is not what was written", "person": "Ada", "note": "seen"}


async def test_a_second_fault_is_found_again(target: str, store: SqlStore) -> None:
    await decided(store, "r1")
    await decided(store, "r2")
    sql(target, "UPDATE ledger SET micro_usd = 1 WHERE seq = 2", guarded=False)
    await store.accept("Ada", "", at=NOW)
    sql(target, "UPDATE ledger SET micro_usd = 1 WHERE seq = 5", guarded=False)
    assert await store.verify() == Broken(5, "row 5 is not what was written")
    sql(target, "UPDATE ledger SET micro_usd = 2 WHERE seq = 2", guarded=False)
    assert await store.verify() == Broken(2, "row 2 is not what was written")


async def test_an_accept_row_that_was_altered_accepts_nothing(target: str, store: SqlStore) -> None:
    await decided(store, "r1")
    sql(target, "UPDATE ledger SET micro_usd = 1 WHERE seq = 2", guarded=False)
    await store.accept("Ada", "", at=NOW)
    sql(target, "UPDATE ledger SET body = '{}' WHERE kind = 'accept'", guarded=False)
    assert await store.verify() == Broken(2, "row 2 is not what was written")


async def test_there_is_nothing_to_accept_in_a_whole_ledger_nor_without_a_name(target: str, store: SqlStore) -> None:
    await decided(store, "r1")
    with pytest.raises(ValueError, match="nothing to accept"):
        await store.accept("Ada", "", at=NOW)
    sql(target, "UPDATE ledger SET micro_usd = 1 WHERE seq = 2", guarded=False)
    with pytest.raises(ValueError, match="named person"):
        await store.accept("  ", "", at=NOW)
    assert await store.last_seq() == 3


async def test_a_chain_that_breaks_between_claim_and_reservation_holds(target: str, store: SqlStore) -> None:
    await decided(store, "r1")
    await store.claim(claiming("r2"))
    async with await opened(target) as other:
        await decided(other, "r3")
    sql(target, "UPDATE ledger SET micro_usd = 1 WHERE seq = 5", guarded=False)
    with pytest.raises(StoreError, match="row 5"):
        await store.reserve(reserving("r2", "c"))


async def test_a_long_ledger_is_looked_at_in_steps(target: str, store: SqlStore) -> None:
    await decided(store, "r1", calls=2 * audit.CHUNK)
    told: list[tuple[int, int]] = []
    total = 2 * audit.CHUNK + 2
    assert await store.verify(lambda done, of: told.append((done, of))) == Verified(total)
    assert told == [(audit.CHUNK, total), (2 * audit.CHUNK, total), (total, total)]
    sql(target, "UPDATE ledger SET micro_usd = 1 WHERE seq = 1500", guarded=False)
    assert await store.verify() == Broken(1500, "row 1500 is not what was written")


async def test_the_last_rows_alone_are_looked_at_before_a_question(target: str, store: SqlStore) -> None:
    """A fault further back than that is `verify`'s to find."""
    await decided(store, "r1", calls=300)
    async with await opened(target) as fresh:
        sql(target, "UPDATE ledger SET micro_usd = 1 WHERE seq = 46", guarded=False)
        await fresh.probe(NOW)
        sql(target, "UPDATE ledger SET micro_usd = 1 WHERE seq = 47", guarded=False)
        await fresh.probe(NOW)
    async with await opened(target) as fresh:
        with pytest.raises(StoreError, match="row 47"):
            await fresh.probe(NOW)


async def test_what_an_audit_finds_far_back_holds_until_it_is_accepted(target: str, store: SqlStore) -> None:
    await decided(store, "r1")
    await decided(store, "r2")
    sql(target, "UPDATE ledger SET micro_usd = 1 WHERE seq = 2", guarded=False)
    assert await store.claim(claiming("r3", "other")) == Ready()
    await store.release("r3")
    assert isinstance(await store.verify(), Broken)
    for refused in (store.claim(claiming("r4", "other")), store.probe(NOW)):
        with pytest.raises(StoreError, match="row 2 is not what was written"):
            await refused
    await store.accept("Ada", "seen", at=NOW)
    assert await store.claim(claiming("r4", "other")) == Ready()
