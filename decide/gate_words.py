"""The word lists of a gate policy: how a phrase is written, and where in a text each list has a match.

A phrase is words in a row. `pay~` is `pay` and its regular English endings, `refund*` any word that begins so, `a|b`
either word, `..` up to three words of any kind (`..6`: up to six), `@list` a phrase of another list, and `<number>`,
`<currency>`, `<possessive>` (the 's), `<quote>` and `<code>` a token of that kind. No phrase reaches over the end of
a sentence.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from types import MappingProxyType

from decide.gate_features import stem
from decide.gate_text import BLANK, KINDS, STOP, Tokens, kind, tokens

INNOCENT = "innocent"
WIDEST_GAP = 12
_GAP = re.compile(r"\.\.(\d*)")
_SHORTEST_BEGINNING = 3
_ENDS_AT_ONE_PLACE = 40

Spans = Mapping[int, tuple[int, ...]]  # where a match starts: where it may end
_NOWHERE: Spans = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Item:
    """One place of a phrase: words, beginnings of words, kinds of token, another list, or a gap."""

    words: frozenset[str] = frozenset()
    beginnings: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    listed: str = ""
    gap: int = 0
    bases: tuple[str, ...] = ()  # the words as they were written, without their endings
    plain: bool = field(init=False)  # whether nothing but words fits

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain", bool(self.words) and not self.beginnings and not self.kinds)

    def fits(self, word: str) -> bool:
        """Whether one token stands for this place."""
        return (
            word in self.words or word.startswith(self.beginnings) or (bool(self.kinds) and kind(word) in self.kinds)
        )


Phrase = tuple[Item, ...]


def phrase(text: str) -> Phrase:
    """The phrase that `text` writes; raises ValueError saying what is wrong with it."""
    items = tuple(item for part in text.split() for item in _items(part))
    if not items or items[0].gap or items[-1].gap:
        raise ValueError(f"{text!r} is not a phrase: it begins and ends with a word, @list or <kind>")
    return items


def _items(part: str) -> list[Item]:
    if gap := _GAP.fullmatch(part):
        width = int(gap[1] or 3)
        if not 0 < width <= WIDEST_GAP:
            raise ValueError(f"{part!r}: a gap is 1 to {WIDEST_GAP} words")
        return [Item(gap=width)]
    if part.startswith("@"):
        if "|" in part:
            raise ValueError(f"{part!r}: a list stands alone; write one phrase for each")
        return [Item(listed=part[1:])]
    if "|" in part:
        return [_either(part.split("|"))]
    if part[:1] == "<" or part[-1:] in "*~":
        return [_either([part])]
    return [Item(words=frozenset({word}), bases=(word,)) for word in _tokens_of(part)]


def _either(parts: Iterable[str]) -> Item:
    words: set[str] = set()
    beginnings, bases, kinds = [], [], set()
    for part in parts:
        if part[:1] == "<":
            if part not in KINDS:
                raise ValueError(f"{part!r}: the kinds are {', '.join(KINDS)}")
            kinds.add(part)
        elif part[-1:] == "*":
            beginnings.append(_one(part[:-1]))
            if len(beginnings[-1]) < _SHORTEST_BEGINNING:
                raise ValueError(f"{part!r}: a beginning has at least {_SHORTEST_BEGINNING} letters")
        else:
            bases.append(_one(part.removesuffix("~")))
            words |= inflected(bases[-1]) if part[-1:] == "~" else {bases[-1]}
    return Item(frozenset(words), tuple(beginnings), frozenset(kinds), bases=tuple(bases))


def _one(text: str) -> str:
    found = _tokens_of(text)
    if len(found) != 1:
        raise ValueError(f"{text!r} is not one word; write words in a row with blanks between them")
    return found[0]


def _tokens_of(text: str) -> list[str]:
    if text.isascii() and text.isalpha():
        return [text.lower()]
    found = [word for word in tokens(text).words if word != STOP]
    if not found:
        raise ValueError(f"{text!r} has no word in it")
    return found


def inflected(word: str) -> set[str]:
    """The regular English forms of `word`; some that nobody writes are among them, which does no harm."""
    found = {word + end for end in ("", "s", "es", "d", "ed", "ing", word[-1:] + "ed", word[-1:] + "ing")}
    if word[-1:] == "e":
        found.add(word[:-1] + "ing")
    if word[-1:] == "y":
        found |= {word[:-1] + "ies", word[:-1] + "ied"}
    return found


@dataclass(frozen=True, slots=True)
class Reading:
    """A text, what is left of it when innocent words are set aside, and where each list has a match in it."""

    tokens: Tokens
    left: Tokens
    spans: Mapping[str, Spans]
    sentences: tuple[int, ...]

    def has(self, name: str) -> bool:
        """Whether list `name` has a match anywhere."""
        return bool(self.spans[name])


@dataclass(frozen=True)
class Lexicon:
    """Lists of phrases by name, ready to be looked for; raises ValueError for a list that is unknown or in a ring."""

    lists: Mapping[str, tuple[Phrase, ...]]

    def __post_init__(self) -> None:
        _ = self._order

    @cached_property
    def _order(self) -> tuple[str, ...]:
        """The names, each after those that its phrases name, and what is innocent before all others."""
        done: dict[str, None] = {}  # a set that keeps its order
        for name in sorted(self.lists, key=lambda name: name != INNOCENT):
            self._visit(name, done, ())
        return tuple(done)

    def _visit(self, name: str, done: dict[str, None], path: tuple[str, ...]) -> None:
        if name in path:
            raise ValueError(f"list {name!r} is part of itself: {' > '.join((*path, name))}")
        if name in done:
            return
        for item in (item for phrase in self.lists[name] for item in phrase):
            if item.listed and item.listed not in self.lists:
                raise ValueError(
                    f"list {name!r} names {item.listed!r}; the lists are {', '.join(sorted(self.lists))}"
                )
            if item.listed:
                self._visit(item.listed, done, (*path, name))
        done[name] = None

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self._order)}

    @cached_property
    def kinds(self) -> dict[str, tuple[str, ...]]:
        """The named lists that hold a word by itself, by the stem of the word."""
        found: dict[str, dict[str, None]] = {}
        for name in filter(str.isidentifier, self.lists):
            single = (phrase[0].bases for phrase in self.lists[name] if len(phrase) == 1)
            for word in (word for words in single for word in words):
                found.setdefault(stem(word), {})[name] = None
        return {ending: tuple(names) for ending, names in found.items()}

    @cached_property
    def _looks(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names that are looked for first, up to what is innocent, and the others."""
        before = self._order.index(INNOCENT) + 1 if INNOCENT in self.lists else 0
        return frozenset(self._order[:before]), frozenset(self._order[before:])

    @cached_property
    def _by_word(self) -> dict[str, list[tuple[str, Phrase]]]:
        """The phrases by the word or kind that they begin with."""
        return self._by(lambda first: (*first.words, *first.kinds))

    @cached_property
    def _by_beginning(self) -> dict[str, list[tuple[str, Phrase]]]:
        """The phrases by the beginning of a word that they begin with."""
        return self._by(lambda first: first.beginnings)

    def _by(self, keys: Callable[[Item], Iterable[str]]) -> dict[str, list[tuple[str, Phrase]]]:
        found: dict[str, list[tuple[str, Phrase]]] = {}
        for name, phrases in self.lists.items():
            for phrase in phrases:
                for key in keys(phrase[0]):
                    found.setdefault(key, []).append((name, phrase[1:]))
        return found

    @cached_property
    def _by_list(self) -> dict[str, list[Phrase]]:
        """The phrases that begin with a match of another list, by their own list where it has any."""
        found = {name: [p for p in phrases if p[0].listed] for name, phrases in self.lists.items()}
        return {name: phrases for name, phrases in found.items() if phrases}

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(sorted({len(start) for start in self._by_beginning}))

    def _beginning_with(self, word: str) -> list[tuple[str, Phrase]]:
        keys = [word[:size] for size in self._sizes if size <= len(word)]
        begun = [entry for key in keys for entry in self._by_beginning.get(key, ())]
        return [*self._by_word.get(word, ()), *begun, *self._by_word.get(kind(word), ())]

    def read(self, text: str) -> Reading:
        """Where each list has a match in `text`; words of an innocent phrase are seen by no other list."""
        found = tokens(text)
        words = [*found.words, _END]
        spans: dict[str, Spans] = dict.fromkeys(self.lists, _NOWHERE)
        begun: dict[str, list[tuple[str, Phrase]]] = {}
        first, others = self._looks
        seen = _Text(words, spans)
        self._look(first, seen, begun)
        if innocent := spans.get(INNOCENT):
            for start, ends in innocent.items():
                words[start : max(ends)] = [BLANK] * (max(ends) - start)
            seen = _Text(words, spans)
        self._look(others, seen, begun)
        left = replace(found, words=tuple(words[:-1]))
        return Reading(found, left, spans, tuple(accumulate(word == STOP for word in found.words)))

    def _look(self, names: frozenset[str], text: "_Text", begun: dict[str, list[tuple[str, Phrase]]]) -> None:
        """Adds to the text's spans the matches of the lists `names`, each after those that its phrases name.

        `begun` keeps the phrases that each word begins.
        """
        single: dict[str, list[int]] = {}
        longer: dict[str, list[tuple[str, Phrase]]] = {}
        for word, at in text.places.items():
            if word not in begun:
                begun[word] = self._beginning_with(word)
            for name, rest in begun[word]:
                if name not in names:
                    continue
                if not rest:
                    single.setdefault(name, []).extend(at)
                elif text.may_have(rest):
                    longer.setdefault(name, []).append((word, rest))
        hopeful = names & (single.keys() | longer.keys() | self._by_list.keys())
        for name in sorted(hopeful, key=self._place.__getitem__):
            text.spans[name] = self._matches(name, single.get(name, ()), longer.get(name, ()), text)

    def _matches(
        self, name: str, single: Iterable[int], longer: Iterable[tuple[str, Phrase]], text: "_Text"
    ) -> Spans:
        found: dict[int, tuple[int, ...]] = {place: (place + 1,) for place in single}
        for word, rest in longer:
            for place in text.hopeful(word, rest):
                if ends := text.ends(rest, (place + 1,)):
                    found[place] = _joined(found[place], ends) if place in found else ends
        for phrase in self._by_list.get(name, ()):
            if not (text.spans[phrase[0].listed] and text.may_have(phrase[1:])):
                continue
            for place, after in text.spans[phrase[0].listed].items():
                if ends := text.ends(phrase[1:], after):
                    found[place] = _joined(found[place], ends) if place in found else ends
        return dict(sorted(found.items())) if found else _NOWHERE


def _joined(some: tuple[int, ...], more: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted({*some, *more})[:_ENDS_AT_ONE_PLACE]) if some else more


_END = ""  # stands after the last word, so that no place is past the end
_EDGES = (STOP, _END)


class _Text:
    """The words of a text, where each word is, and the matches found so far."""

    def __init__(self, words: list[str], spans: dict[str, Spans]) -> None:
        self.words = words
        self.spans = spans
        self.places: dict[str, list[int]] = {}
        for place, word in enumerate(words):
            self.places.setdefault(word, []).append(place)

    def may_have(self, phrase: Phrase) -> bool:
        """False when a word that the phrase needs is nowhere in the text."""
        return all(not item.plain or any(word in self.places for word in item.words) for item in phrase)

    def hopeful(self, word: str, rest: Phrase) -> Collection[int]:
        """Where a phrase may be that begins with `word`: a cheap look before the full one."""
        first, at = rest[0], self.places[word]
        if first.plain:
            return [place for place in at if self.words[place + 1] in first.words]
        if first.listed:
            starts = self.spans[first.listed]
            return [place for place in at if place + 1 in starts]
        if first.gap and rest[1].plain:
            return self._before(rest[1], first.gap, at)
        return at

    def _before(self, item: Item, gap: int, at: list[int]) -> Collection[int]:
        """Those of the places `at` that `item` follows within a gap; all of them when that is quicker told."""
        starts = [place for word in item.words for place in self.places.get(word, ())]
        if len(starts) * gap > 4 * len(at):
            return at
        reach = {start - back for start in starts for back in range(1, gap + 2)}
        return [place for place in at if place in reach]

    def ends(self, phrase: Phrase, places: tuple[int, ...]) -> tuple[int, ...]:
        """Where the rest of a phrase may end when it may start at any of `places`."""
        for item in phrase:
            if item.gap:
                places = self._stretched(places, item.gap)
            elif item.listed:
                places = tuple({end for place in places for end in self.spans[item.listed].get(place, ())})
            elif item.plain:
                places = tuple([place + 1 for place in places if self.words[place] in item.words])
            else:
                places = tuple([place + 1 for place in places if item.fits(self.words[place])])
            if not places:
                break
        return places

    def _stretched(self, places: tuple[int, ...], gap: int) -> tuple[int, ...]:
        found = set(places)
        for place in places:
            for further in range(place, place + gap):
                if self.words[further] in _EDGES:
                    break
                found.add(further + 1)
        return tuple(found)
