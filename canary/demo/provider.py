"""The loopback provider: one ASGI application that plays both vendors' far side, and the log of what it was asked."""

import argparse
import asyncio
import gc
import hashlib
import json
import sys
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from functools import lru_cache
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope, Send

from canary.demo import claude_wire, codex_wire
from canary.demo.logins import claude_token, codex_token, write_claude_login, write_codex_login
from canary.demo.reply import (
    LAPSED,
    UNSUPPORTED,
    Ask,
    Reply,
    json_reply,
    openai_error,
    unauthorized,
    with_fault,
)
from canary.demo.routes import HELLO, REFRESH, ROUTES, Route
from canary.demo.script import Fault, Kind, Meter, MeterKind, SeatScript, Shape, Vendor
from canary.demo.server import deliver, serve

__all__ = [
    "Fault",
    "Kind",
    "Meter",
    "MeterKind",
    "Provider",
    "Request",
    "SeatScript",
    "Shape",
    "Vendor",
    "claude_token",
    "codex_token",
    "digest",
    "serve",
    "write_claude_login",
    "write_codex_login",
]

OAUTH_BETA = "oauth-2025-04-20"
KEPT_HEADERS = frozenset({"user-agent", "accept", "content-type", "anthropic-beta", "chatgpt-account-id"})
NO_BODY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Request:
    """One request as logged: no token, only its digest and the name of its seat; the body of model calls alone."""

    at: datetime
    method: str
    path: str
    host: str
    token_digest: str | None
    seat: str | None
    kind: Kind
    headers: Mapping[str, str]
    body: Mapping[str, Any] = field(repr=False)


def digest(token: str) -> str:
    """The first twelve hex digits of a token's SHA-256."""
    return hashlib.sha256(token.encode()).hexdigest()[:12]


@lru_cache(maxsize=16)
def _date(epoch: int) -> bytes:
    return formatdate(epoch, usegmt=True).encode()


def _document(raw: bytes) -> Mapping[str, Any]:
    """A request's body as a mapping, JSON or form; anything else is an empty one."""
    try:
        found = json.loads(raw or b"{}")
    except ValueError:
        return dict(parse_qsl(raw.decode(errors="replace")))
    return found if isinstance(found, dict) else NO_BODY


