"""tick_1000_seats: a whole tick over 1,000 seats against the same reads made bare with httpx."""

import asyncio
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

from canary.app import real_world
from canary.clock import SystemClock
from canary.config import Config
from canary.demo.logins import claude_token, write_claude_login
from canary.folder import blank
from canary.plan import plan_of
from canary.tick import Ticked, tick
from decide.seat import SeatState
from tests.bench.child import child
from tests.bench.measure import Row, interleaved

NAME = "tick_1000_seats"
SEATS, CONCURRENCY, DELAY_MS, RUNS = 1000, 64, 50, 5
NAMES = [f"seat-{number:04}" for number in range(SEATS)]


def measure() -> list[Row]:
    """The row of this benchmark."""
    with (
        tempfile.TemporaryDirectory(prefix="rungwatch-bench-") as scratch,
        child("canary.demo.provider", "--seats", str(SEATS), "--delay-ms", str(DELAY_MS)) as (_, base),
    ):
        expires_at = datetime.now(UTC) + timedelta(hours=6)
        for name in NAMES:
            write_claude_login(Path(scratch) / name, claude_token(name), expires_at=expires_at)
        config = _config(Path(scratch), base)
        ours, floor = interleaved(
            lambda: asyncio.run(_ours(config)), lambda: asyncio.run(_floor(base)), RUNS, f"{NAME} (seconds)"
        )
    return [Row(NAME, ours, floor, "s", RUNS, limit=1.5)]


def _config(scratch: Path, base: str) -> Config:
    seats = [{"name": name, "config_dir": str(scratch / name), "sources": ["claude-usage"]} for name in NAMES]
    return Config.model_validate(
        {
            "ladder": {"primary": "fable", "second": "astra"},
            "rung": [
                {"name": "fable", "kind": "claude", "model": "claude-fable-5", "scopes": ["Fable"], "seat": seats},
                {
                    "name": "astra",
                    "kind": "command",
                    "model": "gpt-6-astra",
                    "seat": [{"name": "own", "auth": "none"}],
                },
            ],
            "canary": {"concurrency": CONCURRENCY, "tick_deadline": "120s", "seat_timeout": "60s"},
            "source": {"claude_base_url": base},
        }
    )


async def _ours(config: Config) -> float:
    """A tick of a canary that has just started: nothing remembered, no connection open."""
    world, http = real_world(config, SystemClock())
    try:
        plan, memory = plan_of(config), blank()
        start = time.perf_counter()
        done = await tick(plan, memory, world)
        taken = time.perf_counter() - start
    finally:
        await http.aclose()
    _check(done)
    return taken


def _check(done: Ticked) -> None:
    available = sum(seat.state is SeatState.AVAILABLE for rung in done.state.rungs for seat in rung.seats)
    if available != SEATS + 1:
        raise RuntimeError(f"only {available} of {SEATS + 1} seats are available: {done.memory.counters.reads}")


async def _floor(base: str) -> float:
    """The same requests by one client with its defaults, which is the fastest single httpx client there is here.

    With every connection kept alive httpx is two to three times slower: its pool looks at each one at each request.
    """
    gate = asyncio.Semaphore(CONCURRENCY)

    async def read(client: httpx.AsyncClient, name: str) -> None:
        headers = {
            "authorization": f"Bearer {claude_token(name)}",
            "anthropic-beta": "oauth-2025-04-20",
            "accept": "application/json",
        }
        async with gate:
            reply = await client.get(f"{base}/api/oauth/usage", headers=headers)
        reply.raise_for_status()

    async with httpx.AsyncClient(timeout=60) as client:
        start = time.perf_counter()
        await asyncio.gather(*(read(client, name) for name in NAMES))
        return time.perf_counter() - start
