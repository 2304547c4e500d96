"""Mutations: JSON as a broken writer, a new version or a half-written file would leave it; one a copy, or several.

Nothing is ever re-typed to null, which means absent in every format that is read here.
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from decide.quota import Reading
from decide.seat import Seat, SeatState, Token, TokenState, judge_seat
from tests.canary.fakes import NOW

STAND_INS: tuple[Any, ...] = (True, False, 0, 7, 0.5, -1, "", "x", "0", "12.5", [], [1], {}, {"x": 1})
ALTERNATIVES: dict[str | int, set[str]] = {
    "balance": {"str", "number"},  # formats 4.2
    "used": {"dict", "number"},  # formats 2.2: plain, or with its currency
    "limit": {"dict", "number"},
}
"""Fields that have more than one type in their formats: one of the other types is no mutation."""
Path = tuple[str | int, ...]
Mutant = tuple[str, Any]


def kind(value: Any) -> str:
    """The JSON type of a value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return type(value).__name__


def nodes(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value inside a document with its path, the document itself left out."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inner:
        yield (*path, key), child
        yield from nodes(child, (*path, key))


def at(document: Any, path: Path) -> Any:
    """The value at a path."""
    for key in path:
        document = document[key]
    return document


def replaced(document: Any, path: Path, value: Any) -> Any:
    """A copy with another value at a path; the empty path is the document itself."""
    if not path:
        return deepcopy(value)
    copy = deepcopy(document)
    at(copy, path[:-1])[path[-1]] = deepcopy(value)
    return copy


def others(path: Path, value: Any) -> list[Any]:
    """What a value that is not null can be re-typed to."""
    own = {kind(value)}
    own = ALTERNATIVES.get(path[-1], own) if own <= ALTERNATIVES.get(path[-1], set()) else own
    return [stand_in for stand_in in STAND_INS if value is not None and kind(stand_in) not in own]


def retyped(document: Any) -> Iterator[Mutant]:
    """Every value that is not null, replaced by one of every other type."""
    for path, value in nodes(document):
        for stand_in in others(path, value):
            yield f"{named(path)} = {stand_in!r}", replaced(document, path, stand_in)


def containers(document: Any) -> list[Path]:
    """The paths of every object and list that has something in it, the document's own among them."""
    return [path for path, value in (((), document), *nodes(document)) if isinstance(value, dict | list) and value]


def turned(document: Any, path: Path) -> Any:
    """A copy with the object or list at a path turned round."""
    value = at(document, path)
    return replaced(document, path, dict(reversed(value.items())) if isinstance(value, dict) else value[::-1])


def reordered(document: Any) -> Iterator[Mutant]:
    """Every object and list turned round."""
    for path in containers(document):
        yield f"{named(path)} turned round", turned(document, path)


def extended(document: Any) -> Iterator[Mutant]:
    """Every object with a key that no version knows, of every type."""
    for path in containers(document):
        if isinstance(at(document, path), dict):
            for extra in (*STAND_INS, None, {"nested": {"percent": 0}}):
                yield f"{named(path)} with {extra!r}", replaced(document, (*path, "zz_unknown"), extra)


def named(path: Path) -> str:
    """A path as a test shows it."""
    return ".".join(map(str, path)) or "document"


def mutants(document: Any) -> Iterator[Mutant]:
    """Every copy that one mutation makes."""
    yield from retyped(document)
    yield from reordered(document)
    yield from extended(document)


def truncated(text: str) -> Iterator[str]:
    """Every beginning of a text."""
    return (text[:length] for length in range(len(text)))


@st.composite
def mutated(draw: st.DrawFn, document: Any) -> Any:
    """A copy with up to three values re-typed, up to two unknown keys, and an object or list turned round.

    No value is re-typed twice: that could bring its own type back without its content, which is another document.
    """
    places = [path for path, value in nodes(document) if others(path, value)]
    chosen = draw(st.lists(st.sampled_from(places), max_size=3, unique=True))
    for path in sorted(chosen, key=len, reverse=True):  # the inner first, so that every path still leads somewhere
        document = replaced(document, path, draw(st.sampled_from(others(path, at(document, path)))))
    for path in draw(st.lists(st.sampled_from(containers(document)), max_size=2)):
        if isinstance(at(document, path), dict):
            document = replaced(document, (*path, "zz_unknown"), draw(st.sampled_from(STAND_INS)))
    return turned(document, draw(st.sampled_from(containers(document))))


SCOPES: tuple[tuple[str, ...], ...] = ((), ("Fable",))


def availabilities(reading: Reading | None) -> list[bool]:
    """Whether a live seat with this reading is available, for each way in which a rung can be configured."""
    return [
        judge_seat(
            Seat(
                "seat",
                Token(TokenState.LIVE),
                readings=(reading,) if reading is not None else (),
                scopes=scopes,
                allow_overage=overage,
            ),
            now=NOW,
        ).state
        is SeatState.AVAILABLE
        for scopes in SCOPES
        for overage in (False, True)
    ]


def gained(before: list[bool], after: Reading | None) -> bool:
    """Whether a seat is available with this reading where it was not before."""
    return any(now and not then for then, now in zip(before, availabilities(after), strict=True))


def text_of(document: Any) -> str:
    """A document as its writer would write it."""
    return json.dumps(document)
