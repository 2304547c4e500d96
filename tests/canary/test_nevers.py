"""What the canary never does, read off the far side's own request log: one test a never."""

import json
import logging
import os
from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from canary.demo.logins import write_claude_login, write_codex_login
from canary.demo.provider import Provider
from canary.demo.script import Fault, Kind, Meter, MeterKind, SeatScript, Vendor
from canary.demo.server import serve
from canary.folder import save
from canary.memory import Memory
from canary.sources.target import Target
from canary.tick import Ticked, tick
from canary.world import PURPOSE, World
from decide.reason import Reason
from decide.rungs.http import Http, Request
from decide.seat import SeatState, TokenState
from exporters.logline import logline
from tests.canary.fakes import NOW, FakeClock, memory, no_keychain, no_pause, plan, target

CLAUDE_TOKEN = "sk-ant-oat01-SENTINEL-ACCESS-TOKEN"
CLAUDE_REFRESH = "sk-ant-ort01-SENTINEL-REFRESH-TOKEN"
CODEX_REFRESH = "rt_SENTINEL-CODEX-REFRESH"
HOUR = timedelta(hours=1)


class Stage:
    """A provider on loopback, a Claude and a Codex seat with logins in a folder, and a real HTTP client."""

    def __init__(self, folder: Path, provider: Provider, base_url: str, clock: FakeClock) -> None:
        self.folder, self.provider, self.base_url, self.clock = folder, provider, base_url, clock
        self.http = Http(clock.now, timeout_s=5, version="test", purpose=PURPOSE)
        self.world = World(clock, self.http.fetch, no_pause, no_keychain, {})
        self.codex_token = ""

    def seats(self, *, claude_lapses: timedelta = HOUR, codex_lapses: timedelta = HOUR, refresh: bool = True) -> None:
        """Put both seats on the far side, and their logins into their folders."""
        write_claude_login(
            self.folder / "claude",
            CLAUDE_TOKEN,
            expires_at=NOW + claude_lapses,
            refresh_token=CLAUDE_REFRESH if refresh else None,
        )
        self.codex_token = write_codex_login(
            self.folder / "codex", expires_at=NOW + codex_lapses, refresh_token=CODEX_REFRESH if refresh else ""
        )
        session = Meter(MeterKind.SESSION, 12.0, NOW + HOUR)
        self.provider.seats[CLAUDE_TOKEN] = SeatScript("desk", Vendor.CLAUDE, windows=[session])
        self.provider.seats[self.codex_token] = SeatScript("main", Vendor.CODEX, windows=[session])

    def targets(self, **changes: object) -> tuple[Target, Target]:
        """Both seats as targets."""
        base = {"claude_base_url": self.base_url, "codex_base_url": f"{self.base_url}/backend-api"} | changes
        codex = {"rung": "astra", "login_kind": "codex", "model": "gpt-6-astra", "sources": ("codex-usage",)}
        return (
            target(self.folder / "claude", "desk", **base),
            target(self.folder / "codex", "main", **(codex | base)),
        )

    async def tick(self, before: Memory | None = None, **changes: object) -> Ticked:
        """One real tick over both seats."""
        claude, codex = self.targets(**changes)
        return await tick(plan([claude], [codex]), before or memory(), self.world)

    def fail(self, fault: Fault | None, retry_after: str | None = None) -> None:
        """Give both seats a fault."""
        for script in self.provider.seats.values():
            script.fault, script.retry_after = fault, retry_after


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    clock = FakeClock()
    provider = Provider({}, clock.now)
    async with serve(provider) as base_url:
        built = Stage(tmp_path, provider, base_url, clock)
        yield built
        await built.http.aclose()


def states(done: Ticked) -> dict[str, tuple[SeatState, Reason | None]]:
    return {seat.name: (seat.state, seat.reason) for rung in done.state.rungs for seat in rung.seats}


FAULTS = [
    None,
    Fault.UNAUTHORIZED,
    Fault.FORBIDDEN_SCOPE,
    Fault.THROTTLED,
    Fault.SERVER_ERROR,
    Fault.HTML,
    Fault.DROP,
]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("lapses", [HOUR, -HOUR])
async def test_it_never_refreshes_and_never_calls_a_model(
    stage: Stage, fault: Fault | None, lapses: timedelta
) -> None:
    stage.seats(claude_lapses=lapses, codex_lapses=lapses)
    stage.fail(fault)
    done = await stage.tick()
    await stage.tick(done.memory)
    assert stage.provider.count(kind=Kind.REFRESH) == 0
    assert stage.provider.count(kind=Kind.MODEL) == 0
    assert {request.kind for request in stage.provider.log} <= {Kind.USAGE}


