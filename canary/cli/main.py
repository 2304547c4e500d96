"""rungwatch: the group of commands; each is imported only when it is called, so that `guard` starts fast."""

import importlib
import sys
from collections.abc import Sequence
from types import MappingProxyType

import click

USAGE = 64
"""The exit code for usage, everywhere (design 7)."""

COMMANDS = MappingProxyType(
    {
        "ask": "take a question through the ladder and print the ruling",
        "await": "wait for the answer to a question",
        "canary": "read every seat once and show the ladder",
        "check": "check the configuration and say what it reads and sends",
        "confirm": "list clicks, press one, hand out its link",
        "dashboards": "build, check and push dashboards, rules and routes",
        "feed": "keep what Claude Code tells its status line, and print one",
        "guard": "turn the last state into an exit code",
        "init": "find logins and write a configuration",
        "ledger": "verify the ledger, clear a hold, settle a call",
        "plan": "how many seats keep a rung from missing",
        "queue": "list what waits for a person, show it, answer it",
        "raise": "put a question into the inbox for the daemon",
        "receipt": "list receipts, or show one",
        "serve": "tick on a schedule, serve metrics and the status page",
        "status": "show the last state without reading anything",
    }
)

MODULES = MappingProxyType({"await": "awaiting", "raise": "raising"})
"""The modules of commands that no module may be called."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = MODULES.get(cmd_name, cmd_name)
        command = getattr(importlib.import_module(f"canary.cli.{module}"), "command")  # noqa: B009 - typed below
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Try it: rungwatch serve --demo",
)
@click.version_option(package_name="rungwatch", prog_name="rungwatch")
def rungwatch() -> None:
    """Watch a two-vendor decision ladder: which rung is missing, which seat, why, and when it clears."""


class UsageFault(click.ClickException):
    """Something that the user can mend; its text says what."""

    exit_code = USAGE


def run(arguments: Sequence[str] | None = None) -> int:
    """The exit code of a command line; 64 for anything that its user has to mend."""
    try:
        outcome = rungwatch.main(arguments, prog_name="rungwatch", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return USAGE
    except click.UsageError as error:
        error.show()
        return USAGE
    except click.Abort:
        click.echo("stopped", err=True)
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return outcome if isinstance(outcome, int) else 0


def main() -> None:
    """The entry point of the distribution."""
    sys.exit(run())
