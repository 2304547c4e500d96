"""Scenario file: a plan's inputs as TOML or YAML, read strictly; every error names the field and what is allowed."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Self

import yaml
from pydantic import AfterValidator, Field, ValidationError, model_validator

from canary.capacity import hours
from canary.capacity.hours import HOUR_S, HOURS, WEEK_S
from canary.capacity.scenario import POINTS, ScenarioError, SeatKind, Starts, Take, WindowRule
from canary.config_types import Dollars, Label, Section, Zone
from decide.question import LevelName
from decide.quota import WindowKind
from decide.reply import Billing

LIMIT = 1 << 20
"""The most bytes that a scenario may have."""
_MONTH_S = 31 * 24 * HOUR_S
_USUAL: Mapping[WindowKind, tuple[Starts, int]] = MappingProxyType(
    {
        WindowKind.SESSION: (Starts.FIRST_USE, 5 * HOUR_S),
        WindowKind.WEEKLY: (Starts.ANCHOR, WEEK_S),
        WindowKind.WEEKLY_MODEL: (Starts.ANCHOR, WEEK_S),
        WindowKind.MONTHLY: (Starts.MONTH, _MONTH_S),
        WindowKind.SPEND: (Starts.MONTH, _MONTH_S),
    }
)
"""How each kind of window runs where the scenario does not say (formats 2 and 4)."""


def _span(text: str) -> str:
    hours.span(text)
    return text


def _moment(text: str) -> str:
    hours.moment(text)
    return text


def _window_kind(kind: WindowKind) -> WindowKind:
    if kind not in _USUAL:
        raise ValueError(f"must be one of {', '.join(_USUAL)}: nobody knows how another window runs")
    return kind


Span = Annotated[str, AfterValidator(_span)]
Moment = Annotated[str, AfterValidator(_moment)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Part = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=200)]
Kind = Annotated[WindowKind, Field(strict=False), AfterValidator(_window_kind)]
Level = Annotated[LevelName, Field(strict=False)]
Points = dict[Kind, Amount]


class WindowPart(Section):
    """One meter of a kind of seat."""

    kind: Kind
    """which window it is"""
    points: Positive | None = None
    """what it holds (default: 100, so that a point is a percent of it); for a spend window give `usd`"""
    usd: Dollars | None = None
    """what a spend window holds"""
    scope: Label | None = None
    """display name of the model, for a weekly_model window"""
    starts: Annotated[Starts, Field(strict=False)] | None = None
    """when it begins anew (default: session first_use, weekly and weekly_model anchor, monthly and spend month)"""
    hours: Annotated[int, Field(ge=1, le=31 * 24)] | None = None
    """how long it runs (default: session 5, weekly and weekly_model 168)"""
    anchors: tuple[Moment, ...] = Field(default=(), strict=False)
    """when the windows of the first, the second and further seats begin anew (default: spread evenly)"""

    @model_validator(mode="after")
    def _sane(self) -> Self:
        spend = self.kind is WindowKind.SPEND
        if spend != (self.usd is not None) or (spend and self.points is not None):
            raise ValueError("a spend window has `usd`, and no other has; points are for the others")
        if (self.kind is WindowKind.WEEKLY_MODEL) != (self.scope is not None):
            raise ValueError("a weekly_model window has a `scope`, the model's display name, and no other has")
        starts = self.starts or _USUAL[self.kind][0]
        if self.anchors and starts is not Starts.ANCHOR:
            raise ValueError(f'anchors are for windows with starts = "anchor", and this one has "{starts}"')
        if self.usd == 0:
            raise ValueError("usd must be more than 0: a seat that may spend nothing is none")
        return self

    def rule(self) -> WindowRule:
        """The window as it is simulated."""
        starts, length = _USUAL[self.kind]
        return WindowRule(
            self.kind,
            float(self.usd) if self.usd is not None else self.points or POINTS,
            self.starts or starts,
            self.hours * HOUR_S if self.hours else length,
            tuple(hours.moment(anchor) for anchor in self.anchors),
            self.scope or "",
        )


class KindPart(Section):
    """Seats that can be had."""

    rung: Label
    """the rung that they reach"""
    usd_per_month: Dollars | None = None
    """price of one in a month (default: not known, and cheapest then means fewest)"""
    billing: Annotated[Billing, Field(strict=False)] = Billing.SUBSCRIPTION
    """who pays for a call: metered for a key that is billed by use"""
    windows: tuple[WindowPart, ...] = Field(default=(), strict=False)
    """its meters; without any it is never spent"""
    others: Points = Field(default_factory=dict)
    """points that people take from each seat in a working hour, beside the ladder's questions"""

    def kind(self, name: str) -> SeatKind:
        """The kind as it is simulated."""
        rules = tuple(window.rule() for window in self.windows)
        return SeatKind(name, self.rung, rules, self.usd_per_month, self.billing, dict(self.others))


