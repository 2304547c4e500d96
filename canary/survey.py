"""Survey: how the quota of each login found could be read here; it only looks, starts nothing and sends nothing."""

import re
import shlex
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from canary.discover import Found
from canary.feed import FOLDER
from canary.files import Document, FileFault, parse_object, read_bytes, read_object
from canary.label import usable_name
from canary.login import Login
from canary.sources import (
    ccswitch,
    claude_feed,
    claude_swap,
    claude_usage,
    clients,
    codex_auth,
    codex_sessions,
    codex_usage,
)
from canary.sources.table import LOGINS, SOURCES
from canary.sources.target import Target
from canary.uses import CLIENTS, RISKS, Use, found_program, use_of
from canary.world import World
from decide.reason import Reason
from decide.seat import Auth

_SPOKEN = re.compile(r"\brungwatch\b['\"]?\s+feed\b|\bcanary\.feed\b")
"""How the command of a status line that is ours is recognised."""


class Sort(StrEnum):
    """What choosing a source means."""

    PASSIVE = "passive"
    USAGE = "usage"
    CLIENT = "client"


SORTS: Mapping[str, Sort] = MappingProxyType(
    {
        claude_feed.NAME: Sort.PASSIVE,
        claude_swap.NAME: Sort.PASSIVE,
        ccswitch.NAME: Sort.PASSIVE,
        codex_sessions.NAME: Sort.PASSIVE,
        codex_auth.NAME: Sort.PASSIVE,
        claude_usage.NAME: Sort.USAGE,
        codex_usage.NAME: Sort.USAGE,
        clients.CLAUDE: Sort.CLIENT,
        clients.CODEX: Sort.CLIENT,
    }
)
"""The sources that `init` can set up by itself, in the order in which it writes them: what sends nothing first."""


_UNDOCUMENTED = "not documented: see first whether the vendor's terms allow it"


class Line(StrEnum):
    """What stands in the place of Claude Code's status line."""

    NONE = "none"
    OURS = "ours"
    OTHER = "other"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class StatusLine:
    """What a settings.json says of the status line; `program` is that of another's command, without its arguments."""

    file: Path
    line: Line
    program: str = ""
    off: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """A source that could be used for a seat; `ready`: what it reads is there and is this seat's.

    `note` is what was found, `caution` what its user has to know or do before it is used.
    """

    use: Use
    sort: Sort
    ready: bool
    note: str = ""
    caution: str = ""


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A login found, with the sources that could be used for it; `unmetered`: it is an API key, without quotas."""

    found: Found
    offers: tuple[Offer, ...] = ()
    status_line: StatusLine | None = None
    unmetered: bool = False


async def survey(found: Found, state_dir: Path, world: World) -> Surveyed:
    """What this machine offers for a login; `state_dir` is where status-line feeds are kept."""
    target = target_of(found, state_dir)
    login = await LOGINS[found.kind](target, world, world.clock.now())
    if login.auth is Auth.API_KEY:
        return Surveyed(found, unmetered=True)
    offers = [offer async for offer in _offers(target, login, world)]
    return Surveyed(found, tuple(offers), status_line(found.folder) if found.kind == "claude" else None)


def target_of(found: Found, state_dir: Path) -> Target:
    """A login found, as its sources need to know it."""
    return Target(
        rung=found.kind,
        seat=found.name,
        login_kind=found.kind,
        model="",
        config_dir=found.folder,
        claude_base_url=claude_usage.BASE_URL,
        codex_base_url=codex_usage.BASE_URL,
        feeds=state_dir / FOLDER,
    )


async def _offers(target: Target, login: Login, world: World) -> AsyncIterator[Offer]:
    for name, sort in SORTS.items():
        if name not in SOURCES or SOURCES[name].login_kind != target.login_kind:
            continue
        use = use_of(name, target, world.environ)
        if sort is Sort.USAGE:
            yield Offer(use, sort, ready=False, caution=_UNDOCUMENTED)
        elif sort is Sort.CLIENT:
            path = found_program(CLIENTS[name], world.environ)
            if path is not None:
                yield Offer(use, sort, ready=False, note=f"it is {path}", caution=RISKS[name])
        elif name == claude_feed.NAME:
            yield _of_feed(use, target.config_dir)
        elif name == codex_sessions.NAME or _there(use):
            yield await _of_files(use, target, login, world)


def _there(use: Use) -> bool:
    return Path(use.reads).exists()


def _of_feed(use: Use, config_dir: Path) -> Offer:
    kept = _there(use)
    spoken = status_line(config_dir).line is Line.OURS
    note = (
        "it has kept some" if kept else "set, but nothing is kept yet" if spoken else "the status line is not set yet"
    )
    return Offer(use, Sort.PASSIVE, ready=kept or spoken, note=note)


async def _of_files(use: Use, target: Target, login: Login, world: World) -> Offer:
    """A source of files: Codex writes its own by itself, a switcher's cache has to hold a row of this seat."""
    if use.source == ccswitch.NAME:
        return Offer(use, Sort.PASSIVE, ready=False, caution=await _profiles(Path(use.reads), target, world))
    answer = await SOURCES[use.source].read(target, login, world)
    ready = use.source == codex_sessions.NAME or answer.reading is not None
    return Offer(use, Sort.PASSIVE, ready=ready, note=answer.step)


async def _profiles(path: Path, target: Target, world: World) -> str:
    """What ccswitch calls its profiles: which of them is this seat's, only its owner can tell."""
    found = await read_object(path, sleep=world.sleep, offload=world.offloader.owned(target.key))
    rows = found.value.get("rows") if isinstance(found, Document) else None
    names = sorted(repr(name) for name in rows if usable_name(name)) if isinstance(rows, dict) else []
    told = f" (it knows {', '.join(names)})" if names else ""
    return f"to use it, set switcher_row to this seat's profile{told} and add it to sources"


def status_line(config_dir: Path) -> StatusLine:
    """What the settings of a Claude Code folder say of its status line."""
    file = config_dir / "settings.json"
    found = read_bytes(file)
    if isinstance(found, FileFault):
        return StatusLine(file, Line.NONE if found.reason is Reason.MISSING else Line.UNREADABLE)
    settings = parse_object(found[0])
    if settings is None:
        return StatusLine(file, Line.UNREADABLE)
    off = settings.get("disableAllHooks") is True
    block = settings.get("statusLine")
    if block is None:
        return StatusLine(file, Line.NONE, off=off)
    command = block.get("command") if isinstance(block, dict) else None
    if not isinstance(command, str):
        return StatusLine(file, Line.OTHER, off=off)
    if _SPOKEN.search(command):
        return StatusLine(file, Line.OURS, off=off)
    return StatusLine(file, Line.OTHER, _program(command), off)


def _program(command: str) -> str:
    """The name of the program in a command of the shell, empty where it might be something else."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    name = Path(next((word for word in words if "=" not in word), "")).name
    return name if re.fullmatch(r"[\w.-]{1,40}", name) and usable_name(name) else ""
