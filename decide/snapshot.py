"""Snapshot: the evidence of a question, frozen before either rung is asked, and the digest of exactly those bytes."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property


class SourceKind(StrEnum):
    """Where a piece of evidence comes from (design 4.7)."""

    TEXT = "text"
    FILE = "file"
    GLOB = "glob"
    GIT = "git"
    URL = "url"


@dataclass(frozen=True, slots=True)
class Source:
    """A piece of evidence to read: `place` is the text itself, a path, a pattern, `REV:PATH` or a URL."""

    kind: SourceKind
    place: str


@dataclass(frozen=True)
class Evidence:
    """One piece as read: `name` is how briefs and receipts call it; `note` says what is missing from its text."""

    kind: SourceKind
    name: str
    text: str = field(repr=False)
    note: str = ""

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the text."""
        return _digest(self.text)


@dataclass(frozen=True)
class Snapshot:
    """All evidence of a question, in the order that the question names it."""

    items: tuple[Evidence, ...] = ()

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of a canonical form: kind, name, note and text digest of each piece, in order (design 4.7)."""
        rows = [[item.kind.value, item.name, item.note, item.digest] for item in self.items]
        return _digest(json.dumps(rows, ensure_ascii=True, separators=(",", ":")))


@dataclass(frozen=True, slots=True)
class Cut:
    """What a level's budget took from a piece of evidence, in characters."""

    name: str
    kept: int
    of: int


def cut(snapshot: Snapshot, budget: int | None) -> tuple[tuple[Evidence, ...], tuple[Cut, ...]]:
    """The evidence as a brief may carry it within `budget` characters, shared evenly, and what that took away."""
    if budget is None or sum(len(item.text) for item in snapshot.items) <= budget:
        return snapshot.items, ()
    shares = _shares([len(item.text) for item in snapshot.items], budget)
    pairs = list(zip(snapshot.items, shares, strict=True))
    kept = tuple(replace(item, text=item.text[:share]) for item, share in pairs)
    return kept, tuple(Cut(i.name, share, len(i.text)) for i, share in pairs if share < len(i.text))


def _shares(lengths: list[int], budget: int) -> list[int]:
    """How many characters each piece may keep: an even share, what short pieces leave going to the others."""
    shares, left = [0] * len(lengths), budget
    by_length = sorted(range(len(lengths)), key=lengths.__getitem__)
    for place, index in enumerate(by_length):
        shares[index] = min(lengths[index], left // (len(lengths) - place))
        left -= shares[index]
    return shares


def dump(snapshot: Snapshot) -> str:
    """The snapshot as JSON text, from which `load` makes an equal one."""
    rows = [{"kind": i.kind.value, "name": i.name, "text": i.text, "note": i.note} for i in snapshot.items]
    return json.dumps(rows, ensure_ascii=True)


def load(text: str) -> Snapshot:
    """The snapshot of a text that `dump` made; raises ValueError for another."""
    try:
        rows: Iterable[dict[str, str]] = json.loads(text)
        return Snapshot(tuple(Evidence(SourceKind(r["kind"]), r["name"], r["text"], r["note"]) for r in rows))
    except (TypeError, KeyError) as error:
        raise ValueError(f"this is no snapshot: {text[:80]!r}") from error


def _digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
