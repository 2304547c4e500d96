"""The routes by the real amtool: only what wakes somebody reaches the pager, at any hour."""

import subprocess
from pathlib import Path

import pytest
import yaml

from dashboards.alerts import alerts
from dashboards.routes import route_config
from dashboards.rule import Alert, Severity
from dashboards.settings import Settings
from tests.exporters.services import need

pytestmark = pytest.mark.prometheus
SETTINGS = Settings()
REACHES = {Severity.PAGE: "pager", Severity.TICKET: "tickets", Severity.WATCHDOG: "deadman"}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "alertmanager.yml"
    path.write_text(route_config(SETTINGS), encoding="utf-8")
    return path


def _amtool(*arguments: str | Path) -> str:
    done = subprocess.run((need("amtool"), *arguments), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_amtool_takes_the_file(config: Path) -> None:
    assert "SUCCESS" in _amtool("check-config", config)


@pytest.mark.parametrize("alert", alerts(SETTINGS), ids=lambda alert: alert.name)
def test_each_alert_reaches_whom_its_severity_names(alert: Alert, config: Path) -> None:
    labels = (f"alertname={alert.name}", f"severity={alert.severity}", "job=rungwatch", "instance=here:9477")
    told = _amtool("config", "routes", "test", "--config.file", config, *labels)
    assert told == REACHES[alert.severity]


def test_only_the_two_wakes_page() -> None:
    paging = {alert.name for alert in alerts(SETTINGS) if alert.severity is Severity.PAGE}
    assert paging == {"QueueWake", "QueueWakeBlind"}


def test_a_rung_outage_at_three_in_the_morning_goes_to_tickets(config: Path) -> None:
    labels = ("alertname=RungMissing", "severity=ticket", "rung=fable", "job=rungwatch", "instance=here:9477")
    assert _amtool("config", "routes", "test", "--config.file", config, *labels) == "tickets"
    document = yaml.safe_load(config.read_text(encoding="utf-8"))
    timed = ("time_intervals", "mute_time_intervals", "active_time_intervals")
    assert not [name for name in timed if name in config.read_text(encoding="utf-8")], (
        "no hour is another than the rest"
    )
    assert [one["receiver"] for one in document["route"]["routes"]] == ["deadman", "pager"]


def test_no_page_is_ever_held_back(config: Path) -> None:
    for rule in yaml.safe_load(config.read_text(encoding="utf-8"))["inhibit_rules"]:
        spared = (
            'severity="ticket"' in rule["target_matchers"]
            or 'alertname="TokenExpiresSoon"' in rule["target_matchers"]
        )
        assert spared
