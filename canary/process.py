"""process: another program run whole: bounded in what it says, and gone with all its children when it is given up."""

import asyncio
import os
import signal
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

POLL_S = 0.02
"""How often it is looked whether a process group has ended, in seconds."""
KILLED_S = 1.0
"""How long the end of a killed program and of its output is waited for, in seconds; the kernel may hold it longer."""
GONE_S = 0.2
"""How long the end of its killed children is waited for, in seconds: they cannot refuse, and need a moment."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended. `code` is its exit status, negative for a signal, None when it could not be started
    (or not be ended).

    `stdout` is what it said, at most the limit; `truncated` when it said more, and was ended for it.
    """

    code: int | None
    stdout: bytes = field(default=b"", repr=False)
    stderr_length: int = 0
    truncated: bool = False


async def run(
    words: Sequence[str],
    *,
    environ: Mapping[str, str],
    stdin: bytes | None,
    limit: int,
    grace_s: float = 2.0,
) -> Finished:
    """Run a program in a session of its own until it ends, says more than `limit` bytes, or the caller gives up.

    No shell; `environ` is all of its environment, and without `stdin` it reads nothing. Whatever is left of its
    process group is told to end, and killed `grace_s` later, before this returns or passes a cancellation on.
    """
    watch = _Watch(limit)
    try:
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: watch,
            *words,
            stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(environ),
            start_new_session=True,
        )
    except (OSError, ValueError):
        return Finished(None)
    try:
        if stdin is not None:
            _feed(transport, stdin)
        await asyncio.wait({watch.exited, watch.overflowed}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await _uninterrupted(_end(transport, watch, grace_s))
    truncated = watch.overflowed.done()
    return Finished(transport.get_returncode(), bytes(watch.stdout), watch.stderr_length, truncated)


class _Watch(asyncio.SubprocessProtocol):
    """What a child says and when it ends, as the event loop tells it."""

    def __init__(self, limit: int) -> None:
        loop = asyncio.get_running_loop()
        self.limit = limit
        self.stdout = bytearray()
        self.stderr_length = 0
        self.exited: asyncio.Future[None] = loop.create_future()
        self.overflowed: asyncio.Future[None] = loop.create_future()
        self.closed = {1: loop.create_future(), 2: loop.create_future()}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.stderr_length += len(data)
            return
        room = self.limit - len(self.stdout)
        self.stdout += data[:room]
        if len(data) > room and not self.overflowed.done():
            self.overflowed.set_result(None)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd in self.closed and not self.closed[fd].done():
            self.closed[fd].set_result(None)

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)


def _feed(transport: asyncio.SubprocessTransport, content: bytes) -> None:
    pipe = transport.get_pipe_transport(0)
    if isinstance(pipe, asyncio.WriteTransport):
        pipe.write(content)
        pipe.close()


async def _end(transport: asyncio.SubprocessTransport, watch: _Watch, grace_s: float) -> None:
    """End the group, reap the child, take in what was said to the end."""
    group = transport.get_pid()
    try:
        if _signalled(group, signal.SIGTERM):
            await _ended(group, grace_s)
    finally:
        _signalled(group, signal.SIGKILL)
    await asyncio.wait({watch.exited, *watch.closed.values()}, timeout=KILLED_S)
    await _ended(group, GONE_S)
    transport.close()


async def _ended(group: int, within_s: float) -> None:
    """Wait until a process group is empty, as long as that; the dead that nobody reaps stay in it."""
    for _ in range(int(within_s / POLL_S)):
        if not _signalled(group, 0):
            return
        await asyncio.sleep(POLL_S)


def _signalled(group: int, number: int) -> bool:
    """Whether there is still such a process group, after sending it a signal (0: none)."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
        return True
    return False


async def _uninterrupted(ending: Coroutine[Any, Any, None]) -> None:
    """Wait for an ending whatever happens, then pass on the cancellation that came meanwhile."""
    task, cancelled = asyncio.ensure_future(ending), False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError
