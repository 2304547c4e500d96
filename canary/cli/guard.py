"""rungwatch guard: the last state as an exit code, fast enough to stand before every call."""

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from canary.cli.options import config_option, quick_state_folder, state_option
from canary.duration import parse_duration

EXIT = {"ok": 0, "degraded": 1, "down": 2, "blind": 3}
"""Nagios convention (design 5)."""
AHEAD_S = 60.0
"""How far ahead of this clock a state may be before it says nothing of now."""


def judge(text: bytes | None, now: datetime, max_age_s: float) -> tuple[int, str]:
    """The exit code for a state document (None: there is none) at `now`, and the line that says why."""
    if text is None:
        return EXIT["blind"], "ladder BLIND: no canary has run here yet"
    try:
        document = json.loads(text)
        word, at = str(document["state"]), datetime.fromisoformat(document["at"])
        code, age_s = EXIT[word], (now - at).total_seconds()
        wrong = [f"{rung['name']}={rung['state']}" for rung in document["rungs"] if rung["state"] != "reachable"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return EXIT["blind"], "ladder BLIND: the last state cannot be read"
    if age_s > max_age_s:
        return EXIT["blind"], f"ladder BLIND: the last tick is {age_s:.0f} s old, {max_age_s:.0f} s are allowed"
    if age_s < -AHEAD_S:
        return EXIT["blind"], f"ladder BLIND: the last tick lies {-age_s:.0f} s ahead of this clock"
    told = f": {', '.join(wrong)}" if wrong else ""
    return code, f"ladder {word.upper()}{told} ({max(age_s, 0):.0f} s ago)"


@click.command(
    "guard",
    short_help="turn the last state into an exit code",
    epilog="Example: rungwatch guard --max-age 10m && run-the-agents",
)
@click.option("--max-age", default="900s", show_default=True, help="The oldest state that still counts.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing.")
@config_option
@state_option
@click.pass_context
def command(
    context: click.Context, max_age: str, quiet: bool, config_path: Path | None, state_dir: Path | None
) -> None:
    """Exit 0 when the ladder is ok, 1 degraded, 2 down, 3 blind, stale or never seen. Reads one file, asks nobody."""
    try:
        limit_s = parse_duration(max_age).total_seconds()
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(str(error), param_hint="--max-age") from error
    path = quick_state_folder(state_dir, config_path) / "state.json"
    try:
        text: bytes | None = path.read_bytes()
    except FileNotFoundError:
        text = None
    except (OSError, ValueError):
        text = b""
    code, line = judge(text, datetime.now(UTC), limit_s)
    if not quiet:
        try:
            click.echo(line)
        except OSError:
            code = EXIT["blind"]  # whoever asked cannot be told; 1 would say degraded
    context.exit(code)
