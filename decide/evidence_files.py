"""Files: a path or the files of a pattern, read as bytes; regular files only, and none of the kernel's own."""

import glob
import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from decide.evidence_read import Bytes, Refused

KERNEL = ("/proc", "/sys", "/dev")
"""Where files are windows into the machine, not documents."""


def read(path: Path, limit: int) -> tuple[Path, Bytes]:
    """At most `limit` bytes of a regular file, with where it really lies; symbolic links are followed. Raises
    Refused.
    """
    try:
        whole = path.resolve(strict=True)
        _refuse_kernel(whole)
        # not blocking: a pipe without a writer would hold the open for ever
        handle = os.open(whole, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError, RuntimeError) as error:
        raise Refused(_why(error)) from error
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise Refused("is no regular file; name a file, or a glob for the files of a folder")
        content = b"".join(_pieces(handle, limit + 1))
    except OSError as error:
        raise Refused(_why(error)) from error
    finally:
        os.close(handle)
    size = max(found.st_size, len(content))
    return whole, Bytes(content[:limit], size, cut=len(content) > limit)


def _pieces(handle: int, limit: int) -> Iterator[bytes]:
    left = limit
    while left > 0 and (piece := os.read(handle, left)):
        left -= len(piece)
        yield piece


def matches(pattern: str, folder: Path, limit: int) -> list[tuple[str, Path]]:
    """The regular files that a pattern names and where they really lie, each once, in the order of their names.

    Hidden files match only where the pattern says so.
    Raises Refused for none, and for more than `limit`.
    """
    found: dict[Path, str] = {}
    places = glob.iglob(pattern, root_dir=folder, recursive=True)
    for place in islice(places, limit * 100):
        path = folder / place
        if not _readable(path):
            continue
        whole = path.resolve()
        found[whole] = min(found.get(whole, place), place)
        if len(found) > limit:
            raise Refused(f"matches more than {limit} files; narrow the pattern")
    if next(places, None) is not None:
        raise Refused(f"matches more than {limit * 100} places; narrow the pattern")
    if not found:
        raise Refused(f"matches no file in {folder}; `**` goes through folders, hidden files are to be named")
    return sorted((name, path) for path, name in found.items())


def _readable(path: Path) -> bool:
    """Whether it is a regular file, and none of the kernel's."""
    try:
        whole = path.resolve(strict=True)
        _refuse_kernel(whole)
        return stat.S_ISREG(whole.stat().st_mode)
    except (OSError, ValueError, RuntimeError, Refused):
        return False


def _refuse_kernel(path: Path) -> None:
    if any(path.is_relative_to(folder) for folder in KERNEL):
        raise Refused(f"lies in {', '.join(KERNEL[:-1])} or {KERNEL[-1]}, which hold no documents")


def _why(error: Exception) -> str:
    return f"cannot be read: {error.strerror if isinstance(error, OSError) and error.strerror else error}"
