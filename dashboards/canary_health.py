"""Canary health: whether the watcher itself looks, reads, keeps its budget and its clock, and shows all it should."""

from dashboards.board import Board
from dashboards.frame import selectors
from dashboards.panel import Colour, Column, Look, Page, Panel, Query, Row
from dashboards.promql import UP
from dashboards.settings import HOUR, MINUTE, Settings
from dashboards.terms import Terms
from dashboards.words import yes_no

_VARIABLES = ("rung", "seat")
SELECT = selectors(*_VARIABLES)
RATE, SHOWN = "$__rate_interval", "$__range"
_TICK = 5 * MINUTE


def canary_health(settings: Settings) -> Page:
    """The page on the watcher."""
    terms = Terms(settings)
    return Page(
        Board.CANARY,
        "rungwatch: canary health",
        "Is the canary looking: are ticks on time, do reads succeed within their budget, is the clock right, is the "
        "configuration in force, and are all metrics shown?",
        6 * HOUR,
        _VARIABLES,
        (
            Row(_now(terms)),
            Row((_ticks(), _duration(), _missed()), "Ticks"),
            Row((_reads(), _failures(), _budget(settings)), "Reads"),
            Row((_ages(terms), _skew(settings), _lag()), "How fresh what is shown is"),
            Row((_flags(), _versions()), "The exporter"),
        ),
    )


def _now(terms: Terms) -> tuple[Panel, ...]:
    return (_last_tick(terms), *(_flag(*flag) for flag in _FLAGS), _off(terms.settings))


def _last_tick(terms: Terms) -> Panel:
    last = f"{terms.now} - min({SELECT('ladder_canary_last_tick_timestamp_seconds')})"
    return Panel(
        "Last tick",
        "How long ago the last tick ended, however it did: of the chosen instance that is furthest behind.",
        Look.STAT,
        (Query(last, "ago", instant=True),),
        4,
        unit="dtdurations",
        base=Colour.GOOD,
        steps=((2 * _TICK, Colour.WARN), (terms.settings.stale_after_s, Colour.WORST)),
        nothing="never",
        alerts=("CanarySilent",),
    )


_FLAGS = (
    ("Scraped", "Whether Prometheus reaches every exporter.", UP, "yes", "NO", "ExporterDown"),
    (
        "Metrics",
        "Whether every collector's metrics are on the page.",
        "ladder_collector_success",
        "complete",
        "SOME MISSING",
        "CollectorFailed",
    ),
    (
        "Configuration",
        "Whether the last reload was taken.",
        "ladder_config_reload_success",
        "in force",
        "REFUSED",
        "ConfigReloadFailed",
    ),
    (
        "Ledger",
        "Whether the ledger can be used.",
        "ladder_ledger_readable",
        "readable",
        "UNREADABLE",
        "LedgerUnreadable",
    ),
)
"""What is 1 when all is well: title, meaning, metric, its two words and the alert when it is not."""


def _flag(title: str, told: str, name: str, yes: str, no: str, alert: str) -> Panel:
    query = Query(f"min({SELECT(name)})", instant=True)
    words = yes_no(yes, no)
    return Panel(title, told, Look.STAT, (query,), 4, words=words, nothing="gone", alerts=(alert,))


def _off(settings: Settings) -> Panel:
    return Panel(
        "Clock",
        "By how much this machine's clock is off, of the chosen instance that is furthest off.",
        Look.STAT,
        (Query(f"max(abs({SELECT('ladder_canary_clock_skew_seconds')}))", instant=True),),
        4,
        unit="s",
        base=Colour.GOOD,
        steps=((settings.skew_s / 2, Colour.WARN), (settings.skew_s, Colour.WORST)),
        nothing="no host says",
        decimals=0,
        alerts=("ClockSkewed",),
    )


def _grown(name: str, span: str, *by: str, **equal: str | tuple[str, ...]) -> str:
    return f"sum by ({', '.join(by)}) (increase({SELECT(name, **equal)}[{span}]))"


def _ticks() -> Panel:
    return Panel(
        "Ticks by how they ended",
        "A tick counts as a time-out when any read in it did not end in its time.",
        Look.BARS,
        (Query(_grown("ladder_canary_ticks_total", RATE, "result"), "{{result}}"),),
        8,
        height=8,
        step_s=_TICK,
        decimals=0,
        colours={"ok": Colour.GOOD, "timeout": Colour.WARN, "error": Colour.WORST},
    )


