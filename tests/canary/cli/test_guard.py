"""`guard` turns the last state into an exit code, and whatever it cannot read or trust into 3."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from canary.cli.guard import command, judge
from canary.cli.main import run

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


def state(word: str, age_s: float = 60, now: datetime = NOW, **rungs: str) -> bytes:
    """A state document of that age."""
    at = (now - timedelta(seconds=age_s)).isoformat()
    return json.dumps(
        {"state": word, "at": at, "rungs": [{"name": name, "state": found} for name, found in rungs.items()]}
    ).encode()


BROKEN = "ladder BLIND: the last state cannot be read"


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (state("ok", fable="reachable", astra="reachable"), 0, "ladder OK (60 s ago)"),
        (state("degraded", fable="reachable", astra="unknown"), 1, "ladder DEGRADED: astra=unknown (60 s ago)"),
        (
            state("down", fable="unreachable", astra="unreachable"),
            2,
            "ladder DOWN: fable=unreachable, astra=unreachable (60 s ago)",
        ),
        (
            state("blind", fable="unknown", astra="unknown"),
            3,
            "ladder BLIND: fable=unknown, astra=unknown (60 s ago)",
        ),
        (state("ok", 900), 0, "ladder OK (900 s ago)"),
        (state("ok", 901), 3, "ladder BLIND: the last tick is 901 s old, 900 s are allowed"),
        (state("ok", -60), 0, "ladder OK (0 s ago)"),
        (state("ok", -61), 3, "ladder BLIND: the last tick lies 61 s ahead of this clock"),
        (None, 3, "ladder BLIND: no canary has run here yet"),
        (b"", 3, BROKEN),
        (state("ok")[:-9], 3, BROKEN),
        (b"\xff\xfe", 3, BROKEN),
        (b"[]", 3, BROKEN),
        (b"null", 3, BROKEN),
        (b"[" * 200_000, 3, BROKEN),
        (state("splendid"), 3, BROKEN),
        (b'{"state": "ok", "at": "2026-07-01T12:00:00", "rungs": []}', 3, BROKEN),
        (b'{"state": "ok", "at": "soon", "rungs": []}', 3, BROKEN),
        (b'{"state": "ok", "at": "2026-07-01T12:00:00Z", "rungs": [{}]}', 3, BROKEN),
        (b'{"state": "ok", "at": "2026-07-01T12:00:00Z"}', 3, BROKEN),
    ],
)
def test_judge(text: bytes | None, code: int, line: str) -> None:
    assert judge(text, NOW, 900) == (code, line)


@pytest.mark.parametrize(
    ("word", "age_s", "arguments", "code"),
    [
        ("ok", 1, [], 0),
        ("degraded", 1, [], 1),
        ("down", 1, [], 2),
        ("blind", 1, [], 3),
        ("ok", 1000, [], 3),
        ("ok", 1000, ["--max-age", "20m"], 0),
        ("ok", 100, ["--max-age", "1m"], 3),
    ],
)
def test_exit_codes(home: Path, word: str, age_s: float, arguments: list[str], code: int) -> None:
    (home / "state.json").write_bytes(state(word, age_s, datetime.now(UTC)))
    done = CliRunner().invoke(command, ["--state-dir", str(home), *arguments])
    assert done.exit_code == code
    assert done.output.startswith("ladder ")


def test_no_state_is_3_and_quiet_says_nothing(home: Path) -> None:
    assert CliRunner().invoke(command, []).exit_code == 3
    quiet = CliRunner().invoke(command, ["--quiet"])
    assert (quiet.exit_code, quiet.output) == (3, "")


def test_a_state_that_may_not_be_read_is_3(home: Path, powerless: Callable[[], AbstractContextManager[None]]) -> None:
    (home / "state.json").write_bytes(state("ok", now=datetime.now(UTC)))
    (home / "state.json").chmod(0)
    with powerless():
        done = CliRunner().invoke(command, ["--state-dir", str(home)])
    assert (done.exit_code, done.output) == (3, f"{BROKEN}\n")


def test_the_state_folder_is_that_of_the_configuration(home: Path) -> None:
    (home / "kept").mkdir()
    (home / "kept" / "state.json").write_bytes(state("down", now=datetime.now(UTC)))
    config = home / ".config" / "rungwatch" / "rungwatch.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[state]\ndir = "~/kept"\n', encoding="utf-8")
    assert CliRunner().invoke(command, []).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--max-age", "soon"], "must be a duration such as 90s, 5m or 1h30m"),
        (["--max-age", f"{'9' * 400}d"], "--max-age"),
        (["--nonsense"], "No such option"),
        (["--config", "/nowhere.toml"], "there is no configuration at /nowhere.toml"),
    ],
)
def test_usage_is_64(home: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["guard", *arguments]) == 64
    assert told in capsys.readouterr().err


def test_a_broken_configuration_is_64(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "broken.toml").write_text("[", encoding="utf-8")
    assert run(["guard", "--config", str(home / "broken.toml")]) == 64
    assert "cannot be read" in capsys.readouterr().err
