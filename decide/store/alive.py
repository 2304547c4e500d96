"""Alive: whether the process that holds a claim still runs."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Process:
    """A process: `started` tells it from a later one with its number, and is empty where the system does not say."""

    host: str
    pid: int
    started: str = ""


def process(host: str, pid: int) -> Process:
    """The process of that number on this host, `host` being what this host is called."""
    return Process(host, pid, _started(pid))


def alive(one: Process, *, here: str) -> bool | None:
    """Whether a process runs; None for one of another host, of which nothing is known."""
    if one.host != here:
        return None
    try:
        os.kill(one.pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    now = _started(one.pid)
    return now != "ended" and (not one.started or not now or now == one.started)


def _started(pid: int) -> str:
    """When a process started, in ticks of which boot; "ended" for one that only waits to be reaped."""
    with suppress(OSError, IndexError, UnicodeDecodeError):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        if fields[0] in ("Z", "X"):
            return "ended"
        return f"{_BOOT.read_text(encoding='ascii').strip()[:8]}-{fields[19]}"
    return ""
