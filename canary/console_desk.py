"""Console desk: what the console's pages read and do, over the daemon's store, folder and rounds."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from canary.config import Config
from canary.deciding import fresh_id
from canary.history import transitions
from canary.ledger import Ledger
from canary.link_keys import keys, place
from canary.policy import rules_of
from canary.reaching import Reaching
from decide import snapshot
from decide.handoff import link
from decide.handoff.act import Runner
from decide.handoff.answering import act_of, answer_to
from decide.handoff.click import Pressed
from decide.handoff.entry import Entry
from decide.handoff.execution import Surface
from decide.handoff.inbox import Item, Raised
from decide.handoff.ports import HandoffStore
from decide.question import Question
from decide.snapshot import Snapshot
from decide.store.receipts import ReceiptLine
from exporters.console.desk import Link, LinkError, Moved, TickLine


class ConsoleDesk:
    """The desk of one daemon; `config` gives the configuration in force, `ticked` the ticks that are remembered."""

    def __init__(
        self,
        config: Callable[[], Config],
        state_dir: Path,
        ledger: Ledger,
        reaching: Reaching,
        ticked: Callable[[], Sequence[TickLine]],
        clock: Callable[[], datetime],
    ) -> None:
        self._config, self._state_dir, self._ledger = config, state_dir, ledger
        self._reaching, self._ticked, self._clock = reaching, ticked, clock

    @property
    def handoff(self) -> HandoffStore:
        """Queue, inbox, acts and clicks."""
        return self._reaching.store

    @property
    def lead(self) -> timedelta:
        """How long before its deadline a waiting question becomes pressing."""
        return self._config().queue.lead

    async def receipts(self, limit: int, before: str | None = None) -> Sequence[ReceiptLine]:
        """As `Desk.receipts`."""
        return await (await self._ledger.opened()).receipts(limit, before)

    async def receipt(self, receipt_id: str) -> Mapping[str, Any]:
        """As `Desk.receipt`."""
        return await (await self._ledger.opened()).receipt(receipt_id)

    async def outcomes_by_day(self, since: datetime) -> Sequence[tuple[str, str, int]]:
        """As `Desk.outcomes_by_day`."""
        return await (await self._ledger.opened()).outcomes_by_day(since)

    def transitions(self, since: datetime) -> Sequence[Moved]:
        """As `Desk.transitions`."""
        return transitions(self._state_dir, since)

    def ticks(self) -> Sequence[TickLine]:
        """As `Desk.ticks`."""
        return self._ticked()

    async def answer(self, entry_id: str, person: str, option: str, text: str) -> Entry:
        """As `Desk.answer`: what its option stands for becomes a click of that person, or runs, soon."""
        entry = await self.handoff.entry(entry_id)
        answer = answer_to(entry, person=person, option=option, text=text, at=self._clock(), surface=Surface.CHAT)
        closed = await self.handoff.answer(
            entry.id, answer, act_of(entry, answer, rules_of(self._config()), Runner.DAEMON)
        )
        await self._reaching.carry_soon()
        return closed

    async def raise_question(self, question: Question, person: str) -> Item:
        """As `Desk.raise_question`; a question of the console brings no evidence beside its text."""
        now = self._clock()
        evidence = snapshot.dump(Snapshot(()))
        raised = Raised(fresh_id(now), question, evidence, now, Surface.CHAT.value, person)
        return await self.handoff.raise_question(raised)

    async def press(self, click_id: str, user: str) -> Pressed:
        """As `Desk.press`."""
        return await self._reaching.press(click_id, user)

    def open_link(self, token: str) -> Link:
        """As `Desk.open_link`; of a link that has expired the store says what became of its click."""
        try:
            found = link.read(token, keys(place(self._config(), self._state_dir)), self._clock())
        except link.LinkError as error:
            if error.link is None:
                raise LinkError(str(error)) from None
            found = error.link
        return Link(found.click_id, found.subject)
