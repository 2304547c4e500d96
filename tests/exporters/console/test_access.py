"""Who somebody is and what that person may do: every row of the rules."""

from base64 import b64encode
from ipaddress import ip_network

import pytest

from exporters.console.access import Access, Caller, Gate, Peer, Read, caller, may_read, may_write, reaches

USERS = {"bo": lambda: "correct horse", "eve": lambda: ""}
OPEN = Access(
    local_user="ana",
    users=USERS,
    proxy_header="X-Remote-User",
    proxies=(ip_network("127.0.0.1/32"), ip_network("10.1.0.0/16")),
)
PLAIN = Access(local_user="ana")


def basic(name: str, password: str) -> str:
    """A Basic header."""
    return "Basic " + b64encode(f"{name}:{password}".encode()).decode()


RIGHT, NOBODY, WRONG = (basic("bo", "correct horse"),), Caller(), Caller(wrong=True)
ANA, BO = Caller("ana", local=True), Caller("bo", proven=True)

CALLERS: dict[str, tuple[Access, Peer, Caller]] = {
    "this machine": (PLAIN, Peer("127.0.0.1"), ANA),
    "this machine, IPv6": (PLAIN, Peer("::1"), ANA),
    "this machine, IPv4 within IPv6": (PLAIN, Peer("::ffff:127.0.0.1"), ANA),
    "this machine without a configured name": (Access(), Peer("127.0.0.1"), Caller(local=True)),
    "a proxy on this machine": (PLAIN, Peer("127.0.0.1", forwarded=True), NOBODY),
    "another machine": (PLAIN, Peer("192.0.2.7"), NOBODY),
    "no address": (PLAIN, Peer(""), NOBODY),
    "an address that is none": (PLAIN, Peer("testclient"), NOBODY),
    "a header that nobody configured": (PLAIN, Peer("192.0.2.7", names=("bo",)), NOBODY),
    "credentials where there are no users": (PLAIN, Peer("127.0.0.1", credentials=RIGHT), ANA),
    "the right password": (OPEN, Peer("192.0.2.7", credentials=RIGHT), BO),
    "a wrong password": (OPEN, Peer("192.0.2.7", credentials=(basic("bo", "horse"),)), WRONG),
    "an unknown user": (OPEN, Peer("192.0.2.7", credentials=(basic("cy", "correct horse"),)), WRONG),
    "an empty password that is configured": (OPEN, Peer("192.0.2.7", credentials=(basic("eve", ""),)), WRONG),
    "credentials twice": (OPEN, Peer("192.0.2.7", credentials=RIGHT * 2), WRONG),
    "another scheme": (OPEN, Peer("192.0.2.7", credentials=("Bearer x",)), WRONG),
    "credentials that are no base64": (OPEN, Peer("192.0.2.7", credentials=("Basic %%",)), WRONG),
    "the trusted proxy's word": (OPEN, Peer("10.1.2.3", forwarded=True, names=("bo",)), BO),
    "its word beside a password": (
        OPEN,
        Peer("10.1.2.3", names=("cy",), credentials=RIGHT),
        Caller("cy", proven=True),
    ),
    "its word twice": (OPEN, Peer("10.1.2.3", names=("bo", "ana")), NOBODY),
    "its word, empty": (OPEN, Peer("10.1.2.3", names=(" ",)), NOBODY),
    "its word, no name": (OPEN, Peer("10.1.2.3", names=("b\no",)), NOBODY),
    "the same word from elsewhere": (OPEN, Peer("10.2.0.1", names=("bo",)), NOBODY),
    "the trusted proxy without a word": (OPEN, Peer("127.0.0.1"), NOBODY),
    "the trusted proxy with a password": (OPEN, Peer("127.0.0.1", credentials=RIGHT), BO),
}


@pytest.mark.parametrize("name", CALLERS)
def test_who_it_is(name: str) -> None:
    access, peer, wanted = CALLERS[name]
    assert caller(access, peer) == wanted


def test_a_password_on_this_machine_stays_local() -> None:
    access = Access(local_user="ana", users=USERS)
    assert caller(access, Peer("127.0.0.1", credentials=RIGHT)) == Caller("bo", local=True, proven=True)
    assert caller(access, Peer("127.0.0.1", credentials=("Basic x",))).wrong


Y, P, N = Gate.OPEN, Gate.PASSWORD, Gate.CLOSED
STRANGER, NAMELESS = Caller(), Caller(local=True)
GATES: list[tuple[Read, bool, Caller, Gate, Gate]] = [
    (Read.LOCAL, False, ANA, Y, Y),
    (Read.LOCAL, False, NAMELESS, Y, N),
    (Read.LOCAL, False, STRANGER, N, N),
    (Read.LOCAL, True, BO, N, N),
    (Read.LOCAL, True, NAMELESS, Y, P),
    (Read.KNOWN, False, STRANGER, N, N),
    (Read.KNOWN, True, STRANGER, P, P),
    (Read.KNOWN, True, BO, Y, Y),
    (Read.KNOWN, True, WRONG, P, P),
    (Read.KNOWN, False, NAMELESS, Y, N),
    (Read.ANYONE, False, STRANGER, Y, N),
    (Read.ANYONE, True, STRANGER, Y, P),
    (Read.ANYONE, True, BO, Y, Y),
    (Read.ANYONE, True, WRONG, P, P),
]


@pytest.mark.parametrize(("read", "users", "who", "reads", "writes"), GATES)
def test_what_one_may_do(read: Read, users: bool, who: Caller, reads: Gate, writes: Gate) -> None:
    access = Access(read, "ana", USERS if users else {})
    assert (may_read(access, who), may_write(access, who)) == (reads, writes)


def test_by_default_nothing_is_writable_but_from_this_machine() -> None:
    access = Access(local_user="ana")
    peers = [
        Peer("192.0.2.7"),
        Peer("127.0.0.1", forwarded=True),
        Peer("192.0.2.7", names=("ana",), credentials=RIGHT),
    ]
    assert {may_write(access, caller(access, peer)) for peer in peers} == {Gate.CLOSED}
    assert may_write(access, caller(access, Peer("127.0.0.1"))) is Gate.OPEN


@pytest.mark.parametrize(
    ("hosts", "ours"),
    [
        (("localhost",), True),
        (("LOCALHOST:9477",), True),
        (("127.0.0.1:80",), True),
        (("[::1]:9477",), True),
        (("[::1]",), True),
        (("Rungs.Example:9477",), True),
        (("rungs.example.evil",), False),
        (("evil.example",), False),
        (("127.0.0.1.evil.example",), False),
        (("[::2]",), False),
        (("localhost", "localhost"), False),
        (("",), False),
        ((), False),
    ],
)
def test_a_host_is_ours_by_its_whole_name(hosts: tuple[str, ...], ours: bool) -> None:
    assert reaches(Access(hosts=("rungs.example",)), hosts) is ours


def test_no_password_is_told_by_a_repr() -> None:
    assert "horse" not in repr(OPEN) + repr(Peer("10.1.2.3", credentials=("Basic horse",)))
