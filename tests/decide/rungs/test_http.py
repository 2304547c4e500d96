"""HTTP out against the real far side: bounded in time and bytes, never redirected, and what headers say."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from canary.demo.provider import Provider
from canary.demo.script import Fault, Meter, MeterKind, SeatScript, Vendor
from canary.demo.server import serve
from canary.sources.claude_usage import ask
from decide.reason import Reason
from decide.rungs.http import Http, Request, Response
from tests.canary.fakes import NOW, json_reply
from tests.clients.proxy import make_authority
from tests.decide.rungs.far import Script
from tests.decide.rungs.far import far as scripted

TOKEN = SecretStr("sk-ant-oat01-SENTINEL")


class Far:
    """A provider with one Claude seat, and a client with a short time-out."""

    def __init__(self, provider: Provider, base_url: str, http: Http) -> None:
        self.script = SeatScript(
            "desk", Vendor.CLAUDE, windows=[Meter(MeterKind.SESSION, 12, NOW + timedelta(hours=1))]
        )
        provider.seats[TOKEN.get_secret_value()] = self.script
        self.provider, self.base_url, self.http = provider, base_url, http

    async def get(self, fault: Fault | None = None) -> Response:
        """The reply of the usage endpoint."""
        self.script.fault = fault
        return await self.http.fetch(ask(self.base_url, TOKEN))


@pytest.fixture
async def far() -> AsyncIterator[Far]:
    provider = Provider({}, lambda: NOW)
    async with serve(provider) as base_url:
        http = Http(lambda: NOW, timeout_s=0.5, version="test", purpose="tries itself")
        yield Far(provider, base_url, http)
        await http.aclose()


async def test_a_good_reply(far: Far) -> None:
    reply = await far.get()
    assert (reply.status, reply.failure, reply.skew_s) == (200, None, 0.0)
    assert reply.received_at == NOW
    assert b"five_hour" in reply.body


@pytest.mark.parametrize(
    ("fault", "reason"),
    [(Fault.HANG, Reason.TIMEOUT), (Fault.DROP, Reason.NETWORK), (Fault.HUGE, Reason.TOO_LARGE)],
)
async def test_what_never_ends_or_is_too_much(far: Far, fault: Fault, reason: Reason) -> None:
    far.script.huge_mb = 2
    reply = await far.get(fault)
    assert (reply.status, reply.failure) == (0, reason)
    assert "SENTINEL" not in repr(reply)


async def test_a_redirect_is_a_reply_and_not_followed(far: Far) -> None:
    far.script.redirect_to = f"{far.base_url}/v1/models"
    reply = await far.get(Fault.REDIRECT)
    assert reply.status == 307
    assert len(far.provider.log) == 1


async def test_nothing_listening_is_a_network_failure(tmp_path: Path) -> None:
    http = Http(lambda: NOW, timeout_s=5, version="test", purpose="tries itself")
    reply = await http.fetch(ask("http://127.0.0.1:9", TOKEN))
    await http.aclose()
    assert (reply.failure, reply.detail) == (Reason.NETWORK, "ClientConnectorError")


@pytest.mark.parametrize(
    ("stated", "seconds"),
    [
        ("0", None),
        ("120", 120.0),
        ("1.5", 1.5),
        ("Thu, 15 Oct 2026 12:05:00 GMT", 300.0),
        ("Thu, 15 Oct 2026 11:55:00 GMT", None),
        ("soon", None),
        ("-5", None),
        ("9" * 400, None),
        ("", None),
    ],
)
def test_retry_after_in_both_its_forms(stated: str, seconds: float | None) -> None:
    assert json_reply(b"", retry_after=stated).retry_after_s == seconds


@pytest.mark.parametrize(
    ("date", "skew"),
    [
        ("Thu, 15 Oct 2026 11:58:00 GMT", 120.0),
        ("Thu, 15 Oct 2026 12:00:10 GMT", -10.0),
        ("Thu, 15 Oct 2026 12:00:00 -0000", 0.0),
        ("yesterday", None),
        ("", None),
    ],
)
def test_the_skew_is_read_off_the_date(date: str, skew: float | None) -> None:
    assert json_reply(b"", date=date).skew_s == skew


@pytest.mark.parametrize(
    ("content_type", "body", "html"),
    [
        ("text/html; charset=utf-8", b"", True),
        ("application/json", b"  <!DOCTYPE html>", True),
        ("application/json", b"{}", False),
        ("", b"", False),
    ],
)
def test_what_is_a_web_page(content_type: str, body: bytes, html: bool) -> None:
    assert Response(datetime.now(UTC), 200, {"content-type": content_type}, body).is_html is html


async def test_a_body_makes_it_a_post() -> None:
    async with scripted(Script(201, b"done")) as side:
        reply = await side.http.fetch(Request(f"{side.base_url}/x", {"x-own": "1"}, b'{"a": 1}'))
    (asked,) = side.asked
    assert (asked.method, asked.body, asked.headers["x-own"]) == ("POST", {"a": 1}, "1")
    assert asked.headers["content-type"] == "application/json"
    assert (reply.status, reply.body) == (201, b"done")


async def test_a_cookie_is_not_carried_to_the_next_request() -> None:
    async with scripted(Script(headers={"set-cookie": "seat=one; Path=/"})) as side:
        for _ in range(2):
            await side.http.fetch(Request(side.base_url))
    assert ["cookie" in asked.headers for asked in side.asked] == [False, False]
    assert side.asked[0].headers == side.asked[1].headers


async def test_an_encoded_body_is_decoded() -> None:
    async with scripted(Script(content=gzip.compress(b"whole"), headers={"content-encoding": "gzip"})) as side:
        reply = await side.http.fetch(Request(side.base_url))
    assert (reply.body, side.asked[0].headers["accept-encoding"]) == (b"whole", "gzip, deflate")


async def test_a_name_and_password_in_the_url_are_sent_as_such() -> None:
    async with scripted(Script()) as side:
        await side.http.fetch(Request(side.base_url.replace("://", "://ada:secret@")))
    assert side.asked[0].headers["authorization"] == "Basic YWRhOnNlY3JldA=="


async def test_headers_are_named_once_however_they_are_written() -> None:
    async with scripted(Script()) as side:
        await side.http.fetch(Request(side.base_url, {"Accept": "text/plain", "User-Agent": "mine"}))
    (asked,) = side.asked
    assert (asked.headers["accept"], asked.headers["user-agent"]) == ("text/plain", "mine")


async def test_a_request_may_name_its_own_limits() -> None:
    async with scripted(Script(content=b"0123456789")) as side:
        exact = await side.http.fetch(Request(side.base_url, limit=10))
        over = await side.http.fetch(Request(side.base_url, limit=9))
        cut = await side.http.fetch(Request(side.base_url, limit=9, cut=True))
        whole = await side.http.fetch(Request(side.base_url, limit=10, cut=True))
    assert (whole.body, whole.cut) == (b"0123456789", False)
    assert (exact.body, exact.cut, over.failure) == (b"0123456789", False, Reason.TOO_LARGE)
    assert (cut.body, cut.cut, cut.failure, cut.status) == (b"012345678", True, None, 200)


async def test_a_request_may_name_its_own_time() -> None:
    async with scripted(Script(hang=True), timeout_s=60) as side:
        reply = await side.http.fetch(Request(side.base_url, timeout_s=0.1))
        await asyncio.wait_for(side.left.wait(), 5)
    assert (reply.failure, reply.sent) == (Reason.TIMEOUT, True)


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("http://127.0.0.1:9", {}),
        ("ftp://127.0.0.1", {}),
        ("http://[::1", {}),
        ("http://127.0.0.1:99999", {}),
        ("http://127.0.0.1:9", {"authorization": "Bearer SENTINEL…"}),
        ("http://127.0.0.1:9", {"authorization": "Bearer SENTINEL\r\nx: y"}),
    ],
)
async def test_what_was_never_sent_says_so_without_a_secret(url: str, headers: dict[str, str]) -> None:
    http = Http(lambda: NOW, timeout_s=5, version="test", purpose="tries itself")
    reply = await http.fetch(Request(url, headers, b"SENTINEL"))
    await http.aclose()
    assert (reply.failure, reply.sent) == (Reason.NETWORK, False)
    assert "SENTINEL" not in repr((reply, Request(url, headers, b"SENTINEL")))


async def test_an_address_is_connected_to_whatever_the_name_says() -> None:
    async with scripted(Script(content=b"here")) as side:
        port = side.base_url.rpartition(":")[2]
        reply = await side.http.fetch(Request(f"http://no-such-name.invalid:{port}/p?q", address="127.0.0.1"))
    assert reply.body == b"here"
    assert side.asked[0].headers["host"] == f"no-such-name.invalid:{port}"
    assert side.asked[0].path == "/p?q"


async def test_an_address_goes_through_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with scripted(Script(content=b"here")) as side:
        port = side.base_url.rpartition(":")[2]
        direct = await side.http.fetch(Request(f"http://no-such-name.invalid:{port}", address="127.0.0.1"))
        proxied = await side.http.fetch(Request(f"http://no-such-name.invalid:{port}"))
    assert (direct.body, proxied.failure) == (b"here", Reason.NETWORK)


async def test_the_certificate_of_the_name_is_asked_for_at_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, tls = make_authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    provider = Provider({}, lambda: NOW)
    async with serve(provider, tls=tls) as base_url:
        port = base_url.rpartition(":")[2]
        http = Http(lambda: NOW, timeout_s=5, version="test", purpose="tries itself")
        own = await http.fetch(Request(f"https://api.openai.com:{port}/api/hello", address="127.0.0.1"))
        other = await http.fetch(Request(f"https://other.example:{port}/api/hello", address="127.0.0.1"))
        await http.aclose()
    assert (own.status, other.failure, other.detail) == (200, Reason.NETWORK, "ClientConnectorCertificateError")