async def test_it_never_writes_a_vendors_file(stage: Stage) -> None:
    stage.seats()
    files = [path for path in stage.folder.rglob("*") if path.is_file()]
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode) for path in files}
    for fault in FAULTS:
        stage.fail(fault)
        await stage.tick()
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode) for path in before}
    assert after == before
    assert {path for path in stage.folder.rglob("*") if path.is_file()} == set(before)


async def test_it_never_sends_a_lapsed_login(stage: Stage) -> None:
    stage.seats(claude_lapses=-HOUR, codex_lapses=timedelta())
    done = await stage.tick()
    assert stage.provider.log == []
    assert states(done) == {
        "desk": (SeatState.UNKNOWN, Reason.ASLEEP),
        "main": (SeatState.UNKNOWN, Reason.ASLEEP),
    }


@pytest.mark.parametrize("expires_ms", [0, 1, 1000, 1577836800000, "1792069200000"])
async def test_it_never_sends_a_login_whose_expiry_cannot_be_told(stage: Stage, expires_ms: object) -> None:
    stage.seats()
    block = {"accessToken": CLAUDE_TOKEN, "refreshToken": CLAUDE_REFRESH, "expiresAt": expires_ms}
    (stage.folder / "claude" / ".credentials.json").write_text(json.dumps({"claudeAiOauth": block}))
    done = await stage.tick()
    assert stage.provider.count(seat="desk") == 0
    assert states(done)["desk"][0] is SeatState.UNKNOWN


async def test_a_read_that_the_deadline_cut_off_still_counts_in_the_budget(stage: Stage) -> None:
    stage.seats(claude_lapses=timedelta(days=1))
    stage.fail(Fault.HANG)
    claude, _ = stage.targets()
    await stage.http.fetch(Request(stage.base_url))  # the first request of a process has httpx to import
    done = await tick(plan([claude], deadline=timedelta(milliseconds=200)), memory(), stage.world)
    for _ in range(30):
        done = await tick(plan([claude], deadline=timedelta(milliseconds=200)), done.memory, stage.world)
    assert stage.provider.count(seat="desk") <= 5
    assert len(done.memory.seat("fable/desk").polls) == stage.provider.count(seat="desk")


async def test_a_torn_login_file_forgets_no_rejection(stage: Stage) -> None:
    stage.seats()
    stage.fail(Fault.UNAUTHORIZED)
    whole = (stage.folder / "claude" / ".credentials.json").read_text()
    done = await stage.tick()
    for _ in range(5):
        stage.clock.pass_(10)
        for content in (whole[:20], whole):
            (stage.folder / "claude" / ".credentials.json").write_text(content)
            done = await stage.tick(done.memory)
    assert stage.provider.count(seat="desk") == 1


async def test_it_never_sends_a_login_to_another_host(stage: Stage) -> None:
    elsewhere = Provider({}, stage.clock.now)
    async with serve(elsewhere) as other:
        stage.seats()
        for script in stage.provider.seats.values():
            script.fault, script.redirect_to = Fault.REDIRECT, f"{other}/api/oauth/usage"
        done = await stage.tick()
    assert elsewhere.log == []
    assert {reason for _, reason in states(done).values()} == {Reason.REDIRECT}


async def test_it_never_reads_a_usage_endpoint_that_the_configuration_does_not_name(stage: Stage) -> None:
    stage.seats()
    done = await stage.tick(sources=())
    assert stage.provider.log == []
    assert set(states(done).values()) == {(SeatState.UNKNOWN, Reason.NEVER_READ)}
    assert {seat.token.state for rung in done.state.rungs for seat in rung.seats} == {TokenState.LIVE}


async def test_it_never_pretends_to_be_the_vendors_client(stage: Stage) -> None:
    stage.seats()
    await stage.tick()
    agents = {request.headers["user-agent"] for request in stage.provider.log}
    assert agents == {"rungwatch/test (reads quotas; calls no model)"}


async def test_it_never_asks_again_while_the_vendor_throttles(stage: Stage) -> None:
    stage.seats()
    stage.fail(Fault.THROTTLED, "0")
    done = await stage.tick()
    assert set(states(done).values()) == {(SeatState.UNKNOWN, Reason.HTTP_429)}
    asked = stage.provider.count()
    assert asked == 2
    for seconds, more in ((59, 0), (1, 2), (119, 0), (1, 2), (239, 0), (1, 2)):
        stage.clock.pass_(seconds)
        done = await stage.tick(done.memory)
        assert stage.provider.count() == asked + more, seconds
        asked += more
        assert set(states(done).values()) == {(SeatState.UNKNOWN, Reason.HTTP_429)}


