"""Alerts on the watcher itself: silence, missed ticks, its clock, its configuration and its exporter."""

from dashboards.alerts_ladder import PERCENT
from dashboards.board import Board
from dashboards.promql import Selectors
from dashboards.rule import Alert, Severity
from dashboards.settings import HOUR, MINUTE, Settings
from dashboards.terms import SELECT, Terms, window

_HERE = ("instance",)


def canary_alerts(settings: Settings) -> tuple[Alert, ...]:
    """The alerts, in the order of the runbook."""
    terms = Terms(settings)
    return (*_ticks(terms), *_limits(terms), *_exporter(terms))


def _ticks(terms: Terms) -> tuple[Alert, ...]:
    of = terms.settings
    ticked = Selectors((f'job="{of.job}"',))("ladder_canary_last_tick_timestamp_seconds")
    missed = f"increase({SELECT('ladder_canary_missed_ticks_total')}[{terms.span(HOUR)}])"
    return (
        Alert(
            "CanarySilent",
            f"{terms.age('ladder_canary_last_tick_timestamp_seconds')} > {of.stale_after_s}\n"
            f"or absent_over_time({ticked}[{terms.span(of.stale_after_s)}])",
            "The canary has stopped looking at the ladder",
            f"No tick has ended on {{{{ $labels.instance }}}} for more than {window(of.stale_after_s)}, or none was "
            "ever seen: what the other panels show says nothing of now.",
            Board.CANARY,
            after_s=5 * MINUTE,
            pins=_HERE,
        ),
        Alert(
            "CanaryMissingTicks",
            f"{missed} >= {of.missed_ticks}",
            "The canary misses ticks",
            "{{ $value | humanize }} ticks of the last hour were due on {{ $labels.instance }} and did not run.",
            Board.CANARY,
            pins=_HERE,
        ),
    )


def _limits(terms: Terms) -> tuple[Alert, ...]:
    of = terms.settings
    return (
        Alert(
            "PollBudgetSpent",
            f"{terms.held('ladder_canary_poll_budget_used_ratio')} >= {of.poll_ratio:g}",
            "The reads of {{ $labels.rung }} seat {{ $labels.seat }} are used up for the hour",
            f"{PERCENT} of the hourly reads of the seat are used on {{{{ $labels.instance }}}}, for 15m; its "
            "readings grow old.",
            Board.CANARY,
            after_s=15 * MINUTE,
            pins=(*_HERE, "rung", "seat"),
        ),
        Alert(
            "ClockSkewed",
            f"abs({terms.held('ladder_canary_clock_skew_seconds')}) > {of.skew_s}",
            "The clock of {{ $labels.instance }} is wrong",
            "It is {{ $value | humanizeDuration }} off what the hosts say that are read, so no login's expiry can be "
            "judged.",
            Board.CANARY,
            after_s=5 * MINUTE,
            pins=_HERE,
        ),
        Alert(
            "ConfigReloadFailed",
            f"{terms.held('ladder_config_reload_success')} == 0",
            "The configuration of {{ $labels.instance }} was refused",
            "The last reload was refused 5m ago or more; the configuration before it is still in force.",
            Board.CANARY,
            after_s=5 * MINUTE,
            pins=_HERE,
        ),
    )


def _exporter(terms: Terms) -> tuple[Alert, ...]:
    of = terms.settings
    bridge = terms.span(of.bridge_s)
    return (
        Alert(
            "CollectorFailed",
            f"{terms.held('ladder_collector_success')} == 0",
            "The {{ $labels.collector }} metrics are missing",
            "The collector {{ $labels.collector }} of {{ $labels.instance }} has failed for 5m; its metrics are left "
            "out of the page.",
            Board.CANARY,
            after_s=5 * MINUTE,
            pins=_HERE,
        ),
        Alert(
            "ExporterDown",
            f"max_over_time({terms.targets}[{bridge}]) == 0\nor absent_over_time({terms.targets}[{bridge}])",
            "rungwatch cannot be scraped",
            f"Prometheus has not reached {{{{ $labels.instance }}}} of job {{{{ $labels.job }}}} for "
            f"{window(of.bridge_s)}.",
            Board.CANARY,
            after_s=MINUTE,
            pins=_HERE,
        ),
        Alert(
            "Watchdog",
            "vector(1)",
            "Alerts are being delivered",
            "This alert always fires. When it stops arriving, Prometheus or Alertmanager is broken.",
            Board.CANARY,
            severity=Severity.WATCHDOG,
        ),
    )
