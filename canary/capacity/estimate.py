"""Estimate: a mean over independent batches, with the interval in which the true one lies 95 times in 100."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its interval; `low` and `high` are equal to it where nothing was left to chance."""

    mean: float
    low: float
    high: float


def estimate(batches: Sequence[float]) -> Estimate:
    """The mean of batches that are independent of one another, with Student's interval; at least two are needed.

    Batches are simulated apart, each from its own seed and warmed up, so that their means are independent although
    the weeks in one are not: a weekly window that is spent on Friday is still spent on Monday.
    """
    mean = fmean(batches)
    half = student(len(batches) - 1) * stdev(batches) / len(batches) ** 0.5
    return Estimate(mean, mean - half, mean + half)


def share(batches: Sequence[float], weeks: int) -> Estimate:
    """The estimate of a share of time: from 0 to 1, and not surer of 0 or 1 than so many weeks allow.

    When all weeks are alike the batches do not differ, and Student's interval would be a point. The rule of three
    then bounds the share of weeks that are not like them, and with it the share of time.
    """
    found = estimate(batches)
    low, high = max(0.0, found.low), min(1.0, found.high)
    rare = 1.0 - (1.0 - CONFIDENCE) ** (1.0 / weeks)
    if max(batches) == 0.0:
        high = rare
    if min(batches) == 1.0:
        low = 1.0 - rare
    return Estimate(found.mean, low, high)


def student(freedom: int) -> float:
    """How many standard errors the interval reaches at that many degrees of freedom (Cornish and Fisher's series)."""
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    if freedom < len(_FEW):
        return _FEW[freedom]
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


_FEW = (float("inf"), 12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060)
"""By degrees of freedom from 0 on, where the series is not good enough."""
