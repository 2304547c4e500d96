"""Counted: what the ledger counted, as the series of its metric, with 0 for all that was not counted yet."""

from collections.abc import Iterable, Mapping
from itertools import product
from types import MappingProxyType

from exporters.catalog_handoff import CLICKS, QUEUE
from exporters.catalog_ledger import DECISIONS, SPEND
from exporters.labels import label
from exporters.metric import OTHER, Label
from exporters.parts import Sample

Words = tuple[str, ...]

LABELS: Mapping[str, tuple[Label, ...]] = MappingProxyType(
    {metric.name: metric.labels for metric in (*DECISIONS, *SPEND, *QUEUE, *CLICKS)}
)
"""The labels of every metric of the ledger, by its name."""


def plain(
    name: str, at: Words, counted: Iterable[tuple[Words, int]], *, known: Iterable[Words] | None = None
) -> list[Sample]:
    """The samples of `summed`."""
    return [(key, float(count)) for key, count in summed(name, at, counted, known=known).items()]


def summed(
    name: str, at: Words, counted: Iterable[tuple[Words, int]], *, known: Iterable[Words] | None = None
) -> dict[Words, int]:
    """Counts by label values below `at`: 0 for all that is `known` before, by default the whole closed sets."""
    labels = LABELS[name][len(at) :]
    zeros = product(*(label.values for label in labels)) if known is None else known
    found = {(*at, *shown(labels, words)): 0 for words in zeros}
    for words, count in counted:
        if count:
            key = (*at, *shown(labels, words))
            found[key] = found.get(key, 0) + count
    return found


def shown(labels: tuple[Label, ...], words: Words) -> Words:
    """Each word as the value of its label: names as they are, and `OTHER` for what the closed set lacks."""
    pairs = zip(labels, words, strict=True)
    return tuple(word if word in kind.values else label(word) if not kind.values else OTHER for kind, word in pairs)
