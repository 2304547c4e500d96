"""Build: every file that Prometheus, Alertmanager and Grafana are given, from the catalog and the settings."""

from collections.abc import Mapping

from dashboards.alerts import groups
from dashboards.board import Board
from dashboards.canary_health import canary_health
from dashboards.confirm import confirm
from dashboards.decisions import decisions
from dashboards.frame import frame
from dashboards.oncall import oncall
from dashboards.panel import Page
from dashboards.routes import route_config
from dashboards.rule import rule_file
from dashboards.scrape import scrape_config
from dashboards.settings import Settings
from dashboards.spend import spend
from dashboards.stack import compose, datasource, providers

PAGES = (oncall, decisions, spend, confirm, canary_health)


def pages(settings: Settings) -> tuple[Page, ...]:
    """Every page."""
    return tuple(page(settings) for page in PAGES)


def boards(settings: Settings) -> Mapping[Board, str]:
    """Every dashboard as JSON."""
    return {page.board: frame(page, settings) for page in pages(settings)}


def files(settings: Settings) -> Mapping[str, str]:
    """Every file by its path below the folder it is built into; raises UnknownError for what no catalog has."""
    return {
        **{f"dashboards/{board.value}.json": text for board, text in boards(settings).items()},
        "grafana/provisioning/dashboards/rungwatch.yml": providers(),
        "grafana/provisioning/datasources/rungwatch.yml": datasource(settings),
        "prometheus.yml": scrape_config(settings),
        "rules.yml": rule_file(groups(settings), settings),
        "alertmanager.yml": route_config(settings),
        "compose.yml": compose(settings),
    }
