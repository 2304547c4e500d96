"""Scenario files: what they make, in TOML as in YAML, and each fault with its message."""

import json
from pathlib import Path

import pytest

from canary.capacity.hours import HOUR_S, WEEK_S
from canary.capacity.inputs import ConfiguredRung, Inputs, scenario_of
from canary.capacity.scenario import Rates, ScenarioError, Starts, WindowRule
from canary.capacity.scenario_file import parse, read, scenario_schema
from decide.quota import WindowKind
from decide.reply import Billing

TOML = """
[plan]
target = 0.02
working_hours = ["Mon-Fri 08:00-18:00", "Sat 10:00-12:00"]
demand = 1.5

[ladder]
primary = "fable"
second = "astra"

[kinds.max]
rung = "fable"
usd_per_month = "200.00"
windows = [
  { kind = "session" },
  { kind = "weekly", anchors = ["Mon 09:00", "Thu 13:30"] },
  { kind = "weekly_model", scope = "Fable", points = 50 },
  { kind = "spend", usd = "40.00" },
]
others = { session = 3.0 }

[kinds.key]
rung = "astra"
billing = "metered"

[seats]
max = 3
key = 1

[most]
max = 9

[levels.medium]
questions_per_hour = { "Mon-Fri 08:00-18:00" = 12.0, "Sat 10:00-12:00" = 2 }
reconsidered = 0.15
rungs.fable = { usd = "0.14", points = { session = 2.0, weekly = 0.25 } }
rungs.astra = { passes = 4, usd = "0.09" }
"""
YAML = """
plan: {target: 0.02, working_hours: ["Mon-Fri 08:00-18:00", "Sat 10:00-12:00"], demand: 1.5}
ladder: {primary: fable, second: astra}
kinds:
  max:
    rung: fable
    usd_per_month: "200.00"
    windows:
      - {kind: session}
      - {kind: weekly, anchors: ["Mon 09:00", "Thu 13:30"]}
      - {kind: weekly_model, scope: Fable, points: 50}
      - {kind: spend, usd: "40.00"}
    others: {session: 3.0}
  key: {rung: astra, billing: metered}
seats: {max: 3, key: 1}
most: {max: 9}
levels:
  medium:
    questions_per_hour: {"Mon-Fri 08:00-18:00": 12.0, "Sat 10:00-12:00": 2}
    reconsidered: 0.15
    rungs:
      fable: {usd: "0.14", points: {session: 2.0, weekly: 0.25}}
      astra: {passes: 4, usd: "0.09"}
"""
RUNGS = (ConfiguredRung("fable", 2, ("Fable",)), ConfiguredRung("astra", 1))
FAULTS = [
    ("", "s.toml: is empty; it must hold at least `kinds`, the seats that can be had"),
    ("x = [", "s.toml: not valid TOML: "),
    ("x = 1", "s.toml: kinds: must be given"),
    ("x = 1", "s.toml: x: unknown key; allowed here: kinds, ladder, levels, most, plan, seats"),
    ("kinds = {}", "s.toml: kinds: must not be empty"),
    (TOML.replace("= 12.0", "= -3"), "s.toml: levels.medium.questions_per_hour.Mon-Fri 08:00-18:00: must be 0 or more, not -3"),
    (TOML.replace("= 12.0", "= nan"), "finite number"),
    (TOML.replace("= 12.0", "= inf"), "finite number"),
    (TOML.replace("medium", "urgent"), "s.toml: levels.urgent: unknown level; allowed: 'low'"),
    (TOML.replace('"Mon-Fri 08:00-18:00" = 12.0', '"Mo 8-18" = 12.0'), 'such as "Mon-Fri 08:00-18:00"'),
    (TOML.replace('"Sat 10:00-12:00" = 2', '"Mon 10:00-12:00" = 2'), "names an hour twice"),
    (TOML.replace("reconsidered = 0.15", "reconsidered = 1.5"), "s.toml: levels.medium.reconsidered: must be at most 1, not 1.5"),
    (TOML.replace("session = 2.0", "minutely = 2.0"), "s.toml: levels.medium.rungs.fable.points.minutely: unknown kind of window; allowed: "),
    (TOML.replace("session = 2.0", "other = 2.0"), "must be one of session, weekly, weekly_model, monthly, spend"),
    (TOML.replace("max = 9", "mini = 9"), "s.toml: most.mini: unknown kind of seat; allowed: max, key"),
    (TOML.replace("max = 3", "mini = 3"), "s.toml: seats.mini: unknown kind of seat; allowed: max, key"),
    (TOML.replace("max = 3", "max = -1"), "s.toml: seats.max: must be 0 or more, not -1"),
    (TOML.replace("max = 3", "max = 1.5"), "s.toml: seats.max: "),
    (TOML.replace("target = 0.02", "target = 2"), "s.toml: plan.target: must be at most 1, not 2"),
    (TOML.replace("demand = 1.5", "demand = 0"), "s.toml: plan.demand: must be more than 0, not 0"),
    (TOML.replace("demand = 1.5", 'zone = "Mars/Base"'), "must be the name of a time zone"),
    (TOML.replace("demand = 1.5", "damand = 1.5"), "s.toml: plan.damand: unknown key; allowed here: demand, target, working_hours, zone"),
    (TOML.replace('"200.00"', '"-1"'), "s.toml: kinds.max.usd_per_month: must be an amount of 0 to"),
    (TOML.replace("points = 50", "points = 0"), "s.toml: kinds.max.windows[2].points: must be more than 0, not 0"),
    (TOML.replace(', scope = "Fable"', ""), "s.toml: kinds.max.windows[2]: a weekly_model window has a `scope`"),
    (TOML.replace('kind = "session"', 'kind = "hourly"'), "s.toml: kinds.max.windows[0].kind: must be 'session', "),
    (TOML.replace('kind = "session"', 'kind = "session", size = 3'), "s.toml: kinds.max.windows[0].size: unknown key; allowed here: anchors, "),
    (TOML.replace('"session" }', '"session", anchors = ["Mon 09:00"] }'), 'anchors are for windows with starts = "anchor"'),
    (TOML.replace('usd = "40.00"', 'usd = "0.00"'), "usd must be more than 0"),
    (TOML.replace('usd = "40.00"', "points = 3"), "a spend window has `usd`"),
    (TOML.replace('"metered"', '"free"'), "s.toml: kinds.key.billing: must be 'subscription' or 'metered', not 'free'"),
]  # fmt: skip
CONTRADICTIONS = [
    (TOML.replace('second = "astra"', 'second = "fable"'), "ladder.second: must be another rung"),
    (TOML.replace('rung = "astra"', 'rung = "nova"'), "kinds.key.rung: unknown rung 'nova'; allowed: fable, astra"),
    (TOML.replace('rung = "astra"', 'rung = "fable"'), "kinds: no kind of seat reaches the rung astra"),
    (TOML.replace("rungs.astra", "rungs.nova"), "levels.medium.rungs.nova: unknown rung; allowed: fable, astra"),
    (TOML[: TOML.index("[levels")], "nothing says how many questions come; give questions_per_hour, or a history"),
]


