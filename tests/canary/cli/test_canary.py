"""rungwatch canary: what it prints, where, and with which exit code."""

import json
import os
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from canary.cli.canary import command
from canary.folder import load_state, lock, prepare
from tests.canary.cli.ladders import QUESTION, Ladder, ladder, names
from tests.conftest import Powerless

LOGIN = {"claudeAiOauth": {"accessToken": "sk-ant-SENTINEL", "expiresAt": 4e12, "scopes": ["user:inference"]}}


def canary(home: Path, *arguments: str) -> Result:
    """The command on a home without a configuration."""
    return CliRunner().invoke(command, ["--state-dir", str(home / "state"), *arguments])


def test_it_shows_the_ladder_and_tells_its_line_apart(home: Path) -> None:
    done = canary(home)
    assert done.exit_code == 0
    assert done.stdout.startswith("ladder DOWN")
    assert "`rungwatch init` writes one" in done.stdout
    assert done.stderr.count("\n") == 1
    assert " ladder DOWN claude=unreachable (missing" in done.stderr


def test_json_is_all_that_is_on_standard_output(home: Path) -> None:
    document = json.loads(canary(home, "--json").stdout)
    assert document["ladder"]["state"] == "down"


def test_each_step_is_shown_when_asked_for(home: Path) -> None:
    assert "  local: " in canary(home, "--verbose").stdout
    assert json.loads(canary(home, "--verbose", "--json").stdout)


def test_beside_another_canary_it_shows_the_last_state_and_writes_nothing(home: Path) -> None:
    canary(home)
    before = load_state(home / "state")
    with lock(home / "state"):
        done = canary(home, "--json")
    assert done.exit_code == 0
    assert "another rungwatch canary holds" in done.stderr
    assert json.loads(done.stdout)["at"].startswith(before.at.isoformat(timespec="seconds")[:19] if before else "?")
    assert load_state(home / "state") == before


@pytest.mark.parametrize("name", ["x.txt", "nowhere/x.prom"])
def test_a_textfile_that_cannot_be_written_is_told_after_what_was_found(home: Path, name: str) -> None:
    done = canary(home, "--textfile", str(home / name))
    assert done.exit_code == 64
    assert not (home / name).exists()
    assert ("must be named *.prom" if name == "x.txt" else "the textfile cannot be written") in done.stderr


def test_a_state_that_cannot_be_kept_is_told_after_what_was_found(home: Path) -> None:
    prepare(home / "state")
    (home / "state" / "state.json").mkdir()
    done = canary(home)
    assert done.exit_code == 64
    assert done.stdout.startswith("ladder DOWN")
    assert "cannot be written" in done.stderr


def test_a_login_that_cannot_be_read_is_unknown_and_told_with_its_remedy(home: Path, powerless: Powerless) -> None:
    folder = home / ".claude"
    folder.mkdir()
    (folder / ".credentials.json").write_text(json.dumps(LOGIN))
    (folder / ".credentials.json").chmod(0)
    prepare(home / "state")
    (home / "state").chmod(0o777)
    with powerless():
        done = canary(home)
    assert done.exit_code == 0
    assert "no permission to read" in done.stderr
    assert "0600" in done.stderr
    assert "SENTINEL" not in done.output
    assert os.geteuid() == os.getuid()


WINDOW = {"kind": "session", "used_percent": 25}


@pytest.fixture
def metered(tmp_path: Path, home: Path) -> Ladder:
    """A ladder one of whose seats has a meter."""
    found = ladder(
        tmp_path, seat='quota = "metered"\nsources = ["seats-file"]\nseats_file = "%s"' % (home / "seats.json")
    )
    seat = {"name": "desk", "token": {"kind": "none"}, "windows": [WINDOW]}
    (home / "seats.json").write_text(json.dumps({"schema_version": 1, "seats": [seat]}))
    return found


def test_what_the_meters_say_is_kept_in_the_ledger_that_there_is(metered: Ladder) -> None:
    metered.run("canary")
    assert not metered.ledger.exists()
    metered.answers(names("keep"), names("keep"))
    assert metered.run("ask", *QUESTION).exit_code == 0
    assert metered.run("canary").exit_code == 0
    with sqlite3.connect(metered.ledger) as database:
        found = database.execute("SELECT rung, seat, kind, used_micro FROM meters").fetchall()
    assert found == [("fable", "desk", "session", 250_000)]


def test_a_ledger_that_cannot_be_used_is_told_and_ends_nothing(metered: Ladder) -> None:
    metered.state.mkdir()
    metered.ledger.write_bytes(bytes(4096))
    done = metered.run("canary")
    assert done.exit_code == 0
    assert "what the meters say is not kept: " in done.stderr


@pytest.mark.parametrize("words", [["canary"], ["serve", "--listen", "127.0.0.1:0"]], ids=["canary", "serve"])
@pytest.mark.parametrize(("url", "told"), [("mysql://x/y", "a postgresql:// URL, not mysql://"), ("", "'STORE_URL'")])
def test_a_store_that_cannot_be_meant_is_a_usage_error(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], url: str, told: str
) -> None:
    monkeypatch.setenv("STORE_URL", url)
    done = ladder(tmp_path, more='[store]\nurl_env = "STORE_URL"\n').run(*words)
    assert done.exit_code == 64
    assert told in done.stderr
    assert "Traceback" not in done.output
