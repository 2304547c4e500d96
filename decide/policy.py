"""The gate's policy as it is on disk: the rows that come with the product, and a file of the user's own."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from decide.gate import DOCUMENT, BadPolicy, GateRow, parse_rows
from decide.gate_hints import Hints, parse_hints

DEFAULTS = "gate_rows.toml"
HINTS = "gate_hints.tsv"


class PolicyError(ValueError):
    """A policy file that cannot be used; the text names file, row and field."""


@cache
def default_rows() -> tuple[GateRow, ...]:
    """The seven rows that come with the product."""
    return parse_rows(default_document(), default_hints())


@cache
def default_hints() -> Hints:
    """What the words of a question weigh for the default rows."""
    return parse_hints(files("decide").joinpath(HINTS).read_text(encoding="utf-8"))


def load_rows(path: Path) -> tuple[GateRow, ...]:
    """The rows of the file at `path`, on top of the default ones where it says `base = "default"`."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        return parse_rows(_on_base(document), default_hints() if document.get("base") == "default" else None)
    except OSError as wrong:
        raise PolicyError(f"{path}: {wrong.strerror or wrong}") from wrong
    except ValueError as wrong:  # not UTF-8, not TOML, or not a policy
        raise PolicyError(f"{path}: {wrong}") from wrong


def default_document() -> dict[str, object]:
    """The document that the default rows are written in."""
    return tomllib.loads(files("decide").joinpath(DEFAULTS).read_text(encoding="utf-8"))


def _on_base(document: Mapping[str, object]) -> Mapping[str, object]:
    """The document with what it builds on: lists grow, a row changes what it names of the one with its id."""
    base = document.get("base", "none")
    own = {key: value for key, value in document.items() if key != "base"}
    if strange := sorted(own.keys() - {*DOCUMENT}):
        raise BadPolicy(f"{strange[0]!r} is not known; allowed are base, {', '.join(DOCUMENT)}")
    if base not in ("default", "none"):
        raise BadPolicy(f'base: "default" or "none", not {base!r}')
    return own if base == "none" else _merged(default_document(), own)


def _merged(under: Mapping[str, object], own: Mapping[str, object]) -> dict[str, object]:
    words, more = dict(_table(under, "words")), _table(own, "words")
    for name, phrases in more.items():
        words[name] = [*_entries({name: words.get(name, [])}, name), *_entries({name: phrases}, name)]
    rows = {_id(row): row for row in _entries(under, "row")}
    for row in _entries(own, "row"):
        before = rows.get(_id(row))
        rows[_id(row)] = {**before, **row} if isinstance(before, Mapping) and isinstance(row, Mapping) else row
    innocent = [*_entries(under, "innocent"), *_entries(own, "innocent")]
    return {"words": words, "innocent": innocent, "row": list(rows.values())}


def _table(document: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = document.get(key, {})
    if not isinstance(value, Mapping):
        raise BadPolicy(f"{key}: a table, not {value!r}")
    return value


def _entries(document: Mapping[str, object], key: str) -> list[object]:
    value = document.get(key, [])
    if not isinstance(value, list):
        raise BadPolicy(f"{key}: a list, not {value!r}")
    return value


def _id(row: object) -> str:
    return str(row.get("id") if isinstance(row, Mapping) else row)
