"""The provider answers as either vendor would, shows each fault, and logs every request without its token."""

import asyncio
import json
import stat
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx
import jwt
import pytest

from canary.demo.provider import (
    Fault,
    Kind,
    Meter,
    MeterKind,
    Provider,
    SeatScript,
    Vendor,
    bench_seats,
    claude_token,
    codex_token,
    digest,
    serve,
    write_claude_login,
    write_codex_login,
)

NOW = datetime(2026, 9, 10, 19, 26, tzinfo=UTC)
DESK = claude_token("desk")
KEY = "sk-ant-api03-FAKE"
ASTRA = codex_token(NOW + timedelta(days=3))
BETA = {"anthropic-beta": "oauth-2025-04-20"}
USAGE = "/api/oauth/usage"
WHAM = "/backend-api/wham/usage"


@dataclass
class Clock:
    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


def fresh() -> Provider:
    windows = [Meter(MeterKind.SESSION, 12.0, NOW + timedelta(hours=2))]
    seats = {
        DESK: SeatScript("desk", Vendor.CLAUDE, windows=list(windows), refresh_token="sk-ant-ort01-FAKE"),
        KEY: SeatScript("key", Vendor.CLAUDE),
        ASTRA: SeatScript("astra", Vendor.CODEX, windows=list(windows), refresh_token="rt_FAKE"),
    }
    return Provider(seats, Clock())


def bearer(token: str, **more: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}", **BETA, **more}


@pytest.fixture
def provider() -> Provider:
    return fresh()


@pytest.fixture
async def client(provider: Provider) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=provider)
    async with httpx.AsyncClient(transport=transport, base_url="http://loopback") as opened:
        yield opened


@pytest.mark.parametrize(
    ("method", "path", "token", "status", "kind"),
    [
        ("GET", USAGE, DESK, 200, Kind.USAGE),
        ("GET", USAGE, ASTRA, 401, Kind.USAGE),
        ("GET", USAGE, "sk-ant-oat01-STRANGER", 401, Kind.USAGE),
        ("GET", "/api/oauth/profile", DESK, 200, Kind.PROFILE),
        ("GET", "/api/hello", "", 200, Kind.OTHER),
        ("GET", "/v1/models", DESK, 200, Kind.OTHER),
        ("POST", "/v1/messages", DESK, 200, Kind.MODEL),
        ("GET", WHAM, ASTRA, 200, Kind.USAGE),
        ("GET", WHAM, DESK, 401, Kind.USAGE),
        ("GET", "/api/codex/usage", ASTRA, 200, Kind.USAGE),
        ("GET", "/backend-api/wham/accounts/check", ASTRA, 200, Kind.PROFILE),
        ("GET", "/backend-api/accounts/check/v4-2023-04-27", ASTRA, 200, Kind.PROFILE),
        ("GET", "/backend-api/codex/models", ASTRA, 200, Kind.OTHER),
        ("POST", "/backend-api/codex/responses", ASTRA, 200, Kind.MODEL),
        ("GET", "/backend-api/codex/responses", ASTRA, 426, Kind.OTHER),
        ("POST", "/v1/responses", ASTRA, 200, Kind.MODEL),
        ("POST", "/v1/chat/completions", ASTRA, 200, Kind.MODEL),
        ("GET", "/v1/messages", DESK, 404, Kind.OTHER),
        ("GET", "/nowhere", DESK, 404, Kind.OTHER),
        ("POST", "/v1/oauth/token", "", 400, Kind.REFRESH),
        ("POST", "/oauth/token", "", 401, Kind.REFRESH),
    ],
)
async def test_paths(
    provider: Provider, client: httpx.AsyncClient, method: str, path: str, token: str, status: int, kind: Kind
) -> None:
    headers = bearer(token) if token else {}
    reply = await client.request(method, path, headers=headers, json={} if method == "POST" else None)
    assert reply.status_code == status
    assert parsedate_to_datetime(reply.headers["date"]) == NOW
    (logged,) = provider.log
    assert (logged.method, logged.path, logged.kind, logged.host) == (method, path, kind, "loopback")
    assert logged.token_digest == (digest(token) if token else None)


