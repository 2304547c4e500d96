"""Daemon: ticks that never end it, a configuration that is replaced whole or not at all, and what it publishes."""

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from canary.config import Config
from canary.faults import where
from canary.folder import FolderError, LockedError, prepare, save
from canary.foreseeing import Foreseeing
from canary.load import ConfigError
from canary.memory import Memory, counted
from canary.metering import samples_of
from canary.plan import Plan, plan_of
from canary.publish import view_of
from canary.tick import Ticked, tick
from canary.ticks import KEPT, tick_line
from canary.world import World
from decide.fault import StoreError
from decide.ladder import LadderState
from decide.meter import MeterSample
from decide.refusal import Refusal
from exporters.console.desk import TickLine
from exporters.ledger_facts import LedgerFacts
from exporters.logline import logline
from exporters.view import Forecasts, Health, ProbeLog, TickResult, View

log = logging.getLogger("rungwatch")

FAILURES_KEPT = 5
"""How many failed ticks of a rung `/probe` still shows, each rung for itself."""


async def _nothing(done: Ticked) -> None:
    """Nobody else wants to know of ticks."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the daemon calls: `publish` with each new view, `tell` with each log line, `reset` with a new
    configuration, `hold` to make sure of the state folder before it is written, `refusals` for what decision runs
    met on seats, `facts` for what the ledger says, `ticked` with each tick once it is published, the rest for the
    demo.
    """

    publish: Callable[[View], None]
    tell: Callable[[str], None]
    reset: Callable[[Config], None] = lambda config: None
    hold: Callable[[], None] = lambda: None
    refusals: Callable[[], Awaitable[Sequence[Refusal]]] | None = None
    facts: Callable[[], LedgerFacts | None] = lambda: None
    ticked: Callable[[Ticked], Awaitable[None]] = _nothing
    before_tick: Callable[[], None] = lambda: None
    caption: Callable[[], str] = str


