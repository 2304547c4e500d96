"""rungwatch feed: Claude Code's status line, which keeps the quotas it is told for the canary."""

import os
import sys

import click

from canary.feed import serve


@click.command(
    "feed",
    short_help="Claude Code's status line; keeps its quotas for the canary",
    epilog="Example: rungwatch feed < report.json; in Claude Code's settings.json: "
    '"statusLine": {"type": "command", "command": "rungwatch feed"}',
)
@click.option("--state-dir", help="State folder  [default: as for every other command]")
@click.option(
    "--config-dir", help="Claude Code's configuration folder  [default: $CLAUDE_CONFIG_DIR, else ~/.claude]"
)
@click.pass_context
def command(context: click.Context, state_dir: str | None, config_dir: str | None) -> None:
    """Read the status line's JSON from standard input, keep its quota windows, print a short line.

    Sends nothing, and keeps windows and times only. A report that it cannot read costs a line on standard error and
    never the status line.
    """
    if sys.stdin is None or sys.stdin.isatty():
        raise click.UsageError("Claude Code runs this command and writes JSON to its standard input")
    context.exit(serve(os.environ, state_dir, config_dir))
