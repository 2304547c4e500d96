"""What the gate's hints see of a question: its words without endings, words in a row, and kinds of word."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from decide.gate_text import BLANK, CURRENCY, NUMBER, STOP, Tokens, kind

Kinds = Mapping[str, Sequence[str]]  # a stem: the word lists that it is in
Features = dict[str, tuple[str, ...]]  # a feature: the words of the text that brought it

CURRENCY_LIST = "currency_word"
_VOWELS = frozenset("aeiouy")
_PLURALS = ("sses", "xes", "ches", "shes")
_LONG_ENDINGS = ("ation", "ment", "ness", "ance", "ence", "able", "ible", "ly", "ion", "er", "or")
_EDGE = ".,;:?!\"'()[]{}*"


def stem(word: str) -> str:
    """`word` without its English ending, roughly: what matters is that the forms of one word come out alike."""
    word = _verb(_singular(word))
    if len(word) > 4 and word.endswith("y"):
        word = f"{word[:-1]}i"
    for ending in _LONG_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(_PLURALS):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _verb(word: str) -> str:
    for ending in ("ingly", "edly", "ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and not _VOWELS.isdisjoint(rest):
            doubled = len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled else rest
    return word


def features(question: Tokens, options: Iterable[Tokens], kinds: Kinds) -> Features:
    """The features of a question with its options; each counts once, however often it is there."""
    found: Features = {}
    known: dict[str, str] = {}
    for option, read in enumerate((question, *options)):
        before: tuple[str, str] | None = None
        for place, name in enumerate(_names(read, known, kinds)):
            if name == STOP:
                before = None
                continue
            word = read.text(place, place + 1).strip(_EDGE)
            found.setdefault(name, (word,))
            for listed in kinds.get(name, ()):
                found.setdefault(f"@{listed}", (word,))
            if before:
                for pair in _pairs(before[0], name, kinds):
                    found.setdefault(pair, (before[1], word))
            elif option and not place:
                found.setdefault(f"| {name}", (word,))
            before = name, word
    return found


def _pairs(one: str, two: str, kinds: Kinds) -> Iterator[str]:
    """The names of two words in a row: as they are, and either one with the lists of the other."""
    yield f"{one} {two}"
    for listed in kinds.get(two, ()):
        yield f"{one} @{listed}"
    for listed in kinds.get(one, ()):
        yield f"@{listed} {two}"


def _names(read: Tokens, known: dict[str, str], kinds: Kinds) -> Iterator[str]:
    """The name of each token: a word's stem, or what sort of number or sign it is."""
    words = read.words
    for place, word in enumerate(words):
        if word == STOP:
            yield STOP
        elif word == BLANK:
            yield "#innocent"
        elif (sort := kind(word)) == NUMBER:
            yield _number(words[max(place - 1, 0) : place], words[place + 1 : place + 2], kinds)
        elif sort:
            yield sort
        else:
            if word not in known:
                known[word] = stem(word)
            yield known[word]


def _number(before: Sequence[str], after: Sequence[str], kinds: Kinds) -> str:
    if any(kind(word) == CURRENCY or CURRENCY_LIST in kinds.get(stem(word), ()) for word in (*before, *after)):
        return "#amount"
    return "#percent" if any(word in ("%", "percent") for word in after) else "#number"
