"""Worker: the one thread on which a store's blocking work is done, and settlements that share a transaction."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from decide.ports import Settlement

T = TypeVar("T")

Settle = Callable[[Sequence[Settlement]], None]


class Worker:
    """Runs acts one after another; an act that was handed over is done even when nobody waits for it any more."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")

    async def run(self, act: Callable[[], T]) -> T:
        """What the act returns or raises."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            try:
                result = act()
            except BaseException as error:  # noqa: BLE001 - raised in the caller
                tell = partial(_settle, done, error, None)
            else:
                tell = partial(_settle, done, None, result)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(tell)

        self._thread.submit(work)
        return await done

    def submit(self, act: Callable[[], object]) -> None:
        """Have an act done that tells its outcome by itself."""
        self._thread.submit(act)

    def close(self) -> None:
        """Wait for what was handed over, and take no more."""
        self._thread.shutdown(wait=True)


class Settling:
    """Settlements that queue up while a transaction runs, so that the next one takes all of them."""

    def __init__(self, worker: Worker, settle: Settle) -> None:
        self._worker = worker
        self._settle = settle
        self._queue: deque[tuple[Sequence[Settlement], Future[None]]] = deque()

    async def add(self, settlements: Sequence[Settlement]) -> None:
        """Returns when the settlements are durable; raises what kept them from it."""
        done: Future[None] = Future()
        self._queue.append((settlements, done))
        self._worker.submit(self._drain)
        await _outcome(done)

    def _drain(self) -> None:
        batch = [self._queue.popleft() for _ in range(len(self._queue))]
        if not batch:
            return  # the transaction before took these along
        try:
            self._settle([one for settlements, _ in batch for one in settlements])
        except ValueError:
            # one caller's mistake is not the others'
            for settlements, done in batch:
                self._alone(settlements, done)
        except BaseException as error:  # noqa: BLE001 - raised in every caller
            for _, done in batch:
                done.set_exception(error)
        else:
            for _, done in batch:
                done.set_result(None)

    def _alone(self, settlements: Sequence[Settlement], done: "Future[None]") -> None:
        try:
            self._settle(settlements)
        except BaseException as error:  # noqa: BLE001 - raised in the caller
            done.set_exception(error)
        else:
            done.set_result(None)


def _settle(done: "asyncio.Future[Any]", error: BaseException | None, result: Any) -> None:
    if done.cancelled():
        return
    if error is not None:
        done.set_exception(error)
    else:
        done.set_result(result)


async def _outcome(future: "Future[T]") -> T:
    # shielded: a caller that is cancelled takes no call's cost out of the books
    return await asyncio.shield(asyncio.wrap_future(future))
