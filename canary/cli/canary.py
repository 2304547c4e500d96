"""rungwatch canary: one tick now, shown to a person or a machine; exits 0 whatever it finds."""

import asyncio
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from canary.cli.main import UsageFault
from canary.cli.options import config_option, json_option, log_to_stderr, state_option
from decide.reason import Reason

if TYPE_CHECKING:
    from canary.tick import Ticked
    from exporters.textfile import Textfile
    from exporters.view import View


@click.command(
    "canary",
    short_help="read every seat once and show the ladder",
    epilog="Example: rungwatch canary --json | jq .ladder.state",
)
@click.option("--textfile", type=click.Path(path_type=Path), help="Also write the metrics to this .prom file.")
@click.option("--verbose", "-v", is_flag=True, help="Also show each step that was taken.")
@json_option
@config_option
@state_option
def command(
    textfile: Path | None, verbose: bool, as_json: bool, config_path: Path | None, state_dir: Path | None
) -> None:
    """Read the quotas and logins of both rungs once, without calling a model, and show what can be reached.

    Without a configuration it looks at the local Claude Code and Codex logins; usage endpoints are read only where
    a configuration says so.
    """
    from canary import folder
    from canary.app import state_folder, tick_once
    from canary.cli.status import last_view
    from canary.load import ConfigError, load
    from canary.plan import plan_of
    from canary.publish import view_of
    from decide.question import QuestionError, UsageError
    from exporters.logline import logline

    log_to_stderr()
    try:
        loaded = load(config_path, os.environ)
        place = state_folder(state_dir, loaded.config, os.environ)
        folder.prepare(place)
    except (ConfigError, folder.FolderError) as error:
        raise UsageFault(str(error)) from error
    written = _textfile(textfile or loaded.config.canary.textfile)
    try:
        with folder.lock(place):
            memory, warning = folder.load_memory(place)
            if warning:
                click.echo(warning, err=True)
            done = asyncio.run(tick_once(loaded.config, memory, place))
            trouble = _kept(done, place)
    except folder.LockedError as error:
        click.echo(f"{error}; this is the last state of that one", err=True)
        now = datetime.now(UTC)
        _show(last_view(loaded, place, now), now, as_json=as_json)
        return
    except (folder.FolderError, QuestionError, UsageError) as error:
        raise UsageFault(str(error)) from error
    view = view_of(plan_of(loaded.config), done.memory, done.state.at)
    hint = "" if loaded.path else "No configuration: quotas are not read. `rungwatch init` writes one."
    _show(view, done.state.at, as_json=as_json, hint=hint)
    if verbose and not as_json:
        click.echo("\n".join(line for probe in done.probes for line in probe.lines))
    _tell_unreadable(done)
    click.echo(logline(done.state), err=True)
    if written is not None:
        trouble += _written(written, view, done.state.at)
    if trouble:
        raise UsageFault("\n".join(trouble))


def _tell_unreadable(done: "Ticked") -> None:
    """Name each login that could not be read, with the permission that it needs."""
    for probed in done.probed:
        if probed.login.fault is Reason.UNREADABLE:
            told = "; ".join(probed.login.steps)
            click.echo(f"seat {probed.target.seat} of {probed.target.rung}: {told}", err=True)


def _show(view: "View", now: datetime, *, as_json: bool, hint: str = "") -> None:
    from exporters.report import report

    document = report(view, now)
    if as_json:
        click.echo(json.dumps(document, indent=2))
        return
    from canary.cli.table import show

    show(document, sys.stdout, hint=hint, now=now)


def _kept(done: "Ticked", place: Path) -> list[str]:
    """What kept the tick from being saved; what it found is shown all the same."""
    from canary.folder import save

    try:
        save(place, done.memory, done.transitions)
    except OSError as error:
        return [f"the state folder {place} cannot be written: {error.strerror}"]
    return []


def _written(textfile: "Textfile", view: "View", at: datetime) -> list[str]:
    from exporters.exposition import Exposition

    try:
        textfile.write(Exposition(view, lambda: at).text())
    except OSError as error:
        return [f"the textfile cannot be written: {error.strerror}"]
    return []


def _textfile(path: Path | None) -> "Textfile | None":
    if path is None:
        return None
    from exporters.textfile import Textfile

    try:
        return Textfile(path)
    except (ValueError, OSError) as error:
        raise UsageFault(str(error)) from error
