"""Effect: a recorded command run without a shell, and how it ended, as a receipt may tell it (design 4.8)."""

import errno
import os
import re
import signal
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from decide.handoff.act import ActEnd
from decide.rungs import process
from decide.rungs.environment import passed
from decide.rungs.process import GRACE_S, Finished
from decide.rungs.redact import without_secrets

SAID_LIMIT = 64 * 1024
"""How much of what a command says is looked at, in bytes: the last of it."""
OUTPUT_KEPT = 4000
"""How much of that is kept, in characters: the last of it."""
_FIRST_WORD = re.compile(r"\A\S{0,4096}")

Effect = Callable[[Sequence[str], float], Coroutine[Any, Any, ActEnd]]
"""What runs words as a program for at most so many seconds."""


def runner(environ: Mapping[str, str], *, cwd: Path | None = None, grace_s: float = GRACE_S) -> Effect:
    """What runs commands, in the folder `cwd` or this process's own; `environ` is that of this process.

    A command gets the part of it that every client gets, and nothing to read. When it ends, takes too long or the
    caller gives up, nothing that it started is left running.
    """
    environment = passed(environ)

    async def run(words: Sequence[str], timeout_s: float) -> ActEnd:
        done = await process.run(
            words,
            environ=environment,
            stdin=None,
            limit=SAID_LIMIT,
            last=True,
            cwd=cwd,
            within_s=timeout_s,
            grace_s=grace_s,
        )
        return end_of(done, words[0], timeout_s)

    return run


def end_of(done: Finished, program: str, timeout_s: float) -> ActEnd:
    """How a command ended: done with status 0, and with every other end why it is not."""
    output = said(done)
    if done.errno:
        return ActEnd(False, None, output, _not_started(done.errno, program))
    if done.timed_out:
        return ActEnd(False, None, output, f"timed out after {_span(timeout_s)}")
    if done.code is None:
        return ActEnd(False, None, output, "could not be ended")
    if done.code < 0:
        return ActEnd(False, None, output, f"ended by {_signal(-done.code)}")
    return ActEnd(done.code == 0, done.code, output, f"exit status {done.code}" if done.code else "")


def said(done: Finished) -> str:
    """The end of what a command said, its errors last: at most 4,000 characters, plain text without secrets."""
    parts = [_plain(done.stdout, SAID_LIMIT), _plain(done.stderr, process.ERRORS_KEPT)]
    return without_secrets("\n".join(part for part in parts if part))[-OUTPUT_KEPT:]


def _plain(content: bytes, limit: int) -> str:
    """Bytes as text that a page or a terminal shows as it is: no control character but line ends and tabs."""
    text = content.decode(errors="replace").replace("\r\n", "\n")
    if len(content) >= limit:
        # the first word may be the end of one whose beginning would have shown that it is a secret
        text = _FIRST_WORD.sub("", text)
    return "".join(sign for sign in text if sign.isprintable() or sign in "\n\t").strip()


def _not_started(number: int, program: str) -> str:
    if number == errno.ENOENT:
        return f"not found: {program}"
    return f"not started: {program}" + (f": {os.strerror(number)}" if number > 0 else "")


def _signal(number: int) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


def _span(seconds: float) -> str:
    """A span as it is written in the configuration: whole minutes in m, else seconds in s."""
    return f"{seconds / 60:g} m" if seconds >= 60 and seconds % 60 == 0 else f"{seconds:g} s"
