"""Read: the bytes of one source as they were read once, and the piece of evidence that they make."""

import codecs
import hashlib
from dataclasses import dataclass, field
from datetime import timedelta

from decide.snapshot import Evidence, Source

NAME_LENGTH = 400


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is read: bytes of one source and of all, files of one glob, time for one source.

    `allow_private`: URLs may lead to this machine and to addresses of a private network.
    """

    source_bytes: int = 256 * 1024
    total_bytes: int = 1024 * 1024
    files: int = 100
    within: timedelta = timedelta(seconds=20)
    allow_private: bool = False


class EvidenceError(Exception):
    """A source cannot be read: which one, why, and what would do (usage, exit 64)."""

    def __init__(self, source: Source, why: str) -> None:
        super().__init__(f"evidence {source.kind.value} {named(source.place)}: {why}")
        self.source = source
        self.why = why


class Refused(Exception):
    """Why a place cannot be read, and what would do; it becomes an EvidenceError where the source is known."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """What was read; `size` is the whole's, None where it is not known, and `cut` says that there was more."""

    content: bytes = field(repr=False)
    size: int | None = None
    cut: bool = False


def named(text: str) -> str:
    """A place as briefs and receipts call it: on one line, without a sign that does not print, not too long."""
    shown = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
    return shown if len(shown) <= NAME_LENGTH else f"{shown[: NAME_LENGTH - 1]}…"


def evidence(source: Source, name: str, found: Bytes) -> Evidence:
    """The piece that bytes make: tolerant UTF-8, a binary one told by size and digest only, a cut one noted."""
    content, notes = found.content, []
    if found.cut:
        whole = f" of {found.size}" if found.size is not None else ""
        notes.append(f"cut: the first {len(content)} bytes{whole}")
    if b"\0" in content:
        digest = hashlib.sha256(content).hexdigest()
        notes.insert(0, f"binary, not shown: {len(content)} bytes, sha256 {digest}")
        return Evidence(source.kind, named(name), "", "; ".join(notes))
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    text = decoder.decode(content, final=not found.cut)
    if "\ufffd" in text and b"\xef\xbf\xbd" not in content:
        notes.append("not all of it is UTF-8")
    return Evidence(source.kind, named(name), text, "; ".join(notes))
