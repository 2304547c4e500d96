"""cli_guard and cli_canary: how long two commands take, against an interpreter that imports click and httpx."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from canary.demo.logins import claude_token, write_claude_login, write_codex_login
from tests.bench.measure import Row, interleaved, seconds

GUARD, CANARY = "cli_guard", "cli_canary"
RUNS, WITHIN_S = 21, 60.0
FLOOR = (sys.executable, "-c", "import click, httpx")
COMMAND = (sys.executable, str(Path(sys.executable).with_name("rungwatch")))

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
config_dir = "{folder}/desk"

[[rung]]
name = "astra"
kind = "codex"
model = "gpt-6-astra"
[[rung.seat]]
name = "codex-main"
config_dir = "{folder}/codex-main"

[state]
dir = "{folder}/state"
"""


def guard() -> list[Row]:
    """`rungwatch guard` on a state that a canary has just written."""
    with _scratch() as (config, environ):
        _run((*COMMAND, "canary", "--config", config), environ)
        ours, floor = _against((*COMMAND, "guard", "--config", config), environ, GUARD)
    return [Row(GUARD, ours, floor, "s", RUNS, limit=1.5)]


def canary() -> list[Row]:
    """One-shot `rungwatch canary` over logins on disk, nothing asked over a network."""
    with _scratch() as (config, environ):
        ours, floor = _against((*COMMAND, "canary", "--config", config), environ, CANARY)
    return [Row(CANARY, ours, floor, "s", RUNS, limit=3)]


def _against(command: Sequence[str], environ: dict[str, str], name: str) -> tuple[float, float]:
    def timed(command: Sequence[str]) -> Callable[[], float]:
        return lambda: seconds(lambda: _run(command, environ))

    return interleaved(timed(command), timed(FLOOR), RUNS, f"{name} (seconds)")


@contextmanager
def _scratch() -> Iterator[tuple[str, dict[str, str]]]:
    """A configuration whose two seats have logins and no usage source, and an environment that leads elsewhere."""
    with tempfile.TemporaryDirectory(prefix="rungwatch-bench-") as scratch:
        folder = Path(scratch)
        expires_at = datetime.now(UTC) + timedelta(hours=6)
        write_claude_login(folder / "desk", claude_token("desk"), expires_at=expires_at)
        write_codex_login(folder / "codex-main", expires_at=expires_at)
        config = folder / "rungwatch.toml"
        config.write_text(CONFIG.format(folder=folder), encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("RUNGWATCH_")}
        yield str(config), kept | {"HOME": scratch}


def _run(command: Sequence[str], environ: dict[str, str]) -> None:
    """Run a command to its end; a guard's verdict is an exit status up to 3, anything above is a failure."""
    done = subprocess.run(command, env=environ, capture_output=True, timeout=WITHIN_S)
    if done.returncode > 3:
        raise RuntimeError(f"{command!r} exited with {done.returncode}: {done.stderr.decode(errors='replace')}")
