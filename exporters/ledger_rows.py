"""Ledger rows: the plain columns that are folded, and rows that differ in their numbers only, put together."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from exporters.histogram import Observations
from exporters.metric import OTHER

COLUMNS = (
    *("seq", "kind", "at_us", "level", "rung", "role", "result", "billing", "source", "micro_usd"),
    *("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens"),
    *("micro_ratio", "duration_us", "gate_row", "stage", "window_kind", "receipt"),
)
"""The plain columns that are folded, in the order in which each row holds them."""
LedgerRow = tuple[Any, ...]

SEQ, KIND, AT, LEVEL, RUNG, ROLE, RESULT, BILLING, SOURCE, MICRO_USD = range(10)
RATIO, DURATION, GATE_ROW, STAGE, WINDOW, RECEIPT = range(15, len(COLUMNS))
_WHOLE = ("seq", "_us", "_usd", "_tokens", "_ratio")
_TYPES = tuple(int if name.endswith(_WHOLE) else str for name in COLUMNS[:-1])

_WORDS = itemgetter(KIND, LEVEL, RUNG, ROLE, RESULT, BILLING, SOURCE, GATE_ROW, STAGE, WINDOW)
_NUMBERS = itemgetter(slice(MICRO_USD, GATE_ROW))
_SOUND = itemgetter(slice(RECEIPT))
_OBSERVED = itemgetter(SEQ, RECEIPT, DURATION, AT)
_ALL_TEXT, _ALL_WHOLE = {str}, {int}

Words = tuple[str, ...]


class Alike(NamedTuple):
    """Rows that differ in their numbers only; `amounts` sums their money and each kind of tokens, `micro_ratio` what
    they say of their window, in millionths of it.
    """

    level: str
    rung: str
    role: str
    result: str
    billing: str
    source: str
    gate_row: str
    stage: str
    window: str
    rows: Sequence[LedgerRow]
    amounts: Sequence[int]
    micro_ratio: int


def grouped(rows: Sequence[LedgerRow]) -> Iterable[tuple[Words, list[LedgerRow]]]:
    """Rows by their words, the kind first."""
    found: dict[Words, list[LedgerRow]] = defaultdict(list)
    for words, row in zip(map(_WORDS, rows), rows, strict=True):
        found[words].append(row)
    return found.items()


def alike(words: Words, rows: Sequence[LedgerRow]) -> Alike | None:
    """Rows that share all words after the kind, without those that hold what no column may; None if none is left."""
    sums = _sums(rows)
    if sums is None or set(map(type, words)) != _ALL_TEXT:
        rows = [row for row in rows if tuple(map(type, _SOUND(row))) == _TYPES]
        sums = _sums(rows) if rows else None
    if sums is None:
        return None
    level, rung, role, result, billing, source, gate_row, stage, window = words
    *amounts, ratio, _ = sums
    shared = level, rung or OTHER, role, result, billing, source, gate_row or OTHER, stage, window
    return Alike(*shared, rows, amounts, ratio)


def observe(observed: Observations, found: Alike) -> None:
    """Count how long each row lasted."""
    seqs, receipts, micros, ats_us = zip(*map(_OBSERVED, found.rows), strict=True)
    observed.add(seqs, receipts, micros, ats_us)


def _sums(rows: Sequence[LedgerRow]) -> list[int] | None:
    """The sum of each number from the money to the duration; None where one of them is no whole number."""
    try:
        sums = list(map(sum, zip(*map(_NUMBERS, rows), strict=True)))
    except TypeError:
        return None
    return sums if set(map(type, sums)) == _ALL_WHOLE else None
