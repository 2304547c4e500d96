"""Site: the console over its desk; it lets a request in, hands it to its page, and words what goes wrong."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from decide.fault import StoreError
from decide.handoff.entry import ClosedError, HandoffError
from decide.handoff.execution import Refusal, refused
from decide.question import QuestionError
from exporters.console.access import Access, Caller, may_read, may_write
from exporters.console.caller import caller_of, check_gate, check_host
from exporters.console.desk import Desk, Link, LinkError
from exporters.console.form import Form, check_sent, check_token, form_token, read_form
from exporters.console.frame import Clock, Frame, framed
from exporters.console.problem import Problem, ProblemError, answer
from exporters.console.render import page
from exporters.view import View

T = TypeVar("T")
EXPECTED = (ProblemError, StoreError, HandoffError, QuestionError)
"""Everything that may go wrong without being a fault of ours."""


@dataclass(frozen=True, slots=True)
class Console:
    """The web console: its desk, who may use it, and the key that its forms are signed with, new in each process."""

    desk: Desk
    access: Access
    key: bytes = field(repr=False)

    def frame(self, view: View, now: datetime, person: str) -> Frame:
        """The frame of a page that this person looks at, empty for nobody known."""
        return replace(framed(view, now, person=person), login=bool(self.access.users) and not person)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that was let in, by `person` or by nobody known; `now` is its moment."""

    request: Request
    console: Console
    view: View
    now: datetime
    person: str
    may_write: bool

    @property
    def desk(self) -> Desk:
        """What the pages read and do."""
        return self.console.desk

    @property
    def clock(self) -> Clock:
        """The page's clock."""
        return Clock(self.now)

    def part(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])

    def query(self, name: str) -> str:
        """A value of the query, empty where there is none."""
        return self.request.query_params.get(name, "")

    def show(
        self,
        template: str,
        *,
        here: str,
        status: int = 200,
        filled: bool = False,
        live: bool = True,
        source: str = "",
        **context: object,
    ) -> Response:
        """A page in its frame."""
        frame = replace(
            self.console.frame(self.view, self.now, self.person), here=here, filled=filled, live=live, source=source
        )
        told = {"form_token": form_token(self.console.key, self.person), "may_write": self.may_write, **context}
        return HTMLResponse(page(template, frame, **told), status)


Page = Callable[[Asked], Awaitable[Response]]
Deed = Callable[[Asked, Form], Awaitable[Response]]
LinkPage = Callable[[Asked, Link], Awaitable[Response]]
Handler = Callable[[Request], Awaitable[Response]]


class Site:
    """Makes a route's handler of a page or a deed: who may come in is decided here and nowhere else."""

    def __init__(self, console: Console, view: Callable[[], View], clock: Callable[[], datetime]) -> None:
        self.console = console
        self._view = view
        self._clock = clock

    def reading(self, page: Page) -> Handler:
        """A page for those who may read."""

        async def handle(request: Request) -> Response:
            check_host(request, self.console.access)
            who = caller_of(request, self.console.access)
            check_gate(may_read(self.console.access, who), "to read this")
            return await page(self._asked(request, who))

        return self._told(handle)

    def writing(self, deed: Deed) -> Handler:
        """A form that those who may write send."""

        async def handle(request: Request) -> Response:
            check_host(request, self.console.access)
            check_sent(request)
            who = caller_of(request, self.console.access)
            check_gate(may_write(self.console.access, who), "to do this")
            form = await read_form(request)
            check_token(form, self.console.key, who.name)
            return await deed(self._asked(request, who), form)

        return self._told(handle)

    def named(self) -> Handler:
        """Where somebody says who they are: a browser asks for the password, and sends it from then on."""

        async def handle(request: Request) -> Response:
            check_host(request, self.console.access)
            check_gate(may_write(self.console.access, caller_of(request, self.console.access)), "to say who you are")
            return see("/")

        return self._told(handle)

    def linked(self, page: LinkPage, *, sent: bool = False) -> Handler:
        """A page for whoever holds a signed link, in the name of the person it was made for; `sent`: by its form."""

        async def handle(request: Request) -> Response:
            check_host(request, self.console.access)
            if sent:
                check_sent(request)
            link = self.console.desk.open_link(request.path_params["token"])
            check_subject(link, caller_of(request, self.console.access))
            if sent:
                check_token(await read_form(request), self.console.key, link.subject)
            return await page(self._asked(request, Caller(link.subject)), link)

        return self._told(handle)

    def _asked(self, request: Request, who: Caller) -> Asked:
        access: Access = self.console.access
        return Asked(request, self.console, self._view(), self._clock(), who.name, may_write(access, who) == "open")

    def _told(self, handle: Handler) -> Handler:
        async def guarded(request: Request) -> Response:
            try:
                return await handle(request)
            except EXPECTED as error:
                frame = replace(framed(self._view(), self._clock()), live=False)
                return answer(request, problem_of(error), frame)

        return guarded


def check_subject(link: Link, who: Caller) -> None:
    """Turn away somebody who is known to be another person than the one that a link was made for."""
    if who.wrong or (who.proven and who.name != link.subject):
        words = refused(Refusal.OTHER_USER, requester=link.subject, user=who.name or "another user")
        raise ProblemError(403, words, "Not yours to press")


def problem_of(error: Exception) -> Problem:
    """What a person is told of an expected error."""
    match error:
        case ProblemError():
            return error.problem
        case StoreError():
            return Problem(
                503, f"The store cannot be used now, and nothing was changed: {error}", "The store is down"
            )
        case LinkError():
            return Problem(410 if error.expired else 403, str(error), "This link opens nothing")
        case ClosedError():
            return Problem(409, str(error), "Closed already")
        case _:
            return Problem(422, str(error), "This cannot be taken")


async def found(value: Awaitable[T]) -> T:
    """The value, where a LookupError says that there is nothing of that id."""
    try:
        return await value
    except LookupError as error:
        raise ProblemError(404, str(error.args[0] if error.args else ""), "Not there") from error


async def optional(value: Awaitable[T]) -> T | None:
    """The value, or None where a LookupError says that there is nothing of that id."""
    try:
        return await value
    except LookupError:
        return None


def see(path: str, *ids: str) -> Response:
    """Go and see: what a form that was taken is answered with."""
    return RedirectResponse("/".join([path, *(quote(one, safe="") for one in ids)]), 303)
