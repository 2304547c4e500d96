"""Findings: what a configuration reads and sends, and what is wrong with it as far as looking at files tells."""

import os
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from canary.config import Config
from canary.files import FileFault, read_bytes
from canary.login import Login, judge_token
from canary.plan import Plan, RungPlan
from canary.sources.claude_login import credentials_file
from canary.sources.table import LOGINS, SOURCES
from canary.sources.target import Target
from canary.world import World
from decide.reason import WORDS, Reason
from decide.seat import Quota, TokenState

REPLACE_SEATS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "claude": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
        "codex": ("CODEX_API_KEY", "CODEX_ACCESS_TOKEN"),
    }
)
"""Variables with which each vendor's client leaves the seat's own login aside (clients 2.5, 3.5)."""


class Weight(StrEnum):
    """Whether the configuration can be used in spite of a finding."""

    FAULT = "fault"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with what `about` names, and what mends it; no value of a secret is in it."""

    weight: Weight
    about: str
    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Reads:
    """What a seat's reading takes: the places that are read, and (host, what is sent) for each that is asked."""

    seat: str
    reads: tuple[str, ...]
    sends: tuple[tuple[str, str], ...]


def reads(target: Target) -> Reads:
    """What will be read for a seat and what will be sent where."""
    files = [str(path) for path in (login_file(target), target.seats_file) if path is not None]
    if target.keychain:
        files.append("the key ring")
    if target.api_key_env:
        files.append(f"the variable {target.api_key_env}")
    asked = [SOURCES[name] for name in target.sources if SOURCES[name].polls]
    hosts = {"claude": target.claude_base_url, "codex": target.codex_base_url}
    sends = tuple((urlsplit(hosts[source.login_kind or ""]).netloc, source.tells) for source in asked)
    return Reads(target.seat, tuple(files), sends)


def login_file(target: Target) -> Path | None:
    """The file that holds a seat's login, None where no file does."""
    if target.login_kind == "claude":
        return credentials_file(target.config_dir)
    if target.login_kind == "codex":
        return target.config_dir / "auth.json"
    return target.api_key_file


async def examine(config: Config, plan: Plan, state_dir: Path, world: World) -> list[Finding]:
    """Everything that is wrong, as far as looking tells; no host is asked and nothing is written."""
    found = list(_folders(config, state_dir))
    for rung in plan.rungs:
        found.extend(_of_rung(rung))
        for target in rung.targets:
            login = await LOGINS[target.login_kind](target, world, world.clock.now())
            found.extend(_of_login(target, login, world.clock.now()))
            found.extend(_of_seat(target))
    return [*found, *_of_environment(plan, world.environ)]


def _of_login(target: Target, login: Login, now: datetime) -> Iterator[Finding]:
    token = judge_token(login, now=now, rejected=False, skew=None, client_renews=target.client_renews)
    path = login_file(target)
    if token.reason is not None and token.state in (TokenState.NEEDS_LOGIN, TokenState.UNKNOWN):
        means, remedy = WORDS[token.reason]
        steps = f" ({'; '.join(login.steps)})" if login.steps else ""
        usable = login.secret is not None and login.absent is None
        fault = not usable and not _kept_elsewhere(target, token.reason)
        yield Finding(Weight.FAULT if fault else Weight.WARNING, target.key, means + steps, remedy)
    if path is not None and (mode := _mode(path)) is not None and mode & 0o077:
        text = f"{path} may be read by others (mode {mode:04o})"
        yield Finding(Weight.WARNING, target.key, text, f"chmod 600 {shlex.quote(str(path))}")


def _kept_elsewhere(target: Target, reason: Reason) -> bool:
    """Whether Codex keeps this login where it cannot be read, which is no fault of the configuration."""
    if target.login_kind != "codex" or reason is not Reason.UNREADABLE:
        return False
    found = read_bytes(target.config_dir / "auth.json")
    return isinstance(found, FileFault) and found.reason is Reason.MISSING


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode) if os.name == "posix" else None
    except OSError:
        return None


def _of_seat(target: Target) -> Iterator[Finding]:
    if target.quota is Quota.METERED and not target.sources:
        fitting = [name for name, source in SOURCES.items() if source.login_kind in (None, target.login_kind)]
        text = "it is metered and has no source, so its quota stays unknown"
        yield Finding(Weight.WARNING, target.key, text, f"set `sources` to one or more of {', '.join(fitting)}")
    if target.seats_file is not None:
        yield from _of_seats_file(target.seats_file, target.key)


def _of_rung(rung: RungPlan) -> Iterator[Finding]:
    names = {name for target in rung.targets for name in target.sources}
    if rung.scopes and rung.seats_file is None and not any(SOURCES[name].reports_scopes for name in names):
        means, remedy = WORDS[Reason.SCOPE_UNREAD]
        yield Finding(Weight.WARNING, rung.name, f"it has `scopes`, but no source that reports them: {means}", remedy)
    if rung.seats_file is not None:
        yield from _of_seats_file(rung.seats_file, rung.name)


def _of_seats_file(path: Path, about: str) -> Iterator[Finding]:
    found = read_bytes(path)
    if isinstance(found, FileFault):
        weight = Weight.WARNING if found.reason is Reason.MISSING else Weight.FAULT
        yield Finding(weight, about, found.text, "let the program that writes it run, or mend `seats_file`")


def _folders(config: Config, state_dir: Path) -> Iterator[Finding]:
    if not _writable(state_dir):
        remedy = "give another with --state-dir, RUNGWATCH_STATE_DIR or [state] dir"
        yield Finding(Weight.FAULT, "state folder", f"{state_dir} cannot be written", remedy)
    textfile = config.canary.textfile
    if textfile is not None and not (textfile.parent.is_dir() and _writable(textfile.parent)):
        yield Finding(
            Weight.FAULT, "textfile", f"{textfile.parent} is no folder that can be written", "mend `textfile`"
        )


def _writable(folder: Path) -> bool:
    """Whether files can be made in a folder, or the folder itself in the nearest one that is there."""
    there = next(place for place in (folder, *folder.absolute().parents) if os.path.lexists(place))
    effective = os.access in os.supports_effective_ids
    return os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK, effective_ids=effective)


def _of_environment(plan: Plan, environ: Mapping[str, str]) -> Iterator[Finding]:
    kinds: Iterable[str] = dict.fromkeys(target.login_kind for rung in plan.rungs for target in rung.targets)
    for kind in kinds:
        for name in REPLACE_SEATS.get(kind, ()):
            if environ.get(name):
                text = f"{name} is set: a client started with it leaves the login of its seat aside"
                yield Finding(Weight.WARNING, "environment", text, "unset it where agents and decisions run")
