"""A network of this run's own, with nothing in it but loopback, where the system gives one."""

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence

ISOLATED = "--isolated"
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1


def isolate(arguments: Sequence[str]) -> None:
    """Start this program anew in a network namespace of its own; returns only where that cannot be had."""
    unshare = shutil.which("unshare")
    if unshare is None or ISOLATED in arguments:
        return
    words = [unshare, "--map-root-user", "--net"]
    if subprocess.run([*words, "true"], capture_output=True).returncode == 0:
        os.execv(unshare, [*words, sys.executable, "-m", "tests.clients", *arguments, ISOLATED])  # noqa: S606 - this program, by itself


def bring_up_loopback() -> None:
    """Loopback is up in this namespace, where it is down at first."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))
