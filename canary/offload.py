"""Blocking calls on daemon threads of their own, so that one that never ends holds nothing else up."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")

STUCK_PER_OWNER = 4
"""How many calls of one owner may be stuck before no further one is started; the rest of the world goes on."""


class Offload(Protocol):
    """Runs a blocking call elsewhere and gives its result."""

    async def __call__(self, call: Callable[[], T], /) -> T: ...


class StuckError(TimeoutError):
    """Too many earlier calls of the same owner have not come back."""


class Offloader:
    """Starts a thread a call; `owned(owner)` is the port handed to that owner."""

    def __init__(self) -> None:
        self._running: Counter[str] = Counter()
        self._lock = threading.Lock()

    def owned(self, owner: str) -> Offload:
        """The port through which `owner` runs blocking calls."""

        async def run(call: Callable[[], T]) -> T:
            return await self._run(owner, call)

        return run

    async def _run(self, owner: str, call: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        with self._lock:
            if self._running[owner] >= STUCK_PER_OWNER:
                raise StuckError(f"{STUCK_PER_OWNER} earlier reads of {owner} have not come back")
            self._running[owner] += 1

        def settle(result: T | None, error: BaseException | None) -> None:
            if future.done():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(result)  # type: ignore[arg-type]  # T may itself be optional

        def work() -> None:
            result: T | None = None
            error: BaseException | None = None
            try:
                result = call()
            except BaseException as caught:  # noqa: BLE001 - handed to the caller, whatever it is
                error = caught
            with self._lock:
                self._running[owner] -= 1
                if not self._running[owner]:
                    del self._running[owner]
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, result, error)

        threading.Thread(target=work, name=f"offload {owner}", daemon=True).start()
        return await future
