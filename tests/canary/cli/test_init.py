"""`init` writes a configuration that loads, for the logins it finds; it asks before it sends or overwrites anything."""

import json
import os
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from canary.cli.check import command as check
from canary.cli.draft import Choice, comment, render, toml
from canary.cli.init import command
from canary.cli.main import run
from canary.config import Config
from canary.discover import Found
from canary.feed import FOLDER, feed_file
from canary.load import parse, read
from canary.sources.table import SOURCES
from canary.survey import Surveyed
from decide.seat import Quota
from tests.canary.cli.logins import SECRET, claude_login, codex_login, script


def init(*arguments: str) -> Result:
    """The command without a terminal."""
    return CliRunner().invoke(command, list(arguments))


def usual(home: Path) -> Path:
    """Where the configuration is written unless told otherwise."""
    return home / ".config" / "rungwatch" / "rungwatch.toml"


def seats(config: Config) -> list[tuple[str, str, Path | None, tuple[str, ...]]]:
    """Every seat as (rung, name, folder, sources)."""
    return [(rung.name, seat.name, seat.config_dir, seat.sources) for rung in config.rung for seat in rung.seat]


def test_writes_the_defaults_of_both_rungs(home: Path) -> None:
    claude_login(home / ".claude")
    codex_login(home / ".codex")
    done = init("--yes")
    assert done.exit_code == 0, done.output
    config = read(usual(home))
    assert (config.ladder.primary, config.ladder.second) == ("fable", "astra")
    assert [(rung.kind, rung.model, rung.scopes) for rung in config.rung] == [
        ("claude", "claude-fable-5", ("Fable",)),
        ("codex", "gpt-6-astra", ()),
    ]
    assert seats(config) == [("fable", "main", None, ()), ("astra", "main", None, ("codex-sessions",))]
    assert stat.S_IMODE(usual(home).stat().st_mode) == 0o600
    assert list(usual(home).parent.iterdir()) == [usual(home)]
    for name in ("check", "canary", "serve"):
        assert f"  rungwatch {name} " in done.stdout
    assert SECRET not in done.output + usual(home).read_text(encoding="utf-8")
    assert CliRunner().invoke(check, []).exit_code == 0


def test_only_what_differs_from_a_default_is_written(home: Path) -> None:
    claude_login(home / ".claude")
    codex_login(home / ".codex")
    written: dict[str, Any] = tomllib.loads(init("--print", "--usage", "--no-passive").stdout)
    assert sorted(written) == ["ladder", "rung"]
    assert written["rung"][1] == {
        "name": "astra",
        "kind": "codex",
        "model": "gpt-6-astra",
        "seat": [{"name": "main", "sources": ["codex-usage"]}],
    }


def test_siblings_become_seats(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (".claude", ".claude-work", ".claude-me@example.com", 'x"quoted'):
        claude_login(home / name)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / 'x"quoted'))
    assert init("--usage").exit_code == 0
    usage = ("claude-usage",)
    assert seats(read(usual(home)))[:4] == [
        ("fable", 'x"quoted', home / 'x"quoted', usage),
        ("fable", "main", None, usage),
        ("fable", "seat-1", home / ".claude-me@example.com", usage),
        ("fable", "work", home / ".claude-work", usage),
    ]


def test_a_vendor_without_a_login_gets_a_seat_and_a_comment(home: Path) -> None:
    claude_login(home / ".claude")
    shown = init("--print", "--no-usage")
    assert f"# No login was found here: {home}/.codex/auth.json does not exist." in shown.stdout
    assert seats(parse(shown.stdout, "printed"))[1] == ("astra", "main", None, ("codex-sessions",))
    assert "codex   no login" in shown.stderr
    assert not usual(home).exists()