class TakePart(Section):
    """What one consultation of a rung takes at this level."""

    passes: Amount = 2.0
    """model calls"""
    usd: Dollars = Field(default="0.00", validate_default=True)
    """dollars; notional where a subscription pays"""
    points: Points = Field(default_factory=dict)
    """points of each kind of window"""

    def take(self) -> Take:
        """The same as it is simulated."""
        return Take(self.passes, self.usd, dict(self.points))


class LevelPart(Section):
    """The questions of one level."""

    questions_per_hour: dict[Span, Amount] | None = None
    """how many come in an hour on average, by hours of the week (default: as history has them)"""
    reconsidered: Part = 0.0
    """share of the questions that the primary reconsiders"""
    rungs: dict[Label, TakePart] = Field(default_factory=dict)
    """what one consultation takes, by rung (default: as history has it)"""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        given = self.questions_per_hour
        if given is not None and len(hours.spans(given)) != sum(len(hours.span(each)) for each in given):
            raise ValueError("questions_per_hour names an hour twice")
        if given and not self.rungs:
            raise ValueError("rungs must say what a consultation takes, where questions_per_hour are given")
        return self

    def rates(self) -> tuple[float, ...]:
        """Questions in each hour of the week."""
        found = [0.0] * HOURS
        for text, rate in (self.questions_per_hour or {}).items():
            for hour in hours.span(text):
                found[hour] = rate
        return tuple(found)


class LadderPart(Section):
    """The names of the rungs."""

    primary: Label
    """the rung that is asked first and reconsiders"""
    second: Label
    """the other rung"""


class PlanPart(Section):
    """What the plan is for."""

    target: Part = 0.01
    """share of working time that a rung may be missing"""
    working_hours: tuple[Span, ...] = Field(default=("Mon-Fri 09:00-17:00",), strict=False, min_length=1)
    """when it matters that a rung is there"""
    zone: Zone = "UTC"
    """the time zone of all hours"""
    demand: Positive = 1.0
    """how many times today's questions are planned for"""


class ScenarioFile(Section):
    """Inputs of `rungwatch plan`."""

    plan: PlanPart = Field(default_factory=PlanPart)
    """what the plan is for"""
    ladder: LadderPart | None = None
    """the names of the rungs (default: the configuration's)"""
    kinds: dict[Label, KindPart] = Field(min_length=1)
    """kinds of seats that can be had, by name"""
    seats: dict[str, Count] = Field(default_factory=dict)
    """how many seats of each kind there are today (default: none)"""
    most: dict[str, Count] = Field(default_factory=dict)
    """how many seats of each kind are looked at (default: five more than there are)"""
    levels: dict[Level, LevelPart] = Field(default_factory=dict)
    """the questions, by level (default: as history has them)"""

    @model_validator(mode="after")
    def _known(self) -> Self:
        for where, counts in (("seats", self.seats), ("most", self.most)):
            for name in counts:
                if name not in self.kinds:
                    raise ValueError(f"{where}.{name}: unknown kind of seat; allowed: {', '.join(self.kinds)}")
        given = {level: part.questions_per_hour is not None for level, part in self.levels.items()}
        if len(set(given.values())) > 1:
            raise ValueError("levels: questions_per_hour must be given for all levels or for none")
        return self

    @property
    def states_demand(self) -> bool:
        """Whether it says itself how many questions come, so that no history is needed."""
        return any(part.questions_per_hour is not None for part in self.levels.values())


