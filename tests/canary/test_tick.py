"""tick: hung, broken and late sources, the count of missed ticks, and what is carried on."""

import asyncio
import json
import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from canary.demo.logins import write_claude_login
from canary.memory import Memory
from canary.plan import RungPlan
from canary.tick import Ticked, missed, tick
from canary.world import World
from decide.ladder import LadderWord, Role, RungState
from decide.reason import Reason
from decide.rungs.http import Request, Response
from decide.seat import Quota, SeatState
from exporters.view import TickResult
from tests.canary.fakes import LIMITS, NOW, FakeClock, FarSide, json_reply, memory, no_pause, plan, target, world

HOUR = timedelta(hours=1)
GOOD = json.dumps({"five_hour": {"utilization": 12, "resets_at": (NOW + HOUR).isoformat()}}).encode()


def login(folder: Path) -> Path:
    write_claude_login(folder, "sk-ant-oat01-SENTINEL", expires_at=NOW + timedelta(days=1))
    return folder


def state_of(done: Ticked, seat: str = "desk") -> tuple[SeatState, Reason | None]:
    return next((s.state, s.reason) for rung in done.state.rungs for s in rung.seats if s.name == seat)


def test_ticks_that_were_due_and_did_not_run_are_counted() -> None:
    five = timedelta(minutes=5)
    rows = [
        (None, 0),
        (300, 0),
        (310, 0),
        (360, 0),
        (375, 0),
        (525, 1),
        (600, 1),
        (900, 2),
        (7500, 24),
        (-7200, 0),
        (0, 0),
    ]
    for seconds, count in rows:
        last = None if seconds is None else NOW - timedelta(seconds=seconds)
        assert missed(last, NOW, five) == count, seconds


async def test_a_good_tick(tmp_path: Path) -> None:
    clock = FakeClock()
    far = FarSide(clock, {"claude": json_reply(GOOD)})
    done = await tick(plan([target(login(tmp_path))]), memory(), world(clock, far))
    assert state_of(done) == (SeatState.AVAILABLE, None)
    assert done.result is TickResult.OK
    assert done.memory.counters.reads == {"claude-usage ok": 1}
    assert done.memory.last_success_at == done.state.at == NOW
    assert [line.strip() for line in done.probes[0].lines] == [
        "rung fable: reachable",
        "desk: read the credentials file",
        next(line.strip() for line in done.probes[0].lines if "HTTP 200" in line),
        "desk: available",
    ]


