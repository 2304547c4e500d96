"""Warden: this process's end of the pipe to its guardian, which ends our children should we be killed."""

import atexit
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from decide.rungs import guardian

LEAVING_S = 2.0
"""How long the guardian's own end is waited for; with nothing left to do it takes milliseconds."""


class Warden:
    """Tells one guardian what is running. It starts with the first program, and anew if somebody has ended it.

    What it cannot be told is lost without an error: programs run all the same, and are ended by whoever runs them.
    """

    def __init__(self) -> None:
        self._running: dict[str, int] = {}
        self._child: subprocess.Popen[bytes] | None = None
        self._pipe = -1

    @property
    def pid(self) -> int | None:
        """The guardian's process id, None while there is none."""
        return self._child.pid if self._child is not None else None

    def begins(self, mark: str) -> None:
        """A program with that mark is about to start."""
        self._told(mark, 0)

    def leads(self, mark: str, group: int) -> None:
        """The program leads that process group."""
        self._told(mark, group)

    def ends(self, mark: str) -> None:
        """Nothing of the program is left."""
        self._running.pop(mark, None)
        self._say(f"{mark} -\n")

    def close(self) -> None:
        """Let the guardian go; with programs still running it ends them first."""
        if self._child is None:
            return
        os.close(self._pipe)
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(LEAVING_S + 2 * guardian.GRACE_S * bool(self._running))
        self._child = None

    def _told(self, mark: str, group: int) -> None:
        self._running[mark] = group
        if self._child is None or self._child.poll() is not None:
            self._start()
        else:
            self._say(f"{mark} {group}\n")

    def _start(self) -> None:
        if self._child is not None:
            os.close(self._pipe)
            self._child = None
        reading, self._pipe = os.pipe()
        os.set_blocking(self._pipe, False)
        try:
            self._child = _started(reading)
        except OSError:
            os.close(self._pipe)
            return
        finally:
            os.close(reading)
        atexit.unregister(self.close)
        atexit.register(self.close)
        self._say("".join(f"{mark} {group}\n" for mark, group in self._running.items()))

    def _say(self, lines: str) -> None:
        if self._child is not None:
            with suppress(OSError):
                os.write(self._pipe, lines.encode())


def _started(pipe: int) -> subprocess.Popen[bytes]:
    """A guardian that reads from the pipe and holds nothing else of this process: no output, folder or variable."""
    program = Path(guardian.__file__)
    return subprocess.Popen(  # noqa: S603 - this interpreter, and a file of this package
        [sys.executable, "-I", "-S", str(program)],
        stdin=pipe,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={},
        start_new_session=True,
    )


WARDEN = Warden()
"""The one of this process: a guardian watches over a process, so that a second one would watch the same."""
