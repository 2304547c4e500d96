"""Blocking calls on daemon threads, so that one that never ends holds nothing else up."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from queue import SimpleQueue
from typing import Protocol, TypeVar

T = TypeVar("T")

STUCK_PER_OWNER = 4
"""How many calls of one owner may be stuck before no further one is started; the rest of the world goes on."""
IDLE_KEPT = 32
"""How many threads wait for more work. To start one costs more than most reads, so a few are kept."""


class Offload(Protocol):
    """Runs a blocking call elsewhere and gives its result."""

    async def __call__(self, call: Callable[[], T], /) -> T: ...


class StuckError(TimeoutError):
    """Too many earlier calls of the same owner have not come back."""


Job = Callable[[], None]


class Offloader:
    """Hands calls to threads that wait for them; `owned(owner)` is the port handed to that owner.

    A thread whose call never ends is never idle again, and another one takes its place.
    """

    def __init__(self) -> None:
        self._running: Counter[str] = Counter()
        self._idle: list[SimpleQueue[Job]] = []
        self._lock = threading.Lock()

    def owned(self, owner: str) -> Offload:
        """The port through which `owner` runs blocking calls."""

        async def run(call: Callable[[], T]) -> T:
            return await self._run(owner, call)

        return run

    async def _run(self, owner: str, call: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def settle(result: T | None, error: BaseException | None) -> None:
            if future.done():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(result)  # type: ignore[arg-type]  # T may itself be optional

        def job() -> None:
            result: T | None = None
            error: BaseException | None = None
            try:
                result = call()
            except BaseException as caught:  # noqa: BLE001 - handed to the caller, whatever it is
                error = caught
            self._ended(owner)
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, result, error)

        self._start(owner, job)
        return await future

    def _start(self, owner: str, job: Job) -> None:
        with self._lock:
            if self._running[owner] >= STUCK_PER_OWNER:
                raise StuckError(f"{STUCK_PER_OWNER} earlier reads of {owner} have not come back")
            self._running[owner] += 1
            jobs = self._idle.pop() if self._idle else None
        if jobs is None:
            jobs = SimpleQueue()
            threading.Thread(target=self._work, args=(jobs,), name="offload", daemon=True).start()
        jobs.put(job)

    def _ended(self, owner: str) -> None:
        with self._lock:
            self._running[owner] -= 1
            if not self._running[owner]:
                del self._running[owner]

    def _work(self, jobs: "SimpleQueue[Job]") -> None:
        while True:
            jobs.get()()
            with self._lock:
                if len(self._idle) >= IDLE_KEPT:
                    return
                self._idle.append(jobs)
