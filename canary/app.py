"""Composition root: the only place where real clocks, sockets, folders and schedules meet the rules."""

import asyncio
import logging
import os
import secrets
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from canary import folder
from canary.clock import Clock, SystemClock
from canary.config import Config
from canary.faults import worded
from canary.load import ConfigError, Loaded, load
from canary.memory import Memory
from canary.plan import plan_of
from canary.sources.keychain import system_keychain
from canary.tick import Ticked, tick
from canary.version import VERSION
from canary.world import PURPOSE, World
from decide.fault import StoreError
from decide.ladder import LadderWord
from decide.question import UsageError
from decide.refusal import REFUSAL_LASTS, Refusal
from decide.rungs.http import Http
from exporters.present import present
from exporters.textfile import Textfile
from exporters.view import Health, View

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from canary.daemon import Daemon
    from canary.following import Following
    from canary.ledger import Ledger
    from canary.reaching import Reaching
    from canary.schedule import Schedule
    from decide.rungs.table import Kind
    from exporters.console.site import Console
    from exporters.exposition import Exposition

log = logging.getLogger("rungwatch")

RELOAD_EVERY_S = 30.0
REFRESH_EVERY_S = 15.0
Job = Callable[[], Awaitable[None]]


def state_folder(given: Path | None, config: Config, environ: Mapping[str, str]) -> Path:
    """The state folder that applies: the given one, the variable's, the configuration's, else the XDG one."""
    named = environ.get("RUNGWATCH_STATE_DIR")
    return (
        given or (Path(named).expanduser() if named else None) or config.state.dir or folder.default_folder(environ)
    )


def real_world(config: Config, clock: Clock) -> tuple[World, Http]:
    """The ports of this machine; the caller closes the connections."""
    limit_s = config.canary.seat_timeout.total_seconds()
    http = Http(clock.now, timeout_s=limit_s, version=VERSION, purpose=PURPOSE)
    return World(clock, http.fetch, asyncio.sleep, system_keychain, os.environ), http


async def tick_once(config: Config, memory: Memory, state_dir: Path) -> Ticked:
    """One tick on this machine; `state_dir` is where feeds are kept."""
    world, http = real_world(config, SystemClock())
    ledger = _found_ledger(config, state_dir, world)
    try:
        refusals = () if ledger is None else await _refusals(ledger, world)
        done = await tick(plan_of(config, state_dir=state_dir), memory, world, refusals=refusals)
        if ledger is not None:
            await _meter(ledger, done)
    finally:
        await http.aclose()
        if ledger is not None:
            await ledger.close()
    return done


def _found_ledger(config: Config, state_dir: Path, world: World) -> "Ledger | None":
    """The ledger, None where no decision was ever made: a single tick makes none."""
    from canary.ledger import Ledger, place_of

    place = place_of(config, state_dir, world.environ)
    return None if isinstance(place, Path) and not place.exists() else Ledger(place)


async def _refusals(ledger: "Ledger", world: World) -> Sequence[Refusal]:
    """What decision runs met on seats; a ledger that cannot be read is told in the log."""
    try:
        return await ledger.refusals(world.clock.now() - REFUSAL_LASTS)
    except StoreError as error:
        log.warning("what decision runs met on seats is not known: %s", error)
        return ()


async def _meter(ledger: "Ledger", done: Ticked) -> None:
    from canary.metering import samples_of

    try:
        await ledger.meter(samples_of(done.state), done.state.at)
    except StoreError as error:
        log.warning("what the meters say is not kept: %s", error)


@dataclass(frozen=True, slots=True)
class Extras:
    """What `serve` may be given beside its configuration: its hold on the state folder, and the demo's own."""

    clock: Clock
    hold: Callable[[], None] = lambda: None
    speed: float = 1.0
    demo: bool = False
    before_tick: Callable[[], None] = lambda: None
    caption: Callable[[], str] = str
    shown: Callable[[View], None] = lambda view: None
    jobs: tuple[tuple[str, float, Job], ...] = ()
    kinds: "Mapping[str, Kind] | None" = None


