"""rungwatch check: whether the configuration can be used, what it reads and what it sends where."""

import asyncio
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canary.cli.main import USAGE, UsageFault
from canary.cli.options import config_option, json_option, state_option

if TYPE_CHECKING:
    from canary.findings import Reads
    from canary.load import Loaded
    from canary.plan import Plan
    from decide.rungs.http import Request, Response

Document = dict[str, Any]


@click.command(
    "check",
    short_help="check the configuration and say what it reads and sends",
    epilog="Example: rungwatch check --config ./rungwatch.toml",
)
@json_option
@config_option
@state_option
@click.pass_context
def command(context: click.Context, as_json: bool, config_path: Path | None, state_dir: Path | None) -> None:
    """Check the configuration, say what will be read and sent, and look for faults; no host is asked.

    Exits 0 when it can be used, warnings or not, and 64 when it cannot.
    """
    from canary.load import ConfigError, load

    try:
        loaded = load(config_path, os.environ)
    except ConfigError as error:
        if not as_json:
            raise UsageFault(str(error)) from error
        document: Document = {"usable": False, "findings": _refused(str(error))}
    else:
        document = asyncio.run(_look(loaded, state_dir))
    click.echo(json.dumps(document, indent=2) if as_json else "\n".join(_lines(document)))
    context.exit(0 if document["usable"] else USAGE)


def _refused(text: str) -> list[Document]:
    lines = text.splitlines()
    return [{"weight": "fault", "about": "configuration", "text": line, "remedy": "mend the file"} for line in lines]


async def _look(loaded: "Loaded", state_dir: Path | None) -> Document:
    from canary.app import state_folder
    from canary.clock import SystemClock
    from canary.findings import Weight, examine
    from canary.plan import plan_of
    from canary.sources.keychain import system_keychain
    from canary.world import World

    place = state_folder(state_dir, loaded.config, os.environ)
    plan = plan_of(loaded.config, state_dir=place)
    world = World(SystemClock(), _ask_nobody, asyncio.sleep, system_keychain, os.environ)
    found = await examine(loaded.config, plan, place, world)
    return {
        "usable": all(finding.weight is not Weight.FAULT for finding in found),
        "config": str(loaded.path) if loaded.path else None,
        "state_dir": str(place),
        "rungs": _rungs(plan),
        "findings": [
            {"weight": each.weight.value, "about": each.about, "text": each.text, "remedy": each.remedy}
            for each in found
        ],
    }


async def _ask_nobody(ask: "Request") -> "Response":
    raise AssertionError("a check asks no host")


def _rungs(plan: "Plan") -> list[Document]:
    from canary.findings import reads

    return [
        {
            "name": rung.name,
            "role": rung.role.value,
            "model": rung.model,
            "seats_file": str(rung.seats_file) if rung.seats_file else None,
            "seats_command": rung.seats_command[0] if rung.seats_command else None,
            "seats": [_seat(reads(target, os.environ)) for target in rung.targets],
        }
        for rung in plan.rungs
    ]


def _seat(seat: "Reads") -> Document:
    return {
        "name": seat.seat,
        "reads": list(seat.login),
        "sources": [
            {"name": use.source, "tells": use.tells, "reads": use.reads, "asks": use.asks, "starts": use.starts}
            for use in seat.uses
        ],
    }


def _lines(document: Document) -> list[str]:
    """The document for a person."""
    lines = [
        f"configuration  {document['config'] or 'none: this is what is read without one'}",
        f"state folder   {document['state_dir']}",
    ]
    for rung in document["rungs"]:
        lines += ["", f"{rung['name']} ({rung['role']}, {rung['model']})"]
        lines += [f"  reads  {rung['seats_file']}, for its seats"] if rung["seats_file"] else []
        lines += [f"  starts {rung['seats_command']}, for its seats"] if rung["seats_command"] else []
        for seat in rung["seats"]:
            lines += [f"  {seat['name']}", *_seat_lines(seat)]
    found = document["findings"]
    lines += [""] + [f"{each['weight']}: {each['about']}: {each['text']}; {each['remedy']}" for each in found]
    lines += [""] if found else []
    faults = sum(each["weight"] == "fault" for each in found)
    counts = f"{_counted(faults, 'fault')}, {_counted(len(found) - faults, 'warning')}"
    return [*lines, f"{'can be used' if document['usable'] else 'cannot be used'} ({counts})"]


def _seat_lines(seat: Document) -> list[str]:
    lines = [f"    reads  {place}" for place in seat["reads"]]
    for each in seat["sources"]:
        lines.append(f"    {each['name']}: {each['tells']}")
        lines += [f"      reads   {each['reads']}"] if each["reads"] else []
        lines += [f"      starts  {each['starts']}"] if each["starts"] else []
        lines += [f"      sends   to {each['asks']}"] if each["asks"] else []
    return lines if seat["sources"] else [*lines, "    no source: sends nothing"]


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
