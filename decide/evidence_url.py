"""URL: a document of the web as bytes; every hop is checked, and the connection goes to the address that was."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import IPv4Address, ip_address, ip_network
from urllib.parse import SplitResult, urljoin, urlsplit

from decide.evidence_read import Bytes, Refused
from decide.rungs.http import Fetch, Request

PURPOSE = "reads evidence for a decision"
"""What a read of evidence tells a host that it is there for."""
HOPS = 5
"""How many redirects are followed."""
HEADERS = {"accept": "text/*, application/json, */*;q=0.5", "accept-encoding": "identity"}
METADATA_HOSTS = frozenset({"metadata.google.internal", "metadata.goog", "instance-data", "metadata"})
METADATA_ADDRESSES = frozenset({IPv4Address("168.63.129.16"), IPv4Address("192.0.0.192")})
"""Where clouds tell machines their secrets, beside 169.254.169.254 and its like, which are no public addresses."""
TRANSLATED = tuple(
    ip_network(net) for net in ("::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")
)
"""IPv6 addresses that hold an IPv4 address, which the check would not see."""

Resolve = Callable[[str, int], Awaitable[Iterable[str]]]


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a name, as this machine finds them."""
    rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(row[4][0]) for row in rows]


async def read(url: str, limit: int, *, allow_private: bool, fetch: Fetch, find: Resolve) -> Bytes:
    """At most `limit` bytes of what a URL leads to, over at most five redirects. Raises Refused."""
    for _ in range(HOPS + 1):
        parts = _checked(url)
        address = "" if allow_private else await _public(parts, find)
        response = await fetch(Request(url, HEADERS, limit=limit, cut=True, address=address))
        if response.failure is not None:
            raise Refused(f"cannot be read: {response.failure.value} ({response.detail})")
        location = response.headers.get("location", "")
        if response.status in (301, 302, 303, 307, 308) and location:
            url = urljoin(url, location)
            continue
        if not 200 <= response.status < 300:
            raise Refused(f"answers HTTP {response.status}; what answers 200 can be read")
        return Bytes(response.body, cut=response.cut)
    raise Refused(f"redirects more than {HOPS} times")


def _checked(url: str) -> SplitResult:
    """The parts of a URL that may be asked at all."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Refused("is no URL") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise Refused("is no http or https URL with a host")
    if "@" in parts.netloc:
        raise Refused("holds a user or password, which a brief would show; give a URL without")
    return parts


async def _public(parts: SplitResult, find: Resolve) -> str:
    """The one address to connect to: the first of the name's, all of which are public."""
    host = parts.hostname or ""
    if host.rstrip(".") in METADATA_HOSTS:
        raise Refused(f"leads to {host}, a metadata service; `allow_private_urls` would allow it")
    try:
        addresses = list(await find(host, parts.port or (443 if parts.scheme == "https" else 80)))
    except (OSError, UnicodeError) as error:
        raise Refused(f"names a host that is not found: {host}") from error
    if not addresses:
        raise Refused(f"names a host that is not found: {host}")
    for address in addresses:
        if not is_public(address):
            raise Refused(f"leads to {address}, which is no public address; `allow_private_urls` would allow it")
    return addresses[0]


def is_public(text: str) -> bool:
    """Whether an address is one of the public Internet, and holds no other inside."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if not address.is_global or address.is_multicast or address.is_reserved or address.is_unspecified:
        return False
    if address in METADATA_ADDRESSES:
        return False
    return not any(address in net for net in TRANSLATED)
