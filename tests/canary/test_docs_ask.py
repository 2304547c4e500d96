"""docs/ask.md tells every exit code and outcome, its question is read; every program in docs/python.md runs."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click import Command, Group

from canary.cli import ask, ledger, receipt
from decide.document import parse
from decide.receipt_schema import RECEIPT_SCHEMA
from decide.ruling import RULING_EXITS, Outcome
from tests.canary.cli.ladders import ladder, names

ROOT = Path(__file__).parents[2]
ASK = (ROOT / "docs" / "ask.md").read_text(encoding="utf-8")
PYTHON = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", PYTHON, re.DOTALL)
COMMANDS: dict[str, Command] = {"ask": ask.command, "receipt": receipt.command, "ledger": ledger.command}


def test_the_question_shown_is_read() -> None:
    (shown,) = re.findall(r"```yaml\n(.*?)```", ASK, re.DOTALL)
    question, sources = parse(shown.encode(), "docs/ask.md")
    assert question.id == "cache-7"
    assert [source.kind.value for source in sources] == ["text", "file", "glob", "git", "url", "text"]


def test_every_exit_code_is_told_with_its_outcomes() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+?) \| (.+?) \|", ASK, re.MULTILINE)
    codes = {int(code) for code, *_ in rows}
    assert codes == {*RULING_EXITS.values(), 64}
    for outcome in Outcome:
        told = [row for row in rows if outcome.value.upper().replace("_", " ") in row[1] or outcome.value in row[2]]
        assert told, f"{outcome} is not told"
        expected = {2, 4} if outcome is Outcome.HELD else {RULING_EXITS[outcome]}
        assert {int(row[0]) for row in told} == expected


def test_every_field_that_is_told_is_in_the_schema() -> None:
    table = ASK.partition("| field | tells |")[2].partition("\n\n")[0]
    named = [name for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall("`(.+?)`", row)]
    assert len(named) >= 10
    assert set(named) <= set(RECEIPT_SCHEMA["properties"])


LINES = re.findall(r"^\$ rungwatch (.+?)(?:\s+#.*)?$", ASK, re.MULTILINE)


@pytest.mark.parametrize("line", LINES)
def test_every_command_line_shown_is_one(line: str) -> None:
    name, *words = shlex.split(line.partition(" | ")[0])
    command: Command = COMMANDS[name]
    if isinstance(command, Group):
        command = command.commands[words.pop(0)]
    command.make_context(name, words)


@pytest.mark.parametrize("program", range(len(PROGRAMS)))
def test_every_program_shown_runs_and_prints_what_is_told(program: int, tmp_path: Path, home: Path) -> None:
    code, told = PROGRAMS[program]
    made = ladder(tmp_path)
    if "pin" in code:
        made.answers(names("pin"), names("pin"))
    environ = os.environ | {
        "PYTHONPATH": str(ROOT),
        "RUNGWATCH_CONFIG": str(tmp_path / "rungwatch.toml"),
        "RUNGWATCH_STATE_DIR": str(made.state),
    }
    words = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=environ)
    assert (done.returncode, done.stderr) == (0, "")
    if told:
        assert done.stdout == told
    else:
        assert done.stdout.count("out:") == done.stdout.count("in: resolved") == 4
        assert done.stdout.endswith("low text\n")


def test_there_are_programs() -> None:
    assert len(PROGRAMS) == 3
