"""Plan: what a configuration says to read, as values that a tick can use; seat lists are read at each tick."""

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from canary.config import Config, RungSection, SeatSection
from canary.files import FileFault, read_object
from canary.login import Login
from canary.memory import Memory
from canary.probe import Limits, guarded
from canary.sources import seats_file
from canary.sources.seats_file import ListedSeat
from canary.sources.table import LOGIN_KINDS, SOURCES
from canary.sources.target import Target
from canary.world import World
from decide.ladder import Role
from decide.reason import Reason
from decide.seat import Auth, Quota

DEFAULT_DIRS = {"claude": "~/.claude", "codex": "~/.codex"}


@dataclass(frozen=True, slots=True)
class RungPlan:
    """A rung's seats to read; `unlisted` with a `note` says why its seats.json gave no list."""

    name: str
    role: Role
    targets: tuple[Target, ...] = ()
    seats_file: Path | None = None
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


def plan_of(config: Config, *, demo: bool = False) -> Plan:
    """The plan that a configuration makes."""
    canary = config.canary
    primary, second = config.in_order()
    return Plan(
        rungs=(_rung(primary, Role.PRIMARY, config), _rung(second, Role.SECOND, config)),
        limits=Limits(canary.seat_timeout, canary.reads_per_hour, canary.stale_after),
        deadline=canary.tick_deadline,
        concurrency=canary.concurrency,
        interval=canary.interval,
        demo=demo,
    )


def _rung(rung: RungSection, role: Role, config: Config) -> RungPlan:
    targets = tuple(_target(rung, seat, config) for seat in rung.seat)
    return RungPlan(
        name=rung.name,
        role=role,
        targets=targets,
        seats_file=rung.seats_file,
        model=rung.model,
        scopes=rung.scopes,
        client_renews=not rung.sends_token_itself,
    )


def _target(rung: RungSection, seat: SeatSection, config: Config) -> Target:
    auth = seat.auth or _AUTH[LOGIN_KINDS[rung.kind]]
    kind = LOGIN_KINDS[rung.kind] if auth is Auth.OAUTH else _KINDS[auth]
    return Target(
        rung=rung.name,
        seat=seat.name,
        login_kind=kind,
        model=rung.model,
        config_dir=seat.config_dir or Path(DEFAULT_DIRS.get(rung.kind, "")).expanduser(),
        auth=auth,
        quota=seat.quota or (Quota.METERED if auth is Auth.OAUTH else Quota.UNMETERED),
        sources=seat.sources,
        scopes=rung.scopes,
        reports_scopes=any(SOURCES[name].reports_scopes for name in seat.sources),
        ignore_windows=seat.ignore_windows,
        allow_overage=seat.allow_overage,
        client_renews=not rung.sends_token_itself,
        claude_base_url=config.source.claude_base_url,
        codex_base_url=config.source.codex_base_url,
        seats_file=seat.seats_file,
        api_key_env=seat.api_key_env,
        api_key_file=seat.api_key_file,
        keychain=seat.keychain,
        keychain_account=seat.keychain_account,
        config_dir_setting=seat.config_dir_setting,
    )


_AUTH = {"claude": Auth.OAUTH, "codex": Auth.OAUTH, "key": Auth.API_KEY, "none": Auth.NONE}
_KINDS = {Auth.API_KEY: "key", Auth.NONE: "none"}


async def expand(rung: RungPlan, world: World, memory: Memory, within: timedelta) -> RungPlan:
    """The rung with the seats that its seats.json lists now; those it listed before stay, unknown, while it fails."""
    if rung.seats_file is None:
        return rung
    until = asyncio.get_running_loop().time() + within.total_seconds()
    path, owner = rung.seats_file, f"{rung.name} seats"
    found = await guarded(
        lambda: read_object(path, sleep=world.sleep, offload=world.offloader.owned(owner)),
        until,
        lambda reason: FileFault(reason, f"reading {path}: {reason}"),
        owner,
    )
    if isinstance(found, FileFault):
        return _unlisted(rung, memory, found.reason, found.text)
    now = world.clock.now()
    listed = seats_file.parse(found.value, modified_at=found.modified_at, now=now, salt=memory.salt)
    if listed is None:
        return _unlisted(rung, memory, Reason.MALFORMED, f"{path} is not a seats.json document")
    own = {target.seat for target in rung.targets}
    return replace(rung, targets=(*rung.targets, *(_add(rung, seat) for seat in listed if seat.name not in own)))


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
