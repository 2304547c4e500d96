"""HTTP out: one bounded request, never redirected or sent elsewhere; the only file with httpx and its transport.

It is imported with the first request: a canary that sends nothing starts a fifth faster without.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from decide.reason import Reason

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterable, AsyncIterator

    import aiohttp
    import httpx

BODY_LIMIT = 1024 * 1024
"""The largest answer that is read unless the request says another, in bytes."""
IDLE_S = 5.0
"""How long a connection is kept on which nothing is asked, in seconds."""
CONNECT_S = 15.0
"""How long connecting may take at most, in seconds, where a request's whole time is bounded."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

_STEPS = ("connect", "read", "write", "pool")
_HEADERS = {"accept": "*/*", "accept-encoding": "gzip, deflate", "connection": "keep-alive"}


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


@dataclass(frozen=True, slots=True)
class _Link:
    """A connection: how a request is sent over it, and how it is closed."""

    send: "Callable[[httpx.Request], Awaitable[httpx.Response]]"
    aclose: Callable[[], Coroutine[Any, Any, None]]


class Http:
    """Connections opened as they are needed, each a pool of its own, all for one purpose that they tell the host.

    One pool for all would be simpler, and three times as slow at 64 requests at once: it looks through all of its
    connections at every request. A proxy of the environment is never used for this machine itself.
    """

    def __init__(self, now: Now, *, timeout_s: float, version: str, purpose: str) -> None:
        self._now = now
        self._timeout_s = timeout_s
        self._agent = f"rungwatch/{version} ({purpose})"
        self._verify: ssl.SSLContext | None = None
        self._idle: dict[bool, list[_Link]] = {True: [], False: []}
        self._closing: set[asyncio.Future[None]] = set()

    async def aclose(self) -> None:
        """Close every connection."""
        await asyncio.gather(*self._closing, return_exceptions=True)
        for links in self._idle.values():
            while links:
                await links.pop().aclose()

    async def fetch(self, request: Request) -> Response:
        """The answer to one request; a failure is a value, and no text of it carries a header or body."""
        import httpx

        try:
            async with self._link(request) as link, asyncio.timeout(request.timeout_s):
                return await self._exchange(link, request)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            return self._failed(*_judged(error), error)
        except ValueError as error:  # a URL or a header that no wire can carry; the error itself holds its value
            return self._failed(Reason.NETWORK, False, error)

    def _failed(self, reason: Reason, sent: bool, error: Exception) -> Response:
        return Response(self._now(), failure=reason, detail=type(error.__cause__ or error).__name__, sent=sent)

    async def _exchange(self, link: _Link, request: Request) -> Response:
        response = await link.send(self._made(request))
        try:
            headers = {name.lower(): value for name, value in response.headers.items()}
            body = bytearray()
            async for piece in _pieces(response, headers):
                body += piece
                if len(body) > request.limit and request.cut:
                    kept = bytes(body[: request.limit])
                    return Response(self._now(), response.status_code, headers, kept, cut=True)
                if len(body) > request.limit:
                    detail = f"answer over {request.limit / 1024 / 1024:g} MiB"
                    return Response(self._now(), failure=Reason.TOO_LARGE, detail=detail)
            return Response(self._now(), response.status_code, headers, bytes(body))
        finally:
            await response.aclose()

    def _made(self, request: Request) -> "httpx.Request":
        """The request as httpx sends it; a cookie that a host set goes into none, as seats share the connections."""
        import httpx

        method = "GET" if request.body is None else "POST"
        own = {name.lower(): value for name, value in request.headers.items()}
        headers = {**_HEADERS, "user-agent": self._agent, **own}
        if request.body is not None:
            headers["content-type"] = "application/json"
        url, extensions = request.url, dict[str, Any](timeout=self._timeout(request))
        if request.address:
            parts = urlsplit(url)
            headers["host"], url = parts.netloc, _at(parts, request.address)
            extensions["sni_hostname"] = parts.hostname
        made = httpx.Request(method, _parsed(url), headers=headers, content=request.body, extensions=extensions)
        if made.url.userinfo:
            next(httpx.BasicAuth(made.url.username, made.url.password).auth_flow(made))
            made.url = made.url.copy_with(username=None, password=None)
        return made

    def _timeout(self, request: Request) -> dict[str, float | None]:
        """httpx's own limits, each for one step; where the whole has one, connecting alone has its own in it."""
        if request.timeout_s is None:
            return dict.fromkeys(_STEPS, self._timeout_s)
        return dict.fromkeys(_STEPS) | {"connect": min(request.timeout_s / 2, CONNECT_S)}

    @asynccontextmanager
    async def _link(self, request: Request) -> "AsyncIterator[_Link]":
        """One connection; one to an address of its own is not used again, lest a name borrow it."""
        if request.address:
            link = self._open(direct=True)
            try:
                yield link
            finally:
                await self._closed(link)
            return
        local = _is_local(request.url)
        idle = self._idle[local]
        link = idle.pop() if idle else self._open(direct=local)
        try:
            yield link
        except BaseException:
            await self._closed(link)
            raise
        idle.append(link)

    async def _closed(self, link: _Link) -> None:
        # httpx leaves a connection open when it is cancelled again while it closes it
        closing = asyncio.ensure_future(link.aclose())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        await asyncio.shield(closing)

    def _open(self, *, direct: bool) -> _Link:
        """A connection without all that a client of httpx's does beside it, but where it alone knows the proxy."""
        from urllib.request import getproxies

        import httpx

        self._verify = self._verify or httpx.create_ssl_context()
        if direct or not getproxies():
            from httpx_aiohttp import AiohttpTransport

            transport = AiohttpTransport(client=partial(_session, self._verify))
            return _Link(transport.handle_async_request, transport.aclose)
        client = httpx.AsyncClient(follow_redirects=False, verify=self._verify)
        return _Link(partial(client.send, stream=True), client.aclose)


