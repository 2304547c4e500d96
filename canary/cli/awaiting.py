"""rungwatch await: wait for the answer to a question, by the ladder or by a person."""

import asyncio
import json
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canary.cli.ask import CANCELLED, stoppable
from canary.cli.options import config_option, json_option, state_option
from canary.duration import parse_duration

if TYPE_CHECKING:
    from canary.cli.handed import Handed
    from decide.handoff.ports import Standing


def _duration(context: click.Context, parameter: click.Parameter, value: str | None) -> timedelta | None:
    if value is None:
        return None
    try:
        return parse_duration(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command(
    "await",
    short_help="wait for the answer to a question",
    epilog="Example: rungwatch await 20261015T120000-ab12 --timeout 30m --json | jq .receipt.answer",
)
@click.argument("any_id", metavar="ID")
@click.option("--timeout", callback=_duration, metavar="DURATION", help="The longest to wait, such as 30m.")
@click.option(
    "--ruling", "ruling_is_enough", is_flag=True, help="Also return when the ladder ruled without an answer."
)
@json_option
@config_option
@state_option
@click.pass_context
def command(
    context: click.Context,
    /,
    any_id: str,
    timeout: timedelta | None,
    ruling_is_enough: bool,
    as_json: bool,
    config_path: Path | None,
    state_dir: Path | None,
) -> None:
    """Wait until the ladder or a person has answered, and print the answer and whose it is.

    ID is what `rungwatch raise` printed, a question's own id, an entry or a receipt. A question that went to a person
    is waited for until that person answers or cancels; --ruling returns at once.

    Exits as `ask` does: 0 with an answer; without one, at the time-out, by the latest ruling (2, 3 or 4), 2 where
    nobody has been asked yet; 130 when stopped.
    """
    from canary.cli.handed import on_handoff
    from decide.handoff.waiting import exit_now, until_answered

    async def answered(handed: "Handed") -> "Standing | None":
        waiting = until_answered(
            any_id,
            store=handed.handoff,
            sleep=asyncio.sleep,
            monotonic=time.monotonic,
            timeout_s=None if timeout is None else timeout.total_seconds(),
            ruling_is_enough=ruling_is_enough,
        )
        task = asyncio.create_task(waiting)
        with stoppable(task, "stopping: the question stays where it is"):
            await asyncio.wait({task})
        return None if task.cancelled() else task.result()

    standing = on_handoff(config_path, state_dir, answered)
    if standing is None:
        context.exit(CANCELLED)
    _print(standing, as_json=as_json)
    context.exit(exit_now(standing))


def _print(standing: "Standing", *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(_document(standing), indent=2))
        return
    from canary.cli.sheet import Sheet
    from canary.cli.telling import ruling
    from canary.cli.wording import Reader

    if standing.receipt is None:
        click.echo("nobody has been asked yet: `rungwatch serve` takes questions from the inbox", err=True)
        return
    Sheet(sys.stdout).facts(ruling(standing.receipt, Reader(datetime.now(UTC))))
    entry = standing.entry
    if entry is not None and entry.closed_at is None:
        click.echo(f"it waits for a person: rungwatch queue show {entry.id}", err=True)


def _document(standing: "Standing") -> dict[str, Any]:
    from decide.handoff.waiting import exit_now

    item, entry = standing.item, standing.entry
    return {
        "id": None if item is None else item.id,
        "state": None if item is None else item.state.value,
        "entry": None if entry is None else {"id": entry.id, "state": entry.state.value, "why": entry.why.value},
        "receipt": standing.receipt,
        "exit_code": exit_now(standing),
    }
