"""Ladders on disk: a configuration whose rungs are a small script, which answers as a file beside it says."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from canary.cli.main import run

ROOT = Path(__file__).parents[3]
SCRIPT = """\
import json, os, sys, time
rung, folder = sys.argv[1:]
brief = json.load(sys.stdin)
with open(f"{folder}/calls", "a") as calls:
    calls.write(f"{rung} {brief['order']} {os.getpid()}\\n")
with open(f"{folder}/{rung}.json") as file:
    told = json.load(file)
if os.path.exists(f"{folder}/said"):
    with open(f"{folder}/said", "w") as said:
        said.write("called\\n")
if told.get("hangs"):
    time.sleep(600)
if "stderr" in told:
    sys.exit(told["stderr"].format(**os.environ))
verdict = {"nonce": brief["nonce"], "kind": "", "gap": "", "touches": [], "rationale": "", **told.pop("verdict", {})}
usage = {"input": 1000, "cache_read": 0, "cache_write": 0, "output": 100, "reasoning": 0}
reply = {"schema": "rungwatch.reply/1", "model": brief["model"], "usage": usage, "cost_usd": "0.0125", **told}
print(json.dumps(reply if "failure" in told else {**reply, "verdict": verdict}))
"""
CONFIG = """\
[ladder]
primary = "fable"
second = "astra"
[[rung]]
name = "fable"
kind = "command"
model = "claude-fable-5"
command = [{python}, "-S", "-E", {script}, "fable", {folder}]
[[rung.seat]]
name = "desk"
{seat}
[[rung]]
name = "astra"
kind = "command"
model = "gpt-6-astra"
command = [{python}, "-S", "-E", {script}, "astra", {folder}]
[[rung.seat]]
name = "codex-main"
auth = "none"
billing = "metered"
"""
CAPPED = {"failure": "seat_capped"}
NO_LOGIN = {"failure": "needs_login"}
BROKEN = {"failure": "server_error"}
QUESTION = ["-q", "Which cache do we keep?", "-o", "keep=Keep the first", "-o", "swap=Use the other"]


def names(option: str, **fields: Any) -> dict[str, Any]:
    """A rung that names an option."""
    return {"verdict": {"resolvable": True, "rec": option, "rationale": "it is simpler"}} | fields


def declines(kind: str, **fields: Any) -> dict[str, Any]:
    """A rung that says why it does not decide."""
    return {"verdict": {"resolvable": False, "rec": "", "kind": kind} | fields}


@dataclass(frozen=True, slots=True)
class Done:
    """How a command line ended, and what it printed."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        """All that it printed."""
        return self.stdout + self.stderr


@dataclass(frozen=True, slots=True)
class Ladder:
    """A ladder in a folder of its own, and its command line."""

    folder: Path

    @property
    def state(self) -> Path:
        """Its state folder."""
        return self.folder / "state"

    @property
    def ledger(self) -> Path:
        """Its ledger, which the first question makes."""
        return self.state / "ledger.db"

    @property
    def places(self) -> list[str]:
        """The options by which every command finds it."""
        return ["--config", str(self.folder / "rungwatch.toml"), "--state-dir", str(self.state)]

    def answers(self, fable: dict[str, Any], astra: dict[str, Any]) -> None:
        """From now on the rungs answer so."""
        for rung, told in (("fable", fable), ("astra", astra)):
            (self.folder / f"{rung}.json").write_text(json.dumps(told), encoding="utf-8")

    def calls(self) -> list[list[str]]:
        """The calls that were made: rung, order, process."""
        made = self.folder / "calls"
        return [line.split() for line in made.read_text().splitlines()] if made.exists() else []

    def run(self, *words: str, stdin: str | bytes | None = None) -> Done:
        """How a command of this ladder ended; words of the caller win over its places."""
        command = words[:2] if words[0] in ("ledger", "receipt", "queue", "confirm") else words[:1]
        with CliRunner().isolation(input=stdin) as (out, err, _):
            code = run([*command, *self.places, *words[len(command) :]])
            sys.stdout.flush()
            return Done(code, out.getvalue().decode(), err.getvalue().decode())

    def document(self, *words: str, code: int = 0) -> Any:
        """What a command prints as JSON, once it ended with that exit code."""
        done = self.run(*words, "--json")
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)


def ladder(folder: Path, *, more: str = "", seat: str = 'auth = "none"') -> Ladder:
    """A ladder whose two rungs agree, with more of a configuration."""
    script = folder / "rung.py"
    script.write_text(SCRIPT, encoding="utf-8")
    words = {"python": sys.executable, "script": str(script), "folder": str(folder)}
    text = CONFIG.format(seat=seat, **{name: json.dumps(word) for name, word in words.items()})
    (folder / "rungwatch.toml").write_text(text + more, encoding="utf-8")
    made = Ladder(folder)
    made.answers(names("keep"), names("keep"))
    return made


def on_a_terminal(made: Ladder, words: list[str], *, ask: bytes = b"", answer: bytes = b"") -> tuple[int, str]:
    """How a command ends on a terminal, where a person answers once to what is asked, and what is printed there."""
    ours, theirs = os.openpty()
    text, asked = b"", not ask
    environ = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm"}
    command = [sys.executable, "-m", "canary.start", *words, *made.places]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ) as run:
        os.close(theirs)
        while piece := _read(ours):
            text += piece
            if not asked and ask in text:
                asked = True
                os.write(ours, answer)
    os.close(ours)
    return run.returncode, text.decode()


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 65536)
    except OSError:  # Linux says so when the far side is closed
        return b""
