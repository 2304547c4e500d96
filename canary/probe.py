"""probe: one seat read through its login and its sources, within its time, whatever they do."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from canary.budget import held, struck
from canary.faults import where
from canary.login import Login, lapsed
from canary.memory import SeatMemory, SourceMemory, digest, login_digest, settled
from canary.offload import StuckError
from canary.probed import HELD, OK, Probed
from canary.sources.answer import Answer
from canary.sources.table import LOGINS, SOURCES, Source
from canary.sources.target import Target
from canary.world import World
from decide.quota import succeed
from decide.reason import Reason

log = logging.getLogger("rungwatch")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a seat may take, and how often its vendor may be asked."""

    timeout: timedelta
    reads_per_hour: int
    stale_after: timedelta


Keep = Callable[[SeatMemory], None]


async def probe(
    target: Target,
    kept: SeatMemory,
    world: World,
    salt: bytes,
    limits: Limits,
    *,
    keep: Keep = lambda memory: None,
    polls: bool = True,
) -> Probed:
    """The seat as read now; never raises but for cancellation.

    `keep` is told the memory as it grows, so that a read that is cut off still counts in its poll budget. Without
    `polls` its vendor is not asked: the login and what lies on this machine are read, the rest is as remembered.
    """
    now = world.clock.now()
    kept = settled(kept, now)
    until = asyncio.get_running_loop().time() + limits.timeout.total_seconds()
    login = await guarded(lambda: LOGINS[target.login_kind](target, world, now), until, _login_failed, target.key)
    kept = _recognised(kept, login, salt)
    run = _Run(target, login, world, limits, until, kept, keep)
    for name in target.sources:
        if polls or not SOURCES[name].polls:
            await run.read(name)
    return run.result()


def _recognised(kept: SeatMemory, login: Login, salt: bytes) -> SeatMemory:
    """The memory of this login: another account's readings are forgotten, another login's rejection too.

    A login that could not be read is not another one.
    """
    mark = login_digest(salt, login.secret)
    if not mark and login.fault is not None:
        return kept
    whose = (login.account, login.organization)
    identity = digest(salt, "identity", *whose) if any(whose) else kept.identity
    if kept.identity and identity != kept.identity:
        return SeatMemory(polls=kept.polls, login_digest=mark, identity=identity)
    if mark == kept.login_digest:
        return replace(kept, identity=identity)
    backoff = None if kept.rejected else kept.backoff
    return replace(kept, rejected="", login_digest=mark, identity=identity, backoff=backoff)


class _Run:
    """The reads of one seat in one tick, source after source."""

    def __init__(
        self, target: Target, login: Login, world: World, limits: Limits, until: float, kept: SeatMemory, keep: Keep
    ) -> None:
        self.target, self.login, self.world, self.limits, self.until = target, login, world, limits, until
        self.kept, self.keep = kept, keep
        self.steps = list(login.steps)
        self.reads: list[tuple[str, str]] = []
        self.skews_s: list[float] = []

    async def read(self, name: str) -> None:
        """One source: held, or asked and its answer kept."""
        source, now = SOURCES[name], self.world.clock.now()
        why = self._held(source, now)
        if why is not None:
            self.steps.append(f"{name}: not asked, {why}")
            self.reads.append((name, HELD))
            self._keep_held(name, now)
            return
        if source.polls:
            self._change(replace(self.kept, polls=(*self.kept.polls, now)))
        answer = await guarded(
            lambda: source.read(self.target, self.login, self.world), self.until, _read_failed, self.target.key
        )
        self.steps.append(f"{name}: {answer.step or answer.failure or 'read'}")
        self.reads.append((name, answer.failure.value if answer.failure else OK))
        if answer.skew_s is not None:
            self.skews_s.append(answer.skew_s)
        self._keep(name, source, answer)

    def _held(self, source: Source, now: datetime) -> str | None:
        if not source.polls:
            return None
        if self.login.absent is not None or (self.login.secret is None and not source.renews):
            return "there is no login to ask with"
        if lapsed(self.login, now) and not source.renews:
            return "the login has lapsed and is never sent"
        if self.login.fault in (Reason.IMPLAUSIBLE_TIME, Reason.EXP_NOT_NUMERIC) and not source.renews:
            return "whether the login has lapsed cannot be told, so it is not sent"
        return held(self.kept.polls, self.kept.backoff, now=now, budget=self.limits.reads_per_hour)

    def _keep_held(self, name: str, now: datetime) -> None:
        """A lapsed login makes a seat sleep: an older failure no longer says why there is no fresh reading."""
        known = self.kept.sources.get(name, SourceMemory())
        old = known.latest is None or now - known.latest.fetched_at > self.limits.stale_after
        if lapsed(self.login, now) and old:
            self._remember(name, replace(known, failure=None))

    def _keep(self, name: str, source: Source, answer: Answer) -> None:
        known = self.kept.sources.get(name, SourceMemory())
        if answer.reading is not None:
            self._remember(name, SourceMemory(succeed(known.readings, answer.reading)))
        else:
            self._remember(name, SourceMemory(known.readings, answer.failure))
        if source.polls:
            self._back_off(answer)

    def _back_off(self, answer: Answer) -> None:
        now = self.world.clock.now()
        refused = answer.rejected or answer.failure is Reason.HTTP_429 or answer.retry_after_s is not None
        if refused:
            backoff = struck(self.kept.backoff, answer.retry_after_s, now)
            mark = self.kept.login_digest if answer.rejected else self.kept.rejected
            self._change(replace(self.kept, backoff=backoff, rejected=mark))
        elif answer.failure is None or answer.failure is Reason.HTTP_403:
            self._change(replace(self.kept, backoff=None, rejected=""))

    def _remember(self, name: str, memory: SourceMemory) -> None:
        self._change(replace(self.kept, sources={**self.kept.sources, name: memory}))

    def _change(self, kept: SeatMemory) -> None:
        self.kept = kept
        self.keep(kept)

    def result(self) -> Probed:
        """What was found, with the memory of sources that are no longer configured gone."""
        sources = {name: kept for name, kept in self.kept.sources.items() if name in self.target.sources}
        kept = replace(self.kept, sources=sources)
        rejected = bool(kept.rejected) and kept.rejected == kept.login_digest
        return Probed(
            self.target, self.login, rejected, kept, tuple(self.reads), tuple(self.skews_s), tuple(self.steps)
        )


def _login_failed(reason: Reason) -> Login:
    return Login(fault=reason, steps=(f"login: {reason}",))


def _read_failed(reason: Reason) -> Answer:
    return Answer(failure=reason)


async def guarded(call: Callable[[], Awaitable[T]], until: float, failed: Callable[[Reason], T], owner: str) -> T:
    """The result of a call, or what its time-out or exception makes of it.

    The traceback is logged without the values of any frame and without the exception's own text, which may quote
    what was read.
    """
    try:
        async with asyncio.timeout_at(until):
            return await call()
    except (TimeoutError, StuckError):
        return failed(Reason.TIMEOUT)
    except Exception as error:  # noqa: BLE001 - one seat's failure is a reading, never the tick's end
        log.error("reading %s failed: %s", owner, where(error))  # noqa: TRY400 - its text may quote a secret
        return failed(Reason.ERROR)