async def test_usage_needs_the_beta_header(client: httpx.AsyncClient) -> None:
    reply = await client.get(USAGE, headers={"authorization": f"Bearer {DESK}"})
    assert reply.status_code == 401
    assert reply.json()["error"]["type"] == "authentication_error"


async def test_api_key_reaches_models_and_messages_only(client: httpx.AsyncClient) -> None:
    statuses = [
        (await client.get(path, headers={"x-api-key": KEY} | BETA)).status_code for path in ("/v1/models", USAGE)
    ]
    assert statuses == [200, 401]
    reply = await client.post("/v1/messages", headers={"x-api-key": KEY}, json={"model": "claude-fable-5"})
    assert reply.headers["anthropic-ratelimit-requests-remaining"] == "3999"


async def test_log_names_the_seat_and_never_holds_a_token(provider: Provider, client: httpx.AsyncClient) -> None:
    await client.get(USAGE, headers=bearer(DESK, cookie="c", **{"user-agent": "rungwatch/0.1"}))
    await client.post("/v1/oauth/token", json={"refresh_token": "sk-ant-ort01-FAKE"})
    await client.post("/v1/messages", headers=bearer(provider.token("desk")), json={"model": "claude-fable-5"})
    assert [row.seat for row in provider.log] == ["desk"] * 3
    assert provider.log[0].headers["user-agent"] == "rungwatch/0.1"
    assert "FAKE" not in repr(provider.log)
    assert [row.body for row in provider.log] == [{}, {}, {"model": "claude-fable-5"}]
    counts = [provider.count(kind=kind) for kind in (Kind.USAGE, Kind.REFRESH, Kind.MODEL)]
    assert counts == [1, 1, 1]
    assert (provider.count(seat="desk"), provider.count(seat="key"), provider.count()) == (3, 0, 3)


@pytest.mark.parametrize(
    ("path", "name", "spent", "again"),
    [
        ("/v1/oauth/token", "desk", "sk-ant-ort01-FAKE", (400, "invalid_grant")),
        ("/oauth/token", "astra", "rt_FAKE", (401, "refresh_token_reused")),
    ],
)
async def test_refresh_rotates_both_tokens(
    provider: Provider, client: httpx.AsyncClient, path: str, name: str, spent: str, again: tuple[int, str]
) -> None:
    before = provider.token(name)
    body = {"grant_type": "refresh_token", "refresh_token": spent}
    pair = (await client.post(path, json=body)).json()
    assert provider.token(name) == pair["access_token"] != before
    assert provider.seat(name).refresh_token == pair["refresh_token"] != spent
    reused = await client.post(path, data=body)
    assert reused.status_code == again[0]
    assert again[1] in reused.text