class Daemon:
    """The state of a running canary: configuration, memory, and the last probes of each rung."""

    def __init__(
        self,
        config: Config,
        folder: Path,
        memory: Memory,
        world: World,
        hooks: Hooks,
        *,
        demo: bool = False,
        foreseeing: Foreseeing | None = None,
    ):
        self._config = config
        self._plan: Plan = plan_of(config, state_dir=folder, demo=demo)
        self._folder, self._memory, self._world, self._hooks, self._demo = folder, memory, world, hooks, demo
        self._foreseeing = foreseeing or Foreseeing()
        self._last: datetime | None = None
        self._reload_ok = True
        self._refused = ""
        self._trouble = ""
        self._probes: dict[str, ProbeLog] = {}
        self._failures: dict[str, deque[ProbeLog]] = {}
        self._refusals: Sequence[Refusal] = ()
        self._ticks: deque[TickLine] = deque(maxlen=KEPT)

    def view(self) -> View:
        """The present, for the ways out."""
        return view_of(
            self._plan,
            self._memory,
            self._world.clock.now(),
            reload_ok=self._reload_ok,
            caption=self._hooks.caption(),
            ledger=self._hooks.facts(),
        )

    async def tick(self) -> None:
        """One tick, whatever happens in it: an exception is told and counted, and the next tick comes."""
        try:
            self._hooks.before_tick()
            self._refusals = await self._read_refusals()
            done = await tick(self._plan, self._memory, self._world, last=self._last, refusals=self._refusals)
        except Exception as error:  # noqa: BLE001 - the daemon outlives any tick
            self._count_error("the tick", error)
            self._publish()
        else:
            await self._take(done)

    async def _take(self, done: Ticked) -> None:
        """Make a tick the present: remembered, kept, told, published, and then handed on."""
        self._ticks.appendleft(tick_line(self._memory, done))
        self._memory, self._last = done.memory, done.memory.last_tick_at
        self._foresee(done.state)
        done = replace(done, memory=self._memory)
        self._remember_probes(done.probes)
        self._trouble = self._keep(done)
        for transition in done.transitions:
            log.info("%s: %s -> %s", transition.subject, transition.before, transition.after)
        self._hooks.tell(logline(done.state))
        self._publish()
        try:
            await self._hooks.ticked(done)
        except Exception as error:  # noqa: BLE001 - whoever else wants to know of ticks must not end them
            self._count_error("handing the tick on", error)

    def foresee(self, samples: Iterable[MeterSample]) -> None:
        """Take note of meters that were read before this daemon began, so that it need not learn their pace anew."""
        self._foreseeing.add(samples)

    def _foresee(self, state: LadderState) -> None:
        """Remember what a tick lets one expect; nothing where that fails."""
        forecasts = Forecasts()
        try:
            self._foreseeing.add(samples_of(state))
            forecasts = self._foreseeing.forecasts(state, state.at)
        except Exception as error:  # noqa: BLE001 - what is expected must never stop what is known
            self._count_error("foreseeing", error)
        self._memory = replace(self._memory, forecasts=forecasts)

    async def _read_refusals(self) -> Sequence[Refusal]:
        """What decision runs met on seats; while the ledger cannot be read, what they had met before."""
        if self._hooks.refusals is None:
            return ()
        try:
            return await self._hooks.refusals()
        except StoreError:  # whoever follows the ledger says so, in the log and in a metric
            return self._refusals

    def _count_error(self, what: str, error: Exception) -> None:
        log.error("%s failed: %s", what, where(error))
        counters = counted(self._memory.counters, TickResult.ERROR, {}, 0)
        self._memory = replace(self._memory, counters=counters)

    def _remember_probes(self, probes: Iterable[ProbeLog]) -> None:
        for probe in probes:
            self._probes[probe.rung] = probe
            if probe.failed:
                self._failures.setdefault(probe.rung, deque(maxlen=FAILURES_KEPT)).append(probe)

    def _keep(self, done: Ticked) -> str:
        """Save a tick, in a folder made anew where it is gone; what is wrong, empty when all is well."""
        try:
            prepare(self._folder)
            self._hooks.hold()
            save(self._folder, done.memory, done.transitions)
        except (OSError, FolderError, LockedError) as error:
            told = error.strerror if isinstance(error, OSError) else str(error)
            log.error("the state folder cannot be written: %s", told)  # noqa: TRY400 - one line is enough
            return f"the state folder cannot be written: {told}"
        except Exception as error:  # noqa: BLE001 - what is kept must never stop what is shown
            self._count_error("keeping the tick", error)
            return "the tick could not be kept"
        return ""

    def _publish(self) -> None:
        try:
            self._hooks.publish(self.view())
        except Exception as error:  # noqa: BLE001 - the next tick publishes again
            self._count_error("publishing", error)
            self._trouble = "publishing fails"

    def probes(self, rung: str) -> Sequence[ProbeLog]:
        """The last tick of a rung and then its kept failures, the newest first."""
        last = self._probes.get(rung)
        failures = [probe for probe in reversed(self._failures.get(rung, ())) if probe is not last]
        return [*([last] if last else []), *failures]

    def ticks(self) -> Sequence[TickLine]:
        """The ticks since the start, the latest first, as far as they are remembered."""
        return tuple(self._ticks)

    def reload(self, read: Callable[[], Config]) -> None:
        """Take a new configuration, or stay on the old one and say so; the same fault is told once."""
        try:
            config = read()
            plan = plan_of(config, state_dir=self._folder, demo=self._demo)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the old one stays in force
            told = str(error) if isinstance(error, ConfigError) else where(error)
            if told != self._refused:
                log.error("configuration not reloaded, staying on the old one: %s", told)  # noqa: TRY400 - told is all
            self._refused, self._reload_ok = told, False
        else:
            self._refused, self._reload_ok = "", True
            if config != self._config:
                self._config, self._plan = config, plan
                log.info("configuration reloaded")
                self._hooks.reset(config)
        self._publish()

    def health(self, trouble: str) -> Health:
        """Alive while the schedule works (`trouble` is empty), ready while ticks are published and kept too."""
        ticked = self._memory.state is not None
        detail = trouble or self._trouble or ("" if ticked else "no tick yet")
        return Health(alive=not trouble, ready=not detail, detail=detail)
