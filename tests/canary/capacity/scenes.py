"""Scenes: small teams whose seats and questions the tests simulate."""

from collections.abc import Mapping

from canary.capacity.batch import Batch, Task, mix_of, simulate
from canary.capacity.hours import HOURS, WEEK_S
from canary.capacity.scenario import Draw, Rates, Scenario, SeatKind, Starts, Take, WindowRule
from decide.quota import WindowKind

SESSION, WEEKLY, MODEL = WindowKind.SESSION, WindowKind.WEEKLY, WindowKind.WEEKLY_MODEL
RUNGS = ("fable", "astra")


def week(kind: WindowKind = WEEKLY, holds: float = 100.0, scope: str = "") -> WindowRule:
    """A window of a week, anchored."""
    return WindowRule(kind, holds, Starts.ANCHOR, WEEK_S, (), scope)


MAX = SeatKind("max", "fable", (WindowRule(SESSION), week(), week(MODEL, 50.0, "Fable")), 200_000_000)
PRO = SeatKind("pro", "astra", (WindowRule(SESSION), week()), 100_000_000)
MEDIUM = Draw(
    "medium",
    {
        "fable": Take(2, 140_000, {SESSION: 8.0, WEEKLY: 1.2, MODEL: 1.2}),
        "astra": Take(2, 90_000, {SESSION: 8.0, WEEKLY: 1.2}),
    },
    reconsidered=0.1,
)
HIGH = Draw(
    "high",
    {
        "fable": Take(6, 420_000, {SESSION: 24.0, WEEKLY: 3.6, MODEL: 3.6}),
        "astra": Take(7, 300_000, {SESSION: 28.0, WEEKLY: 4.0}),
    },
    reconsidered=0.2,
)
OFFICE = frozenset(day * 24 + hour for day in range(5) for hour in range(8, 18))


def rates(per_hour: float, hours: frozenset[int] = OFFICE) -> tuple[float, ...]:
    """So many an hour in those hours, none in others."""
    return tuple(per_hour if hour in hours else 0.0 for hour in range(HOURS))


def team(per_hour: Mapping[str, float] | None = None, **fields: object) -> Scenario:
    """Two rungs of one kind of seat each, asked at `medium` and `high` in office hours."""
    asked = {"medium": 2.0, "high": 0.25} if per_hour is None else per_hour
    draws = tuple(draw for draw in (MEDIUM, HIGH) if draw.level in asked)
    demand = Rates({level: rates(each) for level, each in asked.items()}, draws)
    given = {"have": {"max": 3, "pro": 2}, "most": {"max": 6, "pro": 4}, "working": OFFICE} | fields
    return Scenario(RUNGS, (MAX, PRO), demand, **given)  # type: ignore[arg-type]


def batches(
    scenario: Scenario, rung: str, counts: Mapping[str, int], weeks: int = 5, number: int = 10
) -> list[Batch]:
    """Independent batches of one mix."""
    return [simulate(scenario, Task(rung, mix_of(counts), batch, weeks, 7)) for batch in range(number)]