def test_scripts_have_to_say_whether_usage_is_read(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert init().exit_code == 64
    assert run(["init"]) == 64
    assert "give --usage or --no-usage, or --yes for the defaults" in capsys.readouterr().err
    assert not usual(home).exists()


@pytest.mark.parametrize("arguments", [["--yes"], ["--no-usage"], ["--yes", "--usage"]])
def test_nothing_is_overwritten_unasked(home: Path, arguments: list[str]) -> None:
    usual(home).parent.mkdir(parents=True)
    usual(home).write_text("mine", encoding="utf-8")
    refused = init(*arguments)
    assert refused.exit_code == 64
    assert "is there already: give --force to overwrite it" in refused.stderr
    assert usual(home).read_text(encoding="utf-8") == "mine"
    assert init(*arguments, "--force").exit_code == 0
    read(usual(home))


def test_another_file_is_named_in_the_next_commands(home: Path) -> None:
    path = home / "my folder" / "ladder.toml"
    done = init("--yes", "--output", str(path))
    assert f"rungwatch check --config '{path}'" in done.stdout
    read(path)


def test_a_link_stays_a_link(home: Path) -> None:
    usual(home).parent.mkdir(parents=True)
    usual(home).symlink_to(home / "dotfiles.toml")
    assert init("--yes", "--force").exit_code == 0
    assert usual(home).is_symlink()
    read(home / "dotfiles.toml")


@pytest.mark.parametrize(("path", "told"), [("", "is a folder"), ("file/x.toml", "cannot be written")])
def test_what_cannot_be_written_is_64(home: Path, path: str, told: str) -> None:
    (home / "file").touch()
    done = init("--yes", "--force", "--output", str(home / path))
    assert done.exit_code == 64
    assert told in done.stderr


@pytest.fixture
def machine(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with both logins, both clients, a status line of another's and a variable that replaces a seat."""
    claude_login(home / ".claude")
    codex_login(home / ".codex")
    settings = {"statusLine": {"type": "command", "command": f"KEY={SECRET} ccline"}}
    (home / ".claude" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    for name in ("claude", "codex"):
        script(home / "bin" / name)
    script(home / "bin" / "rungwatch")
    monkeypatch.setenv("PATH", str(home / "bin"))
    monkeypatch.setenv("CODEX_API_KEY", SECRET)
    return home


def test_what_was_found_is_shown_and_nothing_is_started(machine: Path, golden: Callable[[str, str], None]) -> None:
    for name in ("claude", "codex"):
        (machine / "bin" / name).unlink()
    before = {path: path.stat().st_mtime_ns for path in machine.rglob("*")}
    done = init("--print", "--yes", "--passive")
    assert SECRET not in done.output
    assert {path: path.stat().st_mtime_ns for path in machine.rglob("*")} == before
    feed = feed_file(machine / ".local" / "state" / "rungwatch" / FOLDER, machine / ".claude")
    golden("init-found.txt", done.stderr.replace(feed, "FEED").replace(str(machine), "HOME"))
    golden("init.toml", done.stdout.replace(str(machine), "HOME"))


def test_the_feed_is_used_where_it_has_kept_something(machine: Path) -> None:
    kept = Path(feed_file(machine / ".local" / "state" / "rungwatch" / FOLDER, machine / ".claude"))
    kept.parent.mkdir(parents=True)
    kept.write_text("{}", encoding="utf-8")
    done = init("--yes")
    assert [sources for *_, sources in seats(read(usual(machine)))] == [("claude-feed",), ("codex-sessions",)]
    assert "rungwatch never sets by itself" not in done.output
    assert "scope_unread" in usual(machine).read_text(encoding="utf-8")
    assert init("--yes", "--force", "--no-passive").exit_code == 0
    assert [sources for *_, sources in seats(read(usual(machine)))] == [(), ()]


def test_the_lines_name_a_state_folder_that_only_this_shell_names(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNGWATCH_STATE_DIR", str(machine / "kept here"))
    done = init("--yes", "--passive")
    assert f"rungwatch feed --state-dir '{machine}/kept here' >/dev/null" in done.stdout
    assert json.loads((machine / ".claude" / "settings.json").read_text(encoding="utf-8"))["statusLine"]


def test_an_api_key_login_is_written_as_unmetered(home: Path) -> None:
    path = codex_login(home / ".codex")
    path.write_text(json.dumps({"OPENAI_API_KEY": SECRET}), encoding="utf-8")
    assert init("--usage", "--passive").exit_code == 0
    seat = read(usual(home)).rung[1].seat[0]
    assert (seat.quota, seat.sources) == (Quota.UNMETERED, ())
    assert SECRET not in usual(home).read_text(encoding="utf-8")


def test_clients_are_used_only_when_they_are_asked_for(machine: Path) -> None:
    wanted = [(f"{kind}-client",) if f"{kind}-client" in SOURCES else () for kind in ("claude", "codex")]
    assert init("--no-usage", "--no-passive", "--clients").exit_code == 0
    assert [sources for *_, sources in seats(read(usual(machine)))] == wanted
    for arguments in (["--yes"], ["--usage"], ["--usage", "--no-clients"]):
        assert init(*arguments, "--force").exit_code == 0
        assert "-client" not in str(seats(read(usual(machine))))


def test_on_a_terminal_clients_are_asked_for_last_with_what_they_may_do(machine: Path) -> None:
    code, printed = answer(machine, "y\nn\n", "--no-usage", "--no-passive")
    assert code == 0
    assert "it may renew it, and where that is refused it may blank it" in printed
    assert "Start Anthropic's client (claude) to read quotas? [y/N]" in printed
    assert [sources for *_, sources in seats(read(usual(machine)))] == [("claude-client",), ()]


def answer(home: Path, answers: str, *arguments: str) -> tuple[int, str]:
    """The command on a terminal at which these lines are typed: its exit code and all that it printed."""
    ours, theirs = os.openpty()
    environ = {"HOME": str(home), "PATH": str(home / "bin"), "COLUMNS": "200", "PYTHONUTF8": "1"}
    code = f"import sys; from canary.cli.main import run; sys.exit(run(['init', *{list(arguments)!r}]))"
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=root, env=environ, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs
    ) as process:
        os.close(theirs)
        os.write(ours, answers.encode())
        assert process.stdout is not None
        printed = process.stdout.read().decode()
    os.close(ours)
    return process.returncode, printed


def test_on_a_terminal_each_vendor_is_asked_for(home: Path) -> None:
    claude_login(home / ".claude")
    codex_login(home / ".codex")
    code, printed = answer(home, "y\nn\ny\nn\n")
    assert code == 0
    assert "each seat's own login is also sent to its vendor's usage endpoint, about 12 times an hour" in printed
    assert "vendor's terms" in printed
    assert "Read the usage endpoint of Anthropic (https://api.anthropic.com)? [y/N]" in printed
    assert "Read what other programs leave here (codex-sessions)? [Y/n]" in printed
    assert "Use the status line? The lines to add are then printed. [y/N]" in printed
    assert [sources for *_, sources in seats(read(usual(home)))] == [("claude-usage",), ("codex-sessions",)]


def test_on_a_terminal_no_is_the_default_and_overwriting_is_asked(home: Path) -> None:
    assert answer(home, "\n\n\n\n")[0] == 0
    before = usual(home).read_bytes()
    assert [sources for *_, sources in seats(read(usual(home)))] == [(), ("codex-sessions",)]
    code, printed = answer(home, "n\n", "--usage", "--no-passive")
    assert code == 64
    assert "Overwrite it? [y/N]" in printed
    assert usual(home).read_bytes() == before
    assert answer(home, "y\n", "--usage", "--no-passive")[0] == 0
    assert usual(home).read_bytes() != before


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_texts_are_escaped_for_toml(text: str) -> None:
    line = f"# {comment(text)}\nvalue = {toml(text)}\nlist = {toml([text, text])}\n"
    assert tomllib.loads(line) == {"value": text, "list": [text, text]}


def test_hostile_folders_stay_values(home: Path) -> None:
    folder = home / 'a"]\n[state]\ndir = "/x'
    found = [
        Found("claude", folder, folder / "f", "main", usual=False, absent="x\n[state]"),
        Found("codex", home / ".codex", home / ".codex" / "auth.json", "main", usual=True),
    ]
    choice = Choice(usage=frozenset({"claude"}))
    config = parse(render([Surveyed(each) for each in found], choice, home), "rendered")
    assert config.state.dir is None
    assert config.rung[0].seat[0].config_dir == folder
