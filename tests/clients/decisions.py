"""Decisions of a whole ladder through both real clients: every row, and every way in which a run can be stopped."""

import asyncio
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from canary.deciding import ready
from canary.load import read
from decide.run import ask
from tests.clients import far_checks, receipt_checks
from tests.clients.decision_rows import ROWS, Row
from tests.clients.install import Clients
from tests.clients.ladder import ASTRA, FABLE, SEATS, Ladder, ladder
from tests.clients.mind import QUESTION
from tests.clients.proxy import make_authority
from tests.clients.stops import STOPS, Stop, stopped

BOUND_S = 60.0
"""How long a decision may take."""


@dataclass
class Decided:
    """One scenario: how it ended, what was asked, how large that was, and what is wrong with it."""

    name: str
    ended: str = ""
    calls: dict[str, int] = field(default_factory=dict)
    beside: dict[str, list[int]] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)
    own_words: set[str] = field(default_factory=set)
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)


async def decisions(clients: Clients, folder: Path, only: str, console: Console) -> list[Decided]:
    """Every row and every stop whose name holds `only`, one after the other: each starts four clients at once."""
    base = folder / "decisions"
    base.mkdir()
    authority, tls = make_authority(base)
    chosen: list[Row | Stop] = [one for one in (*ROWS, *STOPS) if only in one.name]
    done = []
    for place, one in enumerate(chosen):
        with console.status(f"{place + 1} of {len(chosen)} decisions: {one.name}"):
            done.append(await _decision(one, clients, base / f"{place}", authority, tls))
    return done


async def _decision(one: Row | Stop, clients: Clients, folder: Path, authority: Path, tls: ssl.SSLContext) -> Decided:
    told, began = Decided(one.name), monotonic()
    try:
        async with asyncio.timeout(BOUND_S), ladder(one.sides, clients, folder, authority, tls) as made:
            if isinstance(one, Row):
                await _row(one, made, told)
            else:
                told.ended, told.faults = await stopped(one, made)
            _measure(made, told)
    except TimeoutError:
        told.faults.append(f"took longer than {BOUND_S:.0f} s")
    told.seconds = monotonic() - began
    return told


async def _row(row: Row, made: Ladder, told: Decided) -> None:
    """A whole run, as `rungwatch ask` makes it, and what is wrong with its receipt and with what it did."""
    async with ready(read(made.config), made.state, environ=made.environ) as ladder_ready:
        receipt = await ask(QUESTION, setup=ladder_ready.setup, level=row.level)
    document = receipt.document
    told.ended = f"{receipt.outcome}, {document['why']}"
    told.faults += receipt_checks.faults(row, document, made)
    told.faults += far_checks.faults(row, document, made)


def _measure(made: Ladder, told: Decided) -> None:
    for rung in SEATS:
        told.calls[rung] = len(far_checks.calls(made, rung))
        told.beside[rung] = far_checks.overheads(made, rung)
        told.own_words.update(*(far_checks.own_words(one) for one in far_checks.calls(made, rung)))
        told.sizes += [far_checks.size(far_checks.question(one)) for one in far_checks.calls(made, rung)]


def show_decisions(done: Sequence[Decided], console: Console) -> None:
    """What came of each decision, and how large the requests were."""
    if not done:
        return
    table = Table(title="Decisions by both real clients")
    for column in ("decision", "ended", "calls", "bytes beside the question", "seconds"):
        table.add_column(column, overflow="fold")
    for one in done:
        calls = " + ".join(str(one.calls.get(rung, 0)) for rung in SEATS)
        beside = ", ".join(_range(one.beside.get(rung, [])) for rung in SEATS)
        cells = (one.name, one.ended, calls, beside, f"{one.seconds:.1f}")
        table.add_row(*(escape(cell) for cell in cells), style="bold red" if one.faults else "")
    console.print(table)
    largest = {rung: max((max(one.beside.get(rung) or [0]) for one in done), default=0) for rung in SEATS}
    question = max((max(one.sizes, default=0) for one in done), default=0)
    console.print(
        f"the question: {question} bytes at most; beside it Claude Code sent {largest[FABLE]} bytes at most, "
        f"Codex {largest[ASTRA]}"
    )
    words = sorted(set().union(*(one.own_words for one in done)))
    console.print(f"of the clients' own folders this reached a model: {', '.join(words) or 'nothing'}")


def _range(sizes: Sequence[int]) -> str:
    if not sizes:
        return "none"
    low, high = min(sizes), max(sizes)
    return str(low) if low == high else f"{low} to {high}"


def decision_faults(done: Sequence[Decided]) -> list[str]:
    """Everything that is wrong with any of them."""
    return [f"decision, {one.name}: {fault}" for one in done for fault in one.faults]
