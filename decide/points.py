"""Points: what consultations took of a seat's window, as far as the readings before and after them tell."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from decide.consultation import PassRole
from decide.meter import MeterSample, step

MILLION = 1_000_000
"""Ratios are kept in whole millionths, so that what is split adds up; a point is 10,000 of them."""
LONGEST_GAP = timedelta(hours=1)
"""Readings further apart say nothing of one consultation: too much else may have happened in between."""


class Certainty(StrEnum):
    """How surely it was that consultation's: nothing else of ours ran on the seat between two readings, or it did."""

    ATTRIBUTED = "attributed"
    SHARED = "shared"


@dataclass(frozen=True, slots=True)
class Consulted:
    """Which consultation of a rung a pass belongs to: that of its run (`receipt`) whose passes have this role."""

    receipt: str
    question: str
    level: str
    role: str


def consulted(receipt: str, question: str, level: str, role: str) -> Consulted:
    """The consultation of a pass: a repeat and a re-read belong to the votes that they add to."""
    added = role in (PassRole.REPEAT, PassRole.REREAD)
    return Consulted(receipt, question, level, PassRole.VOTE.value if added else role)


@dataclass(frozen=True, slots=True)
class Work:
    """A pass as its seat's meters may show it: `tokens` of all kinds, 0 where the vendor told none."""

    consulted: Consulted
    began: datetime
    ended: datetime
    tokens: int


@dataclass(frozen=True, slots=True)
class Taken:
    """What a consultation took between two readings, in millionths of the window."""

    consulted: Consulted
    micro_ratio: int
    certainty: Certainty


def taken(before: MeterSample, after: MeterSample, work: Iterable[Work]) -> tuple[Taken, ...]:
    """What grew between two readings that follow one another, split over the consultations that ran between them.

    It is one consultation's where no other ran on the seat meanwhile; else each gets a share by its tokens, those of
    a pass spread evenly over its time, and where a pass tells no tokens all are split by time alone. The shares add
    up to what grew. Nothing for readings further apart than LONGEST_GAP, and where nothing ran. Passes of other seats
    must not be among `work`. Source: issue 6, "cost truth".
    """
    if after.at - before.at > LONGEST_GAP:
        return ()
    ran = [one for one in work if one.began < after.at and one.ended > before.at]
    told = all(one.tokens for one in ran)
    weights: dict[Consulted, float] = defaultdict(float)
    for one in ran:
        weights[one.consulted] += (one.tokens if told else 1) * _within(one, before.at, after.at)
    certainty = Certainty.ATTRIBUTED if len(weights) == 1 else Certainty.SHARED
    parts = _split(round(step(before, after) * MILLION), list(weights.values()))
    return tuple(Taken(each, part, certainty) for each, part in zip(weights, parts, strict=True))


def _within(work: Work, begin: datetime, end: datetime) -> float:
    """Which share of its time a pass lay between two moments."""
    lasted = work.ended - work.began
    return (min(end, work.ended) - max(begin, work.began)) / lasted if lasted else 1.0


def _split(whole: int, weights: Sequence[float]) -> list[int]:
    """A whole number in whole parts by weight, the largest remainders rounded up."""
    total = sum(weights)
    exact = [whole * each / total for each in weights]
    parts = [int(each) for each in exact]
    rest = sorted(range(len(parts)), key=lambda index: parts[index] - exact[index])
    for index in rest[: whole - sum(parts)]:
        parts[index] += 1
    return parts
