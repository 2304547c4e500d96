"""Settler: passes put on record while others are out, and what is left handed to the end of the run to go with it."""

import asyncio
from collections.abc import Callable

from decide.ports import Settlement, Store


class Settler:
    """One commit at a time, with whatever came meanwhile; `more` says whether calls are still out.

    While they are, what a call cost is made durable at once. What the last ones cost goes into the transaction that
    ends the run: a commit less for every run.
    """

    def __init__(self, store: Store, more: Callable[[], bool]) -> None:
        self._store = store
        self._more = more
        self._waiting: list[Settlement] = []
        self._task: asyncio.Task[None] | None = None

    def add(self, one: Settlement) -> None:
        """Put a pass on record."""
        self._waiting.append(one)
        if self._more() and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._settle())

    async def _settle(self) -> None:
        while self._waiting and self._more():
            taken, self._waiting = self._waiting, []
            await self._store.settle(taken)

    async def rest(self) -> tuple[Settlement, ...]:
        """What is not on record yet, to be settled by whoever asks; raises StoreError when a commit failed."""
        task, self._task = self._task, None
        if task is not None:
            await task
        rest, self._waiting = tuple(self._waiting), []
        return rest

    async def flush(self) -> None:
        """See everything on record before more is spent; raises StoreError."""
        rest = await self.rest()
        if rest:
            await self._store.settle(rest)
