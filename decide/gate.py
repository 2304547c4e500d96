"""The gate: which policy rows fire on a question, whatever the rungs say of it."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby

from decide.gate_features import features
from decide.gate_hints import Hints
from decide.gate_text import normalise
from decide.gate_words import INNOCENT, Lexicon, Phrase, Reading, phrase


class BadPolicy(ValueError):
    """A policy document that cannot be used; the text names row and field, and what is allowed."""


class Stage(StrEnum):
    """When a row is looked at: before any rung is asked, or on what a consultation brought too."""

    AUTHORITY = "authority"
    CLASS = "class"


@dataclass(frozen=True, slots=True)
class Rule:
    """One way in which a text fires a row; every field names word lists.

    A match of the first list of `find` has one of each other list no more than `within` words away (0: in the same
    sentence), and none of `unless` in its sentence. Each of `given`, and none of `never`, is anywhere in the text or
    in the question that the text is an option of.
    """

    find: tuple[str, ...]
    within: int = 0
    unless: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GateRow:
    """A row of the gate's policy: what it stands for, what to do when it fires, and what fires it.

    `hints` weigh the words where no rule holds; `caution` makes them fire sooner, or later where it is below nought.
    """

    id: str
    stage: Stage
    means: str
    remedy: str
    acts: tuple[str, ...]
    rules: tuple[Rule, ...] = field(repr=False)
    lexicon: Lexicon = field(repr=False, compare=False)
    hints: Hints | None = field(default=None, repr=False, compare=False)
    caution: float = 0.0


@dataclass(frozen=True, slots=True)
class Fired:
    """A row that fired: where, and the words that fired it, or those that it reads like."""

    row: GateRow
    where: str
    text: str


Option = tuple[str, str, tuple[str, ...]]  # id, text, declared acts
WORDING = "wording"  # where a row fires by its hints: they weigh the question together with its options


def fired(rows: Iterable[GateRow], *, question: str, options: Iterable[Option]) -> tuple[Fired, ...]:
    """The rows that fire on the question's text, an option's text or an option's declared acts, row by row."""
    options = tuple(options)
    found: list[Fired] = []
    for _, group in groupby(rows, key=lambda row: id(row.lexicon)):
        same = tuple(group)
        asked = same[0].lexicon.read(question)
        offered = [(option, same[0].lexicon.read(option[1])) for option in options]
        like = _reads_like(same, asked, [reading for _, reading in offered])
        for row in same:
            by_rule = tuple(_on_texts(row, asked, offered))
            found.extend(by_rule)
            if row.id in like and not by_rule:
                found.append(Fired(row, WORDING, like[row.id]))
            found.extend(_on_acts(row, options))
    return tuple(found)


def _reads_like(rows: tuple[GateRow, ...], asked: Reading, offered: Iterable[Reading]) -> dict[str, str]:
    """What the hints say of each row that they fire, by its id."""
    hints = next((row.hints for row in rows if row.hints), None)
    if hints is None:
        return {}
    found = features(asked.left, (option.left for option in offered), rows[0].lexicon.kinds)
    said = {hint.row: str(hint) for hint in hints.read(found, {row.id: row.caution for row in rows})}
    return {row.id: said[row.id] for row in rows if row.hints and row.id in said}


def touched(rows: Iterable[GateRow], touches: Iterable[str]) -> tuple[Fired, ...]:
    """The rows that a verdict's own `touches` name, by id or by act; a word that names none fires nothing."""
    named = tuple(touches)
    return tuple(Fired(row, "touches", word) for row in rows for word in named if act(word) in _acts(row))


def act(word: str) -> str:
    """The one spelling of a declared act or a row's id."""
    return "_".join(normalise(word).replace("-", " ").replace("_", " ").split())


def _acts(row: GateRow) -> set[str]:
    return {act(word) for word in (row.id, *row.acts)}


def _on_acts(row: GateRow, options: Iterable[Option]) -> Iterable[Fired]:
    declaring = [(name, declared) for name, _, declared in options if declared]
    acts = _acts(row) if declaring else set()
    for name, declared in declaring:
        yield from (Fired(row, f"acts of option {name}", word) for word in declared if act(word) in acts)


def _on_texts(row: GateRow, asked: Reading, offered: Iterable[tuple[Option, Reading]]) -> Iterable[Fired]:
    in_question = _first(row.rules, asked, (asked,))
    if in_question is not None:
        yield Fired(row, "question", in_question)
    for (name, _, _), option in offered:
        both = (asked, option)
        text = _first(row.rules, option, both)
        if text is None and in_question is None:
            text = _first(row.rules, asked, both)
        if text is not None:
            yield Fired(row, f"option {name}", text)


def _first(rules: Iterable[Rule], text: Reading, around: tuple[Reading, ...]) -> str | None:
    """The words of the first match of the first rule that holds, None when none does."""
    for rule in rules:
        if not all(map(text.spans.__getitem__, rule.find)):
            continue
        if not all(any(reading.has(name) for reading in around) for name in rule.given):
            continue
        if any(reading.has(name) for reading in around for name in rule.never):
            continue
        if (match := _match(rule, text)) is not None:
            return text.tokens.text(*match)
    return None


def _match(rule: Rule, text: Reading) -> tuple[int, int] | None:
    barred = {text.sentences[place] for name in rule.unless for place in text.spans[name]}
    others = [tuple(text.spans[name]) for name in rule.find[1:]]
    for start, ends in text.spans[rule.find[0]].items():
        if text.sentences[start] in barred:
            continue
        near = [_nearest(start, places, rule.within, text) for places in others]
        if None not in near:
            places = [start, *(place for place in near if place is not None)]
            return min(places), max(max(places) + 1, ends[0])
    return None


