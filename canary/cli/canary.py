"""rungwatch canary: one tick now, shown to a person or a machine; exits 0 whatever it finds."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from canary.cli.main import UsageFault
from canary.cli.options import config_option, json_option, log_to_stderr, state_option


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
            folder.save(place, done.memory, done.transitions)
    except folder.LockedError as error:
        click.echo(str(error), err=True)
        return
    view = view_of(plan_of(loaded.config), done.memory, done.state.at)
    if written is not None:
        from exporters.exposition import Exposition

        written.write(Exposition(view, lambda: done.state.at).text())
    if as_json:
        click.echo(json.dumps(report(view, done.state.at), indent=2))
    else:
        from canary.cli.table import show

        hint = "" if loaded.path else "No configuration: quotas are not read. `rungwatch init` writes one."
        show(report(view, done.state.at), sys.stdout, hint=hint)
        if verbose:
            for probe in done.probes:
                click.echo("\n".join(probe.lines))
    click.echo(logline(done.state), err=True)


def _textfile(path: Path | None) -> Any:
    if path is None:
        return None
    from exporters.textfile import Textfile

    try:
        return Textfile(path)
    except ValueError as error:
        raise UsageFault(str(error)) from error
