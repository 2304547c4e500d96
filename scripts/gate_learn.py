"""Learns the weights of the gate's hints: one linear machine for each row, and one for whether any row is due."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from operator import mul
from random import Random

from decide.gate_features import Features
from decide.gate_hints import DUE, LEAST, UNIT, Hints

SEEDED = 20261130
RAREST, RAREST_PAIR, RAREST_LISTED = 2, 3, 4  # a feature of fewer questions is left out
OF_A_LIST, LISTED = 0.7, 0.5  # the lists were written by the author of one set: they weigh less than the words do
COST = 0.3
ROUNDS = 40
CLOSE = 0.02


@dataclass(frozen=True, slots=True)
class Labelled:
    """The features of a labelled question, the rows that are due, those that may be, and how much it counts."""

    features: Features
    fires: frozenset[str]
    arguable: frozenset[str]
    counts: float = 1.0

    def says(self, column: str) -> bool | None:
        """Whether the column is due, None when that can be argued about."""
        if column == DUE:
            return bool(self.fires) if self.fires or not self.arguable else None
        return None if column in self.arguable else column in self.fires


@dataclass(frozen=True, slots=True)
class Machine:
    """A weight for each feature, and what is added to the score of every question."""

    weights: Sequence[float]
    bias: float


Vector = tuple[tuple[int, ...], tuple[float, ...]]


def learn(examples: Sequence[Labelled], columns: Sequence[str]) -> Hints:
    """The hints that the examples teach, with bars at nought."""
    seen = Counter(name for one in examples for name in one.features)
    names = sorted(name for name, times in seen.items() if times >= _rarest(name))
    rarity = {name: _rarity(name, (1 + len(examples)) / (1 + seen[name])) for name in names}
    places = {name: place for place, name in enumerate(names)}
    vectors = [_vector(one.features, places, rarity) for one in examples]
    machines = []
    for column in columns:
        told = [(vector, one, one.says(column)) for vector, one in zip(vectors, examples, strict=True)]
        machines.append(_trained([(v, said, one.counts) for v, one, said in told if said is not None], len(names)))
    lines = {}
    for name, place in places.items():
        weights = [round(machine.weights[place] * UNIT) for machine in machines]
        lines[name] = "\t".join([f"{rarity[name]:g}", *(str(weight) if weight else "" for weight in weights)])
    bias = tuple(round(machine.bias, 3) for machine in machines)
    return Hints(tuple(columns), (0.0,) * len(columns), bias, lines)


def _rarest(name: str) -> int:
    if " " not in name:
        return RAREST
    return RAREST_LISTED if "@" in name else RAREST_PAIR


def _rarity(name: str, one_in: float) -> float:
    share = 1.0
    if "@" in name:
        share = LISTED if " " in name else OF_A_LIST
    return round((log(one_in) + 1) * share, 2)


def _vector(features: Iterable[str], places: Mapping[str, int], rarity: Mapping[str, float]) -> Vector:
    known = sorted(name for name in features if name in places)
    length = max(sqrt(sum(rarity[name] ** 2 for name in known)), LEAST)
    return tuple(places[name] for name in known), tuple(rarity[name] / length for name in known)


def _trained(told: Sequence[tuple[Vector, bool, float]], size: int) -> Machine:
    """A support vector machine with squared loss, by coordinate descent on its dual; both answers weigh the same."""
    share = {answer: len(told) / (2 * sum(said is answer for _, said, _ in told)) for answer in (True, False)}
    weights, bias = [0.0] * size, 0.0
    alphas = [0.0] * len(told)
    slack = [1 / (2 * COST * counts * share[said]) for _, said, counts in told]
    scale = [sum(map(mul, values, values)) + 1 + more for ((_, values), _, _), more in zip(told, slack, strict=True)]
    order, chance = list(range(len(told))), Random(SEEDED)  # noqa: S311  # an order, no secret
    for _ in range(ROUNDS):
        chance.shuffle(order)
        furthest = 0.0
        for one in order:
            (places, values), said, _ = told[one]
            sign = 1.0 if said else -1.0
            score = sum(map(mul, map(weights.__getitem__, places), values)) + bias
            slope = sign * score - 1 + slack[one] * alphas[one]
            if alphas[one] == 0.0 and slope >= 0:
                continue
            furthest = max(furthest, abs(slope))
            new = max(alphas[one] - slope / scale[one], 0.0)
            step, alphas[one] = (new - alphas[one]) * sign, new
            for place, value in zip(places, values, strict=True):
                weights[place] += step * value
            bias += step
        if furthest < CLOSE:
            break
    return Machine(weights, bias)
