"""Schedule: ticks at a fixed interval of real time, through sleep, clock steps and failures of any tick."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobEvent
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

from canary.clock import Clock
from canary.faults import where

log = logging.getLogger("rungwatch")

TICK = "tick"
BEAT = timedelta(seconds=1)
"""How often the clocks are compared: a wake from sleep is seen within this and acted on at once."""
JUMP = timedelta(seconds=5)
"""How far wall and monotonic time may part between two beats before the schedule is set anew."""


@dataclass(frozen=True, slots=True)
class Beat:
    """Both clocks read together: `wall` aware UTC, `monotonic` in seconds."""

    wall: datetime
    monotonic: float


def jump(before: Beat, after: Beat) -> timedelta:
    """By how much the wall clock outran real time between two beats: positive after a sleep or a step ahead."""
    return (after.wall - before.wall) - timedelta(seconds=after.monotonic - before.monotonic)


def overdue(last_started: float | None, now: float, interval: timedelta, grace: timedelta) -> bool:
    """Whether, in real time, the schedule has let more than an interval and its grace go by without a tick."""
    return last_started is not None and now - last_started > (interval + grace).total_seconds()


def trigger(interval: timedelta, jitter: timedelta) -> IntervalTrigger:
    """Fires every `interval` in UTC, up to `jitter` later."""
    return IntervalTrigger(seconds=interval.total_seconds(), jitter=jitter.total_seconds() or None, timezone=UTC)


class Schedule:
    """Runs `job` every `interval`, one run at a time, and further jobs beside it.

    APScheduler plans by the wall clock and is blind to a step of it; the beat, which counts real time, sets the
    tick to now whenever the clocks part or a tick is overdue.
    """

    def __init__(self, job: Callable[[], Awaitable[None]], *, interval: timedelta, jitter: timedelta, clock: Clock):
        self._job, self._interval, self._jitter, self._clock = job, interval, jitter, clock
        self._scheduler = AsyncIOScheduler(
            timezone=UTC, job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        )
        self._scheduler.add_listener(_tell, EVENT_JOB_ERROR | EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES)
        self._beat: Beat | None = None
        self._last_started: float | None = None
        self._nudged: float | None = None
        self._watch: asyncio.Task[None] | None = None

    def every(self, seconds: float, job: Callable[[], Awaitable[None]], name: str, *, now: bool = False) -> None:
        """Run another job beside the tick, in the event loop as the tick is; `now`: for the first time at once."""
        every = IntervalTrigger(seconds=seconds, timezone=UTC)
        first = {"next_run_time": datetime.now(UTC)} if now else {}
        self._scheduler.add_job(job, every, id=name, **first)

    def start(self) -> None:
        """Begin: the first tick at once."""
        self._scheduler.add_job(
            self._run, trigger(self._interval, self._jitter), id=TICK, next_run_time=datetime.now(UTC)
        )
        self._scheduler.start()
        self._last_started = self._nudged = self._clock.monotonic()
        self._watch = asyncio.get_running_loop().create_task(self._keep_beating())
        self._watch.add_done_callback(_tell_end)

    def stop(self) -> None:
        """End without waiting for a running tick."""
        if self._watch is not None:
            self._watch.cancel()
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    def reset(self, interval: timedelta, jitter: timedelta) -> None:
        """Take another interval from now on, and tick now: what was configured has changed."""
        if (interval, jitter) != (self._interval, self._jitter):
            self._interval, self._jitter = interval, jitter
            self._scheduler.reschedule_job(TICK, trigger=trigger(self._interval, self._jitter))
        self._scheduler.modify_job(TICK, next_run_time=datetime.now(UTC))

    async def _run(self) -> None:
        self._last_started = self._nudged = self._clock.monotonic()
        await self._job()

    async def _keep_beating(self) -> None:
        while True:
            await asyncio.sleep(BEAT.total_seconds())
            self.beat()

    def beat(self) -> None:
        """Compare the clocks once, and tick now when they parted or a tick is overdue."""
        before, after = self._beat, Beat(self._clock.now(), self._clock.monotonic())
        self._beat = after
        parted = before is not None and abs(jump(before, after)) > JUMP
        grace = self._jitter + JUMP
        if parted or overdue(self._nudged, after.monotonic, self._interval, grace):
            self._nudged = after.monotonic
            self._scheduler.modify_job(TICK, next_run_time=datetime.now(UTC))

    def alive(self) -> str:
        """Empty while the schedule works, else what is wrong with it."""
        if not self._scheduler.running or self._scheduler.get_job(TICK) is None:
            return "the scheduler has stopped"
        if self._watch is None or self._watch.done():
            return "the clock watch has stopped"
        if overdue(self._last_started, self._clock.monotonic(), 2 * self._interval, self._jitter + 4 * JUMP):
            return "no tick has started for more than two intervals"
        return ""


def _tell(event: JobEvent) -> None:
    error = getattr(event, "exception", None)
    if isinstance(error, asyncio.CancelledError):
        return  # the daemon is being stopped
    words = {EVENT_JOB_ERROR: "failed", EVENT_JOB_MISSED: "was missed", EVENT_JOB_MAX_INSTANCES: "is still running"}
    log.warning("job %s %s%s", event.job_id, words.get(event.code, event.code), f": {where(error)}" if error else "")


def _tell_end(watch: asyncio.Task[None]) -> None:
    if not watch.cancelled() and (error := watch.exception()) is not None:
        log.error("the clock watch has stopped: %s", type(error).__name__)
