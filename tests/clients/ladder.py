"""A ladder of both real clients on the loopback provider: logins, configuration and environment in one folder."""

import json
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType

from canary.demo.provider import Provider
from canary.demo.questions import PRICES
from canary.demo.script import Kind, Meter, MeterKind, SeatScript, Vendor
from tests.clients.install import Clients
from tests.clients.lived_in import furnish
from tests.clients.mind import Mind
from tests.clients.proxy import Proxy, proxied
from tests.clients.scenario import Stage, claude, codex

FABLE, ASTRA = "fable", "astra"
SEATS = {FABLE: "desk", ASTRA: "main"}
MODELS = {FABLE: "claude-fable-5", ASTRA: "gpt-6-astra"}
VENDORS = {FABLE: Vendor.CLAUDE, ASTRA: Vendor.CODEX}
LOGINS = {FABLE: ".credentials.json", ASTRA: "auth.json"}
UNCOMPRESSED = '#!/bin/sh\nexec "{client}" "$@" --disable enable_request_compression\n'
"""Codex, but for the compression of its requests, which the provider could not read."""


@dataclass(frozen=True)
class Side:
    """One rung: what its model says, and how its seat stands.

    `walled_min`: its session is full, and clears that many minutes after the minute that the scenario begins in.
    `login` are words of the setups in `scenario`.
    """

    says: tuple[str, ...] = ("client",)
    backward: tuple[str, ...] = ()
    walled_min: int | None = None
    login: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    timeout: str = "45s"


@dataclass(frozen=True)
class Ladder:
    """All of one scenario: `clears` are the resets of walls by rung, `logins` each login as it was written first,
    `before` the files that were there then.
    """

    folder: Path
    provider: Provider
    proxy: Proxy
    environ: Mapping[str, str]
    minds: Mapping[str, Mind]
    clears: Mapping[str, datetime]
    logins: Mapping[str, str]
    before: frozenset[str]

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.folder / "rungwatch.toml"

    @property
    def state(self) -> Path:
        """The state folder."""
        return self.folder / "state"

    def login(self, rung: str) -> Path:
        """The file of a rung's login."""
        return self.folder / SEATS[rung] / LOGINS[rung]


@asynccontextmanager
async def ladder(
    sides: Mapping[str, Side], clients: Clients, folder: Path, authority: Path, tls: ssl.SSLContext
) -> AsyncIterator[Ladder]:
    """The ladder in a folder, with its far side running."""
    for name in ("home", "scratch", *SEATS.values()):
        (folder / name).mkdir(parents=True)
    (folder / "tmp").symlink_to("scratch")  # as macOS has it; Codex opens no file behind a link
    furnish(folder)
    provider, now = Provider({}, lambda: datetime.now(UTC)), datetime.now(UTC)
    began = now.replace(second=0, microsecond=0)
    clears = {
        rung: began + timedelta(minutes=side.walled_min)
        for rung, side in sides.items()
        if side.walled_min is not None
    }
    for rung, setup in ((FABLE, claude), (ASTRA, codex)):
        own = dict(sides[rung].login) | {"name": SEATS[rung]}
        if rung in clears:
            own["windows"] = partial(_full, clears[rung])
        setup(**own)(Stage(folder / SEATS[rung], provider, now))  # type: ignore[arg-type]  # words of either setup
    minds = {rung: _minded(provider.seat(SEATS[rung]), side) for rung, side in sides.items()}
    _write_config(folder, sides, clients)
    async with proxied(provider, tls) as proxy:
        logins = {rung: (folder / SEATS[rung] / LOGINS[rung]).read_text() for rung in SEATS}
        environ = _environ(folder, proxy, authority)
        yield Ladder(folder, provider, proxy, environ, minds, clears, logins, files(folder))


def files(folder: Path) -> frozenset[str]:
    """Every file and link below a folder."""
    found = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return frozenset(str(path.relative_to(folder)) for path in found)


def _full(clears: datetime, now: datetime) -> list[Meter]:
    return [Meter(MeterKind.SESSION, 100, clears), Meter(MeterKind.WEEKLY, 31, now + timedelta(days=4))]


def _minded(seat: SeatScript, side: Side) -> Mind:
    mind = Mind(seat, side.says, side.backward)
    seat.answer, seat.fault_on = mind, frozenset({Kind.MODEL})
    return mind


def _environ(folder: Path, proxy: Proxy, authority: Path) -> dict[str, str]:
    """What rungwatch itself is started with; nothing of this process but the search path."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "LANG": "C.UTF-8",
        "HTTPS_PROXY": proxy.url,
        "HTTP_PROXY": proxy.url,
        "NODE_EXTRA_CA_CERTS": str(authority),
        "CODEX_CA_CERTIFICATE": str(authority),
        # What would replace a seat must never reach a client.
        "ANTHROPIC_API_KEY": "sk-ant-api03-OUTSIDE",
        "CODEX_API_KEY": "sk-OUTSIDE",
    }


def _write_config(folder: Path, sides: Mapping[str, Side], clients: Clients) -> None:
    codex_client = folder / "codex"
    codex_client.write_text(UNCOMPRESSED.format(client=clients.codex))
    codex_client.chmod(0o755)
    programs = {FABLE: clients.claude, ASTRA: codex_client}
    (folder / "prices.toml").write_text(PRICES)
    lines = ["[ladder]", f'primary = "{FABLE}"', f'second = "{ASTRA}"']
    lines += ["[decide]", f"prices = {json.dumps(str(folder / 'prices.toml'))}"]
    for rung, side in sides.items():
        rows = {"name": rung, "kind": VENDORS[rung].value, "model": MODELS[rung], "timeout": side.timeout}
        seat = {"name": SEATS[rung], "config_dir": str(folder / SEATS[rung]), "client": str(programs[rung])}
        lines += ["[[rung]]", *_pairs(rows), "[[rung.seat]]", *_pairs(seat)]
    (folder / "rungwatch.toml").write_text("\n".join(lines) + "\n")


def _pairs(rows: Mapping[str, str]) -> list[str]:
    return [f"{name} = {json.dumps(value)}" for name, value in rows.items()]
