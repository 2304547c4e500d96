"""Opening twice at once: in one process, on one new store, both openings are whole."""

import asyncio

from tests.decide.store.work import opened, sql


async def test_two_openings_of_one_new_store_in_one_process(target: str) -> None:
    stores = await asyncio.gather(*(opened(target) for _ in range(4)))
    try:
        assert [await store.last_seq() for store in stores] == [0] * 4
    finally:
        for store in stores:
            await store.close()
    assert sql(target, "SELECT count(*) FROM ledger") is not None
