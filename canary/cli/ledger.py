"""rungwatch ledger: is it as it was written, what clears a hold, what is a day charged, and what do levels cost."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canary.cli.main import UsageFault
from canary.cli.options import Span, config_option, json_option, state_option
from decide.question import LevelName

if TYPE_CHECKING:
    from canary.cli.store import Opened
    from decide.store.audit import Broken, Verified
    from decide.store.store import SqlStore

SOUND, BROKEN, UNREADABLE = 0, 1, 4
"""Exit codes of `verify`."""


@click.group(
    "ledger", short_help="verify the ledger, clear a hold, settle a call", epilog="Example: rungwatch ledger verify"
)
def command() -> None:
    """The append-only ledger: its chain of digests, its holds, what a day is charged and what each level costs."""


@command.command("verify", epilog="Example: rungwatch ledger verify || echo 'look at the ledger'")
@json_option
@config_option
@state_option
@click.pass_context
def verified(context: click.Context, /, as_json: bool, config_path: Path | None, state_dir: Path | None) -> None:
    """Read every row and its digest, and name the first that is not as it was written.

    Exits 0 when all are, 1 when one is not, 4 when the ledger is not there or cannot be read.
    """
    from canary.cli.store import HeldFault, on_ledger

    async def looked(opened: "Opened") -> tuple[str, "Verified | Broken"]:
        return opened.label, await _audit(_there(opened))

    try:
        label, found = on_ledger(config_path, state_dir, looked)
    except HeldFault as error:
        if as_json:
            click.echo(
                json.dumps({"state": "unreadable", "rows": None, "row": None, "fault": error.message}, indent=2)
            )
        raise
    document = _audited(found)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    elif document["state"] == "sound":
        click.echo(f"sound: all {document['rows']} rows of {label} are as they were written, or were accepted")
    else:
        click.echo(f"BROKEN at row {document['row']} of {label}: {document['fault']}")
        click.echo("Nothing is asked meanwhile. Restore a copy, or let a named person go on from it:")
        click.echo("  rungwatch ledger accept --person NAME --note 'what was found'")
    context.exit(SOUND if document["state"] == "sound" else BROKEN)


def _there(opened: "Opened") -> "SqlStore":
    from canary.cli.store import HeldFault

    if opened.store is None:
        raise HeldFault(f"there is no ledger at {opened.label}: nothing was asked here yet, or it is gone")
    return opened.store


async def _audit(store: "SqlStore") -> "Verified | Broken":
    """The audit, with a bar where a person waits for a long one."""
    if not sys.stderr.isatty():
        return await store.verify()
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading the ledger", total=None)
        return await store.verify(lambda row, last: bar.update(task, completed=row, total=last))


def _audited(found: "Verified | Broken") -> dict[str, Any]:
    from decide.store.audit import Broken

    if isinstance(found, Broken):
        return {"state": "broken", "rows": None, "row": found.seq, "fault": found.fault}
    return {"state": "sound", "rows": found.rows, "row": None, "fault": None}


@command.command(
    "accept", epilog="Example: rungwatch ledger accept --person 'Ada Berg' --note 'restored from backup'"
)
@click.option("--person", required=True, metavar="NAME", help="Who answers for it; kept in the ledger.")
@click.option("--note", required=True, metavar="TEXT", help="What was found and why work may go on; kept as well.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask whether this is meant.")
@config_option
@state_option
@click.pass_context
def accepted(
    context: click.Context,
    /,
    person: str,
    note: str,
    yes: bool,
    config_path: Path | None,
    state_dir: Path | None,
) -> None:
    """Let work go on from the first broken row as it is found; it covers that fault alone, and is on record.

    Exits 1 when another row is broken behind it.
    """
    from canary.cli.store import on_ledger
    from decide.store.audit import Broken

    if not person.strip() or not note.strip():
        raise UsageFault("--person and --note: must say who answers for it and why; neither may be blank")

    async def cleared(opened: "Opened") -> "Verified | Broken":
        store = _there(opened)
        fault = await _audit(store)
        if not isinstance(fault, Broken):
            raise UsageFault(f"there is nothing to accept: all {fault.rows} rows are as they were written")
        click.echo(f"row {fault.seq} of {opened.label}: {fault.fault}", err=True)
        _confirm(person.strip(), yes=yes)
        done = await store.accept(person, note, at=datetime.now(UTC))
        click.echo(f"accepted: row {done.seq}, {done.fault}; on record under {person.strip()!r}")
        return await _audit(store)

    after = on_ledger(config_path, state_dir, cleared)
    if isinstance(after, Broken):
        click.echo(f"still BROKEN, at row {after.seq}: {after.fault}")
        context.exit(BROKEN)
    click.echo(f"sound: questions are asked again; the ledger has {after.rows} rows")


def _confirm(person: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageFault("nobody can be asked whether this is meant; give --yes")
    if not click.confirm(f"Does work go on from it as it is found, on {person}'s word?", err=True):
        raise click.Abort


@command.command(
    "settle", epilog="Example: rungwatch ledger settle CALL --usd 0.21 --evidence 'invoice of 15 October'"
)
@click.argument("call_id", metavar="CALL")
@click.option("--usd", required=True, metavar="AMOUNT", help="What the call cost, such as 0.21, or 0.")
@click.option("--evidence", required=True, metavar="TEXT", help="How that is known; kept in the ledger.")
@config_option
@state_option
def settled(call_id: str, usd: str, evidence: str, config_path: Path | None, state_dir: Path | None) -> None:
    """Charge a call that nobody settled with what it cost, once; `ledger status` lists such calls."""
    from canary.cli.store import on_ledger
    from decide.money import dollars, micro_usd

    try:
        micro = micro_usd(usd)
    except ValueError as error:
        raise UsageFault(f"--usd: {error}") from error

    async def charged(opened: "Opened") -> int:
        store, now = _there(opened), datetime.now(UTC)
        before = [one.micro_usd for one in await store.unsettled(now) if one.call_id == call_id]
        try:
            await store.settle_by_evidence(call_id, micro, at=now, evidence_text=evidence)
        except ValueError as error:
            raise UsageFault(str(error)) from error
        return sum(before)

    before = on_ledger(config_path, state_dir, charged)
    click.echo(f"settled: {call_id} cost {dollars(micro)} USD; {dollars(before)} USD had been charged")


@command.command("status", epilog="Example: rungwatch ledger status --json | jq .passes")
@json_option
@config_option
@state_option
@click.pass_context
def status(context: click.Context, /, as_json: bool, config_path: Path | None, state_dir: Path | None) -> None:
    """Show what today is charged against its caps, calls of unknown cost, and what holds questions back.

    Exits 4 when the ledger holds every question until a person has looked.
    """
    from canary.cli.ledger_status import BY_LEDGER, document, show
    from canary.cli.store import on_ledger

    now = datetime.now(UTC)
    found = on_ledger(config_path, state_dir, lambda opened: document(opened, now))
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        show(found, now)
    context.exit(UNREADABLE if any(one["kind"] in BY_LEDGER for one in found["holds"]) else 0)


@command.command("cost", epilog="Example: rungwatch ledger cost --since 28d --level high")
@click.option("--since", type=Span(), default="56d", show_default=True, help="How far back runs are looked at.")
@click.option(
    "--level",
    "levels",
    multiple=True,
    type=click.Choice([level.value for level in LevelName]),
    help="Only this level; may be given more than once.",
)
@json_option
@config_option
@state_option
def cost(
    since: timedelta, levels: tuple[str, ...], as_json: bool, config_path: Path | None, state_dir: Path | None
) -> None:
    """Show by level what an answered run took: dollars, tokens, calls, quota and seconds, median and 95th percentile.

    And what the runs that were held or walled would have taken. What is not known is told as such, never as 0.
    Exits 64 where there is nothing to tell of.
    """
    from canary.cli.ledger_cost import costs
    from canary.cli.store import on_ledger

    begin = datetime.now(UTC) - since
    label, found = on_ledger(config_path, state_dir, lambda opened: costs(opened, begin, levels))
    if as_json:
        from canary.capacity.cost_document import cost_document

        click.echo(json.dumps(cost_document(found, ledger=label, since=begin), indent=2))
        return
    from canary.cli.cost_text import show
    from canary.cli.sheet import Sheet

    show(found, Sheet(sys.stdout), begin)
