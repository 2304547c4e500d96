"""HTTP out: one bounded request, never redirected, never through another host; the only file that imports httpx.

It is imported with the first request: a canary that sends nothing starts a fifth faster without.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from decide.reason import Reason

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator

    import httpx

BODY_LIMIT = 1024 * 1024
"""The largest answer that is read unless the request says another, in bytes."""
CONNECT_S = 15.0
"""How long connecting may take at most, in seconds, where a request's whole time is bounded."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Request:
    """A GET, or with a `body` of JSON a POST. Headers and body may hold secrets, so they never show.

    `timeout_s` bounds the whole exchange where it is given. Of an answer over `limit` bytes nothing is kept, with
    `cut` as much as that. With an `address` the connection is made to it, whatever the name in the URL resolves to,
    and through no proxy.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False, default_factory=dict)
    body: bytes | None = field(repr=False, default=None)
    timeout_s: float | None = None
    limit: int = BODY_LIMIT
    cut: bool = False
    address: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back: an HTTP answer (header names in lower case), or the `failure` for which none did.

    `sent` False: it failed before anything could be asked. `cut`: the body is only the beginning.
    """

    received_at: datetime
    status: int = 0
    headers: Mapping[str, str] = field(repr=False, default_factory=dict)
    body: bytes = field(repr=False, default=b"")
    failure: Reason | None = None
    detail: str = ""
    sent: bool = True
    cut: bool = False

    @property
    def is_html(self) -> bool:
        """Whether this is a web page, whatever its status says."""
        return "html" in self.headers.get("content-type", "") or self.body.lstrip()[:1] == b"<"

    @property
    def skew_s(self) -> float | None:
        """By how many seconds this machine's clock is ahead of the host's `Date`; None when it does not say."""
        stated = _http_date(self.headers.get("date", ""))
        return (self.received_at - stated).total_seconds() if stated else None

    @property
    def retry_after_s(self) -> float | None:
        """The seconds that the host asks to wait, from either form of `Retry-After`; None when unstated or 0."""
        stated = self.headers.get("retry-after", "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d+)?", stated):
            return float(stated) or None
        until = _http_date(stated)
        wait = (until - self.received_at).total_seconds() if until else 0.0
        return wait if wait > 0 else None


def _http_date(text: str) -> datetime | None:
    try:
        stated = parsedate_to_datetime(text)
    except ValueError:
        return None
    return stated.astimezone(UTC) if stated.tzinfo else stated.replace(tzinfo=UTC)


Fetch = Callable[[Request], Awaitable[Response]]
Now = Callable[[], datetime]


class Http:
    """Connections opened as they are needed, each a client of its own, all for one purpose that they tell the host.

    One client for all would be simpler, and three times as slow at 64 requests at once: its pool looks through all
    of its connections at every request. A proxy of the environment is never used for this machine itself.
    """

    def __init__(self, now: Now, *, timeout_s: float, version: str, purpose: str) -> None:
        self._now = now
        self._timeout_s = timeout_s
        self._agent = f"rungwatch/{version} ({purpose})"
        self._verify: ssl.SSLContext | None = None
        self._idle: dict[bool, list[httpx.AsyncClient]] = {True: [], False: []}
        self._closing: set[asyncio.Future[None]] = set()

    async def aclose(self) -> None:
        """Close every connection."""
        await asyncio.gather(*self._closing, return_exceptions=True)
        for clients in self._idle.values():
            while clients:
                await clients.pop().aclose()

    async def fetch(self, request: Request) -> Response:
        """The answer to one request; a failure is a value, and no text of it carries a header or body."""
        import httpx

        try:
            async with self._client(request) as client, asyncio.timeout(request.timeout_s):
                return await self._exchange(client, request)
        except (httpx.ConnectError, httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            return self._failed(Reason.NETWORK, error, sent=False)
        except httpx.ConnectTimeout as error:
            return self._failed(Reason.TIMEOUT, error, sent=False)
        except (httpx.TimeoutException, TimeoutError) as error:
            return self._failed(Reason.TIMEOUT, error)
        except httpx.HTTPError as error:
            return self._failed(Reason.NETWORK, error)
        except ValueError as error:  # a URL or a header that no wire can carry; the error itself holds its value
            return self._failed(Reason.NETWORK, error, sent=False)

    def _failed(self, reason: Reason, error: Exception, *, sent: bool = True) -> Response:
        return Response(self._now(), failure=reason, detail=type(error).__name__, sent=sent)

    async def _exchange(self, client: "httpx.AsyncClient", request: Request) -> Response:
        async with self._stream(client, request) as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > request.limit and request.cut:
                    kept = bytes(body[: request.limit])
                    return Response(self._now(), response.status_code, headers, kept, cut=True)
                if len(body) > request.limit:
                    detail = f"answer over {request.limit / 1024 / 1024:g} MiB"
                    return Response(self._now(), failure=Reason.TOO_LARGE, detail=detail)
            return Response(self._now(), response.status_code, headers, bytes(body))

    def _stream(self, client: "httpx.AsyncClient", request: Request) -> "AbstractAsyncContextManager[httpx.Response]":
        method = "GET" if request.body is None else "POST"
        headers = dict(request.headers)
        if request.body is not None:
            headers["content-type"] = "application/json"
        url, extensions = request.url, dict[str, Any]()
        if request.address:
            parts = urlsplit(url)
            headers["host"], url = parts.netloc, _at(parts, request.address)
            extensions["sni_hostname"] = parts.hostname
        return client.stream(
            method, url, headers=headers, content=request.body, timeout=self._timeout(request), extensions=extensions
        )

    def _timeout(self, request: Request) -> "httpx.Timeout":
        """httpx's own limits, each for one step; where the whole has one, connecting alone has its own in it."""
        import httpx

        if request.timeout_s is None:
            return httpx.Timeout(self._timeout_s)
        return httpx.Timeout(None, connect=min(request.timeout_s / 2, CONNECT_S))

    @asynccontextmanager
    async def _client(self, request: Request) -> "AsyncIterator[httpx.AsyncClient]":
        """A client of one connection; one to an address of its own is not used again, lest a name borrow it."""
        if request.address:
            async with self._open(direct=True) as client:
                yield client
            return
        local = _is_local(request.url)
        idle = self._idle[local]
        client = idle.pop() if idle else self._open(direct=local)
        try:
            yield client
        except BaseException:
            # httpx leaves a connection open when it is cancelled again while it closes it
            closing = asyncio.ensure_future(client.aclose())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
            await asyncio.shield(closing)
            raise
        idle.append(client)

    def _open(self, *, direct: bool) -> "httpx.AsyncClient":
        import httpx

        self._verify = self._verify or httpx.create_ssl_context()
        return httpx.AsyncClient(
            timeout=self._timeout_s,
            follow_redirects=False,
            headers={"user-agent": self._agent},
            verify=self._verify,
            trust_env=not direct,
        )


def _is_local(url: str) -> bool:
    """Whether a URL leads to this machine; raises ValueError for one that leads nowhere."""
    parts = urlsplit(url)
    return parts.port != 0 and parts.hostname in LOOPBACK


def _at(parts: SplitResult, address: str) -> str:
    """The URL with an address in place of its name."""
    host = f"[{address}]" if ":" in address else address
    return parts._replace(netloc=f"{host}:{parts.port}" if parts.port else host).geturl()
