"""rungwatch receipt: the receipts that are kept, as a list and each in full."""

import difflib
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canary.cli.main import UsageFault
from canary.cli.options import config_option, json_option, state_option

if TYPE_CHECKING:
    from canary.cli.store import Opened
    from decide.store.store import SqlStore

Document = dict[str, Any]
_NAMED = 3
_LOOKED_AT = 500
"""Among how many receipts, the newest first, one of a similar id is looked for."""
_WORDS = 72


@click.group("receipt", short_help="list receipts, or show one", epilog="Example: rungwatch receipt list")
def command() -> None:
    """What each run did and why it ended so."""


@command.command("list", epilog="Example: rungwatch receipt list --limit 5 --json | jq -r '.[].id'")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many at most.")
@click.option("--before", metavar="RECEIPT", help="Only those that came before this one.")
@json_option
@config_option
@state_option
def listed(limit: int, before: str | None, as_json: bool, config_path: Path | None, state_dir: Path | None) -> None:
    """List receipts, the newest first."""
    from canary.cli.store import on_ledger

    async def found(opened: "Opened") -> tuple[str, list[Document]]:
        if opened.store is None:
            return opened.label, []
        try:
            after = None if before is None else (await opened.store.receipt(before))["id"]
            lines = await opened.store.receipts(limit, after)
        except LookupError as error:
            raise UsageFault(str(error.args[0])) from error
        return opened.label, [await opened.store.receipt(line.receipt_id) for line in lines]

    label, documents = on_ledger(config_path, state_dir, found)
    if not documents:
        click.echo(f"no question was asked yet: {label} holds no receipt", err=True)
    if as_json:
        click.echo(json.dumps([_short(document) for document in documents], indent=2))
    elif documents:
        _list(documents)


def _short(receipt: Document) -> Document:
    names = ("id", "ended_at", "outcome", "exit_code", "answer", "answered_by", "single_rung")
    question = {"id": receipt["question"]["id"], "text": receipt["question"]["text"]}
    return {name: receipt[name] for name in names} | {"question": question}


def _list(documents: list[Document]) -> None:
    from canary.cli.sheet import Sheet
    from canary.cli.telling import ended, models
    from canary.cli.wording import Reader

    reader = Reader(datetime.now(UTC))
    rows = [
        (
            ended(one, reader),
            one["outcome"],
            str(one["exit_code"]),
            models(one),
            _first_words(one["question"]["text"]),
            one["id"],
        )
        for one in documents
    ]
    Sheet(sys.stdout).rows(("ENDED", "OUTCOME", "EXIT", "MODEL", "QUESTION", "RECEIPT"), rows)


def _first_words(text: str) -> str:
    whole = " ".join(text.split())
    return whole if len(whole) <= _WORDS else whole[:_WORDS].rpartition(" ")[0] + " ..."


@command.command("show", epilog="Example: rungwatch receipt show 20261015T12")
@click.argument("receipt_id", metavar="[RECEIPT]", required=False)
@json_option
@config_option
@state_option
def shown(receipt_id: str | None, as_json: bool, config_path: Path | None, state_dir: Path | None) -> None:
    """Show a receipt in full: RECEIPT is an id or the beginning of one  [default: the newest]."""
    from canary.cli.store import on_ledger

    async def found(opened: "Opened") -> Document:
        if opened.store is None:
            raise UsageFault(f"there is no receipt: {opened.label} is not there yet; `rungwatch ask` makes it")
        return await _one(opened.store, receipt_id)

    document = on_ledger(config_path, state_dir, found)
    if as_json:
        click.echo(json.dumps(document, indent=2))
        return
    _show(document)


async def _one(store: "SqlStore", receipt_id: str | None) -> Document:
    """The receipt that is meant; for one that there is not, the nearest are named."""
    newest = [line.receipt_id for line in await store.receipts(_LOOKED_AT if receipt_id else 1)]
    if not newest:
        raise UsageFault("there is no receipt yet: `rungwatch ask` makes the first")
    try:
        return await store.receipt(receipt_id or newest[0])
    except LookupError as error:
        told = str(error.args[0])
        near = difflib.get_close_matches(receipt_id or "", newest, _NAMED)
        kind = "nearest" if near else "newest"
        hint = "" if told.startswith("several") else f"; the {kind} are {', '.join(near or newest[:_NAMED])}"
        raise UsageFault(told + hint) from error


def _show(receipt: Document) -> None:
    from canary.cli.receipt_text import sections
    from canary.cli.sheet import Sheet
    from canary.cli.telling import ruling
    from canary.cli.wording import Reader

    sheet, reader = Sheet(sys.stdout), Reader(datetime.now(UTC))
    sheet.facts(ruling(receipt, reader))
    for section in sections(receipt, reader):
        sheet.title(section.title)
        sheet.facts(section.facts)
        if section.rows:
            sheet.rows(section.heads, section.rows)
