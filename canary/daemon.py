"""Daemon: ticks that never end it, a configuration that is replaced whole or not at all, and what it publishes."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from canary.config import Config
from canary.folder import save
from canary.load import ConfigError
from canary.memory import Memory, counted
from canary.plan import Plan, plan_of
from canary.probe import where
from canary.publish import view_of
from canary.tick import tick
from canary.world import World
from exporters.logline import logline
from exporters.view import Health, ProbeLog, TickResult, View

log = logging.getLogger("rungwatch")

FAILURES_KEPT = 5
"""How many failed ticks of a rung `/probe` still shows, each rung for itself."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the daemon calls: `publish` with each new view, `tell` with each log line, `reset` with a new
    configuration, `before_tick` and `caption` for the demo.
    """

    publish: Callable[[View], None]
    tell: Callable[[str], None]
    reset: Callable[[Config], None] = lambda config: None
    before_tick: Callable[[], None] = lambda: None
    caption: Callable[[], str] = str


class Daemon:
    """The state of a running canary: configuration, memory, and the last probes of each rung."""

    def __init__(
        self, config: Config, folder: Path, memory: Memory, world: World, hooks: Hooks, *, demo: bool = False
    ):
        self._plan: Plan = plan_of(config, state_dir=folder, demo=demo)
        self._folder, self._memory, self._world, self._hooks, self._demo = folder, memory, world, hooks, demo
        self._last: datetime | None = None
        self._reload_ok = True
        self._refused = ""
        self._probes: dict[str, ProbeLog] = {}
        self._failures: dict[str, deque[ProbeLog]] = {}

    def view(self) -> View:
        """The present, for the ways out."""
        return view_of(
            self._plan,
            self._memory,
            self._world.clock.now(),
            reload_ok=self._reload_ok,
            caption=self._hooks.caption(),
        )

    async def tick(self) -> None:
        """One tick, whatever happens in it: an exception is told and counted, and the next tick comes."""
        try:
            self._hooks.before_tick()
            done = await tick(self._plan, self._memory, self._world, last=self._last)
        except Exception as error:  # noqa: BLE001 - the daemon outlives any tick
            log.error("the tick failed: %s", where(error))  # noqa: TRY400 - its text may quote a secret
            counters = counted(self._memory.counters, TickResult.ERROR, {}, 0)
            self._memory = replace(self._memory, counters=counters)
            self._hooks.publish(self.view())
            return
        self._memory, self._last = done.memory, done.memory.last_tick_at
        for probe in done.probes:
            self._probes[probe.rung] = probe
            if probe.failed:
                self._failures.setdefault(probe.rung, deque(maxlen=FAILURES_KEPT)).append(probe)
        try:
            save(self._folder, done.memory, done.transitions)
        except OSError as error:
            log.error("the state folder cannot be written: %s", error.strerror)  # noqa: TRY400 - one line is enough
        for transition in done.transitions:
            log.info("%s: %s -> %s", transition.subject, transition.before, transition.after)
        self._hooks.tell(logline(done.state))
        self._hooks.publish(self.view())

    def probes(self, rung: str) -> Sequence[ProbeLog]:
        """The last tick of a rung and then its kept failures, the newest first."""
        last = self._probes.get(rung)
        failures = [probe for probe in reversed(self._failures.get(rung, ())) if probe is not last]
        return [*([last] if last else []), *failures]

    def reload(self, read: Callable[[], Config]) -> None:
        """Take a new configuration, or stay on the old one and say so; the same fault is told once."""
        try:
            config = read()
        except ConfigError as error:
            if str(error) != self._refused:
                log.error("configuration not reloaded, staying on the old one: %s", error)  # noqa: TRY400 - its text says all
            self._refused, self._reload_ok = str(error), False
        else:
            self._refused, self._reload_ok = "", True
            plan = plan_of(config, state_dir=self._folder, demo=self._demo)
            if plan != self._plan:
                self._plan = plan
                self._hooks.reset(config)
                log.info("configuration reloaded")
        self._hooks.publish(self.view())

    def health(self, trouble: str) -> Health:
        """Alive while the schedule works (`trouble` is empty), ready once a tick has been published."""
        ticked = self._memory.state is not None
        return Health(
            alive=not trouble, ready=not trouble and ticked, detail=trouble or ("" if ticked else "no tick yet")
        )
