"""`status` shows what was published last, with its age, and touches nothing; without a state it says how to get one."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from canary import folder
from canary.cli.main import run
from canary.cli.status import command
from canary.memory import Memory
from exporters.moment import iso
from exporters.schema import REPORT_SCHEMA
from exporters.view import Forecast, Forecasts
from tests.exporters.scenes import ASTRA, FABLE, full_seat, key_seat, open_seat, rung, state

CONFIG = """\
[ladder]
primary = "fable"
second = "astra"
[[rung]]
name = "fable"
kind = "claude"
model = "claude-fable-5"
[[rung.seat]]
name = "desk"
[[rung]]
name = "astra"
kind = "codex"
model = "gpt-6-astra"
[[rung.seat]]
name = "codex-main"
"""


def publish(place: Path, age: timedelta = timedelta(minutes=1)) -> None:
    """A degraded ladder as a tick of that age left it."""
    at = datetime.now(UTC) - age
    rungs = rung(FABLE, open_seat("desk"), at=at), rung(ASTRA, full_seat("codex-main"), at=at)
    folder.prepare(place)
    folder.save(place, Memory(b"salt", state=state(*rungs, at=at)), ())


def status(home: Path, *arguments: str) -> Result:
    """The command with its state folder below that home."""
    return CliRunner().invoke(command, ["--state-dir", str(home / "state"), *arguments])


@pytest.fixture(params=[["--json"], ["--format", "json"]])
def as_json(request: pytest.FixtureRequest) -> list[str]:
    """Both ways to ask for JSON."""
    return list(request.param)


def test_shows_the_last_state_and_its_age(home: Path) -> None:
    publish(home / "state")
    shown = status(home)
    assert shown.exit_code == 0
    assert shown.stdout.startswith("ladder ")
    assert "read 1 min ago" in shown.stdout
    assert "rung fable (primary): " in shown.stdout


def test_json_is_the_report(home: Path, as_json: list[str]) -> None:
    publish(home / "state")
    document = json.loads(status(home, *as_json).stdout)
    jsonschema.validate(document, REPORT_SCHEMA)
    assert [each["name"] for each in document["rungs"]] == ["fable", "astra"]
    assert 60 <= document["age_seconds"] < 120


def test_prometheus_is_the_page_of_metrics(home: Path) -> None:
    publish(home / "state")
    page = status(home, "--format", "prometheus").stdout
    assert 'ladder_rung_state{rung="fable",state="' in page
    assert page.endswith("\n")


def test_an_old_state_is_blind_and_says_how_old(home: Path, as_json: list[str]) -> None:
    publish(home / "state", timedelta(hours=2))
    shown = status(home).stdout
    assert shown.startswith("ladder BLIND")
    assert "the last tick was at" in shown
    assert "2 h ago" in shown
    assert json.loads(status(home, *as_json).stdout)["ladder"]["state"] == "blind"


def test_without_a_state_it_says_how_to_get_one(home: Path, as_json: list[str]) -> None:
    shown = status(home)
    assert shown.exit_code == 0
    assert shown.stdout.startswith("ladder BLIND")
    assert f"There is no state in {home / 'state'} yet: `rungwatch canary` reads once" in shown.stdout
    machine = status(home, *as_json)
    document = json.loads(machine.stdout)
    jsonschema.validate(document, REPORT_SCHEMA)
    assert document["ladder"] == {"state": "blind"}
    assert "There is no state" in machine.stderr
    assert machine.exit_code == 0
    assert 'ladder_state{state="blind"} 1.0' in status(home, "--format", "prometheus").stdout
    assert not (home / "state").exists()


@pytest.mark.parametrize("text", [b"", b"{", b'{"state": "ok"}', b"\xff"])
def test_a_broken_state_is_told_and_left_as_it_is(home: Path, text: bytes) -> None:
    publish(home / "state")
    for name in (folder.STATE, folder.MEMORY):
        (home / "state" / name).write_bytes(text)
    before = sorted((home / "state").iterdir())
    shown = status(home)
    assert shown.exit_code == 0
    assert f"The state in {home / 'state'} is broken" in shown.stdout
    assert sorted((home / "state").iterdir()) == before


def test_a_state_that_may_not_be_read_is_told(
    home: Path, powerless: Callable[[], AbstractContextManager[None]]
) -> None:
    publish(home / "state")
    (home / "state").chmod(0)
    with powerless():
        assert "cannot be read (Permission denied)" in status(home).stdout


def test_a_configuration_names_the_rungs(home: Path) -> None:
    publish(home / "state")
    (home / "other.toml").write_text(CONFIG.replace("astra", "astra-two"), encoding="utf-8")
    document = json.loads(status(home, "--json", "--config", str(home / "other.toml")).stdout)
    assert [each["name"] for each in document["rungs"]] == ["fable", "astra-two"]
    assert document["rungs"][1]["state"] == "unknown"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--json", "--format", "table"], "--json and --format table exclude each other"),
        (["--format", "xml"], "'xml' is not one of 'table', 'json', 'prometheus'"),
        (["--config", "/nowhere.toml"], "there is no configuration at /nowhere.toml; `rungwatch init` writes one"),
    ],
)
def test_usage_is_64(home: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", *arguments]) == 64
    assert told in capsys.readouterr().err


def test_what_the_daemon_expected_is_shown_from_its_folder(home: Path) -> None:
    at = datetime.now(UTC) - timedelta(minutes=1)
    rungs = rung(FABLE, key_seat("desk"), at=at), rung(ASTRA, full_seat("codex-main"), at=at)
    ahead = Forecast(at + timedelta(hours=2), at + timedelta(hours=1))
    folder.prepare(home / "state")
    kept = Memory(b"salt", state=state(*rungs, at=at), forecasts=Forecasts(at, {"fable": ahead}))
    folder.save(home / "state", kept, ())
    assert "ahead: expected to be spent about" in status(home).output
    found = json.loads(status(home, "--json").output)["rungs"][0]
    assert found["forecast"]["at"] == iso(ahead.at)
    folder.save(home / "state", replace(kept, forecasts=Forecasts(at - timedelta(minutes=20), {"fable": ahead})), ())
    assert "expected" not in status(home).output