def read(path: Path) -> ScenarioFile:
    """The scenario in a file; raises ScenarioError with every fault, a line each."""
    try:
        with path.open("rb") as file:
            data = file.read(LIMIT + 1)
        if len(data) > LIMIT:
            raise ScenarioError(f"{path}: must be at most {LIMIT} bytes")
        return parse(data.decode("utf-8-sig"), str(path))
    except FileNotFoundError as error:
        raise ScenarioError(f"there is no scenario at {path}; docs/plan.md has one to begin with") from error
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ScenarioError(f"the scenario {path} cannot be read: {why}") from error


def parse(text: str, name: str) -> ScenarioFile:
    """The scenario in a text: YAML where the name says so, else TOML; raises ScenarioError."""
    if not text.strip():
        raise ScenarioError(f"{name}: is empty; it must hold at least `kinds`, the seats that can be had")
    try:
        yaml_like = name.endswith((".yaml", ".yml"))
        document = yaml.load(text, _Loader) if yaml_like else tomllib.loads(text)  # noqa: S506 - a safe loader
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{name}: not valid TOML: {error}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ScenarioError(f"{name}: not valid YAML: {' '.join(str(error).split())}") from None
    try:
        return ScenarioFile.model_validate(document)
    except ValidationError as error:
        faults = [_fault(name, fault) for fault in error.errors(include_url=False)]
        raise ScenarioError("\n".join(dict.fromkeys(faults))) from None


class _Loader(yaml.SafeLoader):
    """YAML's safe loader, which refuses a key that is there twice and aliases, of which a few stand for gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("anchors and aliases are not read; write it out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = [key for key in keys if keys.count(key) > 1]
        if twice:
            raise yaml.YAMLError(f"the key {twice[0]!r} is there twice")
        return super().construct_mapping(node, deep)


def scenario_schema() -> dict[str, Any]:
    """The published JSON Schema of a scenario file."""
    from canary.described import Described

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **ScenarioFile.model_json_schema(schema_generator=Described),
        "title": "rungwatch plan scenario",
    }


def _fault(name: str, fault: Any) -> str:
    path = [part for part in fault["loc"] if part != "[key]"]
    spelled = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return f"{name}: {spelled + ': ' if spelled else ''}{_what(fault, path)}"


def _what(fault: Any, path: list[Any]) -> str:
    """What is wrong at a place, and what is allowed there."""
    given, known = fault["input"], fault.get("ctx", {})
    shown = f", not {given!r}"[:60] if isinstance(given, str | int | float | bool) else ""
    match str(fault["type"]):
        case "missing":
            return "must be given"
        case "extra_forbidden":
            return f"unknown key; allowed here: {', '.join(_allowed(path))}"
        case "enum" if "[key]" in fault["loc"]:
            what = "level" if path[0] == "levels" and len(path) == 2 else "kind of window"
            return f"unknown {what}; allowed: {known['expected']}"
        case "enum":
            return f"must be {known['expected']}{shown}"
        case "greater_than_equal":
            return f"must be {known['ge']:g} or more{shown}"
        case "greater_than":
            return f"must be more than {known['gt']:g}{shown}"
        case "less_than_equal":
            return f"must be at most {known['le']:g}{shown}"
        case "too_short":
            return "must not be empty"
        case _:
            text = str(fault["msg"]).removeprefix("Value error, ")
            return text[:1].lower() + text[1:] + (f" (given: {given!r})"[:60] if shown else "")


_PARTS: Mapping[str, type[Section]] = MappingProxyType(
    {"plan": PlanPart, "ladder": LadderPart, "kinds": KindPart, "levels": LevelPart}
)


def _allowed(path: list[Any]) -> list[str]:
    model: type[Section] = ScenarioFile
    if len(path) > 1:
        model = _PARTS.get(str(path[0]), ScenarioFile)
        model = WindowPart if "windows" in path[:-1] else TakePart if "rungs" in path[:-1] else model
    return sorted(model.model_fields)
