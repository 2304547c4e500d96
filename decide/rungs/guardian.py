"""guardian: a program of its own that ends what another one has started, once that one is gone however it went.

It reads lines from a pipe that only its principal holds open: "MARK 0" before a program with that mark is started,
"MARK GROUP" when its process group is known, "MARK -" when all of it has ended. At the end of the pipe it ends what
is left: the groups, and whatever carries a mark in its environment, also in a session of its own (Linux alone tells).
"""

import os
import signal
import sys
import time
from collections.abc import Collection, Mapping
from contextlib import suppress

NAME = "RUNGWATCH_CALL"
"""The variable by which everything that a call has started is known; children inherit it."""
GRACE_S = 2.0
POLL_S = 0.02


def carries(pid: int, marks: Collection[str]) -> bool:
    """Whether a process was given one of the marks; the dead carry none."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            given = file.read().split(b"\0")
    except OSError:
        return False
    return any(f"{NAME}={mark}".encode() in given for mark in marks)


def marked(marks: Collection[str]) -> list[int]:
    """The processes of this machine that carry one of the marks; none where the system does not tell."""
    if not marks:
        return []
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    return [int(name) for name in names if name.isdecimal() and carries(int(name), marks)]


def signal_each(pids: Collection[int], number: int) -> None:
    """Send a signal to processes, those that have ended meanwhile aside."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def signal_group(group: int, number: int) -> bool:
    """Whether there is still such a process group, after sending it a signal (0: none)."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
        return True
    return False


def listen(pipe: int) -> dict[str, int]:
    """What is still running when the pipe ends: the group of each mark, 0 where it was never told."""
    running, rest = dict[str, int](), b""
    while piece := os.read(pipe, 4096):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            mark, _, group = line.decode("ascii", "replace").partition(" ")
            if group.isdecimal():
                running[mark] = int(group)
            else:
                running.pop(mark, None)
    return running


def end(running: Mapping[str, int]) -> None:
    """End everything of these marks: told to at first, killed when the grace is over."""
    _signal(running, signal.SIGTERM)
    _wait(running, 0)
    _signal(running, signal.SIGKILL)
    # One that was just being born when the others were killed is found at the next look.
    _wait(running, signal.SIGKILL)


def _signal(running: Mapping[str, int], number: int) -> bool:
    """Whether anything is left, after sending it a signal; where marks are told, the unreaped dead do not count."""
    strays = marked(running)
    signal_each(strays, number)
    groups = [group for group in running.values() if group > 1 and signal_group(group, number)]
    return bool(strays if os.path.exists("/proc/self/environ") else groups)


def _wait(running: Mapping[str, int], again: int) -> None:
    """Wait until nothing is left, as long as the grace, the signal repeated at every look."""
    until = time.monotonic() + GRACE_S
    while _signal(running, again) and time.monotonic() < until:
        time.sleep(POLL_S)


if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    end(listen(sys.stdin.fileno()))
