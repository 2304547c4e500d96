"""Decisions: what came of the questions, how many rest on one rung, how often a rung flips, how long it took."""

from dashboards.board import Board
from dashboards.frame import selectors
from dashboards.panel import Colour, Column, Look, Page, Panel, Query, Row
from dashboards.promql import values
from dashboards.records import ANSWERED
from dashboards.settings import HOUR, MINUTE, Settings

_VARIABLES = ("rung", "level")
SELECT = selectors(*_VARIABLES)
RATE = "$__rate_interval"
SHOWN = "$__range"
_STEP = 15 * MINUTE
OUTCOMES = {
    "agreed": Colour.GOOD,
    "reconsidered": Colour.NOTE,
    "single_rung": Colour.WARN,
    "needs_human": Colour.UNKNOWN,
    "error": Colour.BAD,
    "walled": Colour.WORST,
    "held": Colour.WORST,
    "cancelled": Colour.FAINT,
}
_VERDICTS = ("resolved", "needs_human", "insufficient_evidence", "outside_authority", "model_refusal", "cancelled")
FAILURES = tuple(one for one in values("ladder_passes_total", "result") if one not in _VERDICTS)
"""The results of a pass that are no verdict (design 4.1)."""


def decisions(settings: Settings) -> Page:
    """The page on what the ladder decided."""
    return Page(
        Board.DECISIONS,
        "rungwatch: decisions",
        "What came of the questions: answered by both rungs, by one, or by a person; how often does a rung flip, "
        "which policy rows fire, and how long does it take?",
        24 * HOUR,
        _VARIABLES,
        (
            Row(_now(settings)),
            Row((_outcomes(), _levels()), "What came of the questions"),
            Row((_share(settings), _flips(settings), _results()), "How far each rung can be relied on"),
            Row((_durations(), _passes()), "How long it takes"),
            Row((_gates(), _failures(), _skipped()), "What stops an answer, and what was left out"),
        ),
    )


def _over(name: str, span: str, *by: str, **equal: str | tuple[str, ...]) -> str:
    """How much a counter grew, summed; counters of an exporter that is gone count as long as they are in range."""
    grown = f"increase({SELECT(name, **equal)}[{span}])"
    return f"sum by ({', '.join(by)}) ({grown})" if by else f"sum({grown})"


def _ratio(span: str, part: str | tuple[str, ...], whole: tuple[str, ...] | None, *by: str) -> str:
    """The share of decisions with an outcome; nothing where none was taken."""
    below = {} if whole is None else {"outcome": whole}
    return (
        f"{_over('ladder_decisions_total', span, *by, outcome=part)}\n"
        f"/ ({_over('ladder_decisions_total', span, *by, **below)} > 0)"
    )


def _now(settings: Settings) -> tuple[Panel, ...]:
    limit = settings.single_rung_ratio
    return (
        Panel(
            "Questions",
            "How many questions were asked in the range shown.",
            Look.STAT,
            (Query(_over("ladder_questions_total", SHOWN), instant=True),),
            4,
            decimals=0,
        ),
        _part(
            "Answered by the ladder",
            "The share of runs in the range shown that ended with an answer.",
            _ratio(SHOWN, ANSWERED, None),
            (Colour.WORST, (0.5, Colour.WARN), (0.8, Colour.GOOD)),
        ),
        _part(
            "Of these, on one rung alone",
            "single_rung over answered decisions, in the range shown.",
            _ratio(SHOWN, "single_rung", ANSWERED),
            (Colour.GOOD, (limit / 2, Colour.WARN), (limit, Colour.WORST)),
            "SingleRungRateHigh",
        ),
        _part(
            "Sent to a person",
            "The share of runs in the range shown that a person has to decide.",
            _ratio(SHOWN, "needs_human", None),
            (Colour.GOOD, (0.3, Colour.WARN), (0.6, Colour.WORST)),
        ),
        _part(
            "Ended without a ruling",
            "The share of runs in the range shown that were walled, held or ended in an error.",
            _ratio(SHOWN, ("walled", "held", "error"), None),
            (Colour.GOOD, (0.1, Colour.WARN), (0.3, Colour.WORST)),
        ),
    )


def _part(
    title: str,
    told: str,
    expr: str,
    colours: tuple[Colour, tuple[float, Colour], tuple[float, Colour]],
    *alerts: str,
) -> Panel:
    """A share of the decisions, with its colour from 0 on and from two thresholds on."""
    base, *steps = colours
    return Panel(
        title,
        told,
        Look.STAT,
        (Query(expr, instant=True),),
        5,
        unit="percentunit",
        base=base,
        steps=tuple(steps),
        nothing="no questions",
        decimals=0,
        alerts=alerts,
    )


def _outcomes() -> Panel:
    return Panel(
        "Outcomes",
        "Runs by how they ended.",
        Look.BARS,
        (Query(_over("ladder_decisions_total", RATE, "outcome"), "{{outcome}}"),),
        14,
        height=11,
        step_s=_STEP,
        colours=OUTCOMES,
        decimals=0,
    )