async def test_a_lapsed_token_is_rejected(client: httpx.AsyncClient, provider: Provider) -> None:
    provider.seat("desk").expires_at = NOW
    reply = await client.get(USAGE, headers=bearer(DESK))
    assert reply.status_code == 401
    assert "expired" in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    ("fault", "status", "begins"),
    [
        (Fault.UNAUTHORIZED, 401, '{"type":"error","error":{"type":"authentication_error"'),
        (Fault.UNSUPPORTED, 401, '{"type":"error","error":{"type":"authentication_error"'),
        (Fault.FORBIDDEN_SCOPE, 403, '{"type":"error","error":{"type":"permission_error"'),
        (Fault.ORG_REFUSED, 403, '{"type":"error","error":{"type":"permission_error"'),
        (Fault.REVOKED, 403, '{"type":"error","error":{"type":"permission_error"'),
        (Fault.THROTTLED, 429, '{"error":{"type":"rate_limit_error"'),
        (Fault.SERVER_ERROR, 500, '{"type":"error"'),
        (Fault.OVERLOADED, 529, '{"type":"error"'),
        (Fault.HTML, 200, "<!DOCTYPE html>"),
        (Fault.HTML_403, 403, "<!DOCTYPE html>"),
        (Fault.EMPTY, 200, ""),
        (Fault.TRUNCATED_JSON, 200, '{"five_hour"'),
        (Fault.REDIRECT, 307, ""),
        (Fault.HUGE, 200, '{"padding":"xxx'),
        (Fault.SLOW, 200, '{"five_hour"'),
    ],
)
@pytest.mark.parametrize(("token", "path"), [(DESK, USAGE), (ASTRA, WHAM)])
async def test_faults(
    provider: Provider,
    client: httpx.AsyncClient,
    token: str,
    path: str,
    fault: Fault,
    status: int,
    begins: str,
) -> None:
    seat = provider.seats[token]
    seat.fault, seat.huge_mb, seat.redirect_to = fault, 1, "http://elsewhere.invalid/"
    reply = await client.get(path, headers=bearer(token))
    assert reply.status_code == status
    if token == DESK:
        assert reply.text.startswith(begins)
    if fault is Fault.REDIRECT:
        assert reply.headers["location"] == "http://elsewhere.invalid/"
    if fault is Fault.HUGE:
        assert len(reply.content) > 1_000_000
    if fault is Fault.TRUNCATED_JSON:
        with pytest.raises(json.JSONDecodeError):
            reply.json()


async def test_a_fault_of_the_token_endpoint_renews_nothing(provider: Provider, client: httpx.AsyncClient) -> None:
    seat = provider.seat("desk")
    seat.refresh_token, seat.fault, seat.fault_on = "spare", Fault.SERVER_ERROR, frozenset({Kind.REFRESH})
    reply = await client.post("/v1/oauth/token", json={"refresh_token": "spare"})
    assert (reply.status_code, seat.renewals, seat.refresh_token) == (500, 0, "spare")
    assert (await client.get(USAGE, headers=bearer(DESK))).status_code == 200


@pytest.mark.parametrize("value", [None, "0", "3037", "Thu, 10 Sep 2026 20:40:00 GMT"])
async def test_throttle_says_retry_after_as_told(
    provider: Provider, client: httpx.AsyncClient, value: str | None
) -> None:
    seat = provider.seat("desk")
    seat.fault, seat.retry_after = Fault.THROTTLED, value
    assert (await client.get(USAGE, headers=bearer(DESK))).headers.get("retry-after") == value


async def test_a_scope_fault_and_faults_elsewhere_leave_the_model_alone(
    provider: Provider, client: httpx.AsyncClient
) -> None:
    seat = provider.seat("desk")
    seat.fault = Fault.FORBIDDEN_SCOPE
    assert (await client.post("/v1/messages", headers=bearer(DESK), json={})).status_code == 200
    seat.fault, seat.fault_on = Fault.SERVER_ERROR, frozenset({Kind.USAGE})
    assert (await client.post("/v1/messages", headers=bearer(DESK), json={})).status_code == 200


async def test_date_header_follows_the_seats_skew(provider: Provider, client: httpx.AsyncClient) -> None:
    provider.seat("desk").date_offset_s = -600
    reply = await client.get(USAGE, headers=bearer(DESK))
    assert parsedate_to_datetime(reply.headers["date"]) == NOW - timedelta(minutes=10)


async def test_usage_follows_a_seat_that_changes(provider: Provider, client: httpx.AsyncClient) -> None:
    seen = []
    for percent in (12.0, 101.0):
        provider.seat("desk").windows = [Meter(MeterKind.SESSION, percent)]
        seen.append((await client.get(USAGE, headers=bearer(DESK))).json()["five_hour"]["utilization"])
    assert seen == [12.0, 101.0]


async def test_a_dropped_body_breaks_off(provider: Provider) -> None:
    provider.seat("desk").fault = Fault.DROP
    async with serve(provider) as base, httpx.AsyncClient(base_url=base) as client:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(USAGE, headers=bearer(DESK))


