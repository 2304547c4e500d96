"""Alerts: all of them, in groups that are evaluated together, with the recording rules that they read."""

from dashboards.alerts_canary import canary_alerts
from dashboards.alerts_decisions import decision_alerts
from dashboards.alerts_handoff import handoff_alerts
from dashboards.alerts_ladder import ladder_alerts
from dashboards.records import records
from dashboards.rule import Alert, Group
from dashboards.settings import Settings


def groups(settings: Settings) -> tuple[Group, ...]:
    """Every group of the rule file."""
    return (
        *records(settings),
        Group("rungwatch-ladder", ladder_alerts(settings)),
        Group("rungwatch-decisions", decision_alerts(settings)),
        Group("rungwatch-handoff", handoff_alerts(settings)),
        Group("rungwatch-canary", canary_alerts(settings)),
    )


def alerts(settings: Settings) -> tuple[Alert, ...]:
    """Every alert."""
    return tuple(rule for group in groups(settings) for rule in group.rules if isinstance(rule, Alert))
