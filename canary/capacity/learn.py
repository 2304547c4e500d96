"""Learning: what a history says of demand and of what a decision takes, or why it says too little."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import fmean
from zoneinfo import ZoneInfo

from canary.capacity.growth import grown
from canary.capacity.history import Decision, History, RungUse
from canary.capacity.hours import HOURS
from canary.capacity.scenario import POINTS, Block, Draw, Recorded, ScenarioError, Take
from decide.meter import MeterSample
from decide.quota import WindowKind
from decide.ruling import Outcome

LEAST_WEEKS = 2
"""Below this an hour of the week is known from one example, and nothing says how much two of them differ."""
LEAST_DECISIONS = 50
"""Below this the mean of what a decision takes is uncertain by more than a seventh (one in the root of 50)."""
FEW = 10
"""A level with fewer decisions than this is told among the assumptions."""
_MISSED = frozenset({Outcome.SINGLE_RUNG, Outcome.WALLED, Outcome.ERROR, Outcome.HELD})
"""Outcomes in which a rung may not have been called although it was wanted."""


@dataclass(frozen=True, slots=True)
class Learned:
    """Demand as recorded, and what has to be said of it."""

    demand: Recorded
    assumptions: tuple[str, ...]


def learn(history: History, *, rungs: Sequence[str], zone: str, stated: Mapping[str, Mapping[str, Take]]) -> Learned:
    """The demand of a history; `stated` has by level and rung what a scenario says that a consultation takes.

    Raises ScenarioError when the history is too short, or says nothing of what a decision takes from the windows.
    """
    refuse_short(history)
    points = points_per_token(history)
    known = [_known(decision, points) for decision in history.decisions]
    filled, imputed = _imputed(known, rungs)
    draws = [_draw(decision, rungs, stated.get(decision.level, {})) for decision in filled]
    _refuse_free(draws, rungs)
    blocks = _blocks(history, ZoneInfo(zone))
    return Learned(Recorded(blocks, tuple(draws)), _assumptions(history, imputed, from_meters=bool(points)))


def refuse_short(history: History) -> None:
    """Raise ScenarioError for a history from which nothing should be extrapolated."""
    if not history.decisions:
        raise ScenarioError(f"{history.source} holds no decision: give a scenario that says what will be asked")
    first, last = history.decisions[0].at, history.decisions[-1].at
    weeks, count = (last - first) / timedelta(weeks=1), len(history.decisions)
    if weeks < LEAST_WEEKS or count < LEAST_DECISIONS:
        raise ScenarioError(
            f"{history.source} holds {count} decisions over {weeks:.1f} weeks; a plan needs {LEAST_DECISIONS} over "
            f"{LEAST_WEEKS} weeks or more: each hour of the week must be known from two examples, and a mean of "
            "fewer decisions is uncertain by more than a seventh. Wait, or give a scenario that says what is asked"
        )


def points_per_token(history: History) -> dict[tuple[str, WindowKind], float]:
    """By rung and kind of window how many points a token (or, with none known, a pass) takes, from the meters.

    Everything that a rung's meters grew while its decisions were made is put down to them: people who use the same
    seats make a decision look dearer than it is, and so the plan more careful.
    """
    if not history.decisions:
        return {}
    first, last = history.decisions[0].at, history.decisions[-1].at
    totals: dict[tuple[str, WindowKind], float] = defaultdict(float)
    for window, samples in by_window(history.samples).items():
        within = [sample for sample in samples if first <= sample.at <= last]
        totals[window[0], window[2]] += sum(step for _, step in grown(within)) * POINTS
    used: dict[str, float] = defaultdict(float)
    for decision in history.decisions:
        for rung, use in decision.uses.items():
            used[rung] += weight(use)
    return {(rung, kind): grew / used[rung] for (rung, kind), grew in totals.items() if used[rung] and grew}


def weight(use: RungUse) -> float:
    """By what the growth of meters is split: tokens, where none are known passes."""
    return float(use.tokens or use.passes)


def by_window(samples: Iterable[MeterSample]) -> dict[tuple[str, str, WindowKind, str], list[MeterSample]]:
    """Samples by their window, each in order of time."""
    found: dict[tuple[str, str, WindowKind, str], list[MeterSample]] = defaultdict(list)
    for sample in sorted(samples, key=lambda sample: sample.at):
        found[sample.window].append(sample)
    return found


def _known(decision: Decision, points: Mapping[tuple[str, WindowKind], float]) -> Decision:
    """The decision with points for what it took, its own where it has them."""
    uses = {
        rung: use
        if use.points
        else replace(use, points={kind: each * weight(use) for (of, kind), each in points.items() if of == rung})
        for rung, use in decision.uses.items()
    }
    return replace(decision, uses=uses)


def _imputed(decisions: Sequence[Decision], rungs: Sequence[str]) -> tuple[list[Decision], int]:
    """Decisions with the level's mean for each rung that was wanted and missing, and for how many that was done."""
    means = {(level, rung): _mean(decisions, level, rung) for level in _levels(decisions) for rung in rungs}
    filled, count = [], 0
    for decision in decisions:
        lacking = [rung for rung in rungs if rung not in decision.uses] if decision.outcome in _MISSED else []
        given = {rung: mean for rung in lacking if (mean := means[decision.level, rung]) is not None}
        count += len(given)
        filled.append(replace(decision, uses={**decision.uses, **given}))
    return filled, count


