"""console_pages: the slowest page of the console over a full store, against an answer of the same bytes alone."""

import asyncio
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from exporters.console.access import Access
from exporters.console.site import Console
from exporters.endpoint import endpoint
from exporters.exposition import Exposition
from exporters.view import Health, View
from tests.bench.console_store import CLICK_COUNT, ENTRY_COUNT, RECEIPT_COUNT, ReadDesk, fill
from tests.bench.measure import Row, say
from tests.exporters.ledgers import busy_ledger, facts_of
from tests.exporters.scenes import ASTRA, FABLE, NOW, open_seat, rung, view

NAME = "console_pages"
SEATS, RUNS = 100, 31
WITHIN_MS = 50.0
PAGES = (
    *("/", "/history", "/decisions", "/decisions?before=r05000", "/decisions/r09999", "/api/receipts/r09999"),
    *("/queue", "/queue?page=16", "/queue?before=r00500", "/queue/r00501", "/queue/r00500"),
    *("/clicks", "/clicks?before=c00100", "/clicks/c00199", "/confirm/any", "/ask", "/ask?cites=r00001", "/ticks"),
)
Told = dict[str, Any]


def measure() -> list[Row]:
    """The median of each page's server time, the slowest page's as ours."""
    with tempfile.TemporaryDirectory(prefix="rungwatch-bench-") as folder:
        times, floor = asyncio.run(_times(Path(folder) / "ledger.db"))
    for page, took in sorted(times.items(), key=lambda pair: -pair[1]):
        say(f"{NAME}: {took:6.2f} ms {page}")
    return [Row(NAME, max(times.values()), floor, "ms", RUNS, most=WITHIN_MS)]


async def _times(path: Path) -> tuple[dict[str, float], float]:
    store = await fill(path)
    say(f"{NAME}: {RECEIPT_COUNT} receipts, {ENTRY_COUNT} entries, {CLICK_COUNT} clicks, {SEATS} seats")
    try:
        app = _application(ReadDesk(store))
        times = {page: await _median(app, page) for page in PAGES}
        slowest = max(times, key=lambda page: times[page])
        _, body = await _get(app, slowest)
        return times, await _median(Starlette(routes=[Route("/bare", _bare(body))]), "/bare")
    finally:
        await store.close()


def _application(desk: ReadDesk) -> Starlette:
    shown = _view()
    console = Console(desk, Access(local_user="ana"), b"the key of a bench")
    exposition = Exposition(shown, lambda: NOW)
    return endpoint(lambda: shown, exposition, lambda: Health(True, True), lambda _: (), lambda: NOW, console=console)


def _view() -> View:
    """A hundred seats on two rungs, and a ledger that was folded."""
    seats = [open_seat(f"seat-{number:03}", number % 97 / 100) for number in range(SEATS // 2)]
    found = view(rung(FABLE, *seats), rung(ASTRA, *seats))
    return replace(found, ledger=facts_of(*busy_ledger()))


def _bare(body: bytes) -> Any:
    async def answer(request: Request) -> Response:
        return HTMLResponse(body)

    return answer


async def _median(app: Starlette, page: str) -> float:
    """Milliseconds from the request to the last byte, the median after one request that does not count."""
    await _get(app, page)
    return statistics.median([(await _get(app, page))[0] for _ in range(RUNS)])


async def _get(app: Starlette, page: str) -> tuple[float, bytes]:
    path, _, query = page.partition("?")
    told: list[Told] = []
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"localhost"), (b"accept", b"text/html")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 9477),
    }

    async def receive() -> Told:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        told.append(message)

    began = time.perf_counter()
    await app(scope, receive, send)
    took = (time.perf_counter() - began) * 1000
    if told[0]["status"] != 200:
        raise RuntimeError(f"{page} answered {told[0]['status']}")
    return took, b"".join(one.get("body", b"") for one in told[1:])