def _session(verify: "ssl.SSLContext") -> "aiohttp.ClientSession":
    """Connections beneath httpx, faster than its own; no cookie of a host goes into another request."""
    import aiohttp

    connector = aiohttp.TCPConnector(ssl=verify, keepalive_timeout=IDLE_S)
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())


def _judged(error: Exception) -> tuple[Reason, bool]:
    """What a failure is, and whether anything may have been asked before it.

    The transport calls every lost connection one that could not be made, so that its cause counts.
    """
    import aiohttp
    import httpx

    cause = error.__cause__ if isinstance(error.__cause__, aiohttp.ClientConnectionError) else error
    late = isinstance(cause, (TimeoutError, httpx.TimeoutException))
    unmade = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, httpx.ConnectError, httpx.ConnectTimeout)
    unsent = isinstance(cause, (*unmade, httpx.UnsupportedProtocol, httpx.InvalidURL))
    return Reason.TIMEOUT if late else Reason.NETWORK, not unsent


def _pieces(response: "httpx.Response", headers: Mapping[str, str]) -> "AsyncIterable[bytes]":
    """The body as it comes in; through httpx's decoders only where it is encoded."""
    import httpx

    stream = response.stream
    if "content-encoding" not in headers and isinstance(stream, httpx.AsyncByteStream):
        return stream
    return response.aiter_bytes()


@lru_cache(maxsize=64)
def _parsed(url: str) -> "httpx.URL":
    """The URL as httpx takes it; few are asked again and again, and parsing one takes a tenth of a request."""
    import httpx

    return httpx.URL(url)


def _is_local(url: str) -> bool:
    """Whether a URL leads to this machine; raises ValueError for one that leads nowhere."""
    parts = urlsplit(url)
    return parts.port != 0 and parts.hostname in LOOPBACK


def _at(parts: SplitResult, address: str) -> str:
    """The URL with an address in place of its name."""
    host = f"[{address}]" if ":" in address else address
    return parts._replace(netloc=f"{host}:{parts.port}" if parts.port else host).geturl()
