"""Settler: what calls cost is made durable while others are out, and those that end together go with the end."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from decide.fault import StoreError, StoreFault
from decide.ports import Settlement
from decide.settler import Settler
from tests.decide.fakes import MemoryStore
from tests.decide.store.work import passed

WITHIN_S = 60.0


@dataclass(slots=True)
class Books(MemoryStore):
    """A store that tells when it settles, and fails to as often as `failing` says."""

    failing: int = 0
    settled: list[list[str]] = field(default_factory=list)
    told: asyncio.Event = field(default_factory=asyncio.Event)

    async def settle(self, settlements: Sequence[Settlement]) -> None:
        self.settled.append([one.call_id for one in settlements])
        self.told.set()
        if self.failing:
            self.failing -= 1
            raise StoreError(StoreFault.UNWRITABLE, "disk full")


def names(settlements: Sequence[Settlement]) -> list[str]:
    return [one.call_id for one in settlements]


async def test_what_ends_together_goes_with_the_end() -> None:
    out, books = ["a", "b"], Books()
    settler = Settler(books, lambda: bool(out))
    for call in ("a", "b"):
        out.remove(call)
        settler.add(passed(call))
    assert names(await settler.rest()) == ["a", "b"]
    assert books.settled == []
    assert await settler.rest() == ()


async def test_what_waits_alone_is_made_durable_while_others_are_out() -> None:
    books = Books()
    settler = Settler(books, lambda: True)
    for call in ("a", "b"):
        settler.add(passed(call))
    await asyncio.wait_for(books.told.wait(), WITHIN_S)
    assert books.settled == [["a", "b"]]
    books.told.clear()
    settler.add(passed("c"))
    await asyncio.wait_for(books.told.wait(), WITHIN_S)
    assert books.settled == [["a", "b"], ["c"]]
    assert await settler.rest() == ()


async def test_a_commit_that_failed_is_told_whatever_came_after_it() -> None:
    books = Books(failing=1)
    settler = Settler(books, lambda: True)
    settler.add(passed("a"))
    await asyncio.wait_for(books.told.wait(), WITHIN_S)
    settler.add(passed("b"))
    with pytest.raises(StoreError, match="disk full"):
        await settler.rest()
    assert books.settled == [["a"]]