def test_a_scenario_is_what_its_file_says() -> None:
    made = scenario_of(Inputs(RUNGS, parse(TOML, "s.toml")))
    assert (made.rungs, made.target, made.factor) == (("fable", "astra"), 0.02, 1.5)
    assert (dict(made.have), dict(made.most), len(made.working)) == ({"max": 3, "key": 1}, {"max": 9}, 52)
    best, key = made.kinds
    assert best.windows == (
        WindowRule(WindowKind.SESSION, 100.0, Starts.FIRST_USE, 5 * HOUR_S),
        WindowRule(WindowKind.WEEKLY, 100.0, Starts.ANCHOR, WEEK_S, (9 * HOUR_S, 3 * 86400 + 13 * HOUR_S + 1800)),
        WindowRule(WindowKind.WEEKLY_MODEL, 50.0, Starts.ANCHOR, WEEK_S, (), "Fable"),
        WindowRule(WindowKind.SPEND, 40e6, Starts.MONTH, 31 * 24 * HOUR_S),
    )
    assert (best.micro_usd_per_month, best.others) == (200_000_000, {WindowKind.SESSION: 3.0})
    assert (key.windows, key.micro_usd_per_month, key.billing) == ((), None, Billing.METERED)
    assert isinstance(made.demand, Rates)
    assert sum(made.demand.per_hour["medium"]) == 12 * 50 + 2 * 2
    (draw,) = made.demand.draws
    assert (draw.reconsidered, draw.takes["astra"].passes, draw.takes["fable"].micro_usd) == (0.15, 4, 140_000)
    assert any("Poisson" in text for text in made.assumptions)
    assert any("nothing says what a seat of key costs" in text for text in made.assumptions)


def test_yaml_says_the_same() -> None:
    assert parse(YAML, "s.yaml") == parse(TOML, "s.toml")


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_a_fault_names_the_field_and_what_is_allowed(text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse(text, "s.toml")
    assert message in str(caught.value)


@pytest.mark.parametrize(("text", "message"), CONTRADICTIONS)
def test_what_contradicts_itself_is_refused(text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario_of(Inputs(RUNGS, parse(text, "s.toml")))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "not valid YAML"),
        ("kinds: {}\nkinds: {}", "the key 'kinds' is there twice"),
        ("a: &x 1\nb: *x", "anchors and aliases are not read"),
        ("- 1", "s.yaml: "),
        ("kinds: no", "s.yaml: kinds: "),
    ],
)
def test_yaml_is_read_strictly(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=r"s\.yaml") as caught:
        parse(text, "s.yaml")
    assert message in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="there is no scenario at"):
        read(tmp_path / "none.toml")
    with pytest.raises(ScenarioError, match="cannot be read"):
        read(tmp_path)
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * (2 << 20))
    with pytest.raises(ScenarioError, match="must be at most"):
        read(large)
    large.write_bytes(b"\xff")
    with pytest.raises(ScenarioError, match="it is not UTF-8"):
        read(large)


def test_the_usual_seats_are_assumed_without_a_file_and_told() -> None:
    with pytest.raises(ScenarioError, match="or a history"):
        scenario_of(Inputs(RUNGS))


def test_the_schema_can_be_published() -> None:
    schema = scenario_schema()
    assert json.loads(json.dumps(schema))["title"] == "rungwatch plan scenario"
    assert set(schema["properties"]) == {"plan", "ladder", "kinds", "seats", "most", "levels"}
