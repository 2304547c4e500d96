"""Outcome: what the batches of one mix add up to."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from canary.capacity.batch import Batch, Mix
from canary.capacity.estimate import Estimate, estimate, share
from canary.capacity.scenario import Scenario
from decide.reply import Billing

WEEKS_A_MONTH = 365.2425 / 12 / 7
CENT = 10_000
"""Micro-dollars to which a simulated bill is rounded: more places would look surer than it is."""


@dataclass(frozen=True, slots=True)
class Spend:
    """One level on one rung, a week: what was wanted and missed, model calls, and micro-dollars by who pays."""

    level: str
    wanted: Estimate
    blocked: Estimate
    passes: Estimate
    micro_usd: dict[Billing, Estimate]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A mix as simulated for `weeks` weeks in `batches` batches.

    `missing` is the share of working time in which no seat could be picked; `by_hour` the chance of that in each hour
    of the week. `month_micro_usd` is what the seats cost and what is billed by use, None where a price is not known.
    """

    rung: str
    mix: Mix
    weeks: int
    batches: int
    missing: Estimate
    by_hour: tuple[float, ...]
    spend: tuple[Spend, ...]
    month_micro_usd: int | None

    @property
    def seats(self) -> int:
        """How many seats there are of all kinds."""
        return sum(count for _, count in self.mix)

    @property
    def words(self) -> str:
        """The seats in words: `3 max`, `2 max + 1 pro`."""
        return " + ".join(f"{count} {name}" for name, count in self.mix) or "no seats"

    def meets(self, target: float) -> bool:
        """Whether the rung misses no more than that of working time, by the upper end of the interval.

        Where it was never once missing, the interval tells only of how long was simulated, and that is enough.
        """
        return self.missing.mean == 0.0 or self.missing.high <= target


def outcome(scenario: Scenario, batches: Sequence[Batch]) -> Outcome | None:
    """What two batches or more of one mix add up to; None for fewer."""
    if len(batches) < 2:
        return None
    first, weeks = batches[0].task, sum(batch.task.weeks for batch in batches)
    spend = tuple(_spend(level, batches) for level in batches[0].levels)
    return Outcome(
        first.rung,
        first.mix,
        weeks,
        len(batches),
        share([working_share(batch, scenario) for batch in batches], weeks),
        tuple(np.concatenate([batch.hours for batch in batches]).mean(axis=0).tolist()),
        spend,
        _month(scenario, first.mix, spend),
    )


def working_share(batch: Batch, scenario: Scenario) -> float:
    """The share of working time in which the rung was missing."""
    return float(batch.hours[:, sorted(scenario.working)].mean())


def difference(after: Iterable[Batch], before: Iterable[Batch], of: Callable[[Batch], float]) -> Estimate | None:
    """By how much something changes, from batches in which the same questions came at the same moments."""
    earlier = {batch.task.batch: of(batch) for batch in before}
    changes = [of(batch) - earlier[batch.task.batch] for batch in after if batch.task.batch in earlier]
    return estimate(changes) if len(changes) > 1 else None


def _spend(level: str, batches: Sequence[Batch]) -> Spend:
    tallies = [batch.levels[level] for batch in batches]
    return Spend(
        level,
        estimate([tally.wanted for tally in tallies]),
        estimate([tally.blocked for tally in tallies]),
        estimate([tally.passes for tally in tallies]),
        {each: estimate([tally.micro_usd[each] for tally in tallies]) for each in Billing},
    )


def _month(scenario: Scenario, mix: Mix, spend: Sequence[Spend]) -> int | None:
    fixed = seats_micro_usd(scenario, mix)
    used = sum(each.micro_usd[Billing.METERED].mean for each in spend) * WEEKS_A_MONTH
    return None if fixed is None else fixed + round(used / CENT) * CENT


def seats_micro_usd(scenario: Scenario, mix: Mix) -> int | None:
    """What the seats of a mix cost in a month before anything is asked; None where a price is not known."""
    prices = {kind.name: kind.micro_usd_per_month for kind in scenario.kinds}
    found = [(prices[name], count) for name, count in mix]
    known = [price * count for price, count in found if price is not None]
    return sum(known) if len(known) == len(found) else None
