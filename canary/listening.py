"""Listening: the address that `serve` is given, bound before anything else of it begins."""

import socket

from canary.config_types import listen_address


class PortTakenError(Exception):
    """The address to listen on cannot be had; the text names it."""


def listen(address: str) -> socket.socket:
    """A bound socket for "HOST:PORT"; raises PortTakenError."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        listen_address(address)
        family = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0][0]
        bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, int(port)))
        bound.listen(128)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise PortTakenError(f"cannot listen on {address}: {why}; give another with --listen HOST:PORT") from error
    return bound
