"""Tail: what this very process wrote is looked at again before its next question, and found when it was altered."""

import pytest

from decide.fault import StoreError, StoreFault
from decide.store.audit import Verified
from decide.store.store import SqlStore
from tests.decide.store.work import claiming, decided, opened, sql

ALTERED = {
    "a number": ("UPDATE ledger SET micro_usd = micro_usd + 1 WHERE seq = 2", "row 2 is not what was written"),
    "a text": ("UPDATE ledger SET body = '{} ' WHERE seq = 3", "row 3 is not what was written"),
    "a digest": ("UPDATE ledger SET digest = before WHERE seq = 2", "row 2 is not what was written"),
    "the row before": ("UPDATE ledger SET before = digest WHERE seq = 2", "row 2 does not carry the digest"),
    "one taken out": ("DELETE FROM ledger WHERE seq = 2", "row 2 is missing"),
    "the last taken out": ("DELETE FROM ledger WHERE seq = 3", "row 3 is missing"),
    "one numbered anew": ("UPDATE ledger SET seq = 4 WHERE seq = 3", "row 3 is missing"),
}


@pytest.mark.parametrize("how", ALTERED)
async def test_own_rows_that_were_altered_hold_the_next_question(target: str, store: SqlStore, how: str) -> None:
    statement, fault = ALTERED[how]
    await decided(store, "r1")
    assert await store.last_seq() == 3
    sql(target, statement, guarded=False)
    with pytest.raises(StoreError, match=fault) as caught:
        await store.claim(claiming("r2", "other"))
    assert caught.value.fault is StoreFault.BROKEN


async def test_rows_of_two_processes_by_turns_hold_nothing(target: str, store: SqlStore) -> None:
    async with await opened(target) as other:
        for number, one in enumerate((store, other, store, store, other, other, store)):
            await decided(one, f"r{number}")
        assert await store.verify() == Verified(21)
