"""Running: the real commands as child processes, the loopback vendor beside them, and bounded waits."""

import asyncio
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import httpx

from canary.demo.provider import Provider
from canary.demo.provider import serve as answer
from tests.conftest import VARIABLES

T = TypeVar("T")

WITHIN_S = 60.0
"""The longest that anything is waited for."""
RUNGWATCH = (sys.executable, "-m", "tests.e2e.rungwatch")
ROOT = Path(__file__).parents[2]


def until(look: Callable[[], T], what: str, *, within_s: float = WITHIN_S) -> T:
    """What `look` gives as soon as it is true; fails when that does not happen in time."""
    deadline = time.monotonic() + within_s
    while not (found := look()):
        assert time.monotonic() < deadline, f"within {within_s:g} s there was no {what}; last seen: {found!r}"
        time.sleep(0.05)
    return found


def free_address() -> str:
    """An address of this machine on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def run(*arguments: str, home: Path, command: Sequence[str] = RUNGWATCH) -> subprocess.CompletedProcess[str]:
    """A command run to its end."""
    return subprocess.run(
        (*command, *arguments), env=_environ(home), cwd=ROOT, capture_output=True, text=True, timeout=WITHIN_S
    )


@contextmanager
def started(
    *arguments: str, home: Path, log: Path, command: Sequence[str] = RUNGWATCH
) -> Iterator[subprocess.Popen[str]]:
    """A command that runs until the block ends, writing what it says to a file."""
    with (
        log.open("w", encoding="utf-8") as said,
        subprocess.Popen(
            (*command, *arguments), env=_environ(home), cwd=ROOT, stdout=said, stderr=said, text=True
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def _environ(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return kept | {"HOME": str(home), "PYTHONUNBUFFERED": "1"}


@dataclass(frozen=True, slots=True)
class Served:
    """A running `rungwatch serve`: its process, base URL and log."""

    process: subprocess.Popen[str]
    base: str
    log: Path

    def said(self) -> str:
        """Everything that it has logged."""
        return self.log.read_text(encoding="utf-8")

    def ask(self, path: str) -> httpx.Response | None:
        """The answer to a GET; None while nobody listens."""
        try:
            return httpx.get(f"{self.base}{path}", trust_env=False, timeout=30)
        except httpx.TransportError:
            return None

    def answers(self, path: str) -> bool:
        """Whether it answers with 200; a process that has ended never will."""
        assert self.process.poll() is None, self.said()
        reply = self.ask(path)
        return reply is not None and reply.status_code == 200

    def page(self, path: str) -> str:
        """The text of a page that is there."""
        reply = self.ask(path)
        assert reply is not None
        assert reply.status_code == 200, reply.text
        return reply.text


@contextmanager
def serving(*options: str, home: Path, ready: str = "/-/ready") -> Iterator[Served]:
    """`rungwatch serve` with those options on a free port, once the named page is there."""
    address = free_address()
    log = home / f"serve-{address.rpartition(':')[2]}.log"
    with started("serve", "--listen", address, *options, home=home, log=log) as process:
        served = Served(process, f"http://{address}", log)
        until(lambda: served.answers(ready), f"{ready} of {process.args!r}")
        yield served


@contextmanager
def answering(provider: Provider) -> Iterator[str]:
    """The provider answers on the yielded base URL, from a thread of its own, until the block ends."""
    told: queue.Queue[tuple[str, Callable[[], object]]] = queue.Queue()

    async def stay() -> None:
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        async with answer(provider) as base:
            told.put((base, lambda: loop.call_soon_threadsafe(over.set)))
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(stay()), daemon=True)
    thread.start()
    base, end = told.get(timeout=WITHIN_S)
    try:
        yield base
    finally:
        end()
        thread.join(WITHIN_S)
