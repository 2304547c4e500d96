"""World of the console's tests: a desk with something on every page, made by `decide`'s own rules."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import httpx
from starlette.applications import Starlette

from decide.handoff.act import Act, ActEnd, ActState, Runner
from decide.handoff.click import Click, ClickState
from decide.handoff.entry import Answer, Entry, EntryState, Why
from decide.handoff.execution import Fate, Surface
from decide.handoff.inbox import Item, ItemState
from exporters.console.access import Access
from exporters.console.desk import Link, Moved, TickLine
from exporters.console.form import form_token
from exporters.console.site import Console
from exporters.endpoint import endpoint
from exporters.exposition import Exposition
from exporters.view import Health, View
from tests.exporters.console.fakes import FakeDesk, desk_of
from tests.exporters.console.receipts import QUESTIONS, RESTART, RUNS, documents, minutes
from tests.exporters.ledgers import ledger_view
from tests.exporters.scenes import NOW, degraded_view

KEY = b"the key of these tests, which is no secret"
BASE = "http://localhost"
LOCAL = Access(local_user="ana")
HTML = {"accept": "text/html"}


def entries() -> list[Entry]:
    """Two entries that wait, and one of each way to end."""
    answered = Answer("bo", minutes(-90), "chat", "yes", "The table is going to be split, so say what it does.")
    return [
        Entry("r-policy", QUESTIONS["restart"], Why.NEEDS_HUMAN, EntryState.OPEN, minutes(-12)),
        Entry("r-lacking", QUESTIONS["index"], Why.NEEDS_HUMAN, EntryState.OPEN, minutes(-200)),
        Entry("r-walled", QUESTIONS["name"], Why.WALLED, EntryState.OPEN, minutes(-30), clears_at=minutes(150)),
        Entry(
            "r-error",
            QUESTIONS["name"],
            Why.ERROR,
            EntryState.ANSWERED,
            minutes(-120),
            closed_at=minutes(-90),
            closed_by="bo",
            answer=answered,
        ),
        Entry(
            "r-old",
            QUESTIONS["cache"],
            Why.WALLED,
            EntryState.RESOLVED,
            minutes(-400),
            closed_at=minutes(-300),
        ),
        Entry(
            "r-older",
            QUESTIONS["index"],
            Why.HELD,
            EntryState.CANCELLED,
            minutes(-500),
            closed_at=minutes(-450),
            closed_by="ana",
            note="The report is going away.",
        ),
    ]


def click(name: str, line: str, *, requester: str = "ana", at: datetime = NOW, **fields: Any) -> Click:
    """A click that was minted then, for ten minutes."""
    return Click(
        name,
        f"thread-{name}",
        requester,
        line,
        "restart",
        "write",
        f"act-{name}",
        at,
        at + timedelta(minutes=10),
        **fields,
    )


def act(name: str, line: str, state: ActState, *, end: ActEnd | None = None, **fields: Any) -> Act:
    """The act of a click."""
    told = (f"act-{name}", "search-pods", f"thread-{name}", "ana", Surface.CHAT, line, Runner.DAEMON, state, NOW)
    return Act(*told, fate=Fate.CLICK, command="restart", kind="write", click_id=name, end=end, **fields)


def clicks() -> list[tuple[Click, Act]]:
    """One pending click, one of somebody else, and one of each outcome."""
    failed = ActEnd(False, 3, "error: deployment not found", "it ended with an exit status of its own")
    over = [
        ("done", "rungwatch ledger verify", ActState.DONE, ActEnd(True, 0, "verified 1204 rows")),
        ("failed", "kubectl scale deployment/search --replicas 4", ActState.FAILED, failed),
        ("lost", "systemctl restart exporter", ActState.UNKNOWN, None),
    ]
    closed = {"state": ClickState.CONSUMED}
    return [
        (click("c-1", RESTART, at=minutes(-3)), act("c-1", RESTART, ActState.CLICKED)),
        (
            click("c-2", "git push origin release/4.2", requester="bo", at=minutes(-1)),
            act("c-2", "git push origin release/4.2", ActState.CLICKED),
        ),
        *(
            (
                click(f"c-{name}", line, at=minutes(-60 - place), closed_at=minutes(-59 - place), **closed),
                act(f"c-{name}", line, state, end=end),
            )
            for place, (name, line, state, end) in enumerate(over)
        ),
        (click("c-late", RESTART, at=minutes(-90)), act("c-late", RESTART, ActState.CLICKED)),
    ]


def moves() -> list[Moved]:
    """A week's changes."""
    cap = ("weekly_cap",)
    return [
        Moved(NOW - timedelta(days=9), "ladder", "blind", "ok"),
        Moved(NOW - timedelta(days=9), "fable", "unknown", "reachable"),
        Moved(NOW - timedelta(days=9), "astra", "unknown", "reachable"),
        Moved(NOW - timedelta(days=4), "astra", "reachable", "unreachable", cap),
        Moved(NOW - timedelta(days=4), "ladder", "ok", "degraded"),
        Moved(NOW - timedelta(days=3, hours=6), "fable", "reachable", "unreachable", cap),
        Moved(NOW - timedelta(days=3, hours=6), "ladder", "degraded", "down"),
        Moved(NOW - timedelta(days=3), "fable", "unreachable", "reachable"),
        Moved(NOW - timedelta(days=3), "ladder", "down", "degraded"),
        Moved(NOW - timedelta(days=2), "astra", "unreachable", "reachable"),
        Moved(NOW - timedelta(days=2), "ladder", "degraded", "ok"),
        Moved(NOW - timedelta(hours=14), "astra", "reachable", "unknown", ("network",)),
        Moved(NOW - timedelta(hours=14), "ladder", "ok", "blind"),
        Moved(NOW - timedelta(hours=11), "astra", "unknown", "reachable"),
        Moved(NOW - timedelta(hours=11), "ladder", "blind", "ok"),
        Moved(NOW - timedelta(hours=1), "astra", "reachable", "unreachable", cap),
        Moved(NOW - timedelta(hours=1), "ladder", "ok", "degraded"),
    ]


