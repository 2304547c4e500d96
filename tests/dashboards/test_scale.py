"""Spans and the present in PromQL, in real time and at a demo's speed; rows and names that are refused."""

import promql_parser as parser
import pytest

from dashboards.board import Board
from dashboards.panel import Look, Panel, Query, Row
from dashboards.rule import Alert, Record
from dashboards.scale import REAL, Scale


@pytest.mark.parametrize(
    ("seconds", "real", "fast"),
    [
        (15, "15s", "125ms"),
        (60, "1m", "500ms"),
        (300, "5m", "2500ms"),
        (3600, "1h", "30s"),
        (86_400, "1d", "12m"),
        (30 * 86_400, "30d", "6h"),
        (90, "90s", "750ms"),
        (0.01, "10ms", "1ms"),
    ],
)
def test_a_span_is_one_duration_in_the_largest_unit(seconds: float, real: str, fast: str) -> None:
    assert (REAL.span(seconds), Scale(120).span(seconds)) == (real, fast)
    parser.parse(f"up[{fast}]")


def test_the_present_is_the_exporters() -> None:
    assert REAL.now == "time()"
    assert Scale(120, real=1000, shown=5000).now == "(5000.000 + 120 * (time() - 1000.000))"
    assert (REAL.per_second("deriv(x[1h])"), Scale(120).per_second("deriv(x[1h])")) == (
        "deriv(x[1h])",
        "deriv(x[1h]) / 120",
    )


@pytest.mark.parametrize("speed", [0, -1])
def test_a_clock_that_stands_still_is_refused(speed: float) -> None:
    with pytest.raises(ValueError, match="speed"):
        Scale(speed)


def _panel(width: int, height: int = 4) -> Panel:
    return Panel("One", "What it is.", Look.STAT, (Query("up"),), width, height)


@pytest.mark.parametrize(
    "panels", [(_panel(12),), (_panel(12), _panel(13)), (_panel(12), _panel(12, 5))], ids=["hole", "wide", "uneven"]
)
def test_a_row_that_does_not_fit_the_grid_is_refused(panels: tuple[Panel, ...]) -> None:
    with pytest.raises(ValueError, match="One"):
        Row(panels)


def test_names_of_another_form_are_refused() -> None:
    with pytest.raises(ValueError, match="level:metric:operations"):
        Record("single_rung_ratio", "up")
    with pytest.raises(ValueError, match="rung_missing"):
        Alert("rung_missing", "up", "", "", Board.ONCALL)
