"""Schedule: sleep and wake, a clock that steps, and a scheduler that dies; the clock is passed in."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canary.schedule import Beat, Schedule, jump, overdue, trigger
from tests.canary.fakes import NOW, FakeClock

FIVE = timedelta(minutes=5)
PATIENCE_S = 20.0


class Ticks:
    """Counts ticks, and lets a test wait for one."""

    def __init__(self) -> None:
        self.count = 0
        self._more = asyncio.Condition()

    async def tick(self) -> None:
        async with self._more:
            self.count += 1
            self._more.notify_all()

    async def reach(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE_S), self._more:
            await self._more.wait_for(lambda: self.count >= count)


@pytest.fixture
async def started() -> AsyncIterator[tuple[Schedule, Ticks, FakeClock]]:
    clock, ticks = FakeClock(), Ticks()
    schedule = Schedule(ticks.tick, interval=FIVE, jitter=timedelta(seconds=10), clock=clock)
    schedule.start()
    await ticks.reach(1)
    schedule.beat()
    yield schedule, ticks, clock
    schedule.stop()


Started = tuple[Schedule, Ticks, FakeClock]


async def test_the_first_tick_comes_at_once(started: Started) -> None:
    schedule, ticks, _ = started
    assert ticks.count == 1
    assert schedule.alive() == ""


@pytest.mark.parametrize(
    "happens",
    [
        pytest.param(lambda clock: clock.step(7210), id="the machine slept for two hours"),
        pytest.param(lambda clock: clock.step(-7200), id="the clock went back two hours"),
        pytest.param(lambda clock: clock.step(6), id="the clock went ahead a little"),
        pytest.param(lambda clock: clock.pass_(316), id="an interval went by without a tick"),
    ],
)
async def test_a_tick_comes_at_the_next_beat(started: Started, happens: Callable[[FakeClock], None]) -> None:
    schedule, ticks, clock = started
    happens(clock)
    schedule.beat()
    await ticks.reach(2)


async def test_no_tick_comes_while_the_clocks_go_together(started: Started) -> None:
    schedule, ticks, clock = started
    for _ in range(60):
        clock.pass_(5)
        schedule.beat()
    await asyncio.sleep(0)
    assert ticks.count == 1


async def test_a_job_that_fails_leaves_the_schedule_alive(caplog: pytest.LogCaptureFixture) -> None:
    clock, failed = FakeClock(), asyncio.Event()

    async def fail() -> None:
        failed.set()
        raise KeyError("SENTINEL")

    schedule = Schedule(fail, interval=FIVE, jitter=timedelta(), clock=clock)
    schedule.start()
    try:
        async with asyncio.timeout(PATIENCE_S):
            await failed.wait()
        failed.clear()
        schedule.beat()
        clock.step(100)
        schedule.beat()
        async with asyncio.timeout(PATIENCE_S):
            await failed.wait()
        assert schedule.alive() == ""
    finally:
        schedule.stop()


async def test_a_scheduler_that_died_is_told(started: Started) -> None:
    schedule, _, _ = started
    schedule.stop()
    await asyncio.sleep(0)
    assert schedule.alive() == "the scheduler has stopped"


async def test_a_schedule_that_starts_no_tick_is_told(started: Started) -> None:
    schedule, _, clock = started
    clock.pass_(2 * FIVE.total_seconds() + 30)
    assert schedule.alive() == ""
    clock.pass_(1)
    assert schedule.alive() == "no tick has started for more than two intervals"


async def test_another_interval_is_taken_at_once(started: Started) -> None:
    schedule, ticks, clock = started
    schedule.reset(timedelta(minutes=1), timedelta(seconds=1))
    clock.pass_(67)
    schedule.beat()
    await ticks.reach(2)


async def test_further_jobs_run_beside_the_tick(started: Started) -> None:
    schedule, _, _ = started
    ran = asyncio.Event()

    async def beside() -> None:
        ran.set()

    schedule.every(0.01, beside, "beside")
    async with asyncio.timeout(PATIENCE_S):
        await ran.wait()


def test_no_hour_comes_twice_and_none_is_left_out_when_the_clocks_change() -> None:
    """Case SCH-03, the night of 1 November 2026 in Chicago: intervals are in UTC, whatever the machine's zone."""
    last = datetime(2026, 10, 31, 12, tzinfo=ZoneInfo("America/Chicago"))
    fires: list[datetime] = []
    every = trigger(timedelta(hours=1), timedelta())
    while len(fires) < 48:
        last = every.get_next_fire_time(last, last)
        fires.append(last)
    steps = {after.timestamp() - before.timestamp() for before, after in pairwise(fires)}
    assert steps == {3600.0}
    assert {fire.utcoffset() for fire in fires} == {timedelta()}


@given(st.integers(0, 10**6), st.integers(-(10**6), 10**6))
def test_a_jump_is_what_the_wall_clock_gained(real: int, stepped: int) -> None:
    before = Beat(NOW, 5.0)
    after = Beat(NOW + timedelta(seconds=real + stepped), 5.0 + real)
    assert jump(before, after) == timedelta(seconds=stepped)


def test_overdue_counts_real_time() -> None:
    grace = timedelta(seconds=15)
    assert not overdue(None, 1e9, FIVE, grace)
    assert not overdue(0.0, 315.0, FIVE, grace)
    assert overdue(0.0, 315.1, FIVE, grace)
