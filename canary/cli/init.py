"""rungwatch init: finds logins and what tells their quotas, writes a configuration, and asks before it sends."""

import asyncio
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from canary.cli.main import UsageFault

if TYPE_CHECKING:
    from canary.cli.draft import Choice
    from canary.survey import Sort, Surveyed
    from decide.rungs.http import Request, Response


@dataclass(frozen=True, slots=True)
class _Wishes:
    """What the command line says; None where it does not. `asking`: there is a terminal, and it may be used."""

    passive: bool | None
    usage: bool | None
    clients: bool | None
    yes: bool
    asking: bool
    err: bool

    def confirm(self, question: str, *, default: bool) -> bool:
        """The answer of the person at the terminal."""
        return click.confirm(question, default=default, err=self.err)


@click.command(
    "init",
    short_help="find logins and write a configuration",
    epilog="Example: rungwatch init --no-usage --output ./rungwatch.toml",
)
@click.option("--yes", "-y", is_flag=True, help="Ask nothing: what sends nothing is read, nothing is overwritten.")
@click.option(
    "--passive/--no-passive",
    default=None,
    help="Whether files that other programs leave here are read: they send nothing. With --passive also the status "
    "line, whose lines are then printed.  [default: those that are there]",
)
@click.option("--usage/--no-usage", default=None, help="Whether the vendors' usage endpoints are read.")
@click.option(
    "--clients/--no-clients",
    default=None,
    help="Whether quotas are read by starting the vendors' clients, which may renew or blank a login.  [default: no]",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="File to write  [default: ~/.config/rungwatch/rungwatch.toml]"
)
@click.option("--force", is_flag=True, help="Overwrite the file without asking.")
@click.option("--print", "to_stdout", is_flag=True, help="Print the configuration and write nothing.")
def command(
    yes: bool,
    passive: bool | None,
    usage: bool | None,
    clients: bool | None,
    output: Path | None,
    force: bool,
    to_stdout: bool,
) -> None:
    """Find the Claude Code and Codex logins of this machine and write a configuration for them.

    Shows what each way of reading a quota reads and sends, and asks for those that send something or start a
    program. No login is ever written or renewed here, no client is started, no settings file is edited, and an
    existing configuration is not overwritten unasked.
    """
    from canary.cli.draft import render
    from canary.cli.found import shown
    from canary.load import VARIABLE, parse, usual_path

    wishes = _Wishes(passive, usage, clients, yes, sys.stdin.isatty() and not yes, to_stdout)
    state_dir = _state_dir()
    seats = asyncio.run(_survey(state_dir))
    click.echo("\n".join(shown(seats, os.environ)), err=to_stdout)
    choice = _choose(seats, wishes)
    text = render(seats, choice, Path.home())
    parse(text, "the new configuration")
    if to_stdout:
        click.echo(text, nl=False)
        _tell_hook(seats, choice, state_dir, err=True)
        return
    named = os.environ.get(VARIABLE)
    usual = Path(named).expanduser() if named else usual_path(os.environ)
    path = output or usual
    _may_write(path, force=force, asking=wishes.asking)
    _write(path, text)
    click.echo("\n".join(_next(path, "" if path == usual else f" --config {shlex.quote(str(path))}")))
    _tell_hook(seats, choice, state_dir, err=False)


def _state_dir() -> Path:
    """Where the new configuration, which names no state folder, will have its feeds."""
    from canary.folder import default_folder

    named = os.environ.get("RUNGWATCH_STATE_DIR")
    return Path(named).expanduser() if named else default_folder(os.environ)


async def _survey(state_dir: Path) -> "list[Surveyed]":
    from canary.clock import SystemClock
    from canary.discover import discover
    from canary.sources.keychain import system_keychain
    from canary.survey import survey
    from canary.world import World

    world = World(SystemClock(), _ask_nobody, asyncio.sleep, system_keychain, os.environ)
    found = discover(os.environ, Path.home(), world.clock.now())
    return list(await asyncio.gather(*(survey(each, state_dir, world) for each in found)))


async def _ask_nobody(ask: "Request") -> "Response":
    raise AssertionError("init asks no host")


def _choose(seats: "Sequence[Surveyed]", wishes: _Wishes) -> "Choice":
    from canary.cli.draft import Choice
    from canary.survey import Sort

    if wishes.usage is None and not wishes.yes and not wishes.asking:
        raise UsageFault("there is no terminal to ask on: give --usage or --no-usage, or --yes for the defaults")
    passive = _passive(seats, wishes)
    return Choice(
        passive=passive,
        hook=passive and _hook(seats, wishes),
        usage=_kinds(seats, Sort.USAGE, wishes.usage, _USAGE, wishes),
        clients=_kinds(seats, Sort.CLIENT, wishes.clients, _CLIENTS, wishes),
    )


