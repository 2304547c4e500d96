"""Rule: recording rules, alerts and their groups as values, and as the YAML that Prometheus loads."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dashboards.board import Board
from dashboards.document import Lines, document
from dashboards.settings import Settings

_NAME = re.compile(r"[a-z_]+:[a-z_]+:[a-z0-9_]+")
_ALERT = re.compile(r"([A-Z][a-z]+)+")


class Severity(StrEnum):
    """Where an alert goes: to the pager, to the tickets, or to the dead man's switch."""

    PAGE = "page"
    TICKET = "ticket"
    WATCHDOG = "watchdog"


@dataclass(frozen=True, slots=True)
class Record:
    """A recording rule; the name says level, metric and operations."""

    name: str
    expr: str

    def __post_init__(self) -> None:
        """Refuse a name of another form."""
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is not level:metric:operations")

    def rule(self, settings: Settings) -> Mapping[str, Any]:
        """As Prometheus reads it."""
        return {"record": self.name, "expr": Lines(self.expr)}


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert. It fires once `expr` has had a sample for `after_s` seconds of the exporter's clock.

    `summary` and `description` are Prometheus templates; `board` is the dashboard that shows it, opened with the
    alert's own values of the labels that `pins` names.
    """

    name: str
    expr: str
    summary: str
    description: str
    board: Board
    severity: Severity = Severity.TICKET
    after_s: int = 0
    pins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a name that is no alert's."""
        if not _ALERT.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is not the name of an alert")

    def rule(self, settings: Settings) -> Mapping[str, Any]:
        """As Prometheus reads it."""
        waits = {"for": settings.scale.span(self.after_s)} if self.after_s else {}
        return {
            "alert": self.name,
            "expr": Lines(self.expr),
            **waits,
            "labels": {"severity": self.severity.value, "owner": settings.owner},
            "annotations": {
                "summary": self.summary,
                "description": self.description,
                "runbook_url": runbook(settings, self.name),
                "dashboard_url": self._link(settings),
            },
        }

    def _link(self, settings: Settings) -> str:
        pins = [f"var-{name}={{{{ $labels.{name} | urlquery }}}}" for name in self.pins]
        return f"{settings.grafana_url}/d/{self.board.value}" + ("?" + "&".join(pins) if pins else "")


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that are evaluated together, one after another."""

    name: str
    rules: tuple[Record | Alert, ...]


def runbook(settings: Settings, alert: str) -> str:
    """Where the runbook's section of an alert is."""
    return f"{settings.runbook_url}#{alert.lower()}"


def rule_file(groups: Iterable[Group], settings: Settings) -> str:
    """A whole rule file."""
    listed = [{"name": group.name, "rules": [dict(rule.rule(settings)) for rule in group.rules]} for group in groups]
    return document({"groups": listed}, "Recording rules and alerts. Every alert has a section in docs/runbook.md.")
