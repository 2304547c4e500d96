"""Ending: the last calls are settled in the transaction that ends their run, each once."""

import pytest

from decide.ledger import RowKind
from decide.store.store import SqlStore
from tests.decide.store.work import NOW, claiming, ending, passed, reserving, standing


async def reserved(store: SqlStore) -> None:
    """A run that has reserved two calls."""
    await store.claim(claiming("r1"))
    assert await store.reserve(reserving("r1", "r1-1", "r1-2")) is None


@pytest.mark.parametrize("before", [(), ("r1-1",)], ids=["nothing settled before", "one settled before"])
async def test_the_last_calls_are_settled_with_the_end(store: SqlStore, before: tuple[str, ...]) -> None:
    await reserved(store)
    await store.settle([passed(call, 100) for call in before])
    await store.end(
        ending("r1", closed=False, settlements=(passed("r1-1", 100, kept=standing()), passed("r1-2", 200)))
    )
    rows = [entry.row for entry in await store.rows_after(0, 99)]
    assert sorted(row.call_id for row in rows if row.kind is RowKind.PASS) == ["r1-1", "r1-2"]
    assert (await store.day_usage(NOW.date().isoformat())) == (2, 300)
    assert await store.unsettled(NOW) == ()


async def test_an_end_that_is_told_again_settles_nothing_twice(store: SqlStore) -> None:
    await reserved(store)
    last = ending("r1", closed=False, settlements=(passed("r1-1", 100),))
    await store.end(last)
    await store.end(last)
    assert (await store.day_usage(NOW.date().isoformat())) == (1, 100)
