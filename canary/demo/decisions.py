"""Decisions of the demo: the day's questions taken through the real ladder as their time comes."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from canary.config import Config
from canary.deciding import fresh_id, ready
from canary.demo.clock import DemoClock
from canary.demo.day import clock
from canary.demo.people import DEEDS, Deed, People
from canary.demo.questions import DAY, Asked
from decide.handoff.execution import Surface
from decide.handoff.inbox import Raised
from decide.handoff.ports import HandoffStore
from decide.question import Question
from decide.receipt import headline
from decide.run import ask
from decide.rungs import anthropic, api, openai
from decide.rungs.table import Kind
from decide.setup import Setup
from decide.snapshot import Snapshot, dump
from decide.watch import Ended, Event, PassOut

log = logging.getLogger("rungwatch")


def _claude_headers(secret: str | None) -> Mapping[str, str]:
    return {"authorization": f"Bearer {secret}", "anthropic-version": "2023-06-01"}


def _codex_url(base_url: str) -> str:
    return f"{base_url}/codex/responses"


KINDS = MappingProxyType(
    {
        "claude": Kind(
            lambda ports: api.rung(replace(anthropic.API, headers=_claude_headers), ports.fetch), sends_secret=True
        ),
        "codex": Kind(lambda ports: api.rung(replace(openai.API, url=_codex_url), ports.fetch), sends_secret=True),
    }
)
"""How the demo's rungs are asked: over plain HTTP with the login of the seat, since the vendors' clients may not be
installed here."""


class Decisions:
    """The questions of the day that are still to be asked or raised, and what people do about them."""

    def __init__(self, config: Config, state_dir: Path, shown: DemoClock, viewer: str) -> None:
        self._config = config
        self._state_dir = state_dir
        self._clock = shown
        self._viewer = viewer
        self._asked: set[str] = set()
        self._done: set[Deed] = set()

    async def due(self) -> None:
        """Do whatever the clock has reached, one thing after another."""
        start, now = self._clock.day_start(), self._clock.now()
        waiting = [one for one in DAY if start + clock(one.at) <= now and one.question(start).id not in self._asked]
        deeds = [one for one in DEEDS if start + clock(one.at) <= now and one not in self._done]
        if not waiting and not deeds:
            return
        async with ready(self._config, self._state_dir, environ={}, clock=self._clock, kinds=KINDS) as made:
            store = (await made.ledger.opened()).handoff
            for one in waiting:
                self._asked.add(one.question(start).id)
                if one.raised:
                    await self._raise(one.question(start), store)
                else:
                    await self._take(one, made.setup, start)
            people = People(store, self._config, self._clock, self._viewer)
            for deed in deeds:
                self._done.add(deed)
                await people.do(deed)

    async def _raise(self, question: Question, store: HandoffStore) -> None:
        now = self._clock.now()
        raised = Raised(fresh_id(now), question, dump(Snapshot(())), now, Surface.CHAT.value, self._viewer)
        await store.raise_question(raised)

    async def _take(self, one: Asked, setup: Setup, start: datetime) -> None:
        question, out = one.question(start), asyncio.Event()

        def watch(event: Event) -> None:
            if isinstance(event, Ended):
                log.info("%s %s", question.id, headline(event.receipt.document))
            if isinstance(event, PassOut | Ended):
                out.set()

        task = asyncio.create_task(ask(question, setup=setup, watch=watch))
        if one.stops:
            await out.wait()
            task.cancel()
        await asyncio.wait({task})
        if not task.cancelled():
            task.result()