async def serve(loaded: Loaded, state_dir: Path, bound: socket.socket, extras: Extras | None = None) -> None:
    """Tick and serve until SIGINT or SIGTERM; the caller holds the folder's lock."""
    import uvicorn

    extras = extras or Extras(SystemClock())
    world, http = real_world(loaded.config, extras.clock)
    made = compose(loaded, state_dir, world, extras)
    daemon, schedule = made.daemon, made.schedule
    server = uvicorn.Server(
        # who a request comes from is the console's own question: uvicorn would believe a header from this machine
        uvicorn.Config(
            made.app,
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=2,
            proxy_headers=False,
        )
    )
    logging.getLogger("uvicorn.error").addFilter(worded)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: None)  # uvicorn hands a signal on once it has shut down
    if not extras.demo:
        again = partial(daemon.reload, lambda: _checked(load(loaded.path, os.environ).config, world))

        async def reload() -> None:
            again()

        schedule.every(RELOAD_EVERY_S, reload, "reload")
        loop.add_signal_handler(signal.SIGHUP, again)
    try:
        daemon.foresee(await made.following.metered())
        schedule.start()
        await server.serve(sockets=[bound])
    finally:
        schedule.stop()
        await made.reaching.stop()
        await made.ledger.close()
        await http.aclose()


def compose(loaded: Loaded, state_dir: Path, world: World, extras: Extras) -> "Composed":
    """The daemon, its schedule (not started) and its HTTP application, wired to one another."""
    from canary.daemon import Daemon, Hooks
    from canary.following import Following
    from canary.ledger import Ledger, place_of
    from exporters.exposition import Exposition

    config = loaded.config
    ways: list[Callable[[View], None]] = []
    ledger = Ledger(place_of(config, state_dir, world.environ))
    following = Following(config, ledger, extras.clock.now)
    reaching = _reaching(config, state_dir, ledger, world, extras, lambda: _whole(daemon.view(), extras.clock))

    def reset(new: Config) -> None:
        schedule.reset(new.canary.interval / extras.speed, new.canary.jitter / extras.speed)
        textfiles[:] = _textfile(new, exposition)
        following.take(new)
        reaching.take(new)
        _tell_restart(config, new)

    hooks = Hooks(
        partial(_each, ways),
        lambda line: log.info("%s", line),
        reset,
        extras.hold,
        refusals=following.refusals,
        facts=following.facts,
        ticked=lambda done: following.meter(done.state),
        before_tick=extras.before_tick,
        caption=extras.caption,
    )
    daemon = Daemon(config, state_dir, _memory(state_dir), world, hooks, demo=extras.demo)
    exposition = Exposition(daemon.view(), extras.clock.now)
    textfiles = list(_textfile(config, exposition))

    to_textfiles = partial(_each, textfiles)
    ways += [exposition.publish, to_textfiles, extras.shown]

    async def refresh() -> None:
        await following.refresh()
        exposition.publish(daemon.view())
        to_textfiles(daemon.view())

    schedule = _schedule(daemon, config, extras, _jobs(config, refresh, following, reaching))
    console = _console(daemon, reaching, ledger, state_dir, world, extras.clock)
    app = _application(daemon, exposition, schedule, console, extras.clock)
    return Composed(daemon, schedule, app, ledger, refresh, reaching, following)


def _each(ways: Sequence[Callable[[View], None]], view: View) -> None:
    for way in ways:
        way(view)


def _reaching(
    config: Config, state_dir: Path, ledger: "Ledger", world: World, extras: Extras, both: Callable[[], bool]
) -> "Reaching":
    from canary.reaching import Means, Reaching
    from decide.handoff.effect import runner
    from decide.rungs.table import KINDS

    run, kinds = runner(world.environ), extras.kinds or KINDS
    return Reaching(config, state_dir, ledger, Means(extras.clock, world.environ, run, world.fetch, kinds), both)


