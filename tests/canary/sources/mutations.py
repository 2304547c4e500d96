"""Mutations: JSON as a broken writer, a new version or a half-written file would leave it; one a copy, or several.

Nothing is ever re-typed to null, which means absent in every format that is read here.
"""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from decide.quota import Reading
from decide.seat import Seat, SeatState, Token, TokenState, judge_seat
from tests.canary.fakes import NOW

STAND_INS: tuple[Any, ...] = (True, False, 0, 7, 0.5, -1, "", "x", "0", "12.5", [], [1], {}, {"x": 1})
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
    """A copy with another value at a path."""
    copy = deepcopy(document)
    at(copy, path[:-1])[path[-1]] = deepcopy(value)
    return copy


def retyped(document: Any) -> Iterator[Mutant]:
    """Every value that is not null, replaced by one of every other type."""
    for path, value in nodes(document):
        for stand_in in STAND_INS if value is not None else ():
            if kind(stand_in) != kind(value):
                yield f"{'.'.join(map(str, path))} = {stand_in!r}", replaced(document, path, stand_in)


def reordered(document: Any) -> Iterator[Mutant]:
    """Every object and list turned round."""
    for path, value in (((), document), *nodes(document)):
        if isinstance(value, dict | list) and len(value) > 1:
            turned = dict(reversed(value.items())) if isinstance(value, dict) else value[::-1]
            copy = replaced({"": document}, ("", *path), turned)[""]
            yield f"{'.'.join(map(str, path)) or 'document'} turned round", copy


def extended(document: Any) -> Iterator[Mutant]:
    """Every object with a key that no version knows, of every type."""
    for path, value in (((), document), *nodes(document)):
        if isinstance(value, dict):
            for extra in (*STAND_INS, None, {"nested": {"percent": 0}}):
                copy = replaced({"": document}, ("", *path), {**value, "zz_unknown": extra})[""]
                yield f"{'.'.join(map(str, path)) or 'document'} with {extra!r}", copy


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
    """A copy with one to four mutations, one after another."""
    for _ in range(draw(st.integers(1, 4))):
        mutate = draw(st.sampled_from((_retype, _turn, _extend)))
        document = mutate(draw, document)
    return document


def _place(draw: st.DrawFn, document: Any, suits: Callable[[Any], bool]) -> Path | None:
    places = [path for path, value in nodes(document) if suits(value)]
    return draw(st.sampled_from(places)) if places else None


def _retype(draw: st.DrawFn, document: Any) -> Any:
    path = _place(draw, document, lambda value: value is not None)
    if path is None:
        return document
    others = [value for value in STAND_INS if kind(value) != kind(at(document, path))]
    return replaced(document, path, draw(st.sampled_from(others)))


def _turn(draw: st.DrawFn, document: Any) -> Any:
    path = _place(draw, document, lambda value: isinstance(value, dict | list))
    if path is None:
        return document
    value = at(document, path)
    items = draw(st.permutations(list(value.items() if isinstance(value, dict) else value)))
    return replaced(document, path, dict(items) if isinstance(value, dict) else items)


def _extend(draw: st.DrawFn, document: Any) -> Any:
    path = _place(draw, document, lambda value: isinstance(value, dict))
    if path is None:
        return document
    return replaced(document, path, {**at(document, path), "zz_unknown": draw(st.sampled_from(STAND_INS))})


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


def gained(before: Reading | None, after: Reading | None) -> bool:
    """Whether a seat is available with the second reading where it is not with the first."""
    return any(now and not then for then, now in zip(availabilities(before), availabilities(after), strict=True))


def text_of(document: Any) -> str:
    """A document as its writer would write it."""
    return json.dumps(document)
