"""`rungwatch feed` never fails a status line, and says how to set it up."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from canary.cli.feed import command
from canary.feed import feed_file

REPORT = json.dumps(
    {
        "model": {"display_name": "Opus"},
        "rate_limits": {"seven_day": {"used_percentage": 41.2, "resets_at": 1792500000}},
    }
).encode()


def invoke(content: bytes, *words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(command, list(words), input=content)
    return done.exit_code, done.stdout, done.stderr


def test_a_report_is_kept_and_shown(home: Path) -> None:
    assert invoke(REPORT) == (0, "Opus 7d 41%\n", "")
    path = Path(feed_file(home / ".local/state/rungwatch/feeds", home / ".claude"))
    assert json.loads(path.read_text())["windows"]["seven_day"]["used_percentage"] == 41.2


def test_folders_can_be_given(home: Path) -> None:
    assert invoke(REPORT, "--state-dir", str(home / "s"), "--config-dir", str(home / "c"))[0] == 0
    assert Path(feed_file(home / "s" / "feeds", home / "c")).is_file()


@pytest.mark.parametrize("content", [b"", b"null", b"[]", REPORT[:-3], b"\xff\xfe", b"[" * 100_000])
def test_a_broken_report_costs_a_line_on_standard_error_only(home: Path, content: bytes) -> None:
    code, line, told = invoke(content)
    assert (code, line) == (0, "rungwatch\n")
    assert told == "rungwatch feed: standard input is not a JSON object\n"


def test_help_has_an_example(home: Path) -> None:
    code, told, _ = invoke(b"", "--help")
    assert code == 0
    assert '"statusLine"' in told
    assert "rungwatch feed" in told


def test_what_the_fast_way_in_does_not_know_is_left_to_the_command_line(home: Path) -> None:
    words = [sys.executable, "-m", "canary.feed", "--nonsense"]
    done = subprocess.run(words, input=REPORT, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (64, b"")
