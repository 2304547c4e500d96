"""rungwatch status: the last published state, shown again; reads the state folder and nothing else."""

import json
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from canary.cli.main import UsageFault
from canary.cli.options import config_option, json_option, state_option

if TYPE_CHECKING:
    from canary.load import Loaded
    from exporters.view import View


@click.command(
    "status",
    short_help="show the last state without reading anything",
    epilog="Example: rungwatch status --json | jq '.rungs[] | {name, state, remedy}'",
)
@click.option("--format", "form", type=click.Choice(["table", "json", "prometheus"]), help="How it is printed.")
@json_option
@config_option
@state_option
def command(form: str | None, as_json: bool, config_path: Path | None, state_dir: Path | None) -> None:
    """Show what the last tick found and how old that is; no seat is read.

    A state that is older than `stale_after` is shown as BLIND: it says nothing of now.
    """
    from canary.app import state_folder
    from canary.load import ConfigError, load

    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other")
    try:
        loaded = load(config_path, os.environ)
    except ConfigError as error:
        raise UsageFault(str(error)) from error
    place = state_folder(state_dir, loaded.config, os.environ)
    now = datetime.now(UTC)
    view = last_view(loaded, place, now)
    _print(view, now, "json" if as_json else form or "table", "" if view.state else _nothing(place))


def last_view(loaded: "Loaded", place: Path, now: datetime) -> "View":
    """The view of what was published last; without a configuration its rungs are those of the state."""
    from canary import folder
    from canary.plan import plan_of
    from canary.publish import view_of
    from exporters.view import RungName

    state = folder.load_state(place)
    view = view_of(plan_of(loaded.config), replace(folder.peek_memory(place), state=state), now)
    if loaded.path is not None or state is None:
        return view
    return replace(view, rungs=tuple(RungName(rung.name, rung.role) for rung in state.rungs))


def _nothing(place: Path) -> str:
    """Why there is no state to show, and how to get one."""
    from canary.folder import STATE

    how = "`rungwatch canary` reads once, `rungwatch serve` keeps reading"
    try:
        (place / STATE).read_bytes()
    except FileNotFoundError:
        return f"There is no state in {place} yet: {how}."
    except OSError as error:
        return f"The state in {place} cannot be read ({error.strerror}): is it another user's?"
    return f"The state in {place} is broken: {how}, and writes it anew."


def _print(view: "View", now: datetime, form: str, hint: str) -> None:
    if hint and form != "table":
        click.echo(hint, err=True)
    if form == "prometheus":
        from exporters.exposition import Exposition

        click.echo(Exposition(view, lambda: now).text(), nl=False)
        return
    from exporters.report import report

    document = report(view, now)
    if form == "json":
        click.echo(json.dumps(document, indent=2))
        return
    from canary.cli.table import show

    show(document, sys.stdout, hint=hint, now=now)
