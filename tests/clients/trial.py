"""Trial: one scenario through the canary and then through the real client, and what the canary did meanwhile."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

from canary.clock import SystemClock
from canary.demo.provider import Provider, Request
from canary.demo.script import Kind, Vendor
from canary.demo.server import serve
from canary.sources.target import Target
from canary.tick import tick
from canary.world import PURPOSE, World
from decide.ladder import RungState
from decide.rungs import http
from decide.rungs.process import run
from decide.seat import SeatStatus
from tests.canary.fakes import memory, no_keychain, plan, target
from tests.clients.install import Clients
from tests.clients.invoke import MODELS, Outcome, Room, Told, command, told_by_claude, told_by_codex
from tests.clients.proxy import Proxy, proxied
from tests.clients.scenario import SEAT, Scenario, Stage

BOUND_S = 30.0
"""How long a client may take; one that still runs then hangs."""
READ_S = 5.0
OUTPUT_LIMIT = 1024 * 1024
RUNGS = {Vendor.CLAUDE: "fable", Vendor.CODEX: "astra"}


@dataclass(frozen=True)
class Word:
    """The canary's word of a rung, with the seat behind it and whatever it did that it never may."""

    state: RungState
    seat: SeatStatus
    breaches: tuple[str, ...]


@dataclass(frozen=True)
class Trial:
    """A scenario with what the client did and what the canary had said."""

    scenario: Scenario
    told: Told
    word: Word
    seconds: float


@dataclass
class Recorder:
    """Every request that the canary makes, on its way out."""

    fetch: Callable[[http.Request], Awaitable[http.Response]]
    asked: list[str]

    async def __call__(self, ask: http.Request) -> http.Response:
        self.asked.append(ask.url)
        return await self.fetch(ask)


def files(folder: Path) -> dict[Path, tuple[bytes, int, int]]:
    """Every file under a folder with its content, time of change and mode."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), (facts := path.stat()).st_mtime_ns, facts.st_mode) for path in found}


def closed_port() -> int:
    """A port of this machine on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


async def run_trial(
    scenario: Scenario, clients: Clients, folder: Path, authority: Path, tls: ssl.SSLContext
) -> Trial:
    """The canary reads first and must leave everything as it was; then the client runs on the very same files."""
    provider = Provider({}, lambda: datetime.now(UTC))
    seat, scratch = folder / "seat", folder / "scratch"
    seat.mkdir(parents=True)
    scratch.mkdir()
    scenario.setup(Stage(seat, provider, datetime.now(UTC)))
    async with serve(provider) as plain, proxied(provider, tls) as proxy:
        nowhere = f"http://127.0.0.1:{closed_port()}"
        word = await _word(scenario, seat, provider, nowhere if scenario.offline else plain, proxy)
        room = Room(seat, scratch, nowhere if scenario.offline else proxy.url, authority)
        began = monotonic()
        told = await _ask(scenario, clients, room)
        return Trial(scenario, told, word, monotonic() - began)


def _target(scenario: Scenario, seat: Path, base_url: str) -> Target:
    kind = scenario.vendor.value
    values: dict[str, object] = {
        "rung": RUNGS[scenario.vendor],
        "login_kind": kind,
        "model": scenario.model or MODELS[scenario.vendor],
        "sources": (f"{kind}-usage",),
        "claude_base_url": base_url,
        "codex_base_url": f"{base_url}/backend-api",
    }
    return target(seat, SEAT, **(values | dict(scenario.changes)))


async def _word(scenario: Scenario, seat: Path, provider: Provider, base_url: str, proxy: Proxy) -> Word:
    clock, before = SystemClock(), files(seat)
    client = http.Http(clock.now, timeout_s=READ_S, version="test", purpose=PURPOSE)
    recorder = Recorder(client.fetch, [])
    world = World(clock, recorder, asyncio.sleep, no_keychain, {})
    own = _target(scenario, seat, base_url)
    first, second = ([own], []) if scenario.vendor is Vendor.CLAUDE else ([], [own])
    done = await tick(plan(first, second), memory(), world)
    await client.aclose()
    rung = done.state.rung(RUNGS[scenario.vendor])
    if rung is None:
        raise LookupError(f"no rung {RUNGS[scenario.vendor]!r} in the state")
    breaches = _breaches(provider.log, recorder.asked, base_url, proxy)
    if files(seat) != before:
        breaches = (*breaches, "wrote into the client's folder")
    return Word(rung.state, rung.seats[0], breaches)


def _breaches(log: list[Request], asked: list[str], base_url: str, proxy: Proxy) -> tuple[str, ...]:
    home = urlsplit(base_url).netloc
    found = [f"sent a {request.kind} request to {request.path}" for request in log if request.kind is not Kind.USAGE]
    found += [f"asked a foreign host: {url}" for url in asked if urlsplit(url).netloc != home]
    found += [f"reached {request.host} instead of {home}" for request in log if request.host != home]
    found += [f"opened a tunnel to {host or 'the proxy'}" for host in proxy.asked]
    return tuple(found)


async def _ask(scenario: Scenario, clients: Clients, room: Room) -> Told:
    words, environ = command(scenario, clients, room)
    inside = ("/bin/sh", "-c", 'cd "$0" && exec "$@" 2>stderr.txt', str(room.scratch), *words)
    try:
        async with asyncio.timeout(BOUND_S):
            ended = await run(inside, environ=environ, stdin=None, limit=OUTPUT_LIMIT)
    except TimeoutError:
        return Told(Outcome.HANGS, f"still running after {BOUND_S:.0f} s")
    if ended.code is None or ended.truncated:
        raise RuntimeError(f"{words[0]} could not be started, or said more than {OUTPUT_LIMIT} bytes")
    told = (told_by_claude if scenario.vendor is Vendor.CLAUDE else told_by_codex)(ended.code, ended.stdout)
    if ended.stdout.strip():
        return told
    said = (room.scratch / "stderr.txt").read_text(errors="replace").strip().splitlines() or ["not a word"]
    return Told(told.outcome, f"exit {ended.code}: {said[-1]}")
