"""Caller of a request: what its headers and its connection say of who sends it, and whether it may go on."""

from starlette.requests import Request

from exporters.console.access import Access, Caller, Gate, Peer, caller, reaches
from exporters.console.problem import ProblemError

_FORWARDING = (
    *("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-server"),
    *("x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip"),
)
"""Headers that only a proxy adds."""
_LOGIN = {"www-authenticate": 'Basic realm="rungwatch", charset="UTF-8"'}


def peer_of(request: Request, access: Access) -> Peer:
    """What a request says of where it comes from."""
    return Peer(
        request.client.host if request.client else "",
        forwarded=any(name in request.headers for name in _FORWARDING),
        names=tuple(map(_utf8, request.headers.getlist(access.proxy_header))) if access.proxy_header else (),
        credentials=tuple(request.headers.getlist("authorization")),
    )


def caller_of(request: Request, access: Access) -> Caller:
    """Who a request comes from."""
    return caller(access, peer_of(request, access))


def at_our_name(request: Request, access: Access) -> bool:
    """Whether a request names this console as its host."""
    return reaches(access, tuple(request.headers.getlist("host")))


def check_host(request: Request, access: Access) -> None:
    """Turn away what was sent to a name that is not ours: a page of another site may have been bound to it."""
    if not at_our_name(request, access):
        raise ProblemError(
            421,
            "The console does not answer to this host name. Use localhost, or add the name to hosts in [console].",
            "Not our host name",
        )


def check_gate(gate: Gate, to: str) -> None:
    """Turn away a caller for whom the gate is not open; `to` is what it leads to."""
    match gate:
        case Gate.OPEN:
            return
        case Gate.PASSWORD:
            raise ProblemError(401, f"Log in {to}.", "Who are you?", _LOGIN)
        case Gate.CLOSED:
            raise ProblemError(403, f"This is not open to you: {_OPENS}.", "Not open to you")


_OPENS = "use the machine that rungwatch runs on, or have your name added to [console]"


def _utf8(value: str) -> str:
    """A header's value, which Starlette reads as Latin-1, as the UTF-8 that it may be."""
    try:
        return value.encode("latin-1").decode()
    except ValueError:
        return value