async def test_an_exception_in_a_source_is_that_seats_reading_and_nothing_elses(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(ask: Request) -> Response:
        raise KeyError("windows of sk-ant-oat01-SENTINEL")

    far = FarSide(FakeClock(), {"broken": broken, "claude": json_reply(GOOD)})
    bad = target(login(tmp_path), "bad", claude_base_url="https://broken.test")
    caplog.set_level(logging.DEBUG)
    done = await tick(plan([bad, target(tmp_path)]), memory(), world(FakeClock(), far))
    assert state_of(done, "bad") == (SeatState.UNKNOWN, Reason.ERROR)
    assert state_of(done) == (SeatState.AVAILABLE, None)
    assert len([record for record in caplog.records if "KeyError" in record.getMessage()]) == 1
    assert "SENTINEL" not in caplog.text


async def test_a_hung_source_ends_at_its_time_and_the_next_tick_reads_anew(tmp_path: Path) -> None:
    async def hang(ask: Request) -> Response:
        await asyncio.Event().wait()
        raise AssertionError("never reached")

    clock = FakeClock()
    far = FarSide(clock, {"claude": hang})
    short = replace(LIMITS, timeout=timedelta(milliseconds=50))
    done = await tick(plan([target(login(tmp_path))], limits=short), memory(), world(clock, far))
    assert state_of(done) == (SeatState.UNKNOWN, Reason.TIMEOUT)
    assert done.result is TickResult.TIMEOUT
    far.replies = {"claude": json_reply(GOOD, NOW + timedelta(seconds=300))}
    clock.pass_(300)
    done = await tick(plan([target(tmp_path)], limits=short), done.memory, world(clock, far))
    assert state_of(done) == (SeatState.AVAILABLE, None)


async def test_a_tick_ends_at_its_deadline_and_says_so(tmp_path: Path) -> None:
    async def hang(ask: Request) -> Response:
        await asyncio.Event().wait()
        raise AssertionError("never reached")

    far = FarSide(FakeClock(), {"slow": hang, "claude": json_reply(GOOD)})
    slow = target(login(tmp_path), "slow", claude_base_url="https://slow.test")
    done = await tick(
        plan([slow, target(tmp_path)], deadline=timedelta(milliseconds=100)), memory(), world(FakeClock(), far)
    )
    assert state_of(done, "slow") == (SeatState.UNKNOWN, Reason.TIMEOUT)
    assert state_of(done) == (SeatState.AVAILABLE, None)
    assert (done.result, done.memory.counters.ticks) == (TickResult.TIMEOUT, {TickResult.TIMEOUT: 1})


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """A gate that a blocked reader waits at, opened at the end."""
    event = threading.Event()
    yield event
    event.set()


async def test_a_key_ring_that_blocks_for_ever_costs_its_time_only(tmp_path: Path, gate: threading.Event) -> None:
    """Case SCH-06: the first tick ends in time, the second reads anew, and one time-out is counted."""
    calls: list[str] = []

    def blocks(service: str, account: str | None) -> Sequence[tuple[str, str]]:
        calls.append(service)
        if len(calls) == 1:
            gate.wait()
        return [("jo", (tmp_path / "seat" / ".credentials.json").read_text())]

    clock = FakeClock()
    far = FarSide(clock, {"claude": json_reply(GOOD)})
    login(tmp_path / "seat")
    seat = target(tmp_path / "empty", keychain=True)
    short = plan([seat], limits=replace(LIMITS, timeout=timedelta(milliseconds=100)))
    outside = World(clock, far.fetch, no_pause, blocks, {})
    done = await tick(short, memory(), outside)
    assert state_of(done) == (SeatState.UNKNOWN, Reason.TIMEOUT)
    done = await tick(short, done.memory, outside)
    assert state_of(done) == (SeatState.AVAILABLE, None)
    assert len(calls) == 2
    assert done.memory.counters.ticks == {TickResult.TIMEOUT: 1, TickResult.OK: 1}


async def test_a_clock_that_stepped_back_is_noted_on_that_tick_and_only_there(tmp_path: Path) -> None:
    """Case SCH-08; that the tick comes within an interval of real time is in test_schedule."""
    clock = FakeClock()
    far = FarSide(clock, {"claude": json_reply(GOOD)})
    both = plan([target(login(tmp_path))])
    done = await tick(both, memory(), world(clock, far))
    clock.step(-7200)
    far.replies = {"claude": json_reply(GOOD, clock.now())}
    done = await tick(both, done.memory, world(clock, far), last=done.state.at)
    assert done.state.notes == (Reason.CLOCK,)
    assert state_of(done) == (SeatState.AVAILABLE, None)
    assert done.state.since is not None
    assert done.state.since <= clock.now()
    clock.pass_(300)
    far.replies = {"claude": json_reply(GOOD, clock.now())}
    done = await tick(both, done.memory, world(clock, far), last=done.state.at)
    assert done.state.notes == ()
    assert done.memory.counters.missed == 0


async def test_a_clock_far_from_the_hosts_makes_no_verdict_on_expiry(tmp_path: Path) -> None:
    far = FarSide(FakeClock(), {"claude": json_reply(GOOD, date="Thu, 15 Oct 2026 11:58:00 GMT")})
    done = await tick(plan([target(login(tmp_path))]), memory(), world(FakeClock(), far))
    assert done.state.skew_s == 120
    assert state_of(done) == (SeatState.UNKNOWN, Reason.CLOCK)
    assert done.state.notes == (Reason.CLOCK,)


async def test_a_held_read_keeps_the_last_reading_until_it_is_stale(tmp_path: Path) -> None:
    clock = FakeClock()
    far = FarSide(clock, {"claude": json_reply(GOOD)})
    rare = plan([target(login(tmp_path))], limits=replace(LIMITS, reads_per_hour=1))
    done = await tick(rare, memory(), world(clock, far))
    for seconds, state in ((900, SeatState.AVAILABLE), (1, SeatState.UNKNOWN)):
        clock.pass_(seconds)
        done = await tick(rare, done.memory, world(clock, far))
        assert state_of(done)[0] is state
    assert len(far.asked) == 1
    assert done.memory.counters.reads == {"claude-usage ok": 1, "claude-usage held": 2}


async def test_a_full_window_stays_full_through_failed_reads_and_ends_with_its_reset(tmp_path: Path) -> None:
    full = json.dumps({"five_hour": {"utilization": 101, "resets_at": (NOW + HOUR).isoformat()}}).encode()
    clock = FakeClock()
    far = FarSide(clock, {"claude": json_reply(full)})
    seat = plan([target(login(tmp_path))])
    done = await tick(seat, memory(), world(clock, far))
    assert state_of(done) == (SeatState.CAPPED, Reason.SESSION_CAP)
    far.replies = {}
    clock.pass_(3000)
    done = await tick(seat, done.memory, world(clock, far))
    assert state_of(done) == (SeatState.CAPPED, Reason.SESSION_CAP)
    assert done.state.rungs[0].clears_at == NOW + HOUR
    clock.pass_(600)
    done = await tick(seat, done.memory, world(clock, far))
    assert state_of(done) == (SeatState.UNKNOWN, Reason.NETWORK)


def seats_file(folder: Path, *names: str) -> Path:
    path = folder / "seats.json"
    seats = [
        {"name": name, "token": {"kind": "none"}, "windows": [{"kind": "session", "used_percent": 12}]}
        for name in names
    ]
    path.write_text(json.dumps({"schema_version": 1, "fetched_at": NOW.isoformat(), "seats": seats}))
    return path


def listed(path: Path) -> RungPlan:
    return RungPlan("fable", Role.PRIMARY, seats_file=path, model="claude-fable-5")


async def run_listed(path: Path, before: Memory) -> Ticked:
    both = replace(plan([]), rungs=(listed(path), RungPlan("astra", Role.SECOND)))
    return await tick(both, before, world(FakeClock()))


async def test_a_list_of_seats_is_read_anew_at_each_tick(tmp_path: Path) -> None:
    done = await run_listed(seats_file(tmp_path, "s1", "s2"), memory())
    assert {seat.name for seat in done.state.rungs[0].seats} == {"s1", "s2"}
    assert done.state.rungs[0].configured == 2
    done = await run_listed(seats_file(tmp_path, "s1"), done.memory)
    assert {seat.name for seat in done.state.rungs[0].seats} == {"s1"}
    assert set(done.memory.seats) == {"fable/s1"}


@pytest.mark.parametrize(
    ("content", "reason"), [('{"seats":', Reason.MALFORMED), ("{}", Reason.MALFORMED), (None, Reason.SOURCE_MISSING)]
)
async def test_a_list_that_cannot_be_read_leaves_its_seats_unknown(
    tmp_path: Path, content: str | None, reason: Reason
) -> None:
    path = seats_file(tmp_path, "s1")
    good = await run_listed(path, memory())
    path.unlink()
    if content is not None:
        path.write_text(content)
    done = await run_listed(path, good.memory)
    assert done.state.rungs[0].state is RungState.UNKNOWN
    assert [(seat.name, seat.state, seat.reason) for seat in done.state.rungs[0].seats] == [
        ("s1", SeatState.UNKNOWN, reason)
    ]
    assert done.memory.last_success_at == good.state.at
    fresh = await run_listed(path, memory())
    assert (fresh.state.rungs[0].state, fresh.state.rungs[0].reasons) == (RungState.UNKNOWN, (reason,))


async def test_without_a_login_anywhere_the_ladder_is_down(tmp_path: Path) -> None:
    second = target(tmp_path / "b", "b", rung="astra", login_kind="codex", sources=())
    done = await tick(plan([target(tmp_path / "a", sources=())], [second]), memory(), world(FakeClock()))
    assert done.state.state is LadderWord.DOWN
    assert {seat.reason for rung in done.state.rungs for seat in rung.seats} == {Reason.MISSING}


async def test_an_api_key_or_no_login_at_all_is_unmetered(tmp_path: Path) -> None:
    key = target(tmp_path, "key", login_kind="key", api_key_env="KEY", quota=Quota.UNMETERED, sources=())
    none = target(tmp_path, "none", login_kind="none", quota=Quota.UNMETERED, sources=(), rung="astra")
    done = await tick(plan([key], [none]), memory(), world(FakeClock(), environ={"KEY": "sk-SENTINEL"}))
    assert done.state.state is LadderWord.OK
    lost = await tick(plan([key], [none]), memory(), world(FakeClock()))
    assert state_of(lost, "key") == (SeatState.NO_TOKEN, Reason.MISSING)
