"""HTTP out against the real far side: bounded in time and bytes, never redirected, and what headers say."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from canary.demo.provider import Provider
from canary.demo.script import Fault, Meter, MeterKind, SeatScript, Vendor
from canary.demo.server import serve
from canary.http import Http, Reply
from canary.sources.claude_usage import ask
from decide.reason import Reason
from tests.canary.fakes import NOW, FakeClock, json_reply

TOKEN = SecretStr("sk-ant-oat01-SENTINEL")


class Far:
    """A provider with one Claude seat, and a client with a short time-out."""

    def __init__(self, provider: Provider, base_url: str, http: Http) -> None:
        self.script = SeatScript(
            "desk", Vendor.CLAUDE, windows=[Meter(MeterKind.SESSION, 12, NOW + timedelta(hours=1))]
        )
        provider.seats[TOKEN.get_secret_value()] = self.script
        self.provider, self.base_url, self.http = provider, base_url, http

    async def get(self, fault: Fault | None = None) -> Reply:
        """The reply of the usage endpoint."""
        self.script.fault = fault
        return await self.http.fetch(ask(self.base_url, TOKEN))


@pytest.fixture
async def far() -> AsyncIterator[Far]:
    provider = Provider({}, lambda: NOW)
    async with serve(provider) as base_url:
        http = Http(FakeClock(), timeout_s=0.5, version="test")
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
    http = Http(FakeClock(), timeout_s=5, version="test")
    reply = await http.fetch(ask("http://127.0.0.1:9", TOKEN))
    await http.aclose()
    assert (reply.failure, reply.detail) == (Reason.NETWORK, "ConnectError")


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
    assert Reply(datetime.now(UTC), 200, {"content-type": content_type}, body).is_html is html
