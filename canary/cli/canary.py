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

if TYPE_CHECKING:
    from canary.load import Loaded
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
    from canary.cli.table import show
    from canary.load import ConfigError, load
    from canary.plan import plan_of
    from canary.publish import view_of
    from exporters.logline import logline
    from exporters.report import report

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
        _show_last(loaded, place, as_json=as_json)
        return
    except folder.FolderError as error:
        raise UsageFault(str(error)) from error
    view = view_of(plan_of(loaded.config), done.memory, done.state.at)
    document = report(view, done.state.at)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        hint = "" if loaded.path else "No configuration: quotas are not read. `rungwatch init` writes one."
        show(document, sys.stdout, hint=hint)
        if verbose:
            for probe in done.probes:
                click.echo("\n".join(probe.lines))
    click.echo(logline(done.state), err=True)
    if written is not None:
        trouble += _written(written, view, done.state.at)
    if trouble:
        raise UsageFault("\n".join(trouble))


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


def _show_last(loaded: "Loaded", place: Path, *, as_json: bool) -> None:
    from canary.cli.status import last_view
    from exporters.report import report

    now = datetime.now(UTC)
    document = report(last_view(loaded, place, now), now)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        from canary.cli.table import show

        show(document, sys.stdout, now=now)


def _textfile(path: Path | None) -> "Textfile | None":
    if path is None:
        return None
    from exporters.textfile import Textfile

    try:
        return Textfile(path)
    except (ValueError, OSError) as error:
        raise UsageFault(str(error)) from error