def _levels(decisions: Iterable[Decision]) -> list[str]:
    return list(dict.fromkeys(decision.level for decision in decisions))


def _mean(decisions: Iterable[Decision], level: str, rung: str) -> RungUse | None:
    uses = [each.uses[rung] for each in decisions if each.level == level and rung in each.uses]
    if not uses:
        return None
    kinds = dict.fromkeys(kind for use in uses for kind in use.points)
    return RungUse(
        fmean(use.passes for use in uses),
        0,
        fmean(use.tokens for use in uses),
        {("", ""): fmean(use.all_micro_usd for use in uses)},
        {kind: fmean(use.points.get(kind, 0.0) for use in uses) for kind in kinds},
    )


def _draw(decision: Decision, rungs: Sequence[str], stated: Mapping[str, Take]) -> Draw:
    """The decision as it may come again; its reconsideration is a part of what it took."""
    takes = {rung: _take(use, stated.get(rung)) for rung, use in decision.uses.items() if rung in rungs}
    return Draw(decision.level, takes)


def _take(use: RungUse, stated: Take | None) -> Take:
    if stated is None:
        return Take(use.passes, use.all_micro_usd, use.points)
    asked = use.passes - use.reconsidering
    times = min(2.0, 1.0 + use.reconsidering / asked) if asked > 0 else 1.0
    return Take(
        stated.passes * times,
        stated.micro_usd * times,
        {kind: points * times for kind, points in stated.points.items()},
    )


def _refuse_free(draws: Sequence[Draw], rungs: Sequence[str]) -> None:
    """Raise ScenarioError where no decision is known to take anything from a window."""
    for rung in rungs:
        takes = [draw.takes[rung] for draw in draws if rung in draw.takes]
        if takes and not any(any(take.points.values()) or take.micro_usd for take in takes):
            raise ScenarioError(
                f"history does not say what a consultation of {rung} takes from its seats' windows: there are no "
                f"meter readings; give levels.LEVEL.rungs.{rung}.points in a scenario, or --prometheus"
            )


def _blocks(history: History, zone: ZoneInfo) -> tuple[tuple[Block, ...], ...]:
    """By hour of the week every recorded hour, with the questions that came in it, empty ones too."""
    first, last = (moment.astimezone(zone) for moment in (history.decisions[0].at, history.decisions[-1].at))
    asked: dict[datetime, list[tuple[int, int]]] = defaultdict(list)
    for index, decision in enumerate(history.decisions):
        local = decision.at.astimezone(zone).replace(tzinfo=None)
        hour = local.replace(minute=0, second=0, microsecond=0)
        asked[hour].append((int((local - hour).total_seconds()), index))
    blocks: list[list[Block]] = [[] for _ in range(HOURS)]
    hour = first.replace(tzinfo=None, minute=0, second=0, microsecond=0)
    while hour <= last.replace(tzinfo=None):
        blocks[hour.weekday() * 24 + hour.hour].append(tuple(asked.get(hour, ())))
        hour += timedelta(hours=1)
    return tuple(map(tuple, blocks))


def _assumptions(history: History, imputed: int, *, from_meters: bool) -> tuple[str, ...]:
    first, last = history.decisions[0].at, history.decisions[-1].at
    weeks = (last - first) / timedelta(weeks=1)
    told = [
        f"demand is that of {len(history.decisions)} decisions over {weeks:.1f} weeks in {history.source}, drawn "
        "anew hour by hour of the week: busy hours are kept, busy weeks are not"
    ]
    counts: dict[str, int] = defaultdict(int)
    for decision in history.decisions:
        counts[decision.level] += 1
    told += [f"level {level} is known from {count} decisions only" for level, count in counts.items() if count < FEW]
    own = sum(any(use.points for use in decision.uses.values()) for decision in history.decisions)
    if own:
        told.append(f"points of {own} decisions are what the meters grew around each of them")
    if from_meters and own < len(history.decisions):
        told.append(
            f"points{' of the others' if own else ''} are what the meters grew, split over decisions by tokens"
        )
    if own or from_meters:
        told.append("what people took from the same seats is put down to the decisions too")
    if imputed:
        told.append(f"{imputed} consultations that never ran, a rung being missing, count as the mean of their level")
    if history.even:
        told.append(f"{history.source} knows counts by the hour: decisions lie evenly within their hour")
    return tuple(told)
