"""The group of commands: help with an example for each, 64 for usage, and nothing imported before it is needed."""

import json
import subprocess
import sys
from importlib.metadata import version

import pytest

from canary.cli.main import COMMANDS, USAGE, run

HEAVY = ("httpx", "pydantic", "rich", "prometheus_client", "starlette", "uvicorn", "apscheduler", "jinja2", "jwt")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"Usage: rungwatch {name} " in shown
    assert f"Example: rungwatch {name}" in " ".join(shown.split())


def test_the_group_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["-h"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for name, what in COMMANDS.items():
        assert f" {name} {what}" in shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Usage: rungwatch"),
        (["dance"], "No such command 'dance'"),
        (["--dance"], "No such option"),
        (["guard", "--dance"], "No such option"),
        (["guard", "dance"], "unexpected extra argument"),
    ],
)
def test_usage_is_64(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == USAGE == 64
    assert told in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert version("rungwatch") in capsys.readouterr().out


@pytest.mark.parametrize("module", ["canary.cli.main", "canary.cli.guard", "canary.cli.status", "canary.cli.check"])
def test_importing_a_command_loads_nothing_heavy(module: str) -> None:
    code = f"import {module}, json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert loaded.isdisjoint(HEAVY)
