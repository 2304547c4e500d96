"""Batch: some weeks of one rung with one mix of seats, from a warmed-up start, as figures that can be added up."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import merge

import numpy as np
from numpy.typing import NDArray

from canary.capacity.arrivals import Arrivals, arrivals, stream
from canary.capacity.hours import HOUR_S, HOURS, WEEK_S
from canary.capacity.rung import Choose, RungLog, Shares, Use, best, run_rung
from canary.capacity.scenario import Scenario, Take
from canary.capacity.seats import SimSeat
from canary.capacity.stretches import Floats, Stretch, missing_hours, since
from decide.reply import Billing

Mix = tuple[tuple[str, int], ...]
"""How many seats of each kind, sorted by the kinds' names, none with 0."""
_NOTHING = Take()


@dataclass(frozen=True, slots=True)
class Task:
    """What one batch simulates; `moved` and `factor` change the scenario's demand."""

    rung: str
    mix: Mix
    batch: int
    weeks: int
    seed: int
    moved: float = 0.0
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Tally:
    """A week's average of one level: consultations wanted and not to be had, model calls, and dollars by billing."""

    wanted: float
    blocked: float
    passes: float
    micro_usd: Mapping[Billing, float]


@dataclass(frozen=True, slots=True)
class Batch:
    """What came of a batch, seconds and weeks counted from the end of the warm-up.

    `missing` are the stretches without a usable seat, `hours[week, hour of the week]` their share of each hour.
    """

    task: Task
    missing: tuple[Stretch, ...]
    hours: Floats
    levels: Mapping[str, Tally]


def mix_of(counts: Mapping[str, int]) -> Mix:
    """Counts as a mix."""
    return tuple(sorted((name, count) for name, count in counts.items() if count))


def simulate(scenario: Scenario, task: Task, choose: Choose = best) -> Batch:
    """One batch; the same task gives the same figures wherever it is run."""
    scenario = replace(scenario, moved=task.moved, factor=scenario.factor * task.factor)
    warm = scenario.warm_up_weeks
    coming = arrivals(scenario, warm + task.weeks, seed=task.seed, batch=task.batch)
    made = _Made(scenario, task, coming)
    until = (warm + task.weeks) * WEEK_S
    log = run_rung(made.seats, made.kind_of, made.uses(warm + task.weeks), until, choose)
    missing = since(log.missing, warm * WEEK_S)
    return Batch(task, missing, missing_hours(missing, task.weeks), made.levels(log, warm * WEEK_S))


class _Made:
    """The seats of a mix and the uses that a scenario makes of them."""

    def __init__(self, scenario: Scenario, task: Task, coming: Arrivals) -> None:
        self._scenario, self._task, self._coming = scenario, task, coming
        counts = dict(task.mix)
        self.kinds = [kind for kind in scenario.of_rung(task.rung) if counts.get(kind.name)]
        self.seats = [SimSeat(kind, number) for kind in self.kinds for number in range(counts[kind.name])]
        self.kind_of = [self.kinds.index(seat.kind) for seat in self.seats]
        self._takes = [draw.takes.get(task.rung, _NOTHING) for draw in scenario.demand.draws]
        self._asks = [task.rung in draw.takes for draw in scenario.demand.draws]
        self._turns = self._consultations()

    def _consultations(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Seconds and draws of the rung's consultations; the primary's are repeated where it reconsiders."""
        coming, primary = self._coming, self._task.rung == self._scenario.rungs[0]
        asked = np.asarray(self._asks, bool)[coming.draws]
        count = np.where(asked, 1 + (coming.again if primary else 0), 0)
        return np.repeat(coming.seconds, count), np.repeat(coming.draws, count)

    def uses(self, weeks: int) -> Iterator[Use]:
        """Everything that is used, in order."""
        shares = [self._shares(take) for take in self._takes]
        seconds, draws = self._turns
        asked = (Use(s, shares[d]) for s, d in zip(seconds.tolist(), draws.tolist(), strict=True))
        if not any(kind.others for kind in self.kinds):
            return asked
        return merge(asked, *(self._people(index, weeks) for index in range(len(self.seats))), key=_second)

    def _shares(self, take: Take) -> tuple[Shares, ...]:
        return tuple(tuple(take.share(window) for window in kind.windows) for kind in self.kinds)

    def _people(self, index: int, weeks: int) -> Iterator[Use]:
        """What people take from a seat: once in every working hour, at a moment of chance."""
        seat = self.seats[index]
        rng = stream(self._task.seed, self._task.batch, 2, self._scenario.kinds.index(seat.kind), seat.number)
        hours = [week * HOURS + hour for week in range(weeks) for hour in sorted(self._scenario.working)]
        moments = (np.asarray(hours) * HOUR_S + rng.integers(0, HOUR_S, len(hours))).tolist()
        shares = self._shares(Take(points=seat.kind.others))
        return (Use(second, shares, index) for second in moments) if seat.kind.others else iter(())

    def levels(self, log: RungLog, begin: int) -> dict[str, Tally]:
        """What was wanted, missed and spent at each level after the warm-up, a week."""
        seconds, draws = self._turns
        counted = seconds >= begin
        seats, draws = np.asarray(log.picks, np.int64)[counted], draws[counted]
        billing = np.array([seat.kind.billing.value for seat in self.seats] + [""])  # [-1]: of a blocked one
        paid = billing[seats]
        usd, passes = (np.array([getattr(take, name) for take in self._takes]) for name in ("micro_usd", "passes"))
        levels = np.array([draw.level for draw in self._scenario.demand.draws])[draws]
        return {
            str(level): self._tally(levels == level, seats, paid, usd[draws], passes[draws])
            for level in dict.fromkeys(draw.level for draw in self._scenario.demand.draws)
        }

    def _tally(
        self,
        of_level: NDArray[np.bool_],
        seats: NDArray[np.int64],
        paid: NDArray[np.str_],
        usd: Floats,
        passes: Floats,
    ) -> Tally:
        went, weeks = of_level & (seats >= 0), self._task.weeks
        return Tally(
            float(of_level.sum()) / weeks,
            float((of_level & (seats < 0)).sum()) / weeks,
            float(passes[went].sum()) / weeks,
            {each: float(usd[went & (paid == each.value)].sum()) / weeks for each in Billing},
        )


def _second(use: Use) -> int:
    return use.second
