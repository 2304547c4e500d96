"""Endpoint: the HTTP routes that show the present, which change nothing, and those of the console."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from exporters.console.caller import at_our_name, caller_of
from exporters.console.frame import framed
from exporters.console.problem import Problem, answer
from exporters.console.render import statics
from exporters.console.routes import routes as console_routes
from exporters.console.site import Console, Site
from exporters.console.status import icon, status_page
from exporters.console.waits import waits
from exporters.exposition import Exposition
from exporters.present import present
from exporters.probe import probe_text
from exporters.report import report
from exporters.view import Health, ProbeLog, View

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""On every answer, also on those of the routes that are added and on errors."""


def endpoint(
    view: Callable[[], View],
    exposition: Exposition,
    health: Callable[[], Health],
    probe: Callable[[str], Sequence[ProbeLog]],
    clock: Callable[[], datetime],
    routes: Sequence[BaseRoute] = (),
    console: Console | None = None,
) -> Starlette:
    """The application: metrics, status page, health, probes and report, the console, and whatever `routes` adds."""
    seen = _Shown(view, exposition, health, probe, clock, console)
    more = console_routes(Site(console, view, clock)) if console else []
    app = Starlette(
        routes=[
            Route("/", seen.status),
            Route("/metrics", seen.metrics),
            Route("/probe", seen.probe),
            Route("/api/status", seen.report),
            Route("/-/healthy", seen.healthy),
            Route("/-/ready", seen.ready),
            Route("/icon.svg", seen.icon),
            Route("/static/{name}", _static),
            *more,
            *routes,
        ],
        middleware=[Middleware(SecureHeaders)],
        exception_handlers={Exception: _failed, HTTPException: seen.problem},
    )
    app.router.redirect_slashes = False  # a redirect fails on a query that is no UTF-8
    return app


class SecureHeaders:
    """Adds `HEADERS` to every answer that does not set them itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and complete the head of its answer."""

        async def complete(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, complete if scope["type"] == "http" else send)


class _Shown:
    """The routes over the values they show; each reads the clock once."""

    def __init__(
        self,
        view: Callable[[], View],
        exposition: Exposition,
        health: Callable[[], Health],
        probe: Callable[[str], Sequence[ProbeLog]],
        clock: Callable[[], datetime],
        console: Console | None,
    ) -> None:
        self._view = view
        self._exposition = exposition
        self._health = health
        self._probe = probe
        self._clock = clock
        self._console = console

    async def status(self, request: Request) -> Response:
        view, now, console = self._view(), self._clock(), self._console
        if console is None:
            return HTMLResponse(status_page(view, now))
        known = at_our_name(request, console.access)
        person = caller_of(request, console.access).name if known else ""
        frame = replace(console.frame(view, now, person), here="/")
        return HTMLResponse(status_page(view, now, frame, await waits(console, request, now)))

    async def problem(self, request: Request, error: Exception) -> Response:
        """A path or a method that there is not, or a query that cannot be answered."""
        if not isinstance(error, HTTPException):
            raise error
        problem = Problem(error.status_code, error.detail, headers=error.headers or {})
        if problem.detail == problem.name:
            problem = replace(problem, detail="")
        frame = framed(self._view(), self._clock(), pages=self._console is not None)
        return answer(request, problem, replace(frame, live=False))

    async def icon(self, request: Request) -> Response:
        return Response(icon(present(self._view(), self._clock()).word), media_type="image/svg+xml")

    async def report(self, request: Request) -> Response:
        return JSONResponse(report(self._view(), self._clock()))

    async def metrics(self, request: Request) -> Response:
        return self._page(request)

    async def probe(self, request: Request) -> Response:
        rung = request.query_params.get("rung")
        names = [known.name for known in self._view().rungs]
        if not rung:
            raise HTTPException(400, f"name a rung: /probe?rung=NAME, one of: {', '.join(names)}")
        if rung not in names:
            raise HTTPException(404, f"there is no such rung; there are: {', '.join(names)}")
        if request.query_params.get("debug", "").lower() in ("true", "1"):
            return PlainTextResponse(probe_text(rung, self._probe(rung), self._clock()))
        return self._page(request, rung)

    async def healthy(self, request: Request) -> Response:
        health = self._health()
        return _health(health.alive, health.detail)

    async def ready(self, request: Request) -> Response:
        health = self._health()
        return _health(health.alive and health.ready, health.detail)

    def _page(self, request: Request, rung: str | None = None) -> Response:
        accept, coding = (", ".join(request.headers.getlist(name)) for name in ("accept", "accept-encoding"))
        page = self._exposition.page(accept, coding, rung=rung)
        headers = {"content-type": page.content_type, "vary": "Accept, Accept-Encoding"}
        if page.gzipped:
            headers["content-encoding"] = "gzip"
        return Response(page.body, headers=headers)


def _health(well: bool, detail: str) -> Response:
    return PlainTextResponse(f"{detail or ('ok' if well else 'not ok')}\n", 200 if well else 503)


async def _static(request: Request) -> Response:
    found = statics().get(request.path_params["name"])
    if found is None:
        raise HTTPException(404)
    content, media_type = found
    return Response(content, media_type=media_type, headers={"cache-control": "max-age=300"})


async def _failed(request: Request, error: Exception) -> Response:
    """An error of ours: text, never a page, and nothing of what went wrong, which is in the log."""
    return PlainTextResponse("rungwatch failed to answer; the traceback is in its log\n", 500, headers=HEADERS)
