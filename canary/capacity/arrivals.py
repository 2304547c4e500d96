"""Arrivals: the questions of some weeks as they come, drawn by a seed from rates or from recorded hours."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray

from canary.capacity.hours import HOUR_S, HOURS
from canary.capacity.scenario import Demand, Draw, Rates, Recorded, Scenario
from decide.question import LevelName

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Questions in order: the second at which each comes, the index of its draw, and whether it is reconsidered."""

    seconds: Numbers
    draws: Numbers
    again: NDArray[np.bool_]


def stream(seed: int, batch: int, *place: int) -> Generator:
    """The random numbers of one purpose: the same whatever seats are simulated, so that mixes can be compared."""
    return default_rng(SeedSequence(seed, spawn_key=(batch, *place)))


def arrivals(scenario: Scenario, weeks: int, *, seed: int, batch: int) -> Arrivals:
    """The questions of that many weeks from second 0 on."""
    rng = stream(seed, batch, 0)
    seconds, draws = _drawn(scenario.demand, scenario.factor, weeks, rng)
    order = np.argsort(seconds, kind="stable")
    seconds, draws = seconds[order], draws[order]
    again = rng.random(len(seconds))
    draws = _moved(draws, scenario, stream(seed, batch, 1))
    often = np.array([draw.reconsidered for draw in scenario.demand.draws])
    return Arrivals(seconds, draws, again < often[draws])


def _drawn(demand: Demand, factor: float, weeks: int, rng: Generator) -> tuple[Numbers, Numbers]:
    match demand:
        case Rates():
            return _by_chance(demand, factor, weeks, rng)
        case Recorded():
            return _resampled(demand, factor, weeks, rng)


def _by_chance(demand: Rates, factor: float, weeks: int, rng: Generator) -> tuple[Numbers, Numbers]:
    """Poisson arrivals, each hour of the week at its own rate."""
    seconds, draws = [], []
    for index, draw in enumerate(demand.draws):
        rates = np.tile(np.asarray(demand.per_hour[draw.level]) * factor, weeks)
        hours = np.repeat(np.arange(len(rates)), rng.poisson(rates))
        seconds.append(hours * HOUR_S + rng.integers(0, HOUR_S, len(hours)))
        draws.append(np.full(len(hours), index))
    return np.concatenate(seconds).astype(np.int64), np.concatenate(draws).astype(np.int64)


def _resampled(demand: Recorded, factor: float, weeks: int, rng: Generator) -> tuple[Numbers, Numbers]:
    """For each hour a recorded one of the same hour of the week; a factor takes several, or leaves questions out."""
    seconds: list[int] = []
    draws: list[int] = []
    whole, part = divmod(factor, 1.0)
    for hour in range(weeks * HOURS):
        recorded = demand.blocks[hour % HOURS]
        for turn in range(int(whole) + (part > 0)):
            block = recorded[int(rng.integers(len(recorded)))]
            kept = rng.random(len(block)) < (1.0 if turn < whole else part)
            for (second, draw), stays in zip(block, kept, strict=True):
                if stays:
                    seconds.append(hour * HOUR_S + second)
                    draws.append(draw)
    return np.asarray(seconds, np.int64), np.asarray(draws, np.int64)


def _moved(draws: Numbers, scenario: Scenario, rng: Generator) -> Numbers:
    """The draws with some of those at `high` replaced by ones at `medium`."""
    chance, choice = rng.random(len(draws)), rng.random(len(draws))
    medium = of_level(scenario.demand.draws, LevelName.MEDIUM)
    if not scenario.moved or not len(medium):
        return draws
    high = np.isin(draws, of_level(scenario.demand.draws, LevelName.HIGH))
    instead = medium[(choice * len(medium)).astype(np.int64)]
    return np.where(high & (chance < scenario.moved), instead, draws)


def of_level(draws: Sequence[Draw], level: str) -> Numbers:
    """The indexes of the draws of a level."""
    return np.asarray([index for index, draw in enumerate(draws) if draw.level == level], np.int64)
