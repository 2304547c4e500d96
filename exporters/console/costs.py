"""Costs: what each level has come to since the ledger began, both kinds of billing apart (pure)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from decide.money import dollars
from decide.question import LevelName
from decide.reply import Billing
from decide.ruling import ANSWERED
from exporters.fold import Counts


@dataclass(frozen=True, slots=True)
class LevelCost:
    """A level: its questions, its decisions, those that were answered, and micro-dollars by billing."""

    level: str
    questions: int
    decisions: int
    answered: int
    micro_usd: Mapping[str, int]

    def usd(self, billing: str) -> str:
        """What it cost, in dollars."""
        return dollars(self.micro_usd.get(billing, 0))

    def each(self, billing: str) -> str:
        """What one answered decision cost, in dollars; empty while none was."""
        return dollars(round(self.micro_usd.get(billing, 0) / self.answered)) if self.answered else ""


def by_level(counts: Counts) -> list[LevelCost]:
    """Every level that is known, and then whatever else the ledger names."""
    spent: dict[str, Counter[str]] = {}
    for rung in counts.rungs.values():
        for key, sums in rung.passes.items():
            spent.setdefault(key.level, Counter())[key.billing] += sums.micro_usd
    names = dict.fromkeys([*(level.value for level in LevelName), *counts.levels, *spent])
    return [_level(counts, name, spent.get(name, Counter())) for name in names]


def billings(costs: list[LevelCost]) -> list[str]:
    """The kinds of billing that are told: both, and whatever else the ledger names."""
    return list(dict.fromkeys([*(one.value for one in Billing), *(b for cost in costs for b in cost.micro_usd)]))


def _level(counts: Counts, name: str, spent: Mapping[str, int]) -> LevelCost:
    found = counts.levels.get(name)
    outcomes = found.outcomes if found else {}
    answered = sum(count for outcome, count in outcomes.items() if outcome in {one.value for one in ANSWERED})
    return LevelCost(name, found.questions if found else 0, sum(outcomes.values()), answered, dict(spent))
