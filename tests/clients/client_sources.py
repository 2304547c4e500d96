"""The sources that start a real client, against the direct read of the same seat at the same moment."""

import asyncio
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from canary.clock import SystemClock
from canary.demo import claude_wire, codex_wire
from canary.demo.codex_wire import credits_block
from canary.demo.provider import Provider
from canary.demo.script import Fault, Kind, Shape, Vendor
from canary.login import Login
from canary.sources import claude_usage, clients, codex_usage
from canary.sources.answer import Answer
from canary.world import PURPOSE, World
from decide.quota import Reading, Window
from decide.rungs.http import Http
from tests.canary.fakes import no_keychain, target
from tests.clients.install import Clients
from tests.clients.proxy import make_authority, proxied
from tests.clients.scenario import PAST, SEAT, Setup, Stage, claude, codex, model_week, no_file, session, week

NEAR = timedelta(seconds=2)
"""How far two resets of one window may differ: one vendor answers in whole seconds."""


@dataclass(frozen=True)
class Row:
    """A seat to be read by its own client; `reads` whether that should give a reading."""

    name: str
    vendor: Vendor
    setup: Setup
    reads: bool = True
    renewals: int = 0


FULL = (session(12), week(31), model_week("Fable", 100))
SPARK = (session(12), week(31), model_week("GPT-5.3-Codex-Spark", 100))
ROWS = (
    Row("headroom, Fable's week full", Vendor.CLAUDE, claude(*FULL)),
    Row("flat document", Vendor.CLAUDE, claude(session(100), week(31), shape=Shape.FLAT)),
    Row("lapsed: the client renews it", Vendor.CLAUDE, claude(*FULL, lapses=PAST), renewals=1),
    Row("lapsed, renewal refused", Vendor.CLAUDE, claude(lapses=PAST, renewable=False), reads=False, renewals=1),
    Row("usage 429", Vendor.CLAUDE, claude(fault=Fault.THROTTLED, fault_on=frozenset({Kind.USAGE})), reads=False),
    Row("usage 401", Vendor.CLAUDE, claude(refresh=False, fault=Fault.UNAUTHORIZED, fault_on=frozenset({Kind.USAGE})), reads=False),
    Row("usage 403", Vendor.CLAUDE, claude(fault=Fault.FORBIDDEN_SCOPE, fault_on=frozenset({Kind.USAGE})), reads=False),
    Row("no login", Vendor.CLAUDE, no_file(claude(), ".credentials.json"), reads=False),
    Row("headroom, another bucket full", Vendor.CODEX, codex(*SPARK)),
    Row("session full", Vendor.CODEX, codex(session(100), week(31))),
    Row("week in the primary slot", Vendor.CODEX, codex(week(40), shape=Shape.WEEKLY_PRIMARY)),
    Row("business seat with credits", Vendor.CODEX, codex(shape=Shape.BUSINESS, credits=credits_block("12.34"), plan="business")),
    Row("lapsed: the client renews it", Vendor.CODEX, codex(*SPARK, lapses=PAST), renewals=1),
    Row("usage 429", Vendor.CODEX, codex(fault=Fault.THROTTLED, fault_on=frozenset({Kind.USAGE})), reads=False),
    Row("usage 401", Vendor.CODEX, codex(fault=Fault.UNAUTHORIZED, fault_on=frozenset({Kind.USAGE})), reads=False),
    Row("no login", Vendor.CODEX, no_file(codex(), "auth.json"), reads=False),
)  # fmt: skip


@dataclass(frozen=True)
class SourceTrial:
    """What the source said, how long it took, how often the client renewed the login, and what is wrong with that."""

    row: Row
    answer: Answer
    seconds: float
    renewals: int
    faults: tuple[str, ...]


async def source_trials(found: Clients, folder: Path) -> list[SourceTrial]:
    """Every row, one after the other."""
    base = folder / "sources"
    base.mkdir()
    authority, tls = make_authority(base)
    trials = []
    for place, row in enumerate(ROWS):
        provider = Provider({}, lambda: datetime.now(UTC))
        seat = base / f"{place}"
        seat.mkdir()
        row.setup(Stage(seat, provider, datetime.now(UTC)))
        async with proxied(provider, tls) as proxy:
            trials.append(await _trial(row, found, seat, provider, proxy.url, authority))
    return trials


