"""Confirming: a real store, daemon rounds and console over a clock that is told, and the ways to press a click.

The public cases call a click a token, its button an offer and a chat vendor's callback a path; here a press goes over
HTTP by the signed link, over HTTP as the console's local user, or by what `rungwatch confirm press` calls.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import httpx
from starlette.applications import Starlette

from canary.config import Config
from canary.console_desk import ConsoleDesk
from canary.ledger import Ledger
from canary.link_keys import keys, place
from canary.load import parse
from canary.policy import rules_of
from canary.reaching import Means, Reaching
from decide.handoff.act import ActEnd, NewAct, Runner
from decide.handoff.answering import PREFIX
from decide.handoff.click import Click
from decide.handoff.entry import Answer
from decide.handoff.execution import Surface, sentence
from decide.handoff.link import sign
from decide.handoff.ports import Hold, NewClick, ThreadBusy
from decide.question import Option, Question
from decide.rungs.http import Request, Response
from exporters.console.access import Access
from exporters.console.form import form_token
from exporters.console.frame import Clock
from exporters.console.pressing import words
from exporters.console.site import Console
from exporters.endpoint import endpoint
from exporters.exposition import Exposition
from exporters.view import Health, View
from tests.canary.fakes import FakeClock

CONFIG = """
[ladder]
primary = "fable"
second = "astra"
[[rung]]
name = "fable"
kind = "command"
model = "m1"
command = ["true"]
[[rung.seat]]
name = "one"
auth = "none"
[[rung]]
name = "astra"
kind = "command"
model = "m2"
command = ["true"]
[[rung.seat]]
name = "two"
auth = "none"
[[command]]
name = "stop"
run = ["stop", "run", "{number}"]
class = "write"
[[command]]
name = "deploy"
run = ["deploy"]
class = "destructive"
"""
KEY = b"the key of these tests, which is no secret"
HTTP = ("link", "page")
WAYS = (*HTTP, "typed")
"""Every way in which a click can be pressed."""


@dataclass(slots=True)
class Effects:
    """Commands that were run; one takes until it is let go."""

    ran: list[tuple[str, ...]] = field(default_factory=list)
    began: asyncio.Event = field(default_factory=asyncio.Event)
    free: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, given: Sequence[str], timeout_s: float) -> ActEnd:
        self.ran.append(tuple(given))
        self.began.set()
        await self.free.wait()
        return ActEnd(True, 0, "it is done")


@dataclass(frozen=True, slots=True)
class Answered:
    """How a press was answered: a status as HTTP has it, and the words that its user sees."""

    status: int
    seen: str


@dataclass(slots=True)
class Scene:
    """A daemon with its store, pressed from outside; `restart` ends it and starts another over the same files."""

    folder: Path
    clock: FakeClock
    effects: Effects
    config: Config
    made: int = 0
    ledger: Ledger = field(init=False)
    reaching: Reaching = field(init=False)

    def __post_init__(self) -> None:
        """Start the daemon."""
        self._start()

    def _start(self) -> None:
        self.ledger = Ledger(self.folder / "ledger.db")
        means = Means(self.clock, {}, self.effects, _nowhere)
        self.reaching = Reaching(self.config, self.folder, self.ledger, means, lambda: True)

    async def stop(self) -> None:
        """End the daemon."""
        self.effects.free.set()
        await self.reaching.stop()
        await self.ledger.close()

    async def restart(self) -> None:
        """End it and start another."""
        await self.stop()
        self._start()

    async def offer(
        self, line: str, *, requester: str, thread: str = "t1", ttl: timedelta = timedelta(minutes=10)
    ) -> Click | ThreadBusy:
        """Offer a command as a click: a person answers an entry on the console with an option that stands for it."""
        self.made += 1
        question = Question(f"{line} {self.made}?", (Option("yes", "Do it", line), Option("no", "Leave it")))
        store, now, name = self.reaching.store, self.clock.now(), f"r{self.made}"
        receipt = {"id": name, "outcome": "held", "exit_code": 4, "person": None}
        await store.hold(Hold(name, receipt, question, now))
        act = NewAct(PREFIX + name, question.key, thread, requester, Surface.CHAT, line, Runner.ASK)
        await store.answer(name, Answer(requester, now, "chat", "yes"), act)
        ruled = sentence(line, Surface.CHAT, rules_of(self.config))
        return await store.mint(act.id, ruled, NewClick(f"cf_{self.made}", now, ttl))

    async def press(self, click_id: str, user: str, *, way: str, of: Click | None = None) -> Answered:
        """Press a click in one of the ways; a link is the one that was signed for `of`."""
        if way == "typed":
            now = self.clock.now()
            pressed = await self.reaching.press(click_id, user)
            act = None if pressed.click is None else await self.reaching.store.act(pressed.click.act_id)
            told = words(pressed, user, act, Clock(now)) or "in progress"
            return Answered(200 if pressed.consumed else 409, told)
        headers = {"accept": "text/html"}
        async with self._browser(user) as browser:
            path = f"/clicks/{click_id}/press"
            if way == "link" and of is not None:
                path = f"/confirm/{sign(of, keys(place(self.config, self.folder)))}"
            form = {"form": form_token(KEY, user)}
            got = await browser.post(path, data=form, headers=headers, follow_redirects=True)
        return Answered(got.status_code, got.text)

    @asynccontextmanager
    async def _browser(self, user: str) -> AsyncIterator[httpx.AsyncClient]:
        far = httpx.ASGITransport(self.app(user), client=("127.0.0.1", 50_000))
        async with httpx.AsyncClient(transport=far, base_url="http://localhost") as browser:
            yield browser

    def app(self, user: str) -> Starlette:
        """The console as somebody of that name on this machine has it."""
        desk = ConsoleDesk(lambda: self.config, self.folder, self.ledger, self.reaching, tuple, self.clock.now)
        view = View((), ())
        return endpoint(
            lambda: view,
            Exposition(view, self.clock.now),
            lambda: Health(True, True),
            lambda rung: (),
            self.clock.now,
            console=Console(desk, Access(local_user=user), KEY),
        )

    async def events(self) -> dict[tuple[str, str], int]:
        """How often each (event, reason) of clicks is in the ledger, as the counters have it."""
        found: dict[tuple[str, str], int] = {}
        store = await self.ledger.opened()
        for kind, event, reason in await store.columns_after(0, 10_000, ("kind", "result", "stage")):
            if kind == "click":
                found[event, reason] = found.get((event, reason), 0) + 1
        return found


async def _nowhere(request: Request) -> Response:
    raise AssertionError(f"nobody is told anything in these cases: {request!r}")


@asynccontextmanager
async def scene(folder: Path, *, now: datetime) -> AsyncIterator[Scene]:
    """A daemon over an empty folder at a moment; its commands end when they are let go."""
    one = Scene(folder, FakeClock(now), Effects(), parse(CONFIG, "scene"))
    yield one
    await one.stop()
