"""The endpoint: every route, what it answers and with which headers."""

import gzip
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from exporters.endpoint import HEADERS, endpoint
from exporters.exposition import Exposition
from exporters.report import report
from exporters.view import Health, ProbeLog, View
from tests.exporters.pages import OPENMETRICS, page, series
from tests.exporters.scenes import NOW, SECRET, degraded_view, ok_view, view

PAGES = ("/", "/metrics", "/probe?rung=astra", "/probe?rung=astra&debug=true", "/api/status", "/icon.svg")


async def _later(request: Request) -> Response:
    return PlainTextResponse("later")


def application(shown: View, health: Health | None = None) -> Starlette:
    """The endpoint over that view, with one route that someone added."""

    def probe(rung: str) -> Sequence[ProbeLog]:
        return [ProbeLog(rung, NOW, (f"codex-usage of {rung}: 200",), failed=False)]

    return endpoint(
        lambda: shown,
        Exposition(shown, lambda: NOW),
        lambda: health or Health(alive=True, ready=True),
        probe,
        lambda: NOW,
        routes=[Route("/later", _later)],
    )


def connected(app: Starlette) -> httpx.AsyncClient:
    """A client that speaks to the application without a socket."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://test", headers={"accept-encoding": ""})


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """A client of the endpoint over the degraded scene."""
    async with connected(application(degraded_view())) as found:
        yield found


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (None, "text/plain; version=0.0.4; charset=utf-8"),
        ("*/*", "text/plain; version=0.0.4; charset=utf-8"),
        ("", "text/plain; version=0.0.4; charset=utf-8"),
        ("application/vnd.google.protobuf", "text/plain; version=0.0.4; charset=utf-8"),
        (
            "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.4",
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
        ),
    ],
)
async def test_exp_08_metrics_by_accept(client: httpx.AsyncClient, accept: str | None, content_type: str) -> None:
    del client.headers["accept"]
    answer = await client.get("/metrics", headers={} if accept is None else {"accept": accept})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == content_type
    openmetrics = "openmetrics" in content_type
    assert answer.text.endswith("# EOF\n") == openmetrics
    assert list((parse_openmetrics if openmetrics else parse_text)(answer.text))


async def test_metrics_compressed_where_asked(client: httpx.AsyncClient) -> None:
    async with client.stream("GET", "/metrics", headers={"accept-encoding": "gzip"}) as answer:
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["vary"] == "Accept, Accept-Encoding"
        raw = b"".join([part async for part in answer.aiter_raw()])
    assert gzip.decompress(raw).decode() == page(degraded_view())
    assert "content-encoding" not in (await client.get("/metrics")).headers


@pytest.mark.parametrize("path", [*PAGES, "/-/healthy", "/-/ready", "/static/console.css"])
async def test_head_answers_as_get_without_a_body(client: httpx.AsyncClient, path: str) -> None:
    got, head = await client.get(path), await client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers == got.headers


@pytest.mark.parametrize("path", [*PAGES, "/missing", "/later", "/probe"])
async def test_every_answer_has_the_headers_that_protect(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]


async def test_stylesheet_and_script_are_served_and_nothing_else(client: httpx.AsyncClient) -> None:
    sheet, script = [await client.get(f"/static/{name}") for name in ("console.css", "refresh.js")]
    assert sheet.headers["content-type"].startswith("text/css")
    assert "prefers-color-scheme" in sheet.text
    assert script.headers["content-type"].startswith("text/javascript")
    assert "eval" not in script.text
    assert "innerHTML =" not in script.text
    for name in ("missing.css", "..%2frender.py", "%2e%2e/render.py"):
        assert (await client.get(f"/static/{name}")).status_code == 404


async def test_the_report_is_the_report(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/status")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == json.loads(json.dumps(report(degraded_view(), NOW)))


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("", 400, "fable, astra"),
        ("?rung=", 400, "fable, astra"),
        ("?rung=nova", 404, "fable, astra"),
        ("?rung=nova&debug=true", 404, "fable, astra"),
        ("?rung=astra&debug=true", 200, "codex-usage of astra: 200"),
        ("?rung=astra&debug=1", 200, "codex-usage of astra: 200"),
        ("?rung=astra&debug=false", 200, 'ladder_rung_state{rung="astra",state="unreachable"} 1.0'),
    ],
)
async def test_probe(client: httpx.AsyncClient, query: str, status: int, words: str) -> None:
    answer = await client.get(f"/probe{query}")
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/plain")
    assert words in answer.text
    assert "nova" not in answer.text


async def test_probe_speaks_both_formats_of_that_rung_only(client: httpx.AsyncClient) -> None:
    answer = await client.get("/probe?rung=fable", headers={"accept": OPENMETRICS})
    assert {dict(labels).get("rung") for _, labels in series(answer.text)} == {"fable"}


@pytest.mark.parametrize(
    ("health", "healthy", "ready"),
    [
        (Health(alive=True, ready=True), 200, 200),
        (Health(alive=True, ready=False, detail="no tick yet"), 200, 503),
        (Health(alive=False, ready=True, detail="the scheduler stopped"), 503, 503),
    ],
)
async def test_health(health: Health, healthy: int, ready: int) -> None:
    async with connected(application(ok_view(), health)) as client:
        answers = [await client.get(path) for path in ("/-/healthy", "/-/ready")]
    assert [answer.status_code for answer in answers] == [healthy, ready]
    assert all(answer.text.strip() == (health.detail or "ok") for answer in answers)


@pytest.mark.parametrize("path", ["/", "/api/status", "/probe?rung=fable", "/icon.svg"])
async def test_exp_08_an_error_of_ours_is_5xx_text_that_tells_nothing(path: str) -> None:
    def failing() -> View:
        raise RuntimeError(f"token {SECRET}")

    app = endpoint(
        failing, Exposition(view(), lambda: NOW), lambda: Health(alive=True, ready=True), lambda _: (), lambda: NOW
    )
    async with connected(app) as client:
        answer = await client.get(path)
    assert answer.status_code == 500
    assert answer.headers["content-type"].startswith("text/plain")
    assert SECRET not in answer.text
    assert answer.headers["content-security-policy"] == HEADERS["content-security-policy"]


async def test_other_methods_and_paths_are_refused_as_text(client: httpx.AsyncClient) -> None:
    for answer in (await client.post("/metrics"), await client.get("/nowhere")):
        assert answer.status_code in (404, 405)
        assert answer.headers["content-type"].startswith("text/plain")


async def test_the_icon_has_the_colour_of_the_word() -> None:
    icons = set()
    for shown in (ok_view(), degraded_view(), view()):
        async with connected(application(shown)) as client:
            answer = await client.get("/icon.svg")
        assert answer.headers["content-type"] == "image/svg+xml"
        icons.add(answer.text)
    assert len(icons) == 3


async def test_routes_can_be_added(client: httpx.AsyncClient) -> None:
    assert (await client.get("/later")).text == "later"


async def test_a_view_that_changes_is_seen_at_once() -> None:
    shown = [ok_view()]
    pages = Exposition(shown[0], lambda: NOW)
    app = endpoint(lambda: shown[0], pages, lambda: Health(alive=True, ready=True), lambda _: (), lambda: NOW)
    async with connected(app) as client:
        assert (await client.get("/api/status")).json()["ladder"]["state"] == "ok"
        shown[0] = replace(degraded_view(), caption="")
        pages.publish(shown[0])
        assert (await client.get("/api/status")).json()["ladder"]["state"] == "degraded"
        assert 'ladder_state{state="degraded"} 1.0' in (await client.get("/metrics")).text
