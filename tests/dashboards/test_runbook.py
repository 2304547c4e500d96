"""Alerts, the runbook's sections and the links between them belong together, both ways."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from canary.cli.main import COMMANDS
from dashboards.alerts import alerts
from dashboards.build import pages
from dashboards.rule import Alert, Severity
from tests.dashboards.expressions import nodes, wrong
from tests.dashboards.promtool import SETTINGS

TEXT = (Path(__file__).parents[2] / "docs" / "runbook.md").read_text(encoding="utf-8")
PARTS = ("What it means.", "What the user feels.", "How to see it.", "What to do.", "How it clears.")
SECTIONS: Mapping[str, str] = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))
PANELS: Mapping[str, frozenset[str]] = {
    page.title: frozenset(panel.title for row in page.rows for panel in row.panels) for page in pages(SETTINGS)
}
each_alert = pytest.mark.parametrize("alert", alerts(SETTINGS), ids=lambda alert: alert.name)


def fences(section: str, kind: str) -> list[str]:
    """The fenced blocks of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def test_every_alert_has_a_section_and_every_section_an_alert() -> None:
    assert sorted(SECTIONS) == sorted(alert.name for alert in alerts(SETTINGS))


@each_alert
def test_the_alerts_link_ends_at_its_section(alert: Alert) -> None:
    url = alert.rule(SETTINGS)["annotations"]["runbook_url"]
    page, _, anchor = url.partition("#")
    assert (page, anchor) == (SETTINGS.runbook_url, alert.name.lower())


@each_alert
def test_the_section_says_all_that_it_should_in_order(alert: Alert) -> None:
    section = SECTIONS[alert.name]
    places = [section.find(f"**{part}**") for part in PARTS]
    assert -1 not in places
    assert places == sorted(places)


@each_alert
def test_the_query_names_what_is_there(alert: Alert) -> None:
    (query,) = fences(SECTIONS[alert.name], "promql")
    assert list(nodes(query))
    if "__name__" not in query and not query.startswith("ALERTS"):
        assert list(wrong(query)) == []


@each_alert
def test_the_panels_are_there_on_the_dashboard_that_is_named(alert: Alert) -> None:
    seen = SECTIONS[alert.name].partition("**How to see it.**")[2].partition("```")[0]
    named = [" ".join(name.split()) for name in re.findall(r"\*([^*]+)\*", seen)]
    boards = [name for name in named if name in PANELS]
    assert boards
    assert boards[0] in {page.title for page in pages(SETTINGS) if _shows(page.board.value, alert)}
    known = frozenset[str]().union(*(PANELS[board] for board in boards))
    columns = {"Login", "Login lapses in", "Alerts"}
    assert [name for name in named if name not in known | set(boards) | columns] == []


def _shows(board: str, alert: Alert) -> bool:
    """Whether the section may send its reader to this dashboard: that of the alert, or one that links to its section."""
    linking = {
        page.board.value
        for page in pages(SETTINGS)
        if any(alert.name in panel.alerts for row in page.rows for panel in row.panels)
    }
    return board == alert.board.value or board in linking


@each_alert
def test_there_is_a_command_with_its_output(alert: Alert) -> None:
    (block,) = fences(SECTIONS[alert.name], "console")
    lines = block.splitlines()
    commands = [line.removeprefix("$ ").split() for line in lines if line.startswith("$ ")]
    assert commands
    for words in commands:
        assert words[0] == "rungwatch"
        assert words[1] in COMMANDS
    assert len(lines) > len(commands), "the output is missing"


def test_every_link_within_the_page_leads_somewhere() -> None:
    anchors = {name.lower() for name in SECTIONS}
    assert [link for link in re.findall(r"\]\(#([^)]+)\)", TEXT) if link not in anchors] == []


def test_every_panel_that_links_to_a_section_links_to_one_that_is_there() -> None:
    linked = {
        alert for page in pages(SETTINGS) for row in page.rows for panel in row.panels for alert in panel.alerts
    }
    assert linked <= set(SECTIONS)
    assert set(SECTIONS) - linked == {"Watchdog"}


def test_the_page_says_which_alerts_page() -> None:
    paging = {alert.name for alert in alerts(SETTINGS) if alert.severity is Severity.PAGE}
    assert {name for name, text in SECTIONS.items() if "This pages" in " ".join(text.split())} == paging
