"""Settler: passes put on record while others are out, and what is left handed to the end of the run to go with it."""

import asyncio
from collections.abc import Callable

from decide.ports import Settlement, Store

COMPANY_S = 0.02
"""How long a pass waits for others that end beside it, to go on record with them: calls take seconds, in seconds."""


class Settler:
    """One commit at a time, with whatever came meanwhile; `more` says whether calls are still out.

    While they are, what a call cost is made durable in its turn. What the last ones cost goes into the transaction
    that ends the run: calls that end together, as both orders of a rung often do, take no commit of their own.
    """

    def __init__(self, store: Store, more: Callable[[], bool]) -> None:
        self._store = store
        self._more = more
        self._waiting: list[Settlement] = []
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def add(self, one: Settlement) -> None:
        """Put a pass on record."""
        self._waiting.append(one)
        if self._more() and self._timer is None and self._task is None:
            self._timer = asyncio.get_running_loop().call_later(COMPANY_S, self._begin)

    def _begin(self) -> None:
        self._timer = None
        self._task = asyncio.create_task(self._settle())

    async def _settle(self) -> None:
        while self._waiting and self._more():
            taken, self._waiting = self._waiting, []
            await self._store.settle(taken)
        self._task = None  # one that failed stays, for `rest` to raise what it met

    async def rest(self) -> tuple[Settlement, ...]:
        """What is not on record yet, to be settled by whoever asks; raises StoreError when a commit failed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
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
