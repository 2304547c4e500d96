"""Puller: the daemon's rounds: asking what was raised, carrying out what was decided, telling raisers."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from decide.fault import StoreError
from decide.handoff import webhook
from decide.handoff.act import Act
from decide.handoff.carry import Carried, carry
from decide.handoff.click import TTL
from decide.handoff.effect import Effect
from decide.handoff.execution import Rules, Surface
from decide.handoff.inbox import AGAIN, News, Taken
from decide.handoff.ports import HandoffStore
from decide.handoff.webhook import Hook
from decide.question import Question, UsageError
from decide.receipt import Receipt
from decide.rungs.http import Fetch
from decide.rungs.redact import one_line
from decide.tasks import gathered, whole

LEASE = timedelta(minutes=30)
"""How long an item that was taken is this process's, unless it is gone before."""
MOST_NEWS = 20
"""How many messages one round delivers at most, at once."""
MOST_ACTS = 8
"""How many acts one round carries at most, at once."""

log = logging.getLogger("rungwatch")

Ask = Callable[[Question, str, Surface, str], Awaitable[Receipt]]
"""What takes a question through the ladder: on its frozen evidence, from its surface, for its requester."""


@dataclass(frozen=True, slots=True)
class Puller:
    """The rounds of one daemon; what goes wrong with one thing is logged and holds up nothing else.

    `hooks` are where raisers are told, by `raised_by`. `tell` is not to be begun while it works, or a message may go
    out twice; the other rounds may overlap.
    """

    store: HandoffStore
    ask: Ask
    rules: Rules
    run: Effect
    send: Fetch
    clock: Callable[[], datetime]
    sleep: Callable[[float], Awaitable[None]]
    fresh_id: Callable[[], str]
    hooks: Mapping[str, Hook] = field(default_factory=dict)
    questions_per_tick: int = 1
    lease: timedelta = LEASE
    ttl: timedelta = TTL
    _owed: dict[str, datetime] = field(default_factory=dict, init=False, repr=False)

    async def pull(self, *, both: bool) -> tuple[Receipt, ...]:
        """Ask what is due, and say how it went; `both`: both rungs can be reached, as far as the canary knows."""
        try:
            await self.store.sweep(self.clock())
            await self.store.ask_cleared(self.clock(), whole=both)
            await self._give_back()
            taken = await self._taken()
        except StoreError as error:
            log.warning("inbox: nothing is asked: %s", error)
            return ()
        try:
            done = await gathered([self._asked(one) for one in taken])
        except asyncio.CancelledError:
            await self._all_back(taken)
            raise
        return tuple(receipt for receipt in done if receipt is not None)

    async def carry_due(self) -> tuple[Carried, ...]:
        """Carry out what answers stand for and nobody has begun, the first come first."""
        try:
            due = await self.store.due_acts()
        except StoreError as error:
            log.warning("acts: nothing is carried out: %s", error)
            return ()
        done = await gathered([self._carried(act) for act in due[:MOST_ACTS]])
        return tuple(one for one in done if one is not None)

    async def tell(self) -> None:
        """Tell raisers what became of their questions, one round for each message that is due."""
        if not self.hooks:
            return
        try:
            news = await self.store.news(self.clock(), MOST_NEWS, self.hooks.keys())
        except StoreError as error:
            log.warning("webhooks: nobody is told: %s", error)
            return
        await gathered([self._told(one) for one in news])

    async def _taken(self) -> tuple[Taken, ...]:
        """What this process is to ask now; none of it is kept where nobody is left to ask it."""
        taken, cancelled = await whole(self.store.take(self.clock(), self.questions_per_tick, self.lease))
        if cancelled:
            await self._all_back(taken)
            raise asyncio.CancelledError
        return taken

    async def _all_back(self, taken: Sequence[Taken]) -> None:
        """Give back what nobody is left to ask; what a run has ended meanwhile stays as it left it."""
        await whole(gathered([self._put_back(one, self.clock()) for one in taken]))

    async def _asked(self, taken: Taken) -> Receipt | None:
        """The receipt of one item; it goes back where it was not asked, or nothing could record that it was."""
        item = taken.item
        try:
            receipt = await self.ask(item.question, taken.snapshot, Surface(item.surface), item.requester)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other items are asked
            log.warning("inbox: item %s could not be asked: %s", item.id, _kind(error))
            await self._put_back(taken, self.clock() + AGAIN)
            return None
        if not receipt.stored:
            await self._put_back(taken, self.clock() + AGAIN)
        return receipt

    async def _put_back(self, taken: Taken, due_at: datetime) -> None:
        """Give an item back, or owe it to the next round."""
        try:
            await self.store.put_back(taken.item.id, due_at)
        except StoreError as error:
            self._owed[taken.item.id] = due_at
            log.warning("inbox: item %s is given back when the store is well again: %s", taken.item.id, error)

    async def _give_back(self) -> None:
        """Give back what a round before could not; to nobody else does the store give it while this process lives."""
        for item_id, due_at in list(self._owed.items()):
            await self.store.put_back(item_id, due_at)
            del self._owed[item_id]

    async def _carried(self, act: Act) -> Carried | None:
        """What became of one act; one that was begun and has no end recorded is told unknown one day."""
        try:
            return await carry(
                act,
                store=self.store,
                rules=self.rules,
                run=self.run,
                clock=self.clock,
                fresh_id=self.fresh_id,
                ttl=self.ttl,
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, the other acts are carried out
            log.warning("acts: act %s could not be carried out: %s", act.id, _kind(error))
            return None

    async def _told(self, news: News) -> None:
        """Deliver one message for one round, and record how that went."""
        raiser = news.item.question.raised_by
        try:
            told = await webhook.deliver(news, self.hooks[raiser], self.send, clock=self.clock, sleep=self.sleep)
        except Exception as error:  # noqa: BLE001 - whatever it is, the others are told
            told = webhook.failed(_kind(error), news.tries, self.clock())
        level = logging.INFO if told.again_at is None else logging.WARNING
        log.log(level, "webhook of %s: item %s %s (%s)", raiser, news.item.id, told.result, told.detail)
        try:
            await self.store.told(news, told.result, self.clock(), again_at=told.again_at)
        except StoreError as error:
            log.warning("webhook of %s: item %s will be told again: %s", raiser, news.item.id, error)


def _kind(error: Exception) -> str:
    """What an error is, with its text only where that was made for people: others may hold a secret."""
    name = type(error).__name__
    return f"{name}: {one_line(str(error))}" if isinstance(error, UsageError | StoreError) else name