async def _read(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while (message := await receive())["type"] == "http.request":
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            break
    return b"".join(parts)


class Provider:
    """Both vendors' far side: seats by access token, changed at will while it runs, and a log of every request."""

    def __init__(self, seats: MutableMapping[str, SeatScript], clock: Callable[[], datetime]) -> None:
        self.seats = seats
        self.clock = clock
        self.delay_s = 0.0
        self.log: list[Request] = []
        self.spent_refresh_tokens: set[str] = set()

    def seat(self, name: str) -> SeatScript:
        """The seat of a name."""
        return next(seat for seat in self.seats.values() if seat.name == name)

    def token(self, name: str) -> str:
        """The access token of the seat of a name."""
        return next(token for token, seat in self.seats.items() if seat.name == name)

    def requests(self, *, kind: Kind | None = None, seat: str | None = None) -> list[Request]:
        """The logged requests of a kind, of a seat, or both."""
        return [row for row in self.log if kind in (None, row.kind) and seat in (None, row.seat)]

    def count(self, *, kind: Kind | None = None, seat: str | None = None) -> int:
        """How many requests were logged, of a kind, of a seat, or both."""
        return len(self.requests(kind=kind, seat=seat))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One HTTP exchange; websockets are refused, as no vendor's plain HTTP fallback needs them."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        now, method = self.clock(), scope["method"]
        body = _document(await _read(receive)) if method == "POST" else NO_BODY
        reply, seat = self._answer(now, method, scope["path"], headers, body)
        pause = self.delay_s + (_pause(seat) if seat else 0.0)
        if pause:
            await asyncio.sleep(pause)
        skew = timedelta(seconds=seat.date_offset_s if seat else 0.0)
        await deliver(reply, _date(int((self.clock() + skew).timestamp())), receive, send)

    def _answer(
        self, now: datetime, method: str, path: str, headers: Mapping[str, str], body: Mapping[str, Any]
    ) -> tuple[Reply, SeatScript | None]:
        api_key = headers.get("x-api-key", "")
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        token = api_key or (bearer if scheme.casefold() == "bearer" else "")
        route, refresh = ROUTES.get((method, path)), REFRESH.get(path) if method == "POST" else None
        if refresh:
            token = str(body.get("refresh_token", ""))
            seat = next((one for one in self.seats.values() if token and one.refresh_token == token), None)
        else:
            seat = self.seats.get(token)
        kind = Kind.REFRESH if refresh else route.kind if route else Kind.OTHER
        kept = {name: headers[name] for name in KEPT_HEADERS & headers.keys()}
        mark = digest(token) if token else None
        host, name = headers.get("host", ""), seat.name if seat else None
        asked = body if kind is Kind.MODEL else NO_BODY
        self.log.append(Request(now, method, path, host, mark, name, kind, kept, asked))
        if refresh and seat and seat.fault and Kind.REFRESH in seat.fault_on:
            return with_fault(seat, seat.fault, json_reply({})), seat
        if refresh:
            return self._renew(refresh, token, seat, now), seat
        if route is None:
            return (claude_wire.hello() if method == "GET" and path in HELLO else _not_found(path)), seat
        return self._guarded(route, headers, seat, Ask(seat, now, body, bool(api_key)) if seat else None), seat

    def _guarded(self, route: Route, headers: Mapping[str, str], seat: SeatScript | None, ask: Ask | None) -> Reply:
        """The route's reply for a seat that may ask it, else the vendor's 401; then the seat's fault."""
        if seat is None or ask is None or seat.vendor is not route.vendor:
            return unauthorized(route.vendor, "Invalid bearer token")
        if ask.api_key and not route.api_keys:
            return unauthorized(route.vendor, "Invalid authentication credentials")
        if route.needs_beta and OAUTH_BETA not in headers.get("anthropic-beta", ""):
            return unauthorized(route.vendor, UNSUPPORTED)
        if seat.expires_at is not None and seat.expires_at <= ask.now:
            return unauthorized(route.vendor, LAPSED[route.vendor])
        good = route.answer(ask)
        if seat.fault is None or route.kind not in seat.fault_on:
            return good
        if seat.fault is Fault.FORBIDDEN_SCOPE and route.kind is Kind.MODEL:
            return good
        return with_fault(seat, seat.fault, good)

    def _renew(self, vendor: Vendor, spent: str, seat: SeatScript | None, now: datetime) -> Reply:
        """Tokens rotate: a refresh token works once, and its second use is told apart (formats 1.4, 3.5)."""
        if seat is None or seat.vendor is not vendor:
            return _no_renewal(vendor, reused=spent in self.spent_refresh_tokens)
        lifetime = timedelta(hours=8) if vendor is Vendor.CLAUDE else timedelta(days=10)
        self.spent_refresh_tokens.add(spent)
        seat.renewals += 1
        seat.expires_at = now + lifetime
        fresh = f"{spent}-r{seat.renewals}"
        seat.refresh_token = fresh
        self.seats.pop(self.token(seat.name))
        if vendor is Vendor.CLAUDE:
            access = claude_token(seat.name, seat.renewals)
            self.seats[access] = seat
            return claude_wire.renewed(seat, access, fresh)
        access = codex_token(
            seat.expires_at, issued_at=now, account_id=seat.account_id, plan=seat.plan, email=seat.email
        )
        self.seats[access] = seat
        return codex_wire.renewed(access, fresh)


def _pause(seat: SeatScript) -> float:
    return seat.delay_s + (seat.slow_s if seat.fault is Fault.SLOW else 0.0)


def _not_found(path: str) -> Reply:
    return json_reply({"type": "error", "error": {"type": "not_found_error", "message": path}}, status=404)


def _no_renewal(vendor: Vendor, *, reused: bool) -> Reply:
    if vendor is Vendor.CLAUDE:
        return json_reply({"error": "invalid_grant", "error_description": "Refresh token not found"}, status=400)
    code = "refresh_token_reused" if reused else "refresh_token_invalidated"
    return openai_error(401, code, "Your refresh token has already been used to generate a new access token.")


def bench_seats(count: int, now: datetime) -> dict[str, SeatScript]:
    """That many Claude seats by token, named seat-0000 upward, each with a session, a week and a Fable week."""
    windows = [
        Meter(MeterKind.SESSION, 12.0, now + timedelta(hours=3)),
        Meter(MeterKind.WEEKLY, 31.0, now + timedelta(days=4)),
        Meter(MeterKind.WEEKLY_MODEL, 48.0, now + timedelta(days=4), "Fable"),
    ]
    names = [f"seat-{number:04}" for number in range(count)]
    return {claude_token(name): SeatScript(name, Vendor.CLAUDE, windows=windows) for name in names}


async def run(port: int, seats: int, delay_ms: float) -> None:
    """A provider with bench seats, one line on standard output once it listens, then for ever."""

    def clock() -> datetime:
        return datetime.now(UTC)

    provider = Provider(bench_seats(seats, clock()), clock)
    provider.delay_s = delay_ms / 1000
    # The log only grows and holds no cycles: collecting it again and again is what a benchmark would measure.
    gc.set_threshold(50_000)
    async with serve(provider, port=port) as base:
        sys.stdout.write(f"listening on {base}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    """The provider as a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m canary.demo.provider", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--seats", type=int, default=7, help="how many Claude seats")
    parser.add_argument("--delay-ms", type=float, default=0.0, help="how long every reply waits")
    chosen = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(run(chosen.port, chosen.seats, chosen.delay_ms))


if __name__ == "__main__":
    main()
