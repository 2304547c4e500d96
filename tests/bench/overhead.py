"""decide_overhead: a whole medium run with its durable commits, against its four calls made bare."""

import asyncio
import os
import secrets
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import httpx

from decide.ladder import Role
from decide.policy import default_rows
from decide.ports import Access, SeatAccess
from decide.question import Option, Question
from decide.reply import Billing
from decide.ruling import Outcome
from decide.run import ask, briefs
from decide.rungs import chat
from decide.rungs.http import Http
from decide.seat import Quota, Seat, Token, TokenState
from decide.setup import RungSetup, Setup
from decide.snapshot import Evidence, Snapshot, Source, SourceKind
from decide.store.opening import open_store
from decide.store.store import SqlStore
from tests.bench.child import child
from tests.bench.measure import Row, say

NAME = "decide_overhead"
RUNS = 200
DELAYS_MS = (0, 50)
MEDIAN_MS, P99_MS = 10.0, 25.0
OPTIONS = (Option("a", "Keep the first"), Option("b", "Keep the other"))
EVIDENCE = Snapshot((Evidence(SourceKind.TEXT, "log", "a line of evidence\n" * 40),))
_NUMBER = count()


@dataclass(frozen=True, slots=True)
class Measured:
    """Milliseconds of each run, by turns."""

    ours: list[float]
    floor: list[float]


def measure() -> list[Row]:
    """How much longer a run takes than its calls: at the median and at the 99th percentile, for each delay."""
    rows = []
    with child("tests.bench.overhead_far") as (_, port):
        for delay in DELAYS_MS:
            took = asyncio.run(_measured(f"http://127.0.0.1:{port}/v1", delay))
            for name, at, most in (("median", 0.5, MEDIAN_MS), ("p99", 0.99, P99_MS)):
                ours, floor = _at(took.ours, at), _at(took.floor, at)
                say(f"{NAME} at {delay} ms: {name} {ours:.2f} ms against {floor:.2f} ms")
                rows.append(Row(f"{NAME}_{delay}ms_{name}", ours - floor, floor, "ms", RUNS, most=most))
    return rows


def _at(values: Sequence[float], share: float) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[round(share * 100) - 1]


async def _measured(base_url: str, delay_ms: int) -> Measured:
    took = Measured([], [])
    http = Http(_now, timeout_s=30, version="bench", purpose="measures")
    with tempfile.TemporaryDirectory(prefix="rungwatch-bench-") as folder:
        store = await open_store(Path(folder) / "ledger.db", host="bench", pid=os.getpid())
        setup = _setup(store, http, base_url, delay_ms)
        async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
            for run in range(RUNS + 1):
                ours, floor = await _ours(setup), await _bare(client, setup, base_url, delay_ms)
                if run:
                    took.ours.append(ours)
                    took.floor.append(floor)
        await store.close()
        await http.aclose()
    return took


def _now() -> datetime:
    return datetime.now(UTC)


def _question() -> Question:
    return Question(f"Which cache library do we keep? ({next(_NUMBER)})", OPTIONS)


async def _ours(setup: Setup) -> float:
    question, began = _question(), time.perf_counter()
    done = await ask(question, setup=setup, sources=(Source(SourceKind.TEXT, "frozen"),))
    took = time.perf_counter() - began
    if done.outcome is not Outcome.AGREED:
        raise RuntimeError(f"the run ended in {done.outcome}: {done.document['why']}")
    return took * 1000


async def _bare(client: httpx.AsyncClient, setup: Setup, base_url: str, delay_ms: int) -> float:
    """The same four requests, already made up, at once."""
    bodies = [
        chat.body(brief, _access(rung.model, base_url, delay_ms))
        for rung in (setup.primary, setup.second)
        for brief in briefs(_question(), EVIDENCE, setup)
    ]
    headers = {"authorization": f"Bearer ms-{delay_ms}"}
    began = time.perf_counter()
    await asyncio.gather(
        *(client.post(f"{base_url}/chat/completions", json=body, headers=headers) for body in bodies)
    )
    return (time.perf_counter() - began) * 1000


def _access(model: str, base_url: str, delay_ms: int) -> Access:
    return Access("seat", model, "medium", 30.0, base_url=base_url, secret=f"ms-{delay_ms}")


def _setup(store: SqlStore, http: Http, base_url: str, delay_ms: int) -> Setup:
    seat = Seat("seat", Token(TokenState.LIVE), Quota.UNMETERED)

    def rung(name: str, role: Role) -> RungSetup:
        async def seats() -> Sequence[SeatAccess]:
            return [SeatAccess(seat, _access(name, base_url, delay_ms), Billing.METERED)]

        return RungSetup(name, role, name, frozenset({name}), chat.rung(http.fetch), seats)

    async def freeze(sources: Sequence[Source]) -> Snapshot:
        return EVIDENCE

    return Setup(
        primary=rung("fable", Role.PRIMARY),
        second=rung("astra", Role.SECOND),
        store=store,
        rows=default_rows(),
        freeze=freeze,
        price=lambda usage, model: usage.total,
        clock=_now,
        monotonic=time.monotonic,
        sleep=asyncio.sleep,
        fresh_id=lambda: secrets.token_hex(12),
    )