async def _trial(
    row: Row, found: Clients, seat: Path, provider: Provider, proxy: str, authority: Path
) -> SourceTrial:
    clock = SystemClock()
    environ = {name: os.environ[name] for name in ("PATH",)} | {
        "HOME": str(seat.parent),
        "HTTPS_PROXY": proxy,
        "NODE_EXTRA_CA_CERTS": str(authority),
        "CODEX_CA_CERTIFICATE": str(authority),
    }
    http = Http(clock.now, timeout_s=5, version="test", purpose=PURPOSE)
    world = World(clock, http.fetch, asyncio.sleep, no_keychain, environ)
    client = found.claude if row.vendor is Vendor.CLAUDE else found.codex
    own = target(seat, SEAT, login_kind=row.vendor.value, client=str(client))
    read = clients.read_claude if row.vendor is Vendor.CLAUDE else clients.read_codex
    began = clock.monotonic()
    answer = await read(own, Login(), world)
    seconds = clock.monotonic() - began
    await http.aclose()
    renewals = provider.count(kind=Kind.REFRESH)
    return SourceTrial(row, answer, seconds, renewals, tuple(_faults(row, answer, provider, renewals)))


def _faults(row: Row, answer: Answer, provider: Provider, renewals: int) -> list[str]:
    name = f"source of {row.vendor.value}, {row.name}"
    found = [f"{name}: the client called a model"] * (provider.count(kind=Kind.MODEL) > 0)
    if (answer.reading is not None) is not row.reads:
        found.append(f"{name}: {'no reading' if row.reads else 'a reading'}: {answer.step}")
    if bool(renewals) is not bool(row.renewals):
        found.append(f"{name}: {renewals} renewals")
    if answer.reading is not None:
        direct = _direct(row.vendor, provider)
        if not _same(answer.reading, direct):
            found.append(f"{name}: {_said(answer.reading.windows)} instead of {_said(direct.windows)}")
    return found


def _direct(vendor: Vendor, provider: Provider) -> Reading:
    """What the usage document itself says of the seat."""
    now, seat = datetime.now(UTC), provider.seat(SEAT)
    if vendor is Vendor.CLAUDE:
        return claude_usage.parse(claude_wire.usage_document(seat), now)
    return codex_usage.parse(codex_wire.usage_document(seat, now), now)


def _same(told: Reading, direct: Reading) -> bool:
    ours, theirs = ({window.key: window for window in reading.windows} for reading in (told, direct))
    return ours.keys() == theirs.keys() and all(_alike(ours[key], theirs[key]) for key in ours)


def _alike(one: Window, other: Window) -> bool:
    if one.resets_at is None or other.resets_at is None:
        near = one.resets_at is other.resets_at
    else:
        near = abs(one.resets_at - other.resets_at) <= NEAR
    return near and one.measure is other.measure and abs(one.used - other.used) < 0.01


def _said(windows: Iterable[Window]) -> str:
    return ", ".join(
        f"{w.scope or w.kind} {w.used:.0%}" if w.measure == "metered" else f"{w.kind} {w.measure}" for w in windows
    )


def show_readings(trials: Sequence[SourceTrial], console: Console) -> None:
    """What each source said."""
    if not trials:
        return
    table = Table(title="The sources that start a real client")
    for column in ("client", "seat", "said", "renewals", "seconds"):
        table.add_column(column, overflow="fold")
    for trial in trials:
        reading = trial.answer.reading
        said = _said(reading.windows) if reading else f"{trial.answer.failure}: {trial.answer.step}"
        cells = (trial.row.vendor.value, trial.row.name, said, str(trial.renewals), f"{trial.seconds:.1f}")
        table.add_row(*(escape(cell) for cell in cells), style="bold red" if trial.faults else "")
    console.print(table)
