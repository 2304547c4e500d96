"""Routes: which alert reaches whom. Only the severity `page` reaches the pager, at any hour (design 9)."""

from typing import Any

from dashboards.document import document
from dashboards.rule import Severity
from dashboards.settings import HOUR, MINUTE, Settings

PAGER, TICKETS, DEADMAN = "pager", "tickets", "deadman"
_PLACE = ["job", "instance"]
_TOLD = (
    "The receivers are placeholders: put your own in, or build with --settings and name their addresses there.",
    "Only the severity page wakes anybody. A missing rung is a ticket, at three in the morning too.",
)


def route_config(settings: Settings) -> str:
    """A whole Alertmanager configuration."""
    config = {
        "route": _routes(settings),
        "inhibit_rules": _inhibitions(),
        "receivers": [
            _receiver(PAGER, settings.pager_url, resolved=True),
            _receiver(TICKETS, settings.tickets_url, resolved=True),
            _receiver(DEADMAN, settings.deadman_url, resolved=False),
        ],
    }
    return document(config, *_TOLD)


def _routes(settings: Settings) -> dict[str, Any]:
    span = settings.scale.span
    return {
        "receiver": TICKETS,
        "group_by": ["alertname", "job", "rung"],
        "group_wait": span(MINUTE),
        "group_interval": span(5 * MINUTE),
        "repeat_interval": span(12 * HOUR),
        "routes": [
            {
                "receiver": DEADMAN,
                "matchers": [f'severity="{Severity.WATCHDOG}"'],
                "group_wait": "0s",
                "group_interval": span(MINUTE),
                "repeat_interval": span(MINUTE),
            },
            {
                "receiver": PAGER,
                "matchers": [f'severity="{Severity.PAGE}"'],
                "group_by": ["alertname", "job"],
                "group_wait": "0s",
                "group_interval": span(MINUTE),
                "repeat_interval": span(HOUR),
            },
        ],
    }


def _inhibitions() -> list[dict[str, Any]]:
    """What says the same again is held back; a page never is."""
    ticket = f'severity="{Severity.TICKET}"'
    return [
        {
            "source_matchers": ['alertname="ExporterDown"'],
            "target_matchers": [ticket, 'alertname!="ExporterDown"'],
            "equal": _PLACE,
        },
        {
            "source_matchers": ['alertname="CanarySilent"'],
            "target_matchers": [ticket, 'alertname=~"RungMissing|LadderBlind|LadderDown"'],
            "equal": _PLACE,
        },
        {
            "source_matchers": ['alertname="ClockSkewed"'],
            "target_matchers": [ticket, 'alertname=~"RungMissing|LadderBlind"'],
            "equal": _PLACE,
        },
        {
            "source_matchers": ['alertname="LadderBlind"'],
            "target_matchers": [ticket, 'alertname="RungMissing"'],
            "equal": _PLACE,
        },
        {
            "source_matchers": ['alertname="LadderDown"'],
            "target_matchers": [ticket, 'alertname=~"RungMissing|LadderBudgetBurning"'],
            "equal": _PLACE,
        },
        {
            "source_matchers": ['alertname="TokenNeedsLogin"'],
            "target_matchers": ['alertname="TokenExpiresSoon"'],
            "equal": [*_PLACE, "rung", "seat"],
        },
    ]


def _receiver(name: str, url: str, *, resolved: bool) -> dict[str, Any]:
    return {"name": name, "webhook_configs": [{"url": url, "send_resolved": resolved}]}