def _levels() -> Panel:
    return Panel(
        "Outcomes by level",
        "How the runs of each level ended, in the range shown.",
        Look.TABLE,
        (Query(f"{_over('ladder_decisions_total', SHOWN, 'level', 'outcome')} > 0", instant=True),),
        10,
        height=11,
        decimals=0,
        columns={"level": Column("Level"), "outcome": Column("Outcome"), "Value": Column("Runs")},
        sort_by="Runs",
        nothing="no questions",
    )


def _share(settings: Settings) -> Panel:
    return Panel(
        "On one rung alone, by level",
        "single_rung over answered decisions. Without answers there is no point, not 0 %.",
        Look.LINES,
        (Query(_ratio(RATE, "single_rung", ANSWERED, "level"), "{{level}}"),),
        8,
        height=8,
        unit="percentunit",
        top=1,
        steps=((settings.single_rung_ratio, Colour.WORST),),
        step_s=HOUR,
        alerts=("SingleRungRateHigh",),
    )


def _flips(settings: Settings) -> Panel:
    part = _over("ladder_consultations_total", RATE, "rung", result="flip")
    whole = _over("ladder_consultations_total", RATE, "rung", result=("resolved", "flip"))
    return Panel(
        "Flips by rung",
        "The share of consultations in which the two orders of the options named different ones.",
        Look.LINES,
        (Query(f"{part}\n/ ({whole} > 0)", "{{rung}}"),),
        8,
        height=8,
        unit="percentunit",
        top=1,
        steps=((settings.flip_ratio, Colour.WORST),),
        step_s=HOUR,
        alerts=("FlipRateHigh",),
    )


def _results() -> Panel:
    return Panel(
        "What consultations came to",
        "Consultations of each rung by the state they made, in the range shown.",
        Look.GAUGES,
        (
            Query(
                f"sort_desc({_over('ladder_consultations_total', SHOWN, 'rung', 'result')} > 0)",
                "{{rung}} {{result}}",
                instant=True,
            ),
        ),
        8,
        height=8,
        decimals=0,
        base=Colour.NOTE,
        nothing="no questions",
    )


def _quantile(part: float, name: str, label: str) -> str:
    """A quantile where there is one: of nothing it is no number, which `>= 0` leaves out."""
    return f"histogram_quantile({part:g}, sum by (le, {label}) (rate({SELECT(f'{name}_bucket')}[{RATE}]))) >= 0"


def _durations() -> Panel:
    name = "ladder_decision_duration_seconds"
    return Panel(
        "Time to a ruling",
        "How long runs took by level: the median and the slowest tenth. Each dot is a run, and opens its receipt.",
        Look.POINTS,
        (
            Query(_quantile(0.5, name, "level"), "{{level}} half", exemplars=True),
            Query(_quantile(0.9, name, "level"), "{{level}} nine in ten"),
        ),
        12,
        height=8,
        unit="s",
        step_s=HOUR,
    )


def _passes() -> Panel:
    name = "ladder_pass_duration_seconds"
    return Panel(
        "Time of one model call",
        "How long passes took by rung: the median and the slowest tenth. Each dot opens the receipt it belongs to.",
        Look.POINTS,
        (
            Query(_quantile(0.5, name, "rung"), "{{rung}} half", exemplars=True),
            Query(_quantile(0.9, name, "rung"), "{{rung}} nine in ten"),
        ),
        12,
        height=8,
        unit="s",
        step_s=HOUR,
    )


def _gates() -> Panel:
    return Panel(
        "Policy rows that fired",
        "How often each row of the gate fired, in the range shown.",
        Look.GAUGES,
        (Query(f"sort_desc({_over('ladder_gate_total', SHOWN, 'row')} > 0)", "{{row}}", instant=True),),
        8,
        height=8,
        decimals=0,
        base=Colour.UNKNOWN,
        nothing="no row fired",
    )


def _failures() -> Panel:
    failed = _over("ladder_passes_total", SHOWN, "rung", "result", result=FAILURES)
    return Panel(
        "Calls without a verdict",
        "Passes that brought no verdict, by rung and reason, in the range shown.",
        Look.GAUGES,
        (Query(f"sort_desc({failed} > 0)", "{{rung}} {{result}}", instant=True),),
        8,
        height=8,
        decimals=0,
        base=Colour.BAD,
        nothing="every call brought one",
    )


def _skipped() -> Panel:
    skipped = _over("ladder_skipped_checks_total", SHOWN, "check", "level")
    return Panel(
        "Checks that were skipped",
        "Checks that were due and were not made, or came to nothing, in the range shown; receipts say which.",
        Look.GAUGES,
        (Query(f"sort_desc({skipped})", "{{level}} {{check}}", instant=True),),
        8,
        height=8,
        decimals=0,
        base=Colour.WARN,
    )
