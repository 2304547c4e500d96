"""Work: batches simulated on several processes, told as they come, and kept when the work is stopped."""

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import resource_tracker

from canary.capacity.batch import Batch, Task, simulate
from canary.capacity.scenario import Scenario

Told = Callable[[int, int], None]
"""Hears how many tasks are done, and of how many."""
_AHEAD = 4
"""How many tasks each process has waiting, so that little is left to throw away when the work is stopped."""


def untold(done: int, of: int) -> None:
    """Nobody listens."""


@dataclass(slots=True)
class Work:
    """A scenario's batches as far as they are done; `stopped` when somebody pressed Ctrl-C in between."""

    scenario: Scenario
    processes: int = 1
    told: Told = untold
    stopped: bool = False
    done: dict[Task, Batch] = field(default_factory=dict)
    _pool: ProcessPoolExecutor | None = None

    def run(self, tasks: Sequence[Task]) -> None:
        """Do those of the tasks that are not done yet, in their order; after a stop there is nothing more to do."""
        new = [task for task in dict.fromkeys(tasks) if task not in self.done]
        if not new or self.stopped:
            return
        of = len(self.done) + len(new)
        try:
            for batch in self._each(new):
                self.done[batch.task] = batch
                self.told(len(self.done), of)
        except KeyboardInterrupt:
            self.stopped = True

    def _each(self, tasks: Sequence[Task]) -> Iterator[Batch]:
        if self._pool is None:
            return (simulate(self.scenario, task) for task in tasks)
        return _fed(self._pool, tasks, self.processes * _AHEAD)

    @contextmanager
    def open(self) -> Iterator["Work"]:
        """With processes of its own, where more than one was asked for."""
        if self.processes < 2:
            yield self
            return
        # started afresh rather than forked: whoever plans may have threads
        context = multiprocessing.get_context("spawn")
        resource_tracker.ensure_running()  # starting it lets signals through again, also for what is started next
        pool = ProcessPoolExecutor(self.processes, context, _begin, (self.scenario,))
        with _uninterrupted() as heard:
            for _ in range(self.processes):
                pool.submit(int)  # a task starts a process while none is idle
        self._pool, self.stopped = pool, bool(heard)
        try:
            yield self
        finally:
            pool.shutdown(wait=not self.stopped, cancel_futures=True)
            self._pool = None


@contextmanager
def _uninterrupted() -> Iterator[list[int]]:
    """Processes that are started within never hear Ctrl-C, and this one keeps in a list whether it came meanwhile.

    A half-started process that this one leaves alone would die with a traceback. Only the main thread hears signals.
    """
    heard: list[int] = []
    here = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    if here and handler is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield heard
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        if here:
            signal.signal(signal.SIGINT, handler)


def _fed(pool: ProcessPoolExecutor, tasks: Sequence[Task], ahead: int) -> Iterator[Batch]:
    """The batches as they are done, with only so many handed over at a time."""
    left = iter(tasks)
    out: set[Future[Batch]] = {pool.submit(_simulated, task) for task in islice(left, ahead)}
    while out:
        future = next(as_completed(out))
        out.remove(future)
        out |= {pool.submit(_simulated, task) for task in islice(left, 1)}
        yield future.result()


_SCENARIOS: list[Scenario] = []
"""What this process simulates: handed over once, as a history can be large."""


def _begin(scenario: Scenario) -> None:
    _SCENARIOS.append(scenario)


def _simulated(task: Task) -> Batch:
    return simulate(_SCENARIOS[-1], task)
