"""rungwatch raise: a question put into the inbox, for the daemon to ask."""

import asyncio
import json
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canary.cli.main import UsageFault
from canary.cli.options import config_option, json_option, state_option
from canary.cli.questions import Asked, asked, question_options, refusals
from decide.question import LevelName

if TYPE_CHECKING:
    from canary.config import Config
    from decide.handoff.inbox import Item


@click.command(
    "raise",
    short_help="put a question into the inbox for the daemon",
    epilog="Example: rungwatch raise question.yaml, then rungwatch await ID --timeout 1h",
)
@question_options
@click.option(
    "--level",
    type=click.Choice([one.value for one in LevelName]),
    help="How much it may cost  [default: the question's]",
)
@json_option
@config_option
@state_option
def command(
    file: str | None,
    level: str | None,
    as_json: bool,
    config_path: Path | None,
    state_dir: Path | None,
    **flags: Any,
) -> None:
    """Keep a question, its evidence read now, for the daemon of `rungwatch serve`; prints the id to await.

    Nothing is asked here, and nothing is lost when this command or the daemon ends. The same question raised again is
    the one that is there. Exits 0 when it is kept, 4 when the store cannot keep it, 64 for usage.
    """
    from canary.app import state_folder
    from canary.cli.store import HeldFault
    from canary.load import ConfigError, load
    from decide.fault import StoreError

    try:
        config = load(config_path, os.environ).config
    except ConfigError as error:
        raise UsageFault(str(error)) from error
    place = state_folder(state_dir, config, os.environ)
    try:
        given = asked(file, flags)
        item = asyncio.run(_raised(given, config, place, LevelName(level) if level else None))
    except refusals() as error:
        raise UsageFault(str(error)) from error
    except StoreError as error:
        raise HeldFault(f"{error.fault}: {error}") from error
    if as_json:
        click.echo(json.dumps(_document(item), indent=2))
        return
    click.echo(item.id)
    if sys.stderr.isatty():
        click.echo(f"{item.state}; rungwatch await {item.id} waits for the answer", err=True)


def _document(item: "Item") -> dict[str, Any]:
    return {
        "id": item.id,
        "state": item.state.value,
        "raised_at": item.raised_at.isoformat(),
        "due_at": item.due_at.isoformat(),
        "receipt": item.receipt_id or None,
    }


async def _raised(given: Asked, config: "Config", place: Path, level: LevelName | None) -> "Item":
    """The item, once its evidence is frozen: the daemon may run elsewhere, and what was raised is what is asked."""
    from canary.cli.handed import me
    from canary.deciding import fresh_id, ready
    from decide import snapshot
    from decide.handoff.execution import Surface
    from decide.handoff.inbox import Raised

    question = given.question if level is None else replace(given.question, level=level)
    async with ready(config, place, relative_to=given.folder, environ=os.environ) as made:
        frozen = await made.setup.freeze(given.sources)
        now = datetime.now(UTC)
        raised = Raised(fresh_id(now), question, snapshot.dump(frozen), now, Surface.TYPED.value, me())
        return await (await made.ledger.opened()).handoff.raise_question(raised)
