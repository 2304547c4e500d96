"""The gate's hints: what each word of a question weighs for each row, learnt from labelled questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt

from decide.gate_features import Features

DUE = "due"
UNIT = 100  # a weight in the file is in hundredths
LEAST = 16.0  # what says less than this counts by as much less
_SHOWN = 3
_TELLING = 3  # letters; a shorter word tells a reader nothing


@dataclass(frozen=True, slots=True)
class Hint:
    """A row that a question reads like, and the words that weigh most for it."""

    row: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"reads like {self.row}" + (f": {', '.join(self.words)}" if self.words else "")


@dataclass(frozen=True, slots=True)
class Hints:
    """Weights by feature, for `due` (whether any row is) and for each row, and the bar that each score has to reach.

    A row fires when the question is due and the row's own score reaches the row's bar, or is the best of all rows.
    """

    columns: tuple[str, ...]
    bars: tuple[float, ...]
    bias: tuple[float, ...]
    lines: Mapping[str, str] = field(repr=False)  # a feature: its rarity and its weights, read when they are needed

    @property
    def rows(self) -> tuple[str, ...]:
        """The ids of the rows that there are weights for."""
        return self.columns[1:]

    def read(self, features: Features, caution: Mapping[str, float]) -> tuple[Hint, ...]:
        """The rows that the features read like; `caution` of a row lowers its bars by so much."""
        weighed = self._weighed(features)
        if not weighed:
            return ()
        due, *scores = self._summed(weighed)
        best = max(scores)
        found = []
        for place, (row, score) in enumerate(zip(self.rows, scores, strict=True), start=1):
            more = caution.get(row, 0.0)
            if due + more >= self.bars[0] and (score == best or score + more >= self.bars[place]):
                found.append(Hint(row, _strongest(features, weighed, place)))
        return tuple(found)

    def scores(self, features: Features) -> tuple[float, ...]:
        """The score of each column."""
        return self._summed(self._weighed(features))

    def _summed(self, weighed: Mapping[str, Sequence[float]]) -> tuple[float, ...]:
        return tuple(bias + sum(each[place] for each in weighed.values()) for place, bias in enumerate(self.bias))

    def _weighed(self, features: Features) -> dict[str, Sequence[float]]:
        """What each known feature adds to each score; all together have the length one, less where there are few."""
        known = {name: _numbers(self.lines[name]) for name in features if name in self.lines}
        length = max(sqrt(sum(rarity * rarity for rarity, *_ in known.values())), LEAST)
        return {
            name: [weight * rarity / length / UNIT for weight in weights]
            for name, (rarity, *weights) in known.items()
        }


def _numbers(line: str) -> list[float]:
    return [float(cell or 0) for cell in line.split("\t")]


def _strongest(features: Features, weighed: Mapping[str, Sequence[float]], place: int) -> tuple[str, ...]:
    """The words that add most to one score, a feature of several words counting for each in equal parts."""
    added: dict[str, float] = {}
    for name, weights in weighed.items():
        words = [word for word in features[name] if len(word) >= _TELLING]
        for word in words:
            added[word] = added.get(word, 0.0) + weights[place] / len(words)
    best = sorted((word for word in added if added[word] > 0), key=lambda word: (-added[word], word))
    return tuple(best[:_SHOWN])


def parse_hints(text: str) -> Hints:
    """The hints that a file holds; raises ValueError naming the line that is wrong."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    heads = [line.split("\t") for line in lines[:3]]
    names = [head[0] for head in heads]
    if names != ["columns", "bars", "bias"] or len({len(head) for head in heads}) != 1 or len(heads[0]) < 4:
        raise ValueError("hints: three lines come first: columns, bars and bias, of one length")
    columns = tuple(heads[0][2:])
    bars, bias = (tuple(map(float, head[2:])) for head in heads[1:])
    return Hints(columns, bars, bias, dict(line.split("\t", 1) for line in lines[3:]))
