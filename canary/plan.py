"""Plan: what a configuration says to read, as values that a tick can use; seat lists are read at each tick."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from canary import feed
from canary.config import Config, RungSection, SeatSection
from canary.files import FileFault, read_object
from canary.login import Login
from canary.memory import Memory
from canary.probe import Limits, guarded
from canary.sources import command, seats_file
from canary.sources.answer import Answer
from canary.sources.seats_file import ListedSeat
from canary.sources.table import LOGIN_KINDS, SOURCES
from canary.sources.target import Target
from canary.world import World
from decide.ladder import Role
from decide.reason import Reason
from decide.seat import Auth, Quota

Listing = list[ListedSeat] | Answer

DEFAULT_DIRS = {"claude": "~/.claude", "codex": "~/.codex"}


@dataclass(frozen=True, slots=True)
class RungPlan:
    """A rung's seats to read; `unlisted` with a `note` says why its seats.json gave no list."""

    name: str
    role: Role
    targets: tuple[Target, ...] = ()
    seats_file: Path | None = None
    seats_command: tuple[str, ...] = ()
    model: str = ""
    scopes: tuple[str, ...] = ()
    client_renews: bool = True
    unlisted: Reason | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """Both rungs and the limits of a tick."""

    rungs: tuple[RungPlan, ...]
    limits: Limits
    deadline: timedelta
    concurrency: int
    interval: timedelta
    demo: bool = False


def plan_of(config: Config, *, state_dir: Path = Path(), demo: bool = False) -> Plan:
    """The plan that a configuration makes; feeds are looked for below `state_dir`."""
    canary = config.canary
    primary, second = config.in_order()
    return Plan(
        rungs=(_rung(primary, Role.PRIMARY, config, state_dir), _rung(second, Role.SECOND, config, state_dir)),
        limits=Limits(canary.seat_timeout, canary.reads_per_hour, canary.stale_after),
        deadline=canary.tick_deadline,
        concurrency=canary.concurrency,
        interval=canary.interval,
        demo=demo,
    )


def _rung(rung: RungSection, role: Role, config: Config, state_dir: Path) -> RungPlan:
    targets = tuple(_target(rung, seat, config, state_dir) for seat in rung.seat)
    return RungPlan(
        name=rung.name,
        role=role,
        targets=targets,
        seats_file=rung.seats_file,
        seats_command=rung.seats_command,
        model=rung.model,
        scopes=rung.scopes,
        client_renews=not rung.sends_token_itself,
    )


def _target(rung: RungSection, seat: SeatSection, config: Config, state_dir: Path) -> Target:
    auth = seat.auth or _AUTH[LOGIN_KINDS[rung.kind]]
    kind = LOGIN_KINDS[rung.kind] if auth is Auth.OAUTH else _KINDS[auth]
    return Target(
        rung=rung.name,
        seat=seat.name,
        login_kind=kind,
        model=rung.model,
        config_dir=seat.config_dir or Path(DEFAULT_DIRS.get(rung.kind, "")).expanduser(),
        auth=auth,
        quota=seat.quota or (Quota.METERED if auth is Auth.OAUTH or seat.sources else Quota.UNMETERED),
        sources=seat.sources,
        scopes=rung.scopes,
        reports_scopes=any(SOURCES[name].reports_scopes for name in seat.sources),
        ignore_windows=seat.ignore_windows,
        allow_overage=seat.allow_overage,
        client_renews=not rung.sends_token_itself,
        claude_base_url=config.source.claude_base_url,
        codex_base_url=config.source.codex_base_url,
        seats_file=seat.seats_file,
        feeds=state_dir / feed.FOLDER,
        client=seat.client,
        switcher_file=seat.switcher_file,
        switcher_row=seat.switcher_row,
        base_url=seat.base_url,
        command=seat.command,
        api_key_env=seat.api_key_env,
        api_key_file=seat.api_key_file,
        keychain=seat.keychain,
        keychain_account=seat.keychain_account,
        config_dir_setting=seat.config_dir_setting,
    )


_AUTH = {"claude": Auth.OAUTH, "codex": Auth.OAUTH, "key": Auth.API_KEY, "none": Auth.NONE}
_KINDS = {Auth.API_KEY: "key", Auth.NONE: "none"}


async def expand(rung: RungPlan, world: World, memory: Memory, within: timedelta) -> RungPlan:
    """The rung with the seats that its list has now; those it had before stay, unknown, while that cannot be read."""
    until = asyncio.get_running_loop().time() + within.total_seconds()
    for read in _lists(rung, world, memory):
        found = await guarded(read, until, lambda reason: Answer(failure=reason), f"{rung.name} seats")
        if isinstance(found, Answer):
            rung = _unlisted(rung, memory, found.failure or Reason.MALFORMED, found.step)
        else:
            own = {target.seat for target in rung.targets}
            rung = replace(
                rung, targets=(*rung.targets, *(_add(rung, seat) for seat in found if seat.name not in own))
            )
    return rung


def _lists(rung: RungPlan, world: World, memory: Memory) -> Iterator[Callable[[], Awaitable[Listing]]]:
    path, words = rung.seats_file, rung.seats_command
    if path is not None:
        yield lambda: _listed_in(path, world, memory.salt, f"{rung.name} seats")
    if words:
        yield lambda: command.list_seats(words, world, salt=memory.salt)


async def _listed_in(path: Path, world: World, salt: bytes, owner: str) -> Listing:
    found = await read_object(path, sleep=world.sleep, offload=world.offloader.owned(owner))
    if isinstance(found, FileFault):
        return Answer(failure=found.reason, step=found.text)
    listed = seats_file.parse(found.value, modified_at=found.modified_at, now=world.clock.now(), salt=salt)
    return Answer(failure=Reason.MALFORMED, step=f"{path} is not a seats.json document") if listed is None else listed


def _unlisted(rung: RungPlan, memory: Memory, reason: Reason, note: str) -> RungPlan:
    own = {target.key for target in rung.targets}
    names = [key.removeprefix(f"{rung.name}/") for key in memory.seats if key.startswith(f"{rung.name}/")]
    gone = [
        ListedSeat(name, Login(fault=reason), Quota.METERED, failure=reason, note=note)
        for name in names
        if f"{rung.name}/{name}" not in own
    ]
    return replace(rung, targets=(*rung.targets, *(_add(rung, seat) for seat in gone)), unlisted=reason, note=note)


def _add(rung: RungPlan, seat: ListedSeat) -> Target:
    return Target(
        rung=rung.name,
        seat=seat.name,
        login_kind="none",
        model=rung.model,
        config_dir=Path(),
        auth=seat.login.auth,
        quota=seat.quota,
        sources=(seats_file.NAME,),
        scopes=rung.scopes,
        client_renews=rung.client_renews,
        listed=seat,
    )