def _application(
    daemon: "Daemon", exposition: "Exposition", schedule: "Schedule", console: "Console", clock: Clock
) -> "Starlette":
    from exporters.endpoint import endpoint

    health = partial(_health, daemon, schedule)
    return endpoint(daemon.view, exposition, health, daemon.probes, clock.now, console=console)


def _jobs(
    config: Config, refresh: Job, following: "Following", reaching: "Reaching"
) -> Sequence[tuple[str, float, Job]]:
    """What comes round beside the tick: name, seconds between, and the work."""
    from canary.following import PURGE_EVERY

    return (
        ("refresh", REFRESH_EVERY_S, refresh),
        ("attend", REFRESH_EVERY_S, reaching.attend),
        ("purge", PURGE_EVERY.total_seconds(), following.purge),
        ("pull", config.canary.interval.total_seconds(), reaching.pull),
    )


def _whole(view: View, clock: Clock) -> bool:
    """Whether both rungs can be reached, as far as is known now."""
    return present(view, clock.now()).word is LadderWord.OK


def _console(
    daemon: "Daemon", reaching: "Reaching", ledger: "Ledger", state_dir: Path, world: World, clock: Clock
) -> "Console":
    from canary.console_access import access_of
    from canary.console_desk import ConsoleDesk
    from exporters.console.site import Console

    desk = ConsoleDesk(lambda: reaching.config, state_dir, ledger, reaching, daemon.ticks, clock.now)
    return Console(desk, access_of(reaching.config, world.environ), secrets.token_bytes(32))


def _checked(config: Config, world: World) -> Config:
    """The configuration where everything that it names for the daemon can be had; raises ConfigError."""
    from canary.console_access import access_of
    from canary.reaching import hooks_of

    try:
        hooks_of(config, world.environ)
        access_of(config, world.environ)
    except UsageError as error:
        raise ConfigError(str(error)) from error
    return config


def _tell_restart(config: Config, new: Config) -> None:
    if _fixed(new) != _fixed(config):
        log.warning("the new [serve] listen, [state] dir, [store] or [console] takes a restart")


def _fixed(config: Config) -> tuple[object, ...]:
    """What a daemon keeps until it ends."""
    return config.serve, config.state, config.store, config.console


def _memory(state_dir: Path) -> Memory:
    memory, warning = folder.load_memory(state_dir)
    if warning:
        log.warning("%s", warning)
    return memory


def _schedule(daemon: "Daemon", config: Config, extras: Extras, jobs: Sequence[tuple[str, float, Job]]) -> "Schedule":
    """The tick on its interval, and everything else that comes round; the demo's clock hurries all of it."""
    from canary.schedule import Schedule

    speed, canary = extras.speed, config.canary
    schedule = Schedule(
        daemon.tick, interval=canary.interval / speed, jitter=canary.jitter / speed, clock=SystemClock()
    )
    for name, seconds, job in jobs:
        schedule.every(max(1.0, seconds / speed), job, name, now=name == "refresh")
    for name, seconds, job in extras.jobs:
        schedule.every(seconds, job, name)
    return schedule


@dataclass(frozen=True, slots=True)
class Composed:
    """A daemon, its schedule, its HTTP application, its ledger and what follows that, wired to one another."""

    daemon: "Daemon"
    schedule: "Schedule"
    app: "Starlette"
    ledger: "Ledger"
    refresh: Job
    reaching: "Reaching"
    following: "Following"


def _health(daemon: "Daemon", schedule: "Schedule") -> Health:
    return daemon.health(schedule.alive())


def _textfile(config: Config, exposition: "Exposition") -> Iterator[Callable[[View], None]]:
    """The way out to a textfile, where one is configured; a full disk is told and ends nothing."""
    if config.canary.textfile is None:
        return
    textfile = Textfile(config.canary.textfile)

    def write(view: View) -> None:
        try:
            textfile.write(exposition.text())
        except OSError as error:
            log.error("the textfile cannot be written: %s", error.strerror)  # noqa: TRY400 - one line is enough

    yield write
