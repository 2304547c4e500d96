"""What the far side is asked and what it sends back, as values, with the faults either vendor can show."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from canary.demo.script import Fault, SeatScript, Vendor

Headers = tuple[tuple[str, str], ...]
JSON_TYPE = ("content-type", "application/json")
SSE_TYPE = ("content-type", "text/event-stream; charset=utf-8")
HTML_TYPE = ("content-type", "text/html; charset=UTF-8")
CHALLENGE = (
    b"<!DOCTYPE html><html><head><title>Just a moment...</title></head>"
    b"<body><h1>Sign in to the guest network</h1><p>Press Continue to reach the internet.</p></body></html>"
)
MEGABYTE = b"x" * 1_000_000


class Ending(StrEnum):
    """How a reply ends on the wire."""

    WHOLE = "whole"
    DROPPED = "dropped"
    HANGING = "hanging"


@dataclass(frozen=True, slots=True)
class Ask:
    """One request as a vendor sees it, the seat behind the token already found."""

    seat: SeatScript
    now: datetime
    body: Mapping[str, Any]
    api_key: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """A response: one part goes out with its length, several parts go out as a stream without one."""

    status: int
    headers: Headers
    parts: tuple[bytes, ...]
    ending: Ending = Ending.WHOLE


def json_reply(document: object, *, status: int = 200, headers: Headers = ()) -> Reply:
    """A reply whose body is one JSON document."""
    body = json.dumps(document, separators=(",", ":")).encode()
    return Reply(status, (JSON_TYPE, *headers), (body,))


def sse_reply(events: Iterable[Mapping[str, Any]], *, headers: Headers = ()) -> Reply:
    """A reply of server-sent events, each named by its own `type`."""
    parts = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)
    return Reply(200, (SSE_TYPE, ("cache-control", "no-cache"), *headers), tuple(parts))


def claude_error(status: int, kind: str, message: str, *, headers: Headers = (), **more: object) -> Reply:
    """An Anthropic error body (formats 2.4)."""
    error = {"type": kind, "message": message, **more}
    return json_reply({"type": "error", "error": error, "request_id": "req_FAKE"}, status=status, headers=headers)


def openai_error(status: int, code: str, message: str, *, headers: Headers = (), **more: object) -> Reply:
    """An OpenAI error body; `type` carries the code that Codex reads (formats 4.5)."""
    error = {"type": code, "code": code, "message": message, "param": None, **more}
    return json_reply({"error": error}, status=status, headers=headers)


def unauthorized(vendor: Vendor, message: str) -> Reply:
    """A vendor's 401 body."""
    if vendor is Vendor.CLAUDE:
        return claude_error(401, "authentication_error", message)
    return openai_error(401, "token_expired", message, headers=(("www-authenticate", "Bearer"),))


LAPSED = {
    Vendor.CLAUDE: "OAuth token has expired. Please obtain a new token or refresh your existing token.",
    Vendor.CODEX: "Provided authentication token is expired. Please try signing in again.",
}
UNSUPPORTED = "OAuth authentication is currently not supported."
"""What a request is told that does not speak of OAuth as its vendor does now; it says nothing of the token."""
_SCOPE = "OAuth token does not meet scope requirement user:profile"
_REVOKED = "OAuth token has been revoked. Please obtain a new token."
_ORG = "OAuth authentication is currently not allowed for this organization."


def _forbidden(vendor: Vendor, message: str) -> Reply:
    if vendor is Vendor.CLAUDE:
        details = {"error_visibility": "user_facing"}
        return claude_error(403, "permission_error", message, details=details)
    return openai_error(403, "forbidden", message)


def _throttled(seat: SeatScript) -> Reply:
    """A throttle's 429 names no quota; its `retry-after` may be a number, "0" or missing (formats 2.5)."""
    headers = () if seat.retry_after is None else (("retry-after", seat.retry_after),)
    message = "Rate limited. Please try again later."
    if seat.vendor is Vendor.CLAUDE:
        error = {"type": "rate_limit_error", "message": message}
        return json_reply({"error": error}, status=429, headers=headers)
    return openai_error(429, "rate_limit_exceeded", message, headers=headers)


def _broken(vendor: Vendor, status: int, kind: str, message: str) -> Reply:
    if vendor is Vendor.CLAUDE:
        return claude_error(status, kind, message)
    return openai_error(status, "server_is_overloaded" if status == 529 else "server_error", message)


def with_fault(seat: SeatScript, fault: Fault, good: Reply) -> Reply:
    """The reply a fault puts in place of the good one."""
    body = b"".join(good.parts)
    match fault:
        case Fault.UNAUTHORIZED:
            return unauthorized(seat.vendor, LAPSED[seat.vendor])
        case Fault.UNSUPPORTED:
            return unauthorized(seat.vendor, UNSUPPORTED)
        case Fault.FORBIDDEN_SCOPE:
            return _forbidden(seat.vendor, _SCOPE)
        case Fault.REVOKED:
            return _forbidden(seat.vendor, _REVOKED)
        case Fault.ORG_REFUSED:
            return _forbidden(seat.vendor, _ORG)
        case Fault.THROTTLED:
            return _throttled(seat)
        case Fault.SERVER_ERROR:
            return _broken(seat.vendor, 500, "api_error", "Internal server error")
        case Fault.OVERLOADED:
            return _broken(seat.vendor, 529, "overloaded_error", "Overloaded")
        case Fault.HTML | Fault.HTML_403:
            return Reply(403 if fault is Fault.HTML_403 else 200, (HTML_TYPE,), (CHALLENGE,))
        case Fault.EMPTY:
            return replace(good, status=200, parts=(b"",))
        case Fault.TRUNCATED_JSON:
            return replace(good, parts=(body[: len(body) // 2],))
        case Fault.REDIRECT:
            return Reply(307, (("location", seat.redirect_to),), (b"",))
        case Fault.HANG:
            return replace(good, ending=Ending.HANGING)
        case Fault.DROP:
            return replace(good, parts=(body,), ending=Ending.DROPPED)
        case Fault.HUGE:
            padding = (b'{"padding":"', *[MEGABYTE] * seat.huge_mb, b'"}')
            return Reply(200, (JSON_TYPE,), padding)
        case Fault.SLOW:
            return good
