"""rungwatch queue: what waits for a person, and the answer that a person gives."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canary.cli.main import UsageFault
from canary.cli.options import config_option, json_option, state_option

if TYPE_CHECKING:
    from canary.cli.handed import Handed
    from decide.handoff.act import Act
    from decide.handoff.entry import Entry, Waiting

Document = dict[str, Any]


@click.group(
    "queue", short_help="list what waits for a person, show it, answer it", epilog="Example: rungwatch queue list"
)
def command() -> None:
    """Questions that wait for a person: the ladder declined them, is walled, or failed too often."""


@command.command("list", epilog="Example: rungwatch queue list --json | jq -r '.[].id'")
@json_option
@config_option
@state_option
def listed(as_json: bool, config_path: Path | None, state_dir: Path | None) -> None:
    """List what waits, the most pressing first: only `wake` pages anybody."""
    from canary.cli.handed import on_handoff
    from canary.cli.queue_text import heads, line, ranked, row

    now = datetime.now(UTC)

    async def found(handed: "Handed") -> "list[tuple[Waiting, str]]":
        return ranked(await handed.handoff.waiting(), now, handed.config.queue.lead)

    waiting = on_handoff(config_path, state_dir, found)
    if as_json:
        click.echo(json.dumps([line(one, urgency) for one, urgency in waiting], indent=2))
        return
    if not waiting:
        click.echo("nothing waits for a person")
        return
    from canary.cli.sheet import Sheet
    from canary.cli.wording import Reader

    reader = Reader(now)
    Sheet(sys.stdout).rows(heads(), [row(one, urgency, reader) for one, urgency in waiting])


@command.command("show", epilog="Example: rungwatch queue show 20261015T12")
@click.argument("entry_id", metavar="ENTRY")
@json_option
@config_option
@state_option
def shown(entry_id: str, as_json: bool, config_path: Path | None, state_dir: Path | None) -> None:
    """Show an entry: the question, its options, why it waits and what the rungs said.

    ENTRY is an id, the beginning of one, or the question's own id.
    """
    from canary.cli.handed import on_handoff
    from canary.cli.queue_text import document

    now = datetime.now(UTC)

    async def found(handed: "Handed") -> Document:
        entry = await handed.handoff.entry(entry_id)
        standing = await handed.handoff.standing(entry.id)
        return document(entry, standing.receipt, entry.urgency(now, handed.config.queue.lead))

    _print(on_handoff(config_path, state_dir, found), now, as_json=as_json)


def _print(told: Document, now: datetime, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(told, indent=2))
        return
    from canary.cli.queue_text import facts, options
    from canary.cli.sheet import Sheet
    from canary.cli.wording import Reader

    sheet, reader = Sheet(sys.stdout), Reader(now)
    sheet.facts(facts(told, reader))
    sheet.title("Options")
    sheet.rows(("ID", "TEXT", "RUNS"), options(told))


@command.command("answer", epilog="Example: rungwatch queue answer 20261015T12 --option keep --text 'see #41'")
@click.argument("entry_id", metavar="ENTRY")
@click.option("--option", "-o", metavar="ID", help="The option that you decide for.")
@click.option("--text", "-t", metavar="TEXT", help="Your answer in words, or what you add to the option.")
@click.option("--person", metavar="NAME", help="Who answers; kept on the receipt  [default: your user name]")
@json_option
@config_option
@state_option
def answered(
    entry_id: str,
    option: str | None,
    text: str | None,
    person: str | None,
    as_json: bool,
    config_path: Path | None,
    state_dir: Path | None,
) -> None:
    """Answer an entry with an option, in words, or both: it closes, and whoever waits is told.

    A command that the option stands for runs where its class is below the confirm class; else it is yours to type.
    """
    from canary.cli.handed import me, on_handoff
    from canary.handing import answer_typed

    if not option and not (text or "").strip():
        raise UsageFault("give --option ID or --text TEXT; `rungwatch queue show` lists the options")
    who = person or me()

    async def closed(handed: "Handed") -> "tuple[Entry, Act | None]":
        return await answer_typed(handed.handoff, handed.config, entry_id, who, option or "", text or "")

    entry, act = on_handoff(config_path, state_dir, closed)
    _tell(entry, act, as_json=as_json)


def _tell(entry: "Entry", act: "Act | None", *, as_json: bool) -> None:
    from canary.cli.queue_text import act_document, act_words

    if as_json:
        said = {"entry": entry.id, "state": entry.state.value, "person": entry.closed_by}
        click.echo(json.dumps(said | {"act": None if act is None else act_document(act)}, indent=2))
        return
    click.echo(f"{entry.state}: {entry.id}, by {entry.closed_by}; it is on the receipt, and whoever waits is told")
    if act is not None:
        click.echo(act_words(act))


@command.command("cancel", epilog="Example: rungwatch queue cancel 20261015T12 --note 'the lane is gone'")
@click.argument("entry_id", metavar="ENTRY")
@click.option("--note", required=True, metavar="TEXT", help="Why no answer is needed any more; kept.")
@click.option("--person", metavar="NAME", help="Who cancels; kept  [default: your user name]")
@json_option
@config_option
@state_option
def cancelled(
    entry_id: str,
    note: str,
    person: str | None,
    as_json: bool,
    config_path: Path | None,
    state_dir: Path | None,
) -> None:
    """Close an entry without an answer."""
    from canary.cli.handed import me, on_handoff

    if not note.strip():
        raise UsageFault("--note: say why no answer is needed any more")
    who = person or me()

    async def closed(handed: "Handed") -> "Entry":
        return await handed.handoff.cancel(entry_id, who, note, datetime.now(UTC))

    _tell(on_handoff(config_path, state_dir, closed), None, as_json=as_json)
