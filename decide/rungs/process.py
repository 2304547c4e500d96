"""process: another program run whole: bounded in what it says, and gone with all its children when it is given up."""

import asyncio
import secrets
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from decide.rungs.guardian import NAME, carries, marked, signal_each, signal_group
from decide.rungs.warden import WARDEN, Warden
from decide.tasks import whole

POLL_S = 0.02
"""How often it is looked whether a process group has ended, in seconds."""
GRACE_S = 1.5
"""How long a program that is told to end may take, in seconds, before it is killed."""
KILLED_S = 1.0
"""How long the end of a killed program and of its output is waited for, in seconds; the kernel may hold it longer."""
GONE_S = 0.2
"""How long the end of its killed children is waited for, in seconds: they cannot refuse, and need a moment."""
ERRORS_KEPT = 64 * 1024
"""How much of a program's errors is kept, in bytes: the last of them, which tell how it ended."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended. `code` is its exit status, negative for a signal, None when it could not be started
    (`errno` says why) or not be ended.

    `stdout` is what it said, at most the limit; `truncated` when it said more, and was ended for it. `stderr` is the
    end of its errors, of `stderr_length` bytes in all. `timed_out`: it was ended for taking too long.
    """

    code: int | None
    stdout: bytes = field(default=b"", repr=False)
    stderr: bytes = field(default=b"", repr=False)
    stderr_length: int = 0
    truncated: bool = False
    timed_out: bool = False
    errno: int = 0


async def run(
    words: Sequence[str],
    *,
    environ: Mapping[str, str],
    stdin: bytes | None,
    limit: int,
    last: bool = False,
    cwd: Path | None = None,
    within_s: float | None = None,
    grace_s: float = GRACE_S,
    warden: Warden = WARDEN,
) -> Finished:
    """Run a program in a session of its own until it ends, says more than `limit` bytes, takes longer than
    `within_s`, or the caller gives up.

    With `last` one that says more goes on, and the last `limit` bytes of it are kept.

    No shell; `environ` is all of its environment but for a mark, and without `stdin` it reads nothing. Whatever is
    left of its process group, or carries its mark elsewhere (on Linux), is told to end, and killed `grace_s` later,
    before this returns or passes a cancellation on. Should this process be killed, its guardian does the same.
    """
    mark, watch = secrets.token_hex(8), _Watch(limit, last=last)
    warden.begins(mark)
    try:
        transport, cancelled = await whole(_start(watch, words, {**environ, NAME: mark}, stdin, cwd))
        if isinstance(transport, int):
            return Finished(None, errno=transport)
        try:
            if cancelled:
                raise asyncio.CancelledError
            warden.leads(mark, transport.get_pid())
            if stdin is not None:
                _feed(transport, stdin)
            ways = {watch.exited, watch.overflowed}
            done, _ = await asyncio.wait(ways, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            _, cancelled = await whole(_end(transport, watch, mark, grace_s))
            if cancelled:
                raise asyncio.CancelledError
    finally:
        warden.ends(mark)
    return Finished(
        transport.get_returncode(),
        bytes(watch.stdout),
        bytes(watch.stderr),
        watch.stderr_length,
        truncated=watch.overflowed.done(),
        timed_out=not done,
    )


async def _start(
    watch: "_Watch", words: Sequence[str], environ: Mapping[str, str], stdin: bytes | None, cwd: Path | None
) -> asyncio.SubprocessTransport | int:
    """The running program, or the number of the error for which there is none."""
    try:
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: watch,
            *words,
            stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(environ),
            cwd=cwd,
            start_new_session=True,
        )
    except OSError as error:
        return error.errno or -1
    except ValueError:
        return -1
    return transport


class _Watch(asyncio.SubprocessProtocol):
    """What a child says and when it ends, as the event loop tells it."""

    def __init__(self, limit: int, *, last: bool) -> None:
        loop = asyncio.get_running_loop()
        self.limit = limit
        self.last = last
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.stderr_length = 0
        self.exited: asyncio.Future[None] = loop.create_future()
        self.overflowed: asyncio.Future[None] = loop.create_future()
        self.closed = {1: loop.create_future(), 2: loop.create_future()}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.stderr_length += len(data)
            self.stderr += data
            del self.stderr[:-ERRORS_KEPT]
            return
        if self.last:
            self.stdout += data
            del self.stdout[: -self.limit]
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


async def _end(transport: asyncio.SubprocessTransport, watch: _Watch, mark: str, grace_s: float) -> None:
    """End the group and what has left it, reap the child, take in what was said to the end."""
    group = transport.get_pid()
    alive = signal_group(group, signal.SIGTERM)
    strays = await _marked(mark)
    signal_each(strays, signal.SIGTERM)
    if alive or strays:
        await _ended(group, strays, mark, grace_s)
        signal_group(group, signal.SIGKILL)
    if alive or strays:
        await _kill_strays(mark)
    await asyncio.wait({watch.exited, *watch.closed.values()}, timeout=KILLED_S)
    await _ended(group, strays, mark, GONE_S)
    transport.close()


async def _marked(mark: str) -> list[int]:
    """The processes with that mark; looked up elsewhere, for a machine may have thousands."""
    return await asyncio.to_thread(marked, (mark,))


async def _kill_strays(mark: str) -> None:
    """Kill what carries the mark until nothing does: one may be born while the others die."""
    for _ in range(int(KILLED_S / POLL_S)):
        strays = await _marked(mark)
        if not strays:
            return
        signal_each(strays, signal.SIGKILL)
        await asyncio.sleep(POLL_S)


async def _ended(group: int, strays: Sequence[int], mark: str, within_s: float) -> None:
    """Wait until a process group is empty and its strays are gone, as long as that; the dead that nobody reaps stay
    in their group.
    """
    for _ in range(int(within_s / POLL_S)):
        if not signal_group(group, 0) and not any(carries(pid, (mark,)) for pid in strays):
            return
        await asyncio.sleep(POLL_S)
