"""The printed lines are JSON as Claude Code takes it, and as shell commands they feed, also beside another command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from canary.cli import hook
from canary.discover import Found
from canary.feed import FOLDER, feed_file
from canary.survey import Surveyed, status_line

REPORT = {"model": {"display_name": "Opus"}, "rate_limits": {"five_hour": {"used_percentage": 24.5}}}
ROOT = Path(__file__).parents[3]


def seat(folder: Path, *, usual: bool = True) -> Surveyed:
    """A Claude Code seat with the settings that lie in its folder."""
    found = Found("claude", folder, folder / ".credentials.json", "main", usual)
    return Surveyed(found, status_line=status_line(folder))


def printed(folder: Path, *, usual: bool = True) -> tuple[str, str]:
    """The words and the JSON of what is printed for a seat."""
    lines = list(hook.lines([seat(folder, usual=usual)], ["rungwatch", "feed"], None))
    words = [line for line in lines if not line.startswith("  ")]
    return " ".join(words).strip(), "\n".join(line for line in lines if line.startswith("  "))


def test_without_a_settings_file_the_whole_one_is_printed(tmp_path: Path) -> None:
    words, block = printed(tmp_path)
    assert words == f"Seat 'main': there is no {tmp_path}/settings.json yet. Write into it:"
    assert json.loads(block) == {"statusLine": {"type": "command", "command": "rungwatch feed"}}


def test_into_a_settings_file_a_member_is_added(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"model": "opus", "disableAllHooks": true}', encoding="utf-8")
    words, block = printed(tmp_path, usual=False)
    assert words.startswith(f"Seat 'main': add to {tmp_path}/settings.json, inside its outer braces:")
    assert words.endswith("disableAllHooks is set there: as long as it is, no status line runs.")
    assert json.loads(f"{{{block}}}")["statusLine"]["command"] == f"rungwatch feed --config-dir {tmp_path}"


def test_another_command_is_kept_and_not_repeated(tmp_path: Path) -> None:
    settings = {"statusLine": {"type": "command", "command": "KEY=hunter2 mine"}}
    (tmp_path / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    words, block = printed(tmp_path)
    assert "To keep both" in words
    assert json.loads(f"{{{block}}}")["statusLine"]["command"].endswith("| { YOUR-COMMAND; }")
    assert "hunter2" not in words + block


def test_settings_that_are_no_json_are_left_to_their_user(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text("{", encoding="utf-8")
    assert "could not be read as JSON" in printed(tmp_path)[0]


@pytest.mark.parametrize("theirs", ["sed 's/.*/mine/'", "cat >/dev/null; echo mine", "cat > /dev/null && echo mine"])
def test_the_chain_feeds_and_shows_the_other_line(tmp_path: Path, theirs: str) -> None:
    folder, state = tmp_path / "my config", tmp_path / "my state"
    folder.mkdir()
    words = [sys.executable, "-P", "-m", "canary.feed"]
    feed = hook.command(seat(folder, usual=False), words, state)
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    for command, shown in ((feed, "Opus 5h 24%\n"), (hook.chain(feed, theirs), "mine\n")):
        done = subprocess.run(
            ["sh", "-c", command], input=json.dumps(REPORT), capture_output=True, text=True, env=environ, check=True
        )
        assert (done.stdout, done.stderr) == (shown, "")
        kept = Path(feed_file(state / FOLDER, folder))
        assert json.loads(kept.read_text(encoding="utf-8"))["windows"]["five_hour"]["used_percentage"] == 24.5
        kept.unlink()


def test_the_feed_is_started_by_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    python = tmp_path / "venv" / "python"
    assert hook.feed_words(str(python)) == [str(python), "-P", "-m", "canary.feed"]
    python.parent.mkdir()
    python.with_name("rungwatch").touch()
    assert hook.feed_words(str(python)) == [str(python.with_name("rungwatch")), "feed"]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rungwatch").touch(mode=0o755)
    assert hook.feed_words(str(python)) == ["rungwatch", "feed"]
