"""Panel: what a dashboard shows, as values that know nothing of Grafana's own format."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from dashboards.board import Board

COLUMNS = 24
"""How wide a dashboard is."""


class Look(StrEnum):
    """How a panel shows its values."""

    STAT = "stat"
    LINES = "lines"
    POINTS = "points"
    BARS = "bars"
    STATES = "states"
    GAUGES = "gauges"
    TABLE = "table"


class Colour(StrEnum):
    """Grafana's names of the colours that are used, by what they say."""

    GOOD = "green"
    NOTE = "blue"
    WARN = "yellow"
    BAD = "orange"
    WORST = "red"
    UNKNOWN = "purple"
    FAINT = "#8e8e8e"
    PLAIN = "text"


@dataclass(frozen=True, slots=True)
class Word:
    """What a value is called, and its colour."""

    text: str
    colour: Colour


@dataclass(frozen=True, slots=True)
class Query:
    """One expression; an instant one asks for the last moment of the range only."""

    expr: str
    legend: str = ""
    instant: bool = False
    exemplars: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its heading, and for a value its unit, words, thresholds and whether it is a bar.

    `decimals` are those of a unit that is no span; a span has one.
    """

    title: str
    unit: str = ""
    words: Mapping[int, Word] | None = None
    steps: tuple[tuple[float, Colour], ...] = ()
    gauge: bool = False
    nothing: str = ""
    width: int = 0
    decimals: int = 0


Steps = tuple[tuple[float, Colour], ...]
"""Thresholds: from a value on, the colour; what is below the first has the panel's base colour."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel, `width` of 24 columns and `height` rows of the grid.

    `nothing` is shown where there is no value, `step_s` the least distance of two points in seconds of the
    exporter's clock, `alerts` whose sections of the runbook it links to, `columns` a table's own by label or query.
    """

    title: str
    description: str
    look: Look
    queries: tuple[Query, ...]
    width: int
    height: int = 4
    unit: str = "none"
    words: Mapping[int, Word] | None = None
    base: Colour = Colour.PLAIN
    steps: Steps = ()
    nothing: str = ""
    step_s: int = 0
    decimals: int | None = None
    top: float | None = None
    alerts: tuple[str, ...] = ()
    columns: Mapping[str, Column] | None = None
    sort_by: str = ""
    named: bool = False
    colours: Mapping[str, Colour] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """Panels side by side, under a title unless it is the first row."""

    panels: tuple[Panel, ...]
    title: str = ""

    def __post_init__(self) -> None:
        """Refuse a row with a hole or one that does not fit."""
        if sum(panel.width for panel in self.panels) != COLUMNS:
            raise ValueError(f"the panels of the row {self.title or self.panels[0].title!r} are not {COLUMNS} wide")
        if len({panel.height for panel in self.panels}) != 1:
            raise ValueError(f"the panels of the row {self.title or self.panels[0].title!r} differ in height")


@dataclass(frozen=True, slots=True)
class Page:
    """A dashboard: what it is about, the range that it opens with (in seconds), its variables and rows."""

    board: Board
    title: str
    question: str
    range_s: int
    variables: tuple[str, ...]
    rows: tuple[Row, ...]