async def test_it_never_asks_more_often_than_twenty_times_an_hour(stage: Stage) -> None:
    stage.seats(claude_lapses=timedelta(days=1), codex_lapses=timedelta(days=1))
    done = await stage.tick()
    for _ in range(119):
        stage.clock.pass_(60)
        done = await stage.tick(done.memory)
    times = [request.at for request in stage.provider.log if request.seat == "desk"]
    for start in times:
        assert sum(start <= at < start + HOUR for at in times) <= 20
    gaps = [after - before for before, after in pairwise(times)]
    assert max(gaps) <= timedelta(minutes=5), "spent at once, the budget would run dry and the seat go unknown"


async def test_a_rejected_login_is_told_at_once_and_not_sent_again_and_again(stage: Stage) -> None:
    stage.seats()
    stage.fail(Fault.UNAUTHORIZED)
    done = await stage.tick()
    assert set(states(done).values()) == {(SeatState.UNKNOWN, Reason.REJECTED)}
    stage.clock.pass_(30)
    done = await stage.tick(done.memory)
    assert stage.provider.count() == 2
    assert set(states(done).values()) == {(SeatState.UNKNOWN, Reason.REJECTED)}
    stage.seats(refresh=False)
    stage.fail(Fault.UNAUTHORIZED)
    done = await stage.tick()
    assert set(states(done).values()) == {(SeatState.NO_TOKEN, Reason.REJECTED)}


async def test_a_new_login_clears_an_old_rejection(stage: Stage) -> None:
    stage.seats()
    stage.fail(Fault.UNAUTHORIZED)
    done = await stage.tick()
    renewed = CLAUDE_TOKEN + "-2"
    write_claude_login(stage.folder / "claude", renewed, expires_at=NOW + HOUR, refresh_token=CLAUDE_REFRESH)
    stage.provider.seats[renewed] = SeatScript(
        "desk", Vendor.CLAUDE, windows=[Meter(MeterKind.SESSION, 12.0, NOW + HOUR)]
    )
    done = await stage.tick(done.memory)
    assert states(done)["desk"] == (SeatState.AVAILABLE, None)


async def test_no_secret_is_in_anything_that_is_kept_or_told(
    stage: Stage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    stage.seats()
    kept = tmp_path / "state"
    kept.mkdir()
    told: list[str] = []
    done = None
    for fault in FAULTS:
        stage.fail(fault)
        stage.clock.pass_(4000)
        stage.seats(claude_lapses=timedelta(days=1), codex_lapses=timedelta(days=1))
        stage.fail(fault)
        done = await stage.tick(done.memory if done else None)
        save(kept, done.memory, done.transitions)
        told += [logline(done.state), repr(done), *(line for probe in done.probes for line in probe.lines)]
    (stage.folder / "claude" / ".credentials.json").write_text('{"claudeAiOauth": {"accessToken": "sk-ant-SENTINEL')
    assert done is not None
    done = await stage.tick(done.memory)
    told += [repr(done), *(line for probe in done.probes for line in probe.lines), caplog.text]
    told += [path.read_text() for path in kept.iterdir() if path.is_file()]
    parts = [CLAUDE_TOKEN, CLAUDE_REFRESH, CODEX_REFRESH, *stage.codex_token.split(".")]
    for text in told:
        assert "SENTINEL" not in text
        for part in parts:
            assert not any(part[at : at + 12] in text for at in range(0, len(part) - 12, 6))
    assert all(os.stat(path).st_mode & 0o077 == 0 for path in kept.iterdir() if path.name != "canary.lock")


async def test_another_account_in_the_same_folder_brings_none_of_the_old_ones_readings(stage: Stage) -> None:
    stage.seats()
    week = Meter(MeterKind.WEEKLY_MODEL, 100.0, NOW + timedelta(days=3), model="Fable")
    stage.provider.seats[CLAUDE_TOKEN].windows.append(week)
    write_claude_login(stage.folder / "claude", CLAUDE_TOKEN, expires_at=NOW + HOUR, account_id="acct-one")
    done = await stage.tick(scopes=("Fable",))
    assert states(done)["desk"] == (SeatState.CAPPED, Reason.WEEKLY_MODEL_CAP)
    other = CLAUDE_TOKEN + "-other"
    write_claude_login(stage.folder / "claude", other, expires_at=NOW + HOUR, account_id="acct-two")
    stage.provider.seats[other] = SeatScript(
        "desk", Vendor.CLAUDE, windows=[Meter(MeterKind.SESSION, 12.0, NOW + HOUR)]
    )
    done = await stage.tick(done.memory, scopes=("Fable",))
    assert states(done)["desk"] == (SeatState.AVAILABLE, None)
