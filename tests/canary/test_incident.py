"""The day of the incident, minute by minute on a clock that is passed in: what was missed then is told now."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest

from canary.classify import seat_of
from canary.cli.guard import judge
from canary.daemon import Daemon, Hooks
from canary.demo.day import clock as day_time
from canary.demo.provider import Provider
from canary.demo.server import serve
from canary.demo.show import START, Demo
from canary.demo.stage import apply
from canary.folder import STATE, load_memory
from canary.memory import Memory
from canary.plan import plan_of
from canary.tick import tick
from canary.world import PURPOSE, World
from decide.pick import pick_seat
from decide.quota import WindowKind
from decide.rungs.http import Http
from decide.seat import Seat
from exporters.exposition import Exposition
from exporters.view import View
from tests.canary.fakes import FakeClock, memory, no_keychain, no_pause

INTERVAL = timedelta(minutes=5)
Picker = Callable[[Sequence[Seat], datetime], str | None]


def ours(seats: Sequence[Seat], now: datetime) -> str | None:
    """The picker of the product."""
    picked = pick_seat(seats, now=now).picked
    return picked.name if picked else None


def naive(seats: Sequence[Seat], now: datetime) -> str | None:
    """The picker of that day: it reads the weekly window of the model, and nothing else."""
    left = {
        seat.name: 1 - window.used
        for seat in seats
        for reading in seat.readings
        for window in reading.windows
        if window.kind is WindowKind.WEEKLY_MODEL and window.used < 1
    }
    return max(left, key=lambda name: left[name], default=None)


@dataclass
class Day:
    """The provider of the day and the canary that reads it."""

    demo: Demo
    provider: Provider
    base_url: str
    folder: Path
    clock: FakeClock
    http: Http

    @property
    def world(self) -> World:
        return World(self.clock, self.http.fetch, no_pause, no_keychain, {})

    def at(self, moment: datetime) -> None:
        """Put this moment on stage."""
        self.clock.pass_((moment - self.clock.wall).total_seconds())
        apply(self.provider, self.folder, moment, start=START)


@pytest.fixture
async def day(tmp_path: Path) -> AsyncIterator[Day]:
    clock = FakeClock(START)
    provider = Provider({}, clock.now)
    async with serve(provider) as base_url:
        http = Http(clock.now, timeout_s=5, version="test", purpose=PURPOSE)
        yield Day(Demo(tmp_path, 120), provider, base_url, tmp_path, clock, http)
        await http.aclose()


async def asked(day: Day, seat: str) -> int:
    """The status with which the vendor answers a model call on a seat, asked for real."""
    token = day.provider.token(seat)
    async with httpx.AsyncClient() as client:
        reply = await client.post(
            f"{day.base_url}/v1/messages",
            headers={"authorization": f"Bearer {token}"},
            json={"model": "claude-fable-5", "max_tokens": 1, "messages": [{"role": "user", "content": "?"}]},
        )
    return reply.status_code


async def replay(day: Day, pick: Picker) -> None:
    """From 18:00 to 21:00: whatever is picked after a tick answers when it is asked."""
    kept: Memory = memory()
    plan = plan_of(day.demo.config(day.base_url, "127.0.0.1:0"))
    moment = START + day_time("18:00")
    while moment <= START + day_time("21:00"):
        day.at(moment)
        done = await tick(plan, kept, day.world)
        kept = done.memory
        seats = [
            seat_of(probed, now=day.clock.now(), skew=None) for probed in done.probed if probed.target.rung == "fable"
        ]
        picked = pick(seats, day.clock.now())
        if picked is not None:
            assert await asked(day, picked) == 200, f"{moment:%H:%M}: {picked} is walled"
        moment += INTERVAL


async def test_what_we_pick_answers_all_through_the_day(day: Day) -> None:
    await replay(day, ours)


async def test_a_picker_that_reads_one_meter_fails_this_test(day: Day) -> None:
    with pytest.raises(AssertionError, match="desk-7 is walled"):
        await replay(day, naive)


async def test_the_missing_rung_is_in_log_metric_and_guard_within_two_ticks(day: Day, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    told: list[str] = []
    published: list[View] = []
    config = day.demo.config(day.base_url, "127.0.0.1:0")
    daemon = Daemon(config, state, load_memory(state)[0], day.world, Hooks(published.append, told.append))
    gone, first_seen, back = START + day_time("19:26"), None, None
    minute = START + day_time("19:00")
    while minute <= START + day_time("20:50"):
        day.at(minute)
        if (minute - START) % INTERVAL == timedelta(minutes=3):  # ticks do not fall on the minute that it happens
            await daemon.tick()
            missing = _missing(told[-1], published[-1], state, day.clock)
            if missing and first_seen is None:
                first_seen = minute
            if not missing and first_seen is not None and back is None:
                back = minute
        minute += timedelta(minutes=1)
    assert first_seen is not None
    assert gone <= first_seen <= gone + 2 * INTERVAL
    assert back is not None
    assert START + day_time("20:40") <= back <= START + day_time("20:40") + 2 * INTERVAL


def _missing(line: str, view: View, state: Path, clock: FakeClock) -> bool:
    """Whether the rung fable is missing, after checking that log, metric, guard and page are of one mind."""
    page = Exposition(view, clock.now).text().decode()
    missing = 'ladder_rung_reachable{rung="fable"} 0.0' in page
    code, _ = judge((state / STATE).read_bytes(), clock.now(), 900)
    assert ("ladder OK" in line) == (code == 0)
    assert (code != 0) == missing or json.loads((state / STATE).read_bytes())["state"] in ("down", "degraded")
    assert ("fable=unreachable" in line) == missing
    return missing
