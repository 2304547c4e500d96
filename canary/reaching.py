"""Reaching: the daemon's part in what reaches a person: raised questions, acts, webhooks, and clicks that expire."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from canary.clock import Clock
from canary.config import Config
from canary.deciding import fresh_id, lease_of, ready
from canary.faults import where
from canary.ledger import Ledger
from canary.policy import rules_of
from canary.secret import secret
from decide import snapshot
from decide.fault import StoreError
from decide.handoff.act import Origin, Runner
from decide.handoff.carry import effect_of
from decide.handoff.click import Click, Pressed
from decide.handoff.effect import Effect
from decide.handoff.execution import Surface
from decide.handoff.ports import HandoffStore
from decide.handoff.puller import Puller
from decide.handoff.webhook import Hook
from decide.question import Question, UsageError
from decide.receipt import Receipt, headline
from decide.run import ask
from decide.rungs.http import Fetch
from decide.rungs.table import KINDS, Kind
from decide.snapshot import Snapshot

T = TypeVar("T")

SOON_S = 1.0
"""How long the answer to a form waits for what it sets going, in seconds."""

log = logging.getLogger("rungwatch")


@dataclass(frozen=True, slots=True)
class Means:
    """What reaching a person takes of the world: `run` runs commands, `send` posts webhooks, `kinds` ask rungs."""

    clock: Clock
    environ: Mapping[str, str]
    run: Effect
    send: Fetch
    kinds: Mapping[str, Kind] = field(default_factory=lambda: KINDS)


class _Lazy:
    """The handoff of a ledger that need not be there yet: it is opened by whichever method is called first."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def call(*given: Any, **named: Any) -> Any:
            return await getattr((await self._ledger.opened()).handoff, name)(*given, **named)

        return call


def handoff_of(ledger: Ledger) -> HandoffStore:
    """Queue, inbox and clicks of a ledger, opened when they are first needed; every method raises StoreError."""
    return cast(HandoffStore, _Lazy(ledger))


class Reaching:
    """The rounds of one daemon, under a configuration that may change; `both`: both rungs can be reached."""

    def __init__(
        self, config: Config, state_dir: Path, ledger: Ledger, means: Means, both: Callable[[], bool]
    ) -> None:
        self.store = handoff_of(ledger)
        self._state_dir, self._ledger, self._means, self._both = state_dir, ledger, means, both
        self.config, self._puller = config, self._made(config)
        self._working: set[asyncio.Task[Any]] = set()
        self._telling = asyncio.Lock()

    def take(self, config: Config) -> None:
        """Go by a new configuration from now on; raises UsageError for a secret that cannot be had."""
        self.config, self._puller = config, self._made(config)

    async def pull(self) -> None:
        """Take questions from the inbox and ask them."""
        for receipt in await self._tracked(self._puller.pull(both=self._both())):
            log.info("asked %s: %s", receipt.document["question"]["id"] or receipt.id, headline(receipt.document))
        await self.attend()

    async def attend(self) -> None:
        """Expire what is due, carry out what answers stand for, and tell raisers."""
        try:
            await self.store.sweep(self._means.clock.now())
        except StoreError:  # whoever follows the ledger says so, in the log and in a metric
            return
        self._start(self._puller.carry_due())  # a command may run for long, and begins once whoever carries it
        if not self._telling.locked():
            async with self._telling:
                await self._tracked(self._puller.tell())

    async def carry_soon(self) -> None:
        """Carry out what was just answered; a click is there when this returns, a command runs on."""
        await asyncio.wait({self._start(self._puller.carry_due())}, timeout=SOON_S)

    async def press(self, click_id: str, user: str) -> Pressed:
        """Press a click and return; what it sets going runs on, and is recorded when it ends."""
        pressed = await self.store.press(click_id, user, self._means.clock.now())
        if pressed.consumed and pressed.click is not None:
            self._start(self._effect(pressed.click))
        return pressed

    async def stop(self) -> None:
        """Tell everything that is under way to end, and wait until it has recorded how."""
        working = [one for one in self._working if one is not asyncio.current_task()]
        for one in working:
            one.cancel()
        await asyncio.gather(*working, return_exceptions=True)

    async def _effect(self, click: Click) -> None:
        means = self._means
        try:
            end = await effect_of(
                click, store=self.store, rules=rules_of(self.config), run=means.run, clock=means.clock.now
            )
        except StoreError as error:
            log.warning("click %s: how its command ended could not be recorded: %s", click.id, error.fault)
            return
        log.info("click %s: %s%s", click.id, "done" if end.done else "failed", f" ({end.why})" if end.why else "")

    async def _tracked(self, work: Coroutine[Any, Any, T]) -> T:
        """The work's result; while it runs, `stop` ends it too."""
        task = self._start(work)
        try:
            return await task
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise

    def _start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._working.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("reaching a person failed: %s", where(error))

    def _made(self, config: Config) -> Puller:
        means = self._means
        return Puller(
            store=self.store,
            ask=self._ask,
            rules=rules_of(config),
            run=means.run,
            send=means.send,
            clock=means.clock.now,
            sleep=asyncio.sleep,
            fresh_id=lambda: fresh_id(means.clock.now()),
            hooks=hooks_of(config, means.environ),
            questions_per_tick=config.inbox.questions_per_tick,
            lease=lease_of(config),
            ttl=config.confirm.ttl,
        )

    async def _ask(self, question: Question, evidence: str, surface: Surface, requester: str) -> Receipt:
        """Take a raised question through the ladder, on the evidence that was frozen when it was raised."""
        means = self._means

        async def frozen(_: object) -> Snapshot:
            return snapshot.load(evidence)

        made = ready(
            self.config,
            self._state_dir,
            environ=means.environ,
            clock=means.clock,
            kinds=means.kinds,
            ledger=self._ledger,
        )
        async with made as ladder:
            setup = replace(ladder.setup, freeze=frozen)
            return await ask(question, setup=setup, origin=Origin(surface, requester, Runner.DAEMON))


def hooks_of(config: Config, environ: Mapping[str, str]) -> dict[str, Hook]:
    """Where raisers are told; raises UsageError for a secret that cannot be had."""
    hooks = {}
    for one in config.webhook:
        found = secret("webhook.secret_env", one.secret_env, one.secret_file, environ).get_secret_value()
        try:
            hooks[one.raised_by] = Hook(one.url, found)
        except ValueError as error:
            raise UsageError(f"webhook.secret_env: raiser {one.raised_by!r}: {error}") from error
    return hooks
