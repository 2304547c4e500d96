"""Findings: what a configuration reads and sends, and what is wrong with it as far as looking at files tells."""

import os
import shlex
import stat
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from canary.config import Config
from canary.files import FileFault, read_bytes
from canary.login import Login, judge_token
from canary.plan import Plan, RungPlan
from canary.sources.claude_login import credentials_file
from canary.sources.table import LOGINS, SOURCES
from canary.sources.target import Target
from canary.uses import CLIENTS, LOOKS, RISKS, Use, found_program, program_of, use_of
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

MISLEAD_SEATS: Mapping[str, tuple[str, ...]] = MappingProxyType({"claude": ("ANTHROPIC_BASE_URL",)})
"""Variables with which a vendor's client sends the seat's login to another host (clients 1, point 10)."""


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
    """What reading a seat takes: the places where its login is, and what each of its sources does."""

    seat: str
    login: tuple[str, ...]
    uses: tuple[Use, ...]


def reads(target: Target, environ: Mapping[str, str]) -> Reads:
    """What will be read for a seat and what will be sent where."""
    places = [str(path) for path in (login_file(target),) if path is not None]
    if target.keychain:
        places.append("the key ring")
    if target.api_key_env:
        places.append(f"the variable {target.api_key_env}")
    return Reads(target.seat, tuple(places), tuple(use_of(name, target, environ) for name in target.sources))


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
        found.extend(_of_rung(rung, world.environ))
        for target in rung.targets:
            login = await LOGINS[target.login_kind](target, world, world.clock.now())
            found.extend(_of_login(target, login, world.clock.now()))
            found.extend(_of_seat(target))
            found.extend([finding async for finding in _of_sources(target, login, world)])
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
        text = "it is metered and has no source, so its quota stays unknown"
        remedy = f"set `sources` to one or more of {', '.join(fitting(target.login_kind))}"
        yield Finding(Weight.WARNING, target.key, text, remedy)
    if target.quota is Quota.UNMETERED and target.sources:
        text = f"it is unmetered, so that what {', '.join(target.sources)} says does not count"
        yield Finding(Weight.WARNING, target.key, text, 'set quota = "metered", or take its sources out')
    if target.seats_file is not None:
        yield from _of_seats_file(target.seats_file, target.key)


async def _of_sources(target: Target, login: Login, world: World) -> AsyncIterator[Finding]:
    """What looking tells of a seat's sources: no host is asked, and no program is started."""
    for name in target.sources:
        if name in LOOKS:
            answer = await SOURCES[name].read(target, login, world)
            if answer.failure is not None:
                yield Finding(Weight.WARNING, target.key, f"{name}: {answer.step}", _REMEDIES[name])
        program = program_of(name, target)
        if program and found_program(program, world.environ) is None:
            text = f"{name}: there is no program {program!r} to start"
            remedy = "set the seat's `client`" if name in CLIENTS else "mend the seat's `command`"
            yield Finding(Weight.FAULT, target.key, text, f"{remedy}, install it, or take the source out")
        elif name in CLIENTS:
            text = f"{name}: such a read may change the seat's login: {RISKS[name]}"
            yield Finding(Weight.WARNING, target.key, text, "take the source out where that is not wanted")


_SWITCHER = "let the switcher read this account, or mend `switcher_file`"
_REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        "claude-feed": "`rungwatch init --passive --no-usage --print` tells the lines for Claude Code's settings",
        "codex-sessions": "use Codex once with this login, or add another source",
        "claude-swap": _SWITCHER,
        "ccswitch": f"{_SWITCHER} or `switcher_row`",
        "codex-auth": _SWITCHER,
    }
)
"""What mends a source that only looks at files and found nothing to go by."""


def _of_rung(rung: RungPlan, environ: Mapping[str, str]) -> Iterator[Finding]:
    yield from _of_scopes(rung)
    if rung.seats_command and found_program(rung.seats_command[0], environ) is None:
        text = f"there is no program {rung.seats_command[0]!r} to start"
        yield Finding(Weight.FAULT, rung.name, text, "mend `seats_command`, or install it")
    if rung.seats_file is not None:
        yield from _of_seats_file(rung.seats_file, rung.name)


def _of_scopes(rung: RungPlan) -> Iterator[Finding]:
    """Seats that stay unknown although they are read: none of their sources names per-model windows."""
    if not rung.scopes:
        return
    means, remedy = WORDS[Reason.SCOPE_UNREAD]
    read = [target for target in rung.targets if target.sources]
    if not read and rung.targets and rung.seats_file is None and not rung.seats_command:
        yield Finding(Weight.WARNING, rung.name, f"it has `scopes`, but no source that reports them: {means}", remedy)
    for target in read:
        if target.quota is Quota.METERED and not target.reports_scopes:
            names, scopes = ", ".join(target.sources), ", ".join(rung.scopes)
            text = f"the rung's scopes ({scopes}) are not in what {names} can report: {means} (scope_unread)"
            able = ", ".join(name for name in fitting(target.login_kind) if SOURCES[name].reports_scopes)
            yield Finding(Weight.WARNING, target.key, text, f"add a source that reports them: {able}")


def fitting(login_kind: str) -> list[str]:
    """The sources that can serve a seat of that kind of login."""
    return [name for name, source in SOURCES.items() if source.login_kind in (None, login_kind)]


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
    for text, remedy in told_environment((t.login_kind for rung in plan.rungs for t in rung.targets), environ):
        yield Finding(Weight.WARNING, "environment", text, remedy)


def told_environment(kinds: Iterable[str], environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What the variables that are set do to seats of these kinds, and what mends it; names only, never a value."""
    remedy = "unset it where agents and decisions run"
    for kind in dict.fromkeys(kinds):
        for name in REPLACE_SEATS.get(kind, ()):
            if environ.get(name):
                yield f"{name} is set: a client started with it leaves the login of its seat aside", remedy
        for name in MISLEAD_SEATS.get(kind, ()):
            if environ.get(name):
                yield f"{name} is set: a client started with it sends the login of its seat to that host", remedy
