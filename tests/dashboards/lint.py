"""Lint: what a dashboard may not hold, found in whatever JSON it is given."""

from collections.abc import Iterator
from typing import Any

import promql_parser as parser

from tests.dashboards.expressions import nodes

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
"""The one reference to a data source that a dashboard has."""


def sources(found: object) -> Iterator[object]:
    """Every reference to a data source, wherever it is."""
    if isinstance(found, dict):
        for name, value in found.items():
            if name == "datasource":
                yield value
            yield from sources(value)
    elif isinstance(found, list):
        for one in found:
            yield from sources(one)


def hundredfold(expr: str, unit: str) -> bool:
    """Whether a share is shown a hundred times as large as it is."""
    hundred = any(isinstance(node, parser.NumberLiteral) and node.val == 100 for node, _ in nodes(expr))
    return hundred and unit == "percentunit"


def short_windows(panel: dict[str, Any], tick_s: int) -> list[str]:
    """The queries that look at less of what grows with the canary's ticks than Grafana's own interval does."""
    found = []
    for target in panel["targets"]:
        windows = [node.range for node, _ in nodes(target["expr"]) if isinstance(node, parser.MatrixSelector)]
        least = min((window.total_seconds() for window in windows), default=4 * tick_s)
        free = "$__rate_interval" in target["expr"] and not panel.get("interval")
        if least < 4 * tick_s or "[$__interval]" in target["expr"] or free:
            found.append(target["expr"])
    return found