def _passive(seats: "Sequence[Surveyed]", wishes: _Wishes) -> bool:
    ready = {offer.use.source for seat in seats for offer in seat.offers if offer.ready}
    if wishes.passive is not None or not wishes.asking or not ready:
        return wishes.passive is not False
    click.echo("", err=wishes.err)
    return wishes.confirm(f"Read what other programs leave here ({', '.join(sorted(ready))})?", default=True)


def _hook(seats: "Sequence[Surveyed]", wishes: _Wishes) -> bool:
    """Whether the status line will be set, which only its user can do."""
    from canary.cli import hook

    if not hook.wanting(seats) or not (wishes.passive or wishes.asking):
        return False
    if wishes.passive is not None:
        return wishes.passive
    click.echo("\n".join(["", *_HOOK]), err=wishes.err)
    return wishes.confirm("Use the status line? The lines to add are then printed.", default=False)


def _kinds(
    seats: "Sequence[Surveyed]", sort: "Sort", wish: bool | None, words: Sequence[str], wishes: _Wishes
) -> frozenset[str]:
    """The kinds of login for which the sources of a sort are wanted, of those that have any."""
    kinds = list(dict.fromkeys(seat.found.kind for seat in seats for offer in seat.offers if offer.sort is sort))
    if wish is not None or not wishes.asking or not kinds:
        return frozenset(kinds if wish else ())
    click.echo("\n".join(["", *words]), err=wishes.err)
    return frozenset(kind for kind in kinds if wishes.confirm(_question(kind, sort), default=False))


_HOOK = (
    "Claude Code tells its status line how full the session and weekly windows are. `rungwatch feed`, set as the",
    "status line, keeps that here and prints a short line; it sends nothing. Its file is yours to edit.",
)
_USAGE = (
    "Quotas can also be read at the source:",
    "  no   nothing is sent; where no file above tells a quota, it stays unknown",
    "  yes  each seat's own login is also sent to its vendor's usage endpoint, about 12 times an hour and to no",
    "       other host. No model is called and no login is renewed. The endpoint is not documented: see first",
    "       whether the vendor's terms allow it.",
)
_CLIENTS = (
    "The vendors' own clients can be started to ask for quotas, about 12 times an hour. No model is called, but a",
    "client does with its login as it always does: it may renew it, and where that is refused it may blank it,",
    "which logs the seat out. Other clients on the same login may be logged out as well. Say no unless you need it.",
)


def _question(kind: str, sort: "Sort") -> str:
    from canary.cli.draft import RUNGS
    from canary.sources.claude_usage import BASE_URL as CLAUDE
    from canary.sources.codex_usage import BASE_URL as CODEX
    from canary.survey import Sort

    if sort is Sort.CLIENT:
        return f"Start {RUNGS[kind].vendor}'s client ({kind}) to read quotas?"
    return f"Read the usage endpoint of {RUNGS[kind].vendor} ({ {'claude': CLAUDE, 'codex': CODEX}[kind] })?"


def _tell_hook(seats: "Iterable[Surveyed]", choice: "Choice", state_dir: Path, *, err: bool) -> None:
    """The lines for the status line, with the state folder where the feed by itself would take another."""
    from canary import feed
    from canary.cli import hook

    if not choice.hook:
        return
    own = feed.state_folder(os.environ) if not os.environ.get("RUNGWATCH_STATE_DIR") else ""
    told = None if own == str(state_dir) else state_dir.absolute()
    lines = hook.lines(hook.wanting(seats), hook.feed_words(), told)
    click.echo("\n".join(["", "The status line, which rungwatch never sets by itself:", *lines]), err=err)


def _may_write(path: Path, *, force: bool, asking: bool) -> None:
    if force or not os.path.lexists(path):
        return
    if not asking:
        raise UsageFault(f"{path} is there already: give --force to overwrite it, or --output for another file")
    if not click.confirm(f"{path} is there already. Overwrite it?", default=False):
        raise UsageFault(f"{path} is left as it was; --output names another file, --print writes none")


def _write(path: Path, text: str) -> None:
    from canary.folder import replace_file

    target = Path(os.path.realpath(path))  # a link, as dotfile managers make, stays one
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise UsageFault(f"{path} is a folder; --output names a file")
        replace_file(target, text.encode(), mode=0o600)
    except OSError as error:
        raise UsageFault(f"{path} cannot be written: {error.strerror}") from error


def _next(path: Path, config: str) -> list[str]:
    return [
        "",
        f"Wrote {path}. Next:",
        f"  rungwatch check{config}     what it reads and sends, and whether it can be used",
        f"  rungwatch canary{config}    read every seat once",
        f"  rungwatch serve{config}     keep reading; metrics and a status page",
    ]