def rounds() -> list[TickLine]:
    """The last ticks, one of which ran out of time."""
    return [
        TickLine(
            NOW - timedelta(minutes=5 * age),
            1.2 + age % 3,
            "timeout" if age == 4 else "ok",
            "degraded",
            6,
            int(age == 4),
        )
        for age in range(30)
    ]


def outcomes() -> list[tuple[str, str, int]]:
    """Two weeks of runs."""
    days = [(NOW - timedelta(days=age)).date().isoformat() for age in range(13, -1, -1)]
    shape = [(14, 2, 1, 0), (18, 1, 2, 0), (9, 0, 1, 1), (0, 0, 0, 0), (21, 3, 2, 0), (16, 1, 0, 0), (12, 6, 3, 2)]
    kinds = ("agreed", "single_rung", "needs_human", "walled")
    found = [
        (day, kind, n)
        for day, counts in zip(days, shape * 2, strict=True)
        for kind, n in zip(kinds, counts, strict=True)
    ]
    return [*found, (days[-1], "reconsidered", 2), (days[-1], "error", 1)]


def items() -> list[Item]:
    """A question that was raised and waits for a person, and one that is to be asked."""
    return [
        Item("i-1", QUESTIONS["restart"], ItemState.QUEUED, minutes(-14), minutes(-14), "chat", "ana", "r-policy"),
        Item("i-2", QUESTIONS["cache"], ItemState.WAITING, minutes(-1), minutes(-1), "chat", "ana"),
        Item("i-3", QUESTIONS["cache"], ItemState.DONE, minutes(-30), minutes(-30), "chat", "ana", "r-alone"),
    ]


@dataclass(slots=True)
class Told:
    """A clock that is told."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        """The moment."""
        return self.now


async def desk(clock: Callable[[], datetime] | None = None) -> FakeDesk:
    """A desk with something on every page."""
    made = FakeDesk(clock or Told())
    made.handoff.documents |= await documents()
    made.handoff.open |= {one.id: one for one in entries()}
    made.handoff.items |= {one.id: one for one in items()}
    made.handoff.minted |= {one.id: one for one, _ in clicks()}
    made.handoff.acts |= {one.id: one for _, one in clicks()}
    made.moved, made.ticked, made.days = moves(), rounds(), outcomes()
    made.links = {"good": Link("c-1", "ana"), "bos": Link("c-2", "bo"), "done": Link("c-done", "ana")}
    made.links |= {"late": Link("c-late", "ana"), "stray": Link("c-none", "ana"), "wrong": Link("c-2", "ana")}
    made.gone = {"old"}
    return made


def shown() -> View:
    """A degraded ladder with a busy ledger."""
    return replace(degraded_view(), ledger=ledger_view().ledger)


def application(
    made: FakeDesk, access: Access = LOCAL, *, view: Callable[[], View] = shown, key: bytes = KEY
) -> Starlette:
    """The endpoint with the console over that desk."""
    return endpoint(
        view,
        Exposition(view(), made.clock),
        lambda: Health(alive=True, ready=True),
        lambda _: (),
        made.clock,
        console=Console(desk_of(made), access, key),
    )


def connected(
    app: Starlette,
    *,
    client: tuple[str, int] = ("127.0.0.1", 50_000),
    base: str = BASE,
    headers: Mapping[str, str] | None = None,
) -> httpx.AsyncClient:
    """A client that speaks to the application without a socket, from that address."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=client)
    return httpx.AsyncClient(transport=transport, base_url=base, headers={**HTML, **(headers or {})})


def form(person: str = "ana", /, **fields: str) -> dict[str, str]:
    """The fields of a form with this person's token."""
    return {"form": form_token(KEY, person), **fields}


PAGES = (
    *("/", "/history", "/decisions", "/queue", "/clicks", "/ask", "/ticks"),
    *(f"/decisions/r-{name}" for name in RUNS),
    *("/queue/r-policy", "/queue/r-lacking", "/queue/r-walled", "/queue/r-error", "/queue/r-old", "/queue/r-older"),
    *("/clicks/c-1", "/clicks/c-2", "/clicks/c-done", "/clicks/c-failed", "/clicks/c-lost", "/clicks/c-late"),
    *("/confirm/good", "/confirm/done", "/ask?cites=r-lacking", "/inbox/i-1", "/inbox/i-2", "/inbox/i-3"),
)
"""Every page of this world that answers 200."""
PROBLEMS = {"/nowhere": 404, "/queue/none": 404, "/confirm/forged": 403, "/confirm/old": 410, "/confirm/late": 410}
"""Pages that say what is wrong, each with its status."""