async def test_a_hanging_seat_hangs_alone_and_does_not_hold_the_server(provider: Provider) -> None:
    provider.seat("desk").fault = Fault.HANG
    async with httpx.AsyncClient() as client:
        async with asyncio.timeout(5), serve(provider) as base:
            held = asyncio.create_task(client.get(base + USAGE, headers=bearer(DESK), timeout=60))
            answered = await client.get(base + WHAM, headers=bearer(ASTRA))
            while not provider.count(seat="desk"):
                answered = await client.get(base + WHAM, headers=bearer(ASTRA))
            assert not held.done()
        assert answered.status_code == 200
        (ended,) = await asyncio.gather(held, return_exceptions=True)
        assert isinstance(ended, httpx.TransportError) or getattr(ended, "status_code", 0) == 500


async def test_a_slow_seat_answers_in_the_end(provider: Provider, client: httpx.AsyncClient) -> None:
    seat = provider.seat("desk")
    seat.fault, seat.slow_s, seat.delay_s = Fault.SLOW, 0.02, 0.01
    began = asyncio.get_running_loop().time()
    assert (await client.get(USAGE, headers=bearer(DESK))).json()["five_hour"]
    assert asyncio.get_running_loop().time() - began >= 0.029


def test_bench_seats_are_named_in_order() -> None:
    seats = bench_seats(1000, NOW)
    assert seats["sk-ant-oat01-FAKE-seat-0999"].name == "seat-0999"
    assert len(seats) == 1000


async def test_it_runs_as_a_process_of_its_own() -> None:
    command = (sys.executable, "-m", "canary.demo.provider", "--port", "0", "--seats", "2", "--delay-ms", "1")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        said = (await process.stdout.readline()).decode()
        assert said.startswith("listening on http://127.0.0.1:")
        async with httpx.AsyncClient(base_url=said.split()[-1]) as client:
            reply = await client.get(USAGE, headers=bearer(claude_token("seat-0001")))
        assert [row["kind"] for row in reply.json()["limits"]] == ["session", "weekly_all", "weekly_scoped"]
    finally:
        process.terminate()
        await process.communicate()


def test_claude_login_is_private_and_in_milliseconds(tmp_path: Path) -> None:
    wrote = write_claude_login(tmp_path / "desk", DESK, expires_at=NOW, refresh_token="r", account_id="acct-1")
    path = tmp_path / "desk" / ".credentials.json"
    login = json.loads(path.read_text())["claudeAiOauth"]
    assert wrote
    assert (login["accessToken"], login["expiresAt"], login["refreshToken"]) == (DESK, 1789068360000, "r")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads((tmp_path / "desk" / ".claude.json").read_text())["oauthAccount"]["accountUuid"] == "acct-1"


def test_a_login_without_expiry_or_refresh_token_has_no_such_key(tmp_path: Path) -> None:
    write_claude_login(tmp_path, DESK, expires_at=None, scopes=None)
    login = json.loads((tmp_path / ".credentials.json").read_text())["claudeAiOauth"]
    assert login.keys() == {"accessToken", "scopes", "subscriptionType", "rateLimitTier"}
    assert login["scopes"] is None


def test_codex_login_is_a_well_formed_token(tmp_path: Path) -> None:
    token = write_codex_login(tmp_path, expires_at=NOW, account_id="acct-9", plan="team", refresh_token="rt_FAKE")
    path = tmp_path / "auth.json"
    document = json.loads(path.read_text())
    claims = jwt.decode(token, options={"verify_signature": False})
    assert document["tokens"]["access_token"] == token
    assert (document["auth_mode"], document["OPENAI_API_KEY"]) == ("chatgpt", None)
    assert document["last_refresh"].endswith("Z")
    assert claims["exp"] == int(NOW.timestamp())
    assert claims["https://api.openai.com/auth"]["chatgpt_account_id"] == "acct-9"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
