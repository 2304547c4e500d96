"""Reading small files of other programs: read-only, bounded, regular files only, never in the way of the writer."""

import json
import os
import stat
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from canary.offload import Offload
from decide.reason import Reason

LIMIT = 4 * 1024 * 1024
"""The largest file that is read, in bytes."""
REREADS_S = (0.1, 0.3)
"""Pauses before a broken document is read again: vendors write by truncate and write (formats 3.1)."""


@dataclass(frozen=True, slots=True)
class FileFault:
    """Why a file gave no document; `text` names the file and the remedy, and holds nothing of its content."""

    reason: Reason
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object as read, with the file's modification time (aware UTC)."""

    value: dict[str, Any]
    modified_at: datetime


Sleep = Callable[[float], Awaitable[None]]


def read_bytes(path: Path, *, limit: int = LIMIT) -> tuple[bytes, datetime] | FileFault:
    """The content of a regular file of at most `limit` bytes and its modification time; follows symbolic links.

    A link that points nowhere is unreadable, not missing: something was meant to be there.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        if path.is_symlink():
            return FileFault(Reason.UNREADABLE, f"{path} is a link to a file that does not exist")
        return FileFault(Reason.MISSING, f"{path} does not exist")
    except PermissionError:
        return FileFault(
            Reason.UNREADABLE, f"no permission to read {path}: it must belong to this user with mode 0600"
        )
    except (OSError, ValueError) as error:
        return FileFault(Reason.UNREADABLE, f"cannot open {path}: {_named(error)}")
    try:
        return _read_regular(handle, path, limit)
    except OSError as error:
        return FileFault(Reason.UNREADABLE, f"cannot read {path}: {_named(error)}")
    finally:
        os.close(handle)


def _read_regular(handle: int, path: Path, limit: int) -> tuple[bytes, datetime] | FileFault:
    facts = os.fstat(handle)
    if not stat.S_ISREG(facts.st_mode):
        return FileFault(Reason.UNREADABLE, f"{path} is not a regular file")
    if facts.st_size > limit:
        return FileFault(Reason.TOO_LARGE, f"{path} is larger than {limit} bytes")
    content = bytearray()
    while len(content) <= limit and (piece := os.read(handle, limit + 1 - len(content))):
        content += piece
    if len(content) > limit:
        return FileFault(Reason.TOO_LARGE, f"{path} is larger than {limit} bytes")
    return bytes(content), datetime.fromtimestamp(facts.st_mtime, UTC)


def parse_object(content: bytes | str, *, bom: bool = True) -> dict[str, Any] | None:
    """The JSON object in `content`, with or, if `bom`, without a byte-order mark; None when it is not one.

    NaN and Infinity are no JSON, and no vendor's client reads a file that holds them. Half a surrogate pair, which no
    file or page can carry, becomes a question mark.
    """
    try:
        text = content.decode() if isinstance(content, bytes) else content
        value = json.loads(text.removeprefix("\ufeff") if bom else text, parse_constant=_no_number)
        if "\\ud" in text or "\\uD" in text:
            value = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


async def read_object(path: Path, *, sleep: Sleep, offload: Offload, bom: bool = True) -> Document | FileFault:
    """The JSON object in a file; one that does not parse is read twice more within half a second."""
    return (await read_objects({path: bom}, sleep=sleep, offload=offload))[0]


async def read_objects(paths: Mapping[Path, bool], *, sleep: Sleep, offload: Offload) -> list[Document | FileFault]:
    """The JSON objects in several files, read together; the value of each path says whether a byte-order mark may be.

    All are read again, twice more within half a second, while one of them does not parse.
    """
    found: list[Document | FileFault] = []
    for pause in (*REREADS_S, None):
        raw = await offload(lambda: [read_bytes(path) for path in paths])
        found = [_document(path, one, bom) for (path, bom), one in zip(paths.items(), raw, strict=True)]
        broken = any(isinstance(one, FileFault) and one.reason is Reason.MALFORMED for one in found)
        if not broken or pause is None:
            break
        await sleep(pause)
    return found


def _document(path: Path, raw: tuple[bytes, datetime] | FileFault, bom: bool) -> Document | FileFault:
    if isinstance(raw, FileFault):
        return raw
    value = parse_object(raw[0], bom=bom)
    if value is None:
        return FileFault(Reason.MALFORMED, f"{path} does not hold a JSON object")
    return Document(value, raw[1])


def _named(error: Exception) -> str:
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else type(error).__name__
