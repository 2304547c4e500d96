"""Panels: every query of every panel and variable, asked of a Prometheus as Grafana asks it, until each has had data."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dashboards.build import boards
from dashboards.settings import Settings
from tests.e2e.watching import Watched

_SPAN = re.compile(r"([\d.]+)(ms|s|m|h|d)")
_UNITS: Mapping[str, float] = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}
POINTS = 500


@dataclass(frozen=True, slots=True)
class Asked:
    """A panel's query or a variable's, and where it is."""

    where: str
    expr: str
    instant: bool
    step_s: float = 0.0


def seconds(span: str) -> float:
    """A PromQL duration in seconds."""
    return sum(float(number) * _UNITS[unit] for number, unit in _SPAN.findall(span))


def every(settings: Settings) -> Iterator[Asked]:
    """Every query of every panel, annotation and variable."""
    for board, text in boards(settings).items():
        document = json.loads(text)
        for panel in document["panels"]:
            for target in panel.get("targets") or []:
                where = f"{board.value}: {panel['title']} {target['refId']}"
                yield Asked(where, target["expr"], target["instant"], seconds(panel.get("interval", "")))
        for variable in document["templating"]["list"]:
            if variable["type"] == "query":
                inner = variable["query"]["query"].removeprefix("label_values(").rpartition(", ")[0]
                yield Asked(f"{board.value}: ${variable['name']}", inner, instant=True)


def filled(one: Asked, *, range_s: float, scrape_s: float) -> tuple[str, float]:
    """The expression with Grafana's variables filled in, all values chosen, and the step that Grafana would take."""
    step = max(one.step_s, range_s / POINTS, scrape_s)
    rate = max(step + scrape_s, 4 * scrape_s)
    found = one.expr.replace("$__rate_interval", f"{rate * 1000:.0f}ms").replace(
        "$__range", f"{range_s * 1000:.0f}ms"
    )
    return re.sub(r"\$(\w+)", ".+", found), step


def has_data(watched: Watched, one: Asked) -> bool:
    """Whether the query returns a number now."""
    now = time.time()
    scrape = watched.settings.scrape_interval_s
    range_s = max(now - watched.began, 8 * scrape)
    expr, step = filled(one, range_s=range_s, scrape_s=scrape)
    if one.instant:
        found = watched.asked("query", query=expr, time=now)
    else:
        found = watched.asked("query_range", query=expr, start=now - range_s, end=now, step=step)
    return any(_numbers(series) for series in found["data"]["result"])


def _numbers(series: dict[str, Any]) -> bool:
    points = series.get("values") or [series["value"]]
    return any(value not in ("NaN", "+Inf", "-Inf") for _, value in points)
