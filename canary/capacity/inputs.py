"""Inputs: a scenario made of what a file says, what the configuration has and what history shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from canary.capacity import hours
from canary.capacity.history import History
from canary.capacity.hours import WEEK_S
from canary.capacity.learn import learn
from canary.capacity.scenario import Demand, Draw, Rates, Scenario, ScenarioError, SeatKind, Starts, Take, WindowRule
from canary.capacity.scenario_file import KindPart, LevelPart, PlanPart, ScenarioFile
from decide.quota import WindowKind


@dataclass(frozen=True, slots=True)
class ConfiguredRung:
    """A rung of the configuration: its name, how many seats it has, and the models whose own windows bind it."""

    name: str
    seats: int
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a plan is made of; without a `file`, seats are those of the configuration and what they usually are."""

    rungs: tuple[ConfiguredRung, ConfiguredRung]
    file: ScenarioFile | None = None
    history: History | None = None
    notes: tuple[str, ...] = field(default=())


def needs_history(file: ScenarioFile | None) -> bool:
    """Whether demand has to come from history."""
    return file is None or not file.states_demand


def scenario_of(inputs: Inputs) -> Scenario:
    """The scenario; raises ScenarioError where the inputs contradict one another or say too little."""
    file, plan = inputs.file, inputs.file.plan if inputs.file else PlanPart()
    rungs = _rungs(inputs)
    kinds, have = _kinds(inputs, rungs)
    demand, told = _demand(inputs, rungs, plan)
    return Scenario(
        rungs,
        kinds,
        demand,
        have,
        dict(file.most) if file else {},
        plan.target,
        hours.spans(plan.working_hours),
        plan.demand,
        assumptions=(*told, *_seats_told(inputs, kinds), *inputs.notes, *ALWAYS),
    )


ALWAYS = (
    "a question that finds a rung missing is answered by the other one and does not come again; one that waits for a "
    "person is not asked again",
    "meters are read without delay, as every refusal is: a real canary sees them up to a tick later",
    "a reconsideration comes with its question, on the seat that is then picked",
    "vendors' outages and lapsed logins are not simulated: they come on top",
    "a simulated week has no change of clocks",
)
"""What every plan takes for granted."""


def _rungs(inputs: Inputs) -> tuple[str, ...]:
    if inputs.file is None or inputs.file.ladder is None:
        return tuple(rung.name for rung in inputs.rungs)
    ladder = inputs.file.ladder
    if ladder.primary == ladder.second:
        raise ScenarioError("ladder.second: must be another rung than ladder.primary")
    return ladder.primary, ladder.second


def _kinds(inputs: Inputs, rungs: tuple[str, ...]) -> tuple[tuple[SeatKind, ...], dict[str, int]]:
    if inputs.file is None:
        kinds = tuple(_usual(rung) for rung in inputs.rungs)
        return kinds, {rung.name: rung.seats for rung in inputs.rungs}
    for name, part in inputs.file.kinds.items():
        _refuse_rung(f"kinds.{name}.rung", part, rungs)
    for rung in rungs:
        if rung not in {part.rung for part in inputs.file.kinds.values()}:
            raise ScenarioError(f"kinds: no kind of seat reaches the rung {rung}; there must be one")
    return tuple(part.kind(name) for name, part in inputs.file.kinds.items()), dict(inputs.file.seats)


def _refuse_rung(where: str, part: KindPart, rungs: tuple[str, ...]) -> None:
    if part.rung not in rungs:
        raise ScenarioError(f"{where}: unknown rung {part.rung!r}; allowed: {', '.join(rungs)}")


def _usual(rung: ConfiguredRung) -> SeatKind:
    """A seat as both vendors sell them: a session of five hours, a week, and a week for each model that binds."""
    models = (
        WindowRule(WindowKind.WEEKLY_MODEL, starts=Starts.ANCHOR, length_s=WEEK_S, scope=scope)
        for scope in rung.scopes
    )
    week = WindowRule(WindowKind.WEEKLY, starts=Starts.ANCHOR, length_s=WEEK_S)
    return SeatKind(rung.name, rung.name, (WindowRule(WindowKind.SESSION), week, *models), None)


def _demand(inputs: Inputs, rungs: tuple[str, ...], plan: PlanPart) -> tuple[Demand, tuple[str, ...]]:
    levels = dict(inputs.file.levels) if inputs.file else {}
    for level, part in levels.items():
        for rung in part.rungs:
            if rung not in rungs:
                where = f"levels.{level}.rungs.{rung}"
                raise ScenarioError(f"{where}: unknown rung; allowed: {', '.join(rungs)}")
    if not needs_history(inputs.file):
        stated = _rates({level.value: part for level, part in levels.items()})
        return stated, ("demand is what the scenario says, arriving by chance (Poisson) at its hourly rates",)
    if inputs.history is None:
        raise ScenarioError("levels: nothing says how many questions come; give questions_per_hour, or a history")
    takes = {level.value: {rung: take.take() for rung, take in part.rungs.items()} for level, part in levels.items()}
    learned = learn(inputs.history, rungs=rungs, zone=plan.zone, stated=takes)
    return learned.demand, learned.assumptions


def _rates(levels: Mapping[str, LevelPart]) -> Rates:
    draws = tuple(
        Draw(name, _takes(part), part.reconsidered) for name, part in levels.items() if part.questions_per_hour
    )
    return Rates({name: part.rates() for name, part in levels.items() if part.questions_per_hour}, draws)


def _takes(part: LevelPart) -> dict[str, Take]:
    return {rung: take.take() for rung, take in part.rungs.items()}


def _seats_told(inputs: Inputs, kinds: tuple[SeatKind, ...]) -> tuple[str, ...]:
    told = []
    if inputs.file is None:
        told.append(
            "no scenario was given: each seat has a session of five hours that starts at its first use, a week, and "
            "a week of each model in the rung's `scopes`, each of 100 points; working hours are Mon-Fri 09:00-17:00"
        )
    unpriced = [kind.name for kind in kinds if kind.micro_usd_per_month is None]
    if unpriced:
        told.append(f"nothing says what a seat of {', '.join(unpriced)} costs: cheapest then means fewest seats")
    if any(rule.starts is Starts.ANCHOR and not rule.anchors for kind in kinds for rule in kind.windows):
        told.append("weekly windows of which no anchor is given begin anew evenly spread over the week")
    return tuple(told)
