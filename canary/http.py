"""HTTP out: one bounded request, never redirected, never through another host; the only file that imports httpx.

It is imported with the first request: a canary that sends nothing starts a fifth faster without.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from canary.clock import Clock
from decide.reason import Reason

if TYPE_CHECKING:
    import ssl

    import httpx

BODY_LIMIT = 1024 * 1024
"""The largest answer that is read, in bytes."""
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Ask:
    """One GET. `headers` may hold a secret, so they never show in a representation."""

    url: str
    headers: Mapping[str, str] = field(repr=False, default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: an HTTP answer (header names in lower case), or the `failure` for which none did."""

    received_at: datetime
    status: int = 0
    headers: Mapping[str, str] = field(repr=False, default_factory=dict)
    body: bytes = field(repr=False, default=b"")
    failure: Reason | None = None
    detail: str = ""

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


Fetch = Callable[[Ask], Awaitable[Reply]]


class Http:
    """Connections opened as they are needed, each a client of its own.

    One client for all would be simpler, and three times as slow at 64 requests at once: its pool looks through all
    of its connections at every request. A proxy of the environment is never used for this machine itself.
    """

    def __init__(self, clock: Clock, *, timeout_s: float, version: str) -> None:
        self._clock = clock
        self._timeout_s = timeout_s
        self._agent = f"rungwatch/{version} (reads quotas; calls no model)"
        self._verify: ssl.SSLContext | None = None
        self._idle: dict[bool, list[httpx.AsyncClient]] = {True: [], False: []}

    async def aclose(self) -> None:
        """Close every connection."""
        for clients in self._idle.values():
            while clients:
                await clients.pop().aclose()

    async def fetch(self, ask: Ask) -> Reply:
        """The reply to one GET; a failure is a value, and no exception text carries a header or body."""
        import httpx

        local = urlsplit(ask.url).hostname in LOOPBACK
        idle = self._idle[local]
        client = idle.pop() if idle else self._open(local)
        try:
            return await self._get(client, ask)
        except httpx.TimeoutException as error:
            return Reply(self._clock.now(), failure=Reason.TIMEOUT, detail=type(error).__name__)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return Reply(self._clock.now(), failure=Reason.NETWORK, detail=type(error).__name__)
        finally:
            idle.append(client)

    async def _get(self, client: "httpx.AsyncClient", ask: Ask) -> Reply:
        async with client.stream("GET", ask.url, headers=dict(ask.headers)) as response:
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > BODY_LIMIT:
                    return Reply(self._clock.now(), failure=Reason.TOO_LARGE, detail="answer over 1 MiB")
            headers = {name.lower(): value for name, value in response.headers.items()}
            return Reply(self._clock.now(), response.status_code, headers, bytes(body))

    def _open(self, local: bool) -> "httpx.AsyncClient":
        import httpx

        self._verify = self._verify or httpx.create_ssl_context()
        return httpx.AsyncClient(
            timeout=self._timeout_s,
            follow_redirects=False,
            headers={"user-agent": self._agent},
            verify=self._verify,
            trust_env=not local,
        )