def _duration() -> Panel:
    return Panel(
        "Duration of a tick",
        "How long the last tick took.",
        Look.LINES,
        (Query(f"max by (instance) ({SELECT('ladder_canary_tick_duration_seconds')})", "{{instance}}"),),
        8,
        height=8,
        unit="s",
        step_s=_TICK,
    )


def _missed() -> Panel:
    return Panel(
        "Missed ticks",
        "Ticks that were due and did not run, such as while the machine slept.",
        Look.BARS,
        (Query(_grown("ladder_canary_missed_ticks_total", RATE, "instance"), "{{instance}}"),),
        8,
        height=8,
        step_s=_TICK,
        decimals=0,
        base=Colour.BAD,
        alerts=("CanaryMissingTicks",),
    )


def _reads() -> Panel:
    return Panel(
        "Reads by result",
        "Reads of sources: ok, held to keep the poll budget or a back-off, or why they failed.",
        Look.BARS,
        (Query(f"{_grown('ladder_canary_source_reads_total', RATE, 'result')} > 0", "{{result}}"),),
        8,
        height=8,
        step_s=_TICK,
        decimals=0,
        colours={"ok": Colour.GOOD, "held": Colour.NOTE},
    )


def _failures() -> Panel:
    grown = _grown("ladder_canary_source_reads_total", SHOWN, "source", "result")
    return Panel(
        "Reads by source and result",
        "Every result of each source, in the range shown.",
        Look.GAUGES,
        (Query(f"sort_desc({grown} > 0)", "{{source}} {{result}}", instant=True),),
        8,
        height=8,
        decimals=0,
        base=Colour.NOTE,
        nothing="nothing was read",
    )


def _budget(settings: Settings) -> Panel:
    return Panel(
        "Poll budget used",
        "The share of its hourly reads that each seat has used.",
        Look.LINES,
        (Query(f"max by (rung, seat) ({SELECT('ladder_canary_poll_budget_used_ratio')})", "{{rung}} {{seat}}"),),
        8,
        height=8,
        unit="percentunit",
        steps=((settings.poll_ratio, Colour.WORST),),
        step_s=_TICK,
        alerts=("PollBudgetSpent",),
    )


def _ages(terms: Terms) -> Panel:
    read = SELECT("ladder_seat_reading_timestamp_seconds")
    return Panel(
        "Age of each seat's reading",
        "How old the newest reading of each seat was; beyond the line it says nothing of now.",
        Look.LINES,
        (Query(f"{terms.now} - max by (rung, seat) ({read})", "{{rung}} {{seat}}"),),
        8,
        height=8,
        unit="s",
        steps=((terms.settings.stale_after_s, Colour.WORST),),
        step_s=_TICK,
    )


def _skew(settings: Settings) -> Panel:
    return Panel(
        "Clock",
        "How far this machine's clock is ahead of the hosts that are read; behind is negative.",
        Look.LINES,
        (Query(f"max by (instance) ({SELECT('ladder_canary_clock_skew_seconds')})", "{{instance}}"),),
        8,
        height=8,
        unit="s",
        steps=((settings.skew_s, Colour.WORST),),
        step_s=_TICK,
        alerts=("ClockSkewed",),
    )


def _lag() -> Panel:
    return Panel(
        "Ledger rows not counted yet",
        "Rows of the ledger that the counters do not show yet.",
        Look.LINES,
        (Query(f"max by (instance) ({SELECT('ladder_ledger_fold_lag_rows')})", "{{instance}}"),),
        8,
        height=8,
        unit="short",
        step_s=MINUTE,
        decimals=0,
    )


def _flags() -> Panel:
    return Panel(
        "What was in order",
        "Each flag over time: the scrape, the configuration, the ledger and every collector.",
        Look.STATES,
        (
            Query(f"min({SELECT(UP)})", "scraped"),
            Query(f"min({SELECT('ladder_config_reload_success')})", "configuration"),
            Query(f"min({SELECT('ladder_ledger_readable')})", "ledger"),
            Query(f"min by (collector) ({SELECT('ladder_collector_success')})", "metrics: {{collector}}"),
        ),
        16,
        height=9,
        words=yes_no("in order", "not"),
        step_s=MINUTE,
        alerts=("CollectorFailed", "ConfigReloadFailed", "LedgerUnreadable"),
    )


def _versions() -> Panel:
    build = SELECT("ladder_build_info")
    return Panel(
        "Versions",
        "The version that runs on each instance.",
        Look.TABLE,
        (Query(f"max by (instance, version) ({build})", instant=True),),
        8,
        height=9,
        columns={"instance": Column("Instance"), "version": Column("Version")},
        nothing="no exporter",
    )
