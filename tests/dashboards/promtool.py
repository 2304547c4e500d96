"""promtool: facts about rules, run by the real program on the real rule file."""

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from dashboards.alerts import groups
from dashboards.rule import Group, rule_file
from dashboards.settings import Settings
from tests.exporters.services import need

SETTINGS = Settings()
RULES: tuple[Group, ...] = groups(SETTINGS)
HERE = 'job="rungwatch",instance="here:9477"'
PLACE = {"job": "rungwatch", "instance": "here:9477"}
DIGITS = "0.001"
"""To what values are rounded before they are compared: newer versions may differ in the last digits."""


@dataclass(frozen=True, slots=True)
class Fires:
    """An alert with its labels and what it says at a moment; without `says` its annotations are not looked at."""

    alert: str
    at: str
    labels: Mapping[str, str] = field(default_factory=dict)
    summary: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Quiet:
    """An alert that does not fire at a moment."""

    alert: str
    at: str


@dataclass(frozen=True, slots=True)
class Gives:
    """An expression's values at a moment, rounded, by their labels."""

    expr: str
    at: str
    values: Mapping[str, float]


Fact = Fires | Quiet | Gives


@dataclass(frozen=True, slots=True)
class Case:
    """Series in promtool's notation, a value each interval from 0 on, and the facts that follow.

    Rules are evaluated `every` so often.
    """

    name: str
    series: Mapping[str, str]
    facts: tuple[Fact, ...]
    interval: str = "1m"
    every: str = "1m"


def placed(name: str, **labels: str) -> str:
    """A series of the one exporter of the tests."""
    more = "".join(f',{label}="{value}"' for label, value in labels.items())
    return f"{name}{{{HERE}{more}}}"


def text_of(rules: Iterable[Group]) -> str:
    """The rule file of these groups."""
    return rule_file(rules, SETTINGS)


def without(name: str) -> tuple[Group, ...]:
    """Every group, without the rule of that name."""
    return tuple(Group(one.name, tuple(rule for rule in one.rules if rule.name != name)) for one in RULES)


def failures(folder: Path, cases: Sequence[Case], rules: Sequence[Group] = RULES) -> str:
    """What promtool finds wrong, empty when every fact holds; the cases are evaluated alike."""
    (every,) = {case.every for case in cases}
    (folder / "rules.yml").write_text(text_of(rules), encoding="utf-8")
    document = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": every,
        "group_eval_order": [group.name for group in rules],
        "tests": [_test(case) for case in cases],
    }
    path = folder / "facts.yml"
    path.write_text(yaml.safe_dump(document, sort_keys=False, width=10_000), encoding="utf-8")
    done = subprocess.run((need("promtool"), "test", "rules", path), capture_output=True, text=True, timeout=120)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def _test(case: Case) -> dict[str, Any]:
    alerts = [_alert(fact) for fact in case.facts if isinstance(fact, Fires) and fact.summary]
    exprs = [_expr(fact) for fact in case.facts if not (isinstance(fact, Fires) and fact.summary)]
    return {
        "name": case.name,
        "interval": case.interval,
        "input_series": [{"series": name, "values": values} for name, values in case.series.items()],
        "alert_rule_test": alerts,
        "promql_expr_test": exprs,
    }


def _alert(fact: Fires) -> dict[str, Any]:
    from dashboards.alerts import alerts

    (rule,) = (alert for alert in alerts(SETTINGS) if alert.name == fact.alert)
    made = rule.rule(SETTINGS)
    told = {"summary": fact.summary, "description": fact.description}
    links = {name: _filled(made["annotations"][name], fact.labels) for name in ("runbook_url", "dashboard_url")}
    labels = {**fact.labels, **made["labels"]}
    return {
        "eval_time": fact.at,
        "alertname": fact.alert,
        "exp_alerts": [{"exp_labels": labels, "exp_annotations": {**told, **links}}],
    }


def _filled(template: str, labels: Mapping[str, str]) -> str:
    for name, value in labels.items():
        template = template.replace(f"{{{{ $labels.{name} | urlquery }}}}", value.replace(":", "%3A"))
    return template


def _expr(fact: Fact) -> dict[str, Any]:
    match fact:
        case Gives():
            samples = [{"labels": labels, "value": value} for labels, value in fact.values.items()]
            return {"expr": f"round({fact.expr}, {DIGITS})", "eval_time": fact.at, "exp_samples": samples}
        case Quiet():
            return {"expr": _firing(fact.alert), "eval_time": fact.at, "exp_samples": []}
        case Fires():
            labels = ", ".join(f'{name}="{value}"' for name, value in fact.labels.items())
            expr = f"count({_firing(fact.alert, labels)})"
            return {"expr": expr, "eval_time": fact.at, "exp_samples": [{"labels": "{}", "value": 1}]}


def _firing(alert: str, labels: str = "") -> str:
    return f'ALERTS{{alertname="{alert}", alertstate="firing"{", " + labels if labels else ""}}}'
