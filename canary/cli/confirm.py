"""rungwatch confirm: pending confirmations of commands, pressed by the one person whom each is bound to."""

import json
import os
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
    from decide.handoff.click import Click, Pressed

REFUSED = 3
"""Exit code of a press that was refused: a person has to look."""


@click.group(
    "confirm",
    short_help="list clicks, press one, hand out its link",
    epilog="Example: rungwatch confirm list",
)
def command() -> None:
    """Commands that an answer stands for and that take a click before they run."""


@command.command(
    "list", epilog="Example: rungwatch confirm list --json | jq -r '.[] | select(.state == \"pending\").id'"
)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many at most.")
@json_option
@config_option
@state_option
def listed(limit: int, as_json: bool, config_path: Path | None, state_dir: Path | None) -> None:
    """List clicks, the latest first."""
    from canary.cli.confirm_text import document, heads, row
    from canary.cli.handed import on_handoff

    now = datetime.now(UTC)

    async def found(handed: "Handed") -> "list[tuple[Click, Act]]":
        await handed.handoff.sweep(now)
        clicks = await handed.handoff.clicks(limit)
        return [(one, await handed.handoff.act(one.act_id)) for one in clicks]

    clicks = on_handoff(config_path, state_dir, found)
    if as_json:
        click.echo(json.dumps([document(one, act) for one, act in clicks], indent=2))
        return
    if not clicks:
        click.echo("there is no click, and there was none")
        return
    from canary.cli.sheet import Sheet
    from canary.cli.wording import Reader

    reader = Reader(now)
    Sheet(sys.stdout).rows(heads(), [row(one, act, reader) for one, act in clicks])


@command.command("show", epilog="Example: rungwatch confirm show 20261015T120000-ab12cd34ef56")
@click.argument("click_id", metavar="CLICK")
@json_option
@config_option
@state_option
def shown(click_id: str, as_json: bool, config_path: Path | None, state_dir: Path | None) -> None:
    """Show a click: its whole line, who may press it and until when, and what became of it."""
    from canary.cli.confirm_text import document, facts
    from canary.cli.handed import on_handoff

    now = datetime.now(UTC)

    async def found(handed: "Handed") -> "tuple[Click, Act]":
        await handed.handoff.sweep(now)
        one = await handed.handoff.click(click_id)
        return one, await handed.handoff.act(one.act_id)

    one, act = on_handoff(config_path, state_dir, found)
    if as_json:
        click.echo(json.dumps(document(one, act), indent=2))
        return
    from canary.cli.sheet import Sheet
    from canary.cli.wording import Reader

    Sheet(sys.stdout).facts(facts(one, act, Reader(now)))


@command.command("press", epilog="Example: rungwatch confirm press 20261015T120000-ab12cd34ef56")
@click.argument("click_id", metavar="CLICK")
@json_option
@config_option
@state_option
@click.pass_context
def pressed(
    context: click.Context, /, click_id: str, as_json: bool, config_path: Path | None, state_dir: Path | None
) -> None:
    """Press a click as yourself: its command runs here, once, and what it says is shown.

    Exits 0 when the command ran well, 1 when it did not, 3 when the press was refused.
    """
    from canary.cli.handed import me, on_handoff
    from canary.handing import press_typed

    who = me()

    async def done(handed: "Handed") -> "tuple[Pressed, Act | None, str]":
        return await press_typed(handed.handoff, handed.config, click_id, who)

    result, act, words = on_handoff(config_path, state_dir, done)
    _tell(result, act, words, as_json=as_json)
    if not result.consumed:
        context.exit(REFUSED)
    context.exit(0 if act is not None and act.end is not None and act.end.done else 1)


def _tell(result: "Pressed", act: "Act | None", words: str, *, as_json: bool) -> None:
    from canary.cli.queue_text import act_document, act_words

    if as_json:
        said: dict[str, Any] = {"consumed": result.consumed, "refusal": result.refusal and result.refusal.value}
        told = None if act is None else act_document(act)
        click.echo(json.dumps(said | {"reason": words or None, "act": told}, indent=2))
    elif result.consumed and act is not None:
        click.echo(act_words(act))
    else:
        click.echo(words, err=True)


@command.command("link", epilog="Example: rungwatch confirm link 20261015T120000-ab12cd34ef56")
@click.argument("click_id", metavar="CLICK")
@config_option
@state_option
def linked(click_id: str, config_path: Path | None, state_dir: Path | None) -> None:
    """Print the link of a click: whoever opens it may press in its requester's name, so hand it to nobody else."""
    from canary.cli.handed import on_handoff
    from canary.handing import address_of
    from canary.link_keys import keys, place
    from decide.handoff.link import KeysError, sign

    async def made(handed: "Handed") -> str:
        one = await handed.handoff.click(click_id)
        try:
            token = sign(one, keys(place(handed.config, handed.folder)))
        except KeysError as error:
            raise UsageFault(str(error)) from error
        return f"{address_of(handed.config)}/confirm/{token}"

    click.echo(on_handoff(config_path, state_dir, made))


@command.command("rotate", epilog="Example: rungwatch confirm rotate")
@config_option
@state_option
def rotated(config_path: Path | None, state_dir: Path | None) -> None:
    """Sign new links with a fresh key; links that were handed out stay good until they expire."""
    from canary.app import state_folder
    from canary.link_keys import place, rotate
    from canary.load import ConfigError, load
    from decide.handoff.link import KeysError

    try:
        config = load(config_path, os.environ).config
        path = place(config, state_folder(state_dir, config, os.environ))
        new = rotate(path, datetime.now(UTC))
    except (ConfigError, KeysError) as error:
        raise UsageFault(str(error)) from error
    click.echo(f"key {new.newest.kid} signs from now on; {len(new.keys) - 1} older verify until their links expire")
