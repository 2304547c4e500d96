"""The text of a question as the gate reads it: one spelling for each word, cut into tokens that keep their place."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import category, combining, decimal, normalize

STOP = "<stop>"
BLANK = "<blank>"  # stands where a word is set aside
CODE = "<code>"
QUOTE = '"'
NUMBER = "<number>"
CURRENCY = "<currency>"
POSSESSIVE = "<possessive>"
QUOTED = "<quote>"
KINDS = (NUMBER, CURRENCY, CODE, POSSESSIVE, QUOTED)

_SINGLE = dict.fromkeys(map(ord, "‘’‚‛′ʼ`´ʹˈ׳＇‹›"), "'")
_DOUBLE = dict.fromkeys(map(ord, "“”„‟″«»〝〞〟״＂「」『』"), '"')
_QUOTES = {**_SINGLE, **_DOUBLE}
_TICK = "`"
_PIECE = re.compile(r"\d+(?:[.,']\d+)*|'(?:s|t|re|ll|ve|d|m)\b|[^\W\d_][^\W_]*|[%+$¢-¥֏؋฿៛₠-⃀]")
_NAME_IN_CODE = re.compile(r"\w_\w|://|\w\(\)|\w@\w|^/\w|\w/$|/[a-z][^/]*/")
_FILE = re.compile(
    r"\w\.(?:json|ya?ml|toml|py|tsx?|jsx?|go|rs|java|rb|css|html?|md|txt|csv|sql|sh|cfg|ini|lock|log|xml|pdf|png|svg"
    r"|env|proto|tf|kt|swift|php|cpp?|h|vue|ipynb)$"
)
_ENDS = ".!?;…؟。！？"
_SHORT = {
    "mr", "mrs", "ms", "dr", "prof", "st", "nr", "vs", "approx", "incl", "e.g", "i.e", "z.b", "sr", "sra", "mme",
}  # fmt: skip
_AROUND = "\"'()[]{}*,:<>«»" + _ENDS


_ROUNDS = 3
_BLANKS = "\u115f\u1160\u3164\u2800"  # letters and signs by name that show nothing


def normalise(text: str) -> str:
    """One spelling of `text`: compatibility forms, case, accents, dashes, quotes and digits of any script folded."""
    if text.isascii() and text.isprintable():
        return text.lower().replace("`", "'")
    for _ in range(_ROUNDS):  # folding a fold can bring up one more, never many
        text = _folded(text)
    return text


def _folded(text: str) -> str:
    spread = normalize("NFKD", text.translate(_QUOTES)).casefold()
    return normalize("NFC", "".join(map(_plain, spread)).translate(_QUOTES))


def _plain(char: str) -> str:
    if char.isascii():
        return char
    kind = category(char)
    if kind == "Nd":
        return str(decimal(char))
    if kind == "Pd" or char == "−":
        return "-"
    return "" if kind in ("Cf", "Mn", "Me", "Cc") or combining(char) or char in _BLANKS else char


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one text, and the place in it that each came from."""

    words: tuple[str, ...]
    chunks: tuple[int, ...]
    raw: tuple[str, ...]

    def text(self, start: int, end: int) -> str:
        """The words of the text, as written, that tokens `start` to `end` came from."""
        return " ".join(self.raw[self.chunks[start] : self.chunks[end - 1] + 1])


def tokens(text: str) -> Tokens:
    """The tokens of `text`: words, numbers, signs, names of code as one token, and where a sentence stops."""
    raw: list[str] = []
    words: list[str] = []
    chunks: list[int] = []
    known: dict[str, tuple[str, ...]] = {}
    for paragraph in re.split(r"\n[^\S\n]*\n", text):
        for chunk in paragraph.split():
            found = known.get(chunk)
            if found is None:
                found = known[chunk] = _cut(chunk)
            words.extend(found)
            chunks.extend([len(raw)] * len(found))
            raw.append(chunk)
        if raw:
            words.append(STOP)
            chunks.append(len(raw) - 1)
    return Tokens(tuple(words), tuple(chunks), tuple(raw))


def _cut(chunk: str) -> tuple[str, ...]:
    """The tokens of one run of characters without a blank in it."""
    if chunk.isascii() and chunk.isalpha():
        return (chunk.lower(),)
    if _TICK in chunk and _is_span(chunk):
        return (CODE, STOP) if chunk[-1] in _ENDS else (CODE,)
    return tuple(_pieces(normalise(chunk).split()))


def _is_span(chunk: str) -> bool:
    inner = chunk.strip(_AROUND)
    return len(inner) > 2 and inner[0] == inner[-1] == _TICK


def _pieces(parts: Iterable[str]) -> Iterable[str]:
    for part in parts:
        for place, piece in enumerate(re.split('"+', part)):
            if place:
                yield QUOTE
            yield from _words(piece)


def _words(piece: str) -> Iterable[str]:
    core = piece.strip(_AROUND)
    if core and (_NAME_IN_CODE.search(core) or _FILE.search(core)):
        yield CODE
    else:
        yield from _PIECE.findall(core)
    if core not in _SHORT and piece.rstrip("')]}*_,")[-1:] in tuple(_ENDS):
        yield STOP


def kind(word: str) -> str:
    """What kind of token `word` is: one of `KINDS`, or empty for a plain word or sign."""
    if word[:1].isdigit():
        return NUMBER
    if word in _SORTS:
        return _SORTS[word]
    return CURRENCY if word and category(word[0]) == "Sc" else ""


_SORTS = {CODE: CODE, "'s": POSSESSIVE, QUOTE: QUOTED}
