"""People of the demo day: who answers what waits, who cancels it, and who presses which click."""

import logging
from dataclasses import dataclass
from enum import StrEnum

from canary.config import Config
from canary.demo.clock import DemoClock
from canary.handing import effect_here
from canary.policy import rules_of
from decide.handoff.act import Runner
from decide.handoff.answering import act_of, answer_to
from decide.handoff.entry import EntryState
from decide.handoff.execution import Surface
from decide.handoff.ports import HandoffStore

log = logging.getLogger("rungwatch")
VIEWER = ""
"""Whoever watches the demo: the only one who may press its clicks."""


class Does(StrEnum):
    """What somebody does."""

    ANSWERS = "answers"
    CANCELS = "cancels"
    PRESSES = "presses"


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that a person does at a clock time about the question that was asked at another."""

    at: str
    does: Does
    asked_at: str
    person: str = VIEWER
    option: str = ""
    text: str = ""


DEEDS = (
    Deed("13:05", Does.PRESSES, "12:35"),
    Deed("13:07", Does.PRESSES, "12:35"),
    Deed("14:52", Does.ANSWERS, "14:35", "ada", "second", "Readers of the old one will find their way."),
    Deed("15:50", Does.PRESSES, "15:25", "grace"),
    Deed(
        "16:05", Does.ANSWERS, "15:10", "grace", text="The plan shows a full scan: add the index, then measure again."
    ),
    Deed("16:40", Does.CANCELS, "15:40", "ada", text="The script was rewritten and goes through the usual review."),
    Deed("18:20", Does.ANSWERS, "16:10", "ada", "first"),
    Deed("21:33", Does.PRESSES, "21:05"),
    Deed("22:20", Does.ANSWERS, "21:50", "grace", "first"),
)
"""What people do, in their order; the question of 16:15 and that of 23:05 are left to whoever watches."""


class People:
    """The people of the day at work on one store."""

    def __init__(self, store: HandoffStore, config: Config, shown: DemoClock, viewer: str) -> None:
        self._store, self._config, self._clock, self._viewer = store, config, shown, viewer

    async def do(self, deed: Deed) -> None:
        """Do one thing; what somebody who watches has done already is left alone."""
        person = deed.person or self._viewer
        key = f"demo-{self._clock.day_start():%Y%m%d}-{deed.asked_at.replace(':', '')}"
        try:
            match deed.does:
                case Does.ANSWERS:
                    await self._answer(key, person, deed)
                case Does.CANCELS:
                    entry = await self._store.entry(key)
                    if entry.state is EntryState.OPEN:
                        await self._store.cancel(entry.id, person, deed.text, self._clock.now())
                case Does.PRESSES:
                    await self._press(key, person)
        except LookupError as error:
            log.info("%s %s nothing: %s", person, deed.does, error)

    async def _answer(self, key: str, person: str, deed: Deed) -> None:
        entry = await self._store.entry(key)
        if entry.state is not EntryState.OPEN:
            return
        now = self._clock.now()
        answer = answer_to(entry, person=person, option=deed.option, text=deed.text, at=now, surface=Surface.CHAT)
        await self._store.answer(entry.id, answer, act_of(entry, answer, rules_of(self._config), Runner.DAEMON))

    async def _press(self, key: str, person: str) -> None:
        mine = [one for one in await self._store.clicks(50) if one.thread == key]
        if not mine:
            return
        pressed = await self._store.press(mine[0].id, person, self._clock.now())
        if pressed.consumed and pressed.click is not None:
            await effect_here(self._store, self._config, pressed.click, self._clock.now)