def _nearest(start: int, places: tuple[int, ...], within: int, text: Reading) -> int | None:
    """The place nearest to `start` that is near enough, None when none is."""
    after = bisect_left(places, start)
    for place in sorted(places[max(after - 1, 0) : after + 1], key=lambda place: abs(place - start)):
        if abs(place - start) <= within or (not within and text.sentences[place] == text.sentences[start]):
            return place
    return None


DOCUMENT = ("innocent", "words", "row")
_ROW = ("id", "stage", "means", "remedy", "acts", "fires", "hints", "caution")
_RULE = ("find", "within", "unless", "given", "never")


def parse_rows(document: Mapping[str, object], hints: Hints | None = None) -> tuple[GateRow, ...]:
    """The rows that a policy document writes, with their hints; raises ValueError naming row and field."""
    _known(document, DOCUMENT, "the document")
    words = document.get("words", {})
    if not isinstance(words, Mapping):
        raise BadPolicy(f"words: a table of word lists, not {words!r}")
    lists = {name: _phrases(texts, f"words.{name}") for name, texts in words.items()}
    lists[INNOCENT] = _phrases(document.get(INNOCENT, []), INNOCENT)
    rows = document.get("row")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        raise BadPolicy("row: one or more tables, each begun with [[row]]")
    parsed = [_row(row, f"row {place}", lists, hints) for place, row in enumerate(rows, start=1)]
    if twice := sorted({row.id for row in parsed if sum(act(other.id) == act(row.id) for other in parsed) > 1}):
        raise BadPolicy(f"row {twice[0]!r}: id: more than one row has it")
    try:
        lexicon = Lexicon(lists)
    except ValueError as wrong:
        raise BadPolicy(f"words: {wrong}") from None
    return tuple(replace(row, lexicon=lexicon) for row in parsed)


def _known(table: Mapping[str, object], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys:
            raise BadPolicy(f"{where}: {key!r} is not known; allowed are {', '.join(keys)}")


def _texts(value: object, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
        raise BadPolicy(f"{where}: a list of texts, none of them empty, not {value!r}")
    return value


def _phrases(value: object, where: str) -> tuple[Phrase, ...]:
    try:
        return tuple(phrase(text) for several in _texts(value, where) for text in several.split(","))
    except BadPolicy:
        raise
    except ValueError as wrong:
        raise BadPolicy(f"{where}: {wrong}") from None


def _row(
    table: Mapping[str, object], where: str, lists: dict[str, tuple[Phrase, ...]], hints: Hints | None
) -> GateRow:
    name = _text(table, "id", where)
    where = f"row {name!r}"
    _known(table, _ROW, where)
    if (stage := table.get("stage")) not in tuple(Stage):
        raise BadPolicy(f"{where}: stage: one of {', '.join(Stage)}, not {stage!r}")
    rules = table.get("fires", [])
    if not isinstance(rules, list):
        raise BadPolicy(f"{where}: fires: a list of phrases and rules, not {rules!r}")
    return GateRow(
        id=name,
        stage=Stage(str(stage)),
        means=_text(table, "means", where),
        remedy=_text(table, "remedy", where),
        acts=tuple(_texts(table.get("acts", []), f"{where}: acts")),
        rules=tuple(_rule(rule, f"{where}: fires: rule {place}", lists) for place, rule in enumerate(rules, start=1)),
        lexicon=_NONE,
        hints=_hints(table, where, hints if hints and name in hints.rows else None),
        caution=_caution(table.get("caution", 0.0), where),
    )


_NONE = Lexicon({})
_MOST_CAUTION = 9


def _hints(table: Mapping[str, object], where: str, known: Hints | None) -> Hints | None:
    wanted = table.get("hints", known is not None)
    if wanted is False:
        return None
    if wanted is not True or known is None:
        raise BadPolicy(f"{where}: hints: true or false, true only for a default row on base default, not {wanted!r}")
    return known


def _caution(value: object, where: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= _MOST_CAUTION:
        raise BadPolicy(f"{where}: caution: a number from -{_MOST_CAUTION} to {_MOST_CAUTION}, not {value!r}")
    return float(value)


def _text(table: Mapping[str, object], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise BadPolicy(f"{where}: {key}: a text that is not empty, not {value!r}")
    return value


def _rule(value: object, where: str, lists: dict[str, tuple[Phrase, ...]]) -> Rule:
    if isinstance(value, str):
        value = {"find": [value]}
    if not isinstance(value, Mapping):
        raise BadPolicy(f"{where}: a phrase or a table, not {value!r}")
    _known(value, _RULE, where)
    within = value.get("within", 0)
    if not isinstance(within, int) or isinstance(within, bool) or not 0 <= within <= _WIDEST:
        raise BadPolicy(f"{where}: within: a number of words from 0 to {_WIDEST}, not {within!r}")
    named = {key: _names(value.get(key, []), f"{where}: {key}", lists) for key in _RULE if key != "within"}
    if not named["find"]:
        raise BadPolicy(f"{where}: find: at least one phrase")
    return Rule(within=within, **named)


_WIDEST = 1000


def _names(value: object, where: str, lists: dict[str, tuple[Phrase, ...]]) -> tuple[str, ...]:
    """The names of the lists that a rule's field means; a phrase written there becomes a list of its own."""
    texts = _texts(value, where)
    for text, written in zip(texts, _phrases(texts, where), strict=True):
        if len(written) == 1 and written[0].listed:
            if written[0].listed not in lists:
                raise BadPolicy(f"{where}: no list {text!r}; the lists are {', '.join(sorted(lists))}")
        else:
            lists[text] = (written,)
    return tuple(
        text.strip().removeprefix("@") if text.strip().removeprefix("@") in lists else text for text in texts
    )
