"""Access: who somebody is, by what a request brings, and what that person may read and write (pure rules)."""

import hashlib
import hmac
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from decide.handoff.entry import HandoffError, named

Secret = Callable[[], str]
"""Gives a password when it is needed, so that nothing else holds it; an empty one lets nobody in."""
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""The names under which this machine reaches itself."""


class Read(StrEnum):
    """Who may read questions and receipts: this machine, whoever is known by name as well, or anyone."""

    LOCAL = "local"
    KNOWN = "known"
    ANYONE = "anyone"


class Gate(StrEnum):
    """What stands between a caller and a page: nothing, a password that may help, or nothing that helps."""

    OPEN = "open"
    PASSWORD = "password"  # noqa: S105 - the word, not one
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Access:
    """Who may read and write. By default only this machine may, in the local user's name.

    `proxy_header` names the person, and is believed from `proxies` alone. `hosts` are the names, without a port,
    under which browsers reach the console beside those of this machine.
    """

    read: Read = Read.LOCAL
    local_user: str = ""
    users: Mapping[str, Secret] = field(default_factory=dict, repr=False)
    proxy_header: str = ""
    proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Peer:
    """What a request says of where it comes from: the address of its connection, empty where there is none.

    `forwarded`: it carries a header that only a proxy adds. `names` are all values of the proxy's header,
    `credentials` all of Authorization.
    """

    address: str
    forwarded: bool = False
    names: tuple[str, ...] = ()
    credentials: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who it is: `name` is empty for nobody known; `local`: on this machine itself.

    `proven`: by a password or a proxy's word; `wrong`: by credentials that are not right.
    """

    name: str = ""
    local: bool = False
    proven: bool = False
    wrong: bool = False


def caller(access: Access, peer: Peer) -> Caller:
    """Who a request comes from: the trusted proxy's word, else a password, else being on this machine.

    What comes through a proxy is never this machine's own, or a proxy on it would make everybody local.
    """
    address = _address(peer.address)
    proxy = bool(access.proxy_header) and address is not None and any(address in one for one in access.proxies)
    if proxy and peer.names:
        name = _name(peer.names)
        return Caller(name, proven=bool(name))
    local = address is not None and address.is_loopback and not peer.forwarded and not proxy
    if access.users and peer.credentials:
        name = _by_password(access.users, peer.credentials)
        return Caller(name, local=local, proven=bool(name), wrong=not name)
    return Caller(access.local_user, local=True) if local else Caller()


def may_read(access: Access, who: Caller) -> Gate:
    """Whether a caller may see questions, receipts and clicks."""
    if who.wrong:
        return Gate.PASSWORD
    match access.read:
        case Read.ANYONE:
            return Gate.OPEN
        case Read.KNOWN:
            return Gate.OPEN if who.local or who.name else _closed(access)
        case Read.LOCAL:
            return Gate.OPEN if who.local else Gate.CLOSED


def may_write(access: Access, who: Caller) -> Gate:
    """Whether a caller may answer, raise and press: only somebody with a name, who may read as well."""
    reads = may_read(access, who)
    if reads is not Gate.OPEN:
        return reads
    return Gate.OPEN if who.name else _closed(access)


def reaches(access: Access, hosts: tuple[str, ...]) -> bool:
    """Whether the Host headers of a request are one that is ours: any other name may be a rebound one."""
    if len(hosts) != 1:
        return False
    name = hosts[0].strip().casefold()
    bare = name[: name.find("]") + 1] if name.startswith("[") else name.partition(":")[0]
    return bare in LOCAL_HOSTS or bare in {known.casefold() for known in access.hosts}


def _closed(access: Access) -> Gate:
    return Gate.PASSWORD if access.users else Gate.CLOSED


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return (isinstance(found, IPv6Address) and found.ipv4_mapped) or found


def _name(values: tuple[str, ...]) -> str:
    """The name that a proxy gives, empty where it gives none, or several."""
    if len(values) != 1:
        return ""
    try:
        return named(values[0])
    except HandoffError:
        return ""


def _by_password(users: Mapping[str, Secret], credentials: tuple[str, ...]) -> str:
    """The user whose name and password were given, empty where they are not right."""
    name, password = _basic(credentials)
    known = users.get(name)
    wanted = known() if known else ""
    same = hmac.compare_digest(_digest(password), _digest(wanted))  # of equal length, whatever was given
    return name if same and wanted else ""


def _basic(credentials: tuple[str, ...]) -> tuple[str, str]:
    """Name and password of a Basic header (RFC 7617), both empty for anything else."""
    if len(credentials) != 1:
        return "", ""
    scheme, _, encoded = credentials[0].partition(" ")
    try:
        text = b64decode(encoded.strip(), validate=True).decode() if scheme.lower() == "basic" else ""
    except ValueError:
        return "", ""
    name, _, password = text.partition(":")
    return name, password


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="replace")).digest()
