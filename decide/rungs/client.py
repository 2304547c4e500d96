"""Client: what the vendors' programs have in common: how one is run, its lines read, and its failing to end told."""

import errno
import os
from collections.abc import Awaitable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from decide.reply import Failure, Reply, Trouble
from decide.rungs import wire
from decide.rungs.process import Finished
from decide.rungs.redact import one_line

LIMIT = 16 * 1024 * 1024
"""The most that a client may say, in bytes."""
Event = Mapping[str, Any]

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ENOEXEC})


class Run(Protocol):
    """How a program is run; `decide.rungs.process.run` is one."""

    def __call__(
        self,
        words: list[str],
        *,
        environ: Mapping[str, str],
        stdin: bytes | None,
        limit: int,
        cwd: Path | None,
        within_s: float | None,
    ) -> Awaitable[Finished]:
        """How the program ended."""


def events(output: bytes) -> Iterator[Event]:
    """The events in an output of lines, whatever else is printed between them."""
    for line in output.removeprefix(b"\xef\xbb\xbf").splitlines():
        event = wire.document(line) if line.lstrip().startswith(b"{") else None
        if event is not None and isinstance(event.get("type"), str):
            yield event


def ended(done: Finished, *, secret: str | None = None, last: str = "") -> Reply | None:
    """The reply of a client that never came to its end by itself; None for one that did, however it ended.

    `last` is what it said last of its troubles.
    """
    if done.timed_out:
        told = f"no answer in time; the client's last word: {last}" if last else "no answer in time"
        return _failed(Failure.TIMEOUT, one_line(told, [secret]))
    if done.truncated:
        return _failed(Failure.CLIENT_ERROR, f"the client said more than {len(done.stdout)} bytes")
    if done.code is not None:
        return None
    if done.errno in _ABSENT:
        return _failed(Failure.NOT_INSTALLED, "the client is not there, or no program", billed=False)
    if done.errno:
        told = os.strerror(done.errno) if done.errno > 0 else "its command line holds what none can"
        return _failed(Failure.CLIENT_ERROR, f"the client could not be started: {told}", billed=False)
    return _failed(Failure.CLIENT_ERROR, "the client could not be ended")


def _failed(failure: Failure, detail: str, *, billed: bool = True) -> Reply:
    return Reply(trouble=Trouble(failure, detail=detail, billed=billed))


def last_line(errors: bytes) -> str:
    """The line of a program's errors that says why it ended: the last that names an error, else the last."""
    lines = [line.strip() for line in errors.decode(errors="replace").splitlines() if line.strip()]
    named = [line for line in lines if line.casefold().startswith("error")]
    return (named or lines or [""])[-1]
