"""Expressions: PromQL as the parser sees it, and what in it the catalog, the rules or Prometheus do not have."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import promql_parser as parser

from dashboards.promql import UP, UnknownError, check_value, label_of, metric
from dashboards.rule import Record
from exporters.catalog import MetricType
from tests.dashboards.promtool import RULES

RECORDS = frozenset(rule.name for group in RULES for rule in group.rules if isinstance(rule, Record))
TARGET = ("job", "instance")
"""What Prometheus adds to every series of a target."""
_VARIABLES: Mapping[str, str] = {"$__rate_interval": "20m", "$__range": "6h", "$__interval": "1m"}


def filled(text: str) -> str:
    """An expression of a panel with Grafana's own variables filled in; the dashboard's stay, as values."""
    for name, value in _VARIABLES.items():
        text = text.replace(name, value)
    return text


def nodes(text: str) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Every part of an expression with those that it is in, the outermost first; raises ValueError for none."""
    yield from _walk(parser.parse(filled(text)), ())


def _walk(node: Any, above: tuple[Any, ...]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    yield node, above
    for name in ("expr", "lhs", "rhs", "vector_selector", "vs", "param"):
        inner = getattr(node, name, None)
        if inner is not None and not isinstance(inner, str | int | float):
            yield from _walk(inner, (*above, node))
    if isinstance(node, parser.Call):
        for argument in node.args:
            yield from _walk(argument, (*above, node))


def selectors(text: str) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Every selector of an expression, with what it is in."""
    return ((node, above) for node, above in nodes(text) if isinstance(node, parser.VectorSelector))


def matchers(selector: Any) -> Iterator[tuple[str, str, str]]:
    """Label, operation and value of each matcher."""
    for one in selector.matchers.matchers:
        yield one.name, _OPERATIONS[str(one.op)], one.value


_OPERATIONS = {"MatchOp.Equal": "=", "MatchOp.NotEqual": "!=", "MatchOp.Re": "=~", "MatchOp.NotRe": "!~"}


def wrong(text: str) -> Iterator[str]:
    """What in an expression names something that is not there."""
    yield from list(_not_in_catalog(text)) or _strange_labels(text)


def _not_in_catalog(text: str) -> Iterator[str]:
    for selector, _ in selectors(text):
        name = selector.name
        if name in RECORDS or name == UP:
            continue
        try:
            metric(name)
            for label, operation, value in matchers(selector):
                if label not in TARGET:
                    _check(name, label, operation, value)
        except UnknownError as error:
            yield str(error)


def _check(name: str, label: str, operation: str, value: str) -> None:
    if not label_of(name, label).values or value.startswith("$"):
        return
    for one in value.split("|") if "~" in operation else [value]:
        check_value(name, label, one)


def _strange_labels(text: str) -> Iterator[str]:
    """Labels that an aggregation or a matching names and no series in the expression has."""
    known = set(TARGET) | set(re.findall(r'label_replace\([^"]*"(\w+)"', text))
    for selector, _ in selectors(text):
        if selector.name in RECORDS:
            known |= _labels_of_record(selector.name)
        elif selector.name != UP:
            known |= {*metric(selector.name).label_names, *(["le"] if selector.name.endswith("_bucket") else [])}
    for node, _ in nodes(text):
        for modifier in (getattr(node, "modifier", None), getattr(getattr(node, "modifier", None), "matching", None)):
            for label in getattr(modifier, "labels", None) or []:
                if label not in known:
                    yield f"no series here has a label {label!r}"


def _labels_of_record(name: str) -> set[str]:
    return set(name.partition(":")[0].split("_"))


def is_counter(name: str) -> bool:
    """Whether only how much a series grew means anything."""
    if name in RECORDS or name == UP:
        return False
    found = metric(name)
    return found.type is MetricType.COUNTER or (found.type is MetricType.HISTOGRAM and name != found.name)
