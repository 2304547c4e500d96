"""A scripted far side on loopback, and a brief and an access to ask it with."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from starlette.types import Receive, Scope, Send

from canary.demo.server import serve
from decide.brief import Brief
from decide.consultation import Order
from decide.ports import Access
from decide.reply import Failure, Reply
from decide.rungs.http import Http, Request, Response

NOW = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
KEY = "sk-ant-api03-SENTINELSENTINEL"
SCHEMA = {"type": "object", "properties": {"rec": {"type": "string"}}, "required": ["rec"]}
BRIEF = Brief(
    system="You review.",
    text="Which of the two? \ud800 ✓",
    schema=SCHEMA,
    nonce="7f3a",
    order=Order.FORWARD,
    options=("a", "b"),
    snapshot="sha256:0",
)


def access(base_url: str, model: str = "claude-fable-5", **changes: Any) -> Access:
    """A seat with an API key."""
    values: dict[str, Any] = {"seat": "desk", "model": model, "effort": "medium", "timeout_s": 5.0, "secret": KEY}
    return Access(base_url=base_url, **(values | changes))


@dataclass(frozen=True, slots=True)
class Script:
    """One answer: a document, or bytes as they are."""

    status: int = 200
    content: Any = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: bool = False


@dataclass(slots=True)
class Asked:
    """One request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(slots=True)
class Far:
    """Answers in order, the last again and again; every request is kept, and how many were given up."""

    scripts: list[Script]
    http: Http
    base_url: str = ""
    asked: list[Asked] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        content = b""
        while True:
            message = await receive()
            content += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        path = scope["raw_path"].decode() + ("?" + scope["query_string"].decode() if scope["query_string"] else "")
        self.asked.append(Asked(scope["method"], path, headers, json.loads(content) if content else None))
        self.reached.set()
        script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
        if script.hang:
            while (await receive())["type"] != "http.disconnect":
                pass
            self.left.set()
            return
        raw = script.content if isinstance(script.content, bytes) else json.dumps(script.content).encode()
        kind = {"content-type": "application/json"} | dict(script.headers)
        sent = [(name.encode(), value.encode()) for name, value in kind.items()]
        await send({"type": "http.response.start", "status": script.status, "headers": sent})
        await send({"type": "http.response.body", "body": raw})


@asynccontextmanager
async def far(*scripts: Script, timeout_s: float = 5.0) -> AsyncIterator[Far]:
    """A far side that answers from a script, with a client to reach it."""
    one = Far(list(scripts), Http(lambda: NOW, timeout_s=timeout_s, version="test", purpose="tries itself"))
    async with serve(one) as base_url:
        one.base_url = base_url
        yield one
        await one.http.aclose()


def response(content: Any, status: int = 200, **headers: Any) -> Response:
    """An HTTP answer, a document as JSON; header names with underscores for hyphens."""
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(NOW, status, {"content-type": "application/json"} | named, raw)


def failure(reply: Reply) -> Failure | None:
    """Why a reply has no answer."""
    return reply.trouble.failure if reply.trouble else None


async def nobody(request: Request) -> Response:
    """A fetch that must not be called."""
    raise AssertionError(f"asked {request!r}")
