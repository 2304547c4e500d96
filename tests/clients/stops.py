"""Stops: a run that is told to end, or killed, while all four of its clients wait for an answer."""

import asyncio
import json
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from canary.deciding import ready
from canary.load import read
from decide.consultation import PASS_CANCELLED
from decide.run import ask
from decide.watch import Ended, Event
from tests.clients import far_checks
from tests.clients.decision_rows import votes
from tests.clients.ladder import ASTRA, FABLE, SEATS, Ladder, Side
from tests.clients.mind import QUESTION, Does
from tests.clients.receipt_checks import line

OUT = {FABLE: 2, ASTRA: 2}
"""The calls that are out when it is stopped."""
POLL_S, CALLED_S, GONE_S = 0.05, 30.0, 8.0
HANGS = Side((Does.HANGS,))


@dataclass(frozen=True)
class Stop:
    """A way to stop: `number` None cancels the task of a run in this process, else `rungwatch ask` gets a signal."""

    name: str
    number: signal.Signals | None
    sides: dict[str, Side] = field(default_factory=lambda: {FABLE: HANGS, ASTRA: HANGS})


STOPS = (
    Stop("cancelled in mid-call", None),
    Stop("SIGTERM in mid-call", signal.SIGTERM),
    Stop("SIGINT in mid-call", signal.SIGINT),
    Stop("SIGKILL in mid-call", signal.SIGKILL),
)


async def stopped(stop: Stop, made: Ladder) -> tuple[str, list[str]]:
    """How the run ended, and what is wrong with that."""
    ended, told = await (_cancelled(made) if stop.number is None else _signalled(made, stop.number))
    gone = await _until(lambda: not far_checks.marked(made.folder), GONE_S if stop.number is signal.SIGKILL else 0)
    found = [] if gone else ["clients still run"]
    if stop.number is signal.SIGKILL:
        return ended, found  # nobody was left to write a receipt or to clear a folder away
    found += far_checks.left(made)
    lines = sorted(map(line, told["passes"])) if told else []
    wanted = sorted((*votes(FABLE, PASS_CANCELLED), *votes(ASTRA, PASS_CANCELLED)))
    facts = (told.get("outcome"), told.get("exit_code"), {one["charged_usd"] for one in told.get("passes", [])})
    if (lines, facts) != (wanted, ("cancelled", 130, {"0.50"})):
        found.append(f"the receipt tells {facts} and {lines}")
    return ended, found


async def _until(holds: Callable[[], bool], within_s: float) -> bool:
    """Whether something comes to hold within a time."""
    for _ in range(int(within_s / POLL_S)):
        if holds():
            break
        await asyncio.sleep(POLL_S)
    return holds()


def _out(made: Ladder) -> bool:
    return {rung: len(far_checks.calls(made, rung)) for rung in SEATS} == OUT


async def _cancelled(made: Ladder) -> tuple[str, dict[str, Any]]:
    told: dict[str, Any] = {}

    def watch(event: Event) -> None:
        if isinstance(event, Ended):
            told.update(event.receipt.document)

    async with ready(read(made.config), made.state, environ=made.environ) as ladder_ready:
        task = asyncio.create_task(ask(QUESTION, setup=ladder_ready.setup, watch=watch))
        await _until(lambda: _out(made), CALLED_S)
        running = len(far_checks.marked(made.folder))
        task.cancel()
        await asyncio.wait({task})
    return f"{told.get('outcome')}, with {running} processes of clients running", told


async def _signalled(made: Ladder, number: signal.Signals) -> tuple[str, dict[str, Any]]:
    options = [word for option in QUESTION.options for word in ("-o", f"{option.id}={option.text}")]
    paths = ("--config", str(made.config), "--state-dir", str(made.state))
    child = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("rungwatch")),
        *("ask", "-q", QUESTION.text, *options, "--json", *paths),
        env=dict(made.environ),
        cwd=made.folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        await _until(lambda: _out(made), CALLED_S)
        running = len(far_checks.marked(made.folder))
        child.send_signal(number)
        output, _ = await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()
    with suppress(ValueError):
        return f"exit {child.returncode}, with {running} processes of clients running", json.loads(output)
    return f"exit {child.returncode}, with {running} processes of clients running", {}
