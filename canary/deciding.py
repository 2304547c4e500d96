"""Deciding: a ladder made ready to be asked, from the configuration, this machine's seats and the canary's memory."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from canary import folder
from canary.classify import credential, seat_of
from canary.clock import Clock, SystemClock
from canary.config import Config, RungSection
from canary.ledger import Ledger, place_of
from canary.memory import Memory
from canary.plan import Plan, expand, plan_of
from canary.policy import caps_of, levels_of, policy_of, prices_of, rules_of
from canary.probe import probe
from canary.probed import Probed
from canary.sources.keychain import system_keychain
from canary.version import VERSION
from canary.world import World
from decide import evidence_url
from decide.evidence import Bounds, Far, collect
from decide.ladder import Role
from decide.ports import Access, SeatAccess
from decide.question import UsageError
from decide.refusal import REFUSAL_LASTS, Refusal
from decide.reply import Billing
from decide.rungs.api import PURPOSE
from decide.rungs.http import Http
from decide.rungs.table import KINDS, Kind, Ports
from decide.seat import Auth
from decide.setup import RungSetup, Setup
from decide.snapshot import Snapshot, Source

Refusals = Callable[[], Awaitable[Sequence[Refusal]]]


class Seats:
    """The seats of one rung as a run picks among them: logins are read now, quotas are as last seen."""

    def __init__(
        self,
        rung: RungSection,
        kind: Kind,
        plan: Plan,
        world: World,
        memory: Callable[[], Memory],
        refusals: Refusals,
    ) -> None:
        self._rung, self._kind, self._plan, self._world = rung, kind, plan, world
        self._memory, self._refusals = memory, refusals

    async def __call__(self) -> Sequence[SeatAccess]:
        """Every seat of the rung and how it is reached; no vendor is asked."""
        memory, refusals, plan = self._memory(), await self._refusals(), self._plan
        own = next(rung for rung in plan.rungs if rung.name == self._rung.name)
        rung = await expand(own, self._world, memory, plan.limits.timeout)
        found = await asyncio.gather(
            *(
                probe(target, memory.seat(target.key), self._world, memory.salt, plan.limits, polls=False)
                for target in rung.targets
            )
        )
        return [self._reached(probed, memory, refusals) for probed in found]

    def _reached(self, probed: Probed, memory: Memory, refusals: Sequence[Refusal]) -> SeatAccess:
        target = probed.target
        skew = timedelta(seconds=memory.skew_s) if memory.skew_s is not None else None
        now = self._world.clock.now()
        seat = seat_of(probed, now=now, skew=skew, refusals=refusals, salt=memory.salt)
        own = next((one for one in self._rung.seat if one.name == target.seat), None)
        keyed = self._kind.sends_secret or probed.login.auth is Auth.API_KEY
        secret = probed.login.secret if keyed else None
        access = Access(
            seat=target.seat,
            model=self._rung.model,
            effort="",
            timeout_s=self._rung.timeout.total_seconds(),
            config_dir=None if target.listed else target.config_dir,
            base_url=target.base_url or "",
            command=self._rung.command,
            client=target.client or "",
            secret=None if secret is None else secret.get_secret_value(),
        )
        billing = (own.billing if own else None) or (Billing.METERED if keyed else Billing.SUBSCRIPTION)
        renews = target.client_renews and probed.login.auth is Auth.OAUTH
        return SeatAccess(seat, access, billing, client_renews=renews, credential=credential(probed, memory.salt))


@dataclass(frozen=True, slots=True)
class Ready:
    """A ladder that can be asked, and the store that keeps what it does."""

    setup: Setup
    ledger: Ledger


@asynccontextmanager
async def ready(
    config: Config,
    state_dir: Path,
    *,
    relative_to: Path | None = None,
    environ: Mapping[str, str],
    clock: Clock | None = None,
    kinds: Mapping[str, Kind] = KINDS,
    ledger: Ledger | None = None,
) -> AsyncIterator[Ready]:
    """The ladder of a configuration, ready to be asked; files of evidence are looked for below `relative_to`.

    A `ledger` that is given is left open.

    Raises PolicyError, PriceError and UsageError for a configuration that cannot be asked. A store that cannot be
    opened is no error here: every question is then held.
    """
    clock = clock or SystemClock()
    used = ledger or Ledger(place_of(config, state_dir, environ))
    longest = max(rung.timeout for rung in config.rung).total_seconds()
    http = Http(clock.now, timeout_s=longest, version=VERSION, purpose=PURPOSE)
    world = World(clock, http.fetch, asyncio.sleep, system_keychain, environ)
    evidence = Http(clock.now, timeout_s=longest, version=VERSION, purpose=evidence_url.PURPOSE)
    near, far = relative_to or Path.cwd(), Far(evidence.fetch, environ)
    freeze = partial(collect, folder=near, far=far, bounds=bounds_of(config))
    ports = Ports(http.fetch, environ, clock.now)
    make = _Maker(config, state_dir, world, used, ports, kinds)
    try:
        yield Ready(make.setup(freeze), used)
    finally:
        await http.aclose()
        await evidence.aclose()
        if ledger is None:
            await used.close()


class _Maker:
    """What both rungs of a ladder are made with."""

    def __init__(
        self,
        config: Config,
        state_dir: Path,
        world: World,
        ledger: Ledger,
        ports: Ports,
        kinds: Mapping[str, Kind],
    ) -> None:
        self.config, self.state_dir, self.world, self.ledger = config, state_dir, world, ledger
        self.ports, self.kinds = ports, kinds
        self.plan = plan_of(config, state_dir=state_dir)

    def setup(self, freeze: Callable[[Sequence[Source]], Awaitable[Snapshot]]) -> Setup:
        """The ladder."""
        config, now = self.config, self.world.clock.now
        primary, second = config.in_order()
        return Setup(
            primary=self.rung(primary, Role.PRIMARY),
            second=self.rung(second, Role.SECOND),
            store=self.ledger,
            rows=policy_of(config),
            freeze=freeze,
            price=prices_of(config).price,
            clock=now,
            monotonic=time.monotonic,
            sleep=asyncio.sleep,
            fresh_id=lambda: fresh_id(now()),
            caps=caps_of(config),
            level=config.decide.level,
            levels=levels_of(config),
            tie_break=config.decide.tie_break,
            lease=lease_of(config),
            lead=config.queue.lead,
            max_attempts=config.queue.max_attempts,
            rules=rules_of(config),
        )

    def rung(self, rung: RungSection, role: Role) -> RungSetup:
        """One rung, asked in its own way; raises UsageError for one that can only be watched."""
        for lacking in _lacking(rung):
            raise UsageError(lacking)
        kind = self.kinds[rung.kind]
        return RungSetup(
            name=rung.name,
            role=role,
            model=rung.model,
            accepted=rung.accepted,
            ask=kind.build(self.ports),
            seats=Seats(rung, kind, self.plan, self.world, self._memory, self._refusals),
            pins_model=kind.pins_model,
            own_price=kind.own_price,
            max_micro_usd_per_pass=rung.max_usd_per_pass,
            timeout_s=rung.timeout.total_seconds(),
        )

    def _memory(self) -> Memory:
        return folder.peek_memory(self.state_dir, marks=True)

    async def _refusals(self) -> Sequence[Refusal]:
        return await self.ledger.refusals(self.world.clock.now() - REFUSAL_LASTS)


def _lacking(rung: RungSection) -> Iterator[str]:
    """What a rung would need to be asked that watching it does not take."""
    if rung.kind == "command" and not rung.command:
        yield f"rung.command: rung {rung.name!r} is of kind 'command' and needs the program that answers a brief"
    for seat in rung.seat:
        if rung.kind == "chat" and seat.base_url is None:
            yield f"rung.seat.base_url: seat {seat.name!r} of rung {rung.name!r}: the kind 'chat' has no usual host"


def lease_of(config: Config) -> timedelta:
    """How long a run may hold its question: both orders, once more each, a cross-check, and the reconsideration with
    its own once more, with a margin.
    """
    return 5 * max(rung.timeout for rung in config.rung) + timedelta(minutes=5)


def bounds_of(config: Config) -> Bounds:
    """How much evidence may be read, and from where."""
    return Bounds(allow_private=config.decide.allow_private_urls)


def fresh_id(now: datetime) -> str:
    """An id that sorts by its time and is never used again."""
    return f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(6)}"
