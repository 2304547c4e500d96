"""Every scenario through the canary and through the real client, decisions through both, and an exit status."""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from tests.clients.claude_rows import CLAUDE_ROWS
from tests.clients.client_sources import show_readings, source_trials
from tests.clients.codex_rows import CODEX_ROWS
from tests.clients.decisions import decision_faults, decisions, show_decisions
from tests.clients.install import FOLDER, Clients, installed
from tests.clients.isolate import ISOLATED, bring_up_loopback, isolate
from tests.clients.matrix import faults, show
from tests.clients.proxy import make_authority
from tests.clients.scenario import Scenario
from tests.clients.trial import Trial, run_trial


async def run_all(
    rows: Sequence[Scenario], clients: Clients, folder: Path, jobs: int, console: Console
) -> list[Trial]:
    """Every scenario, some at once, in the order of the table."""
    authority, tls = make_authority(folder)
    gate = asyncio.Semaphore(jobs)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("scenarios", total=len(rows))

        async def one(place: int, scenario: Scenario) -> Trial:
            async with gate:
                trial = await run_trial(scenario, clients, folder / f"{place}", authority, tls)
                progress.advance(task)
                return trial

        return list(await asyncio.gather(*(one(place, row) for place, row in enumerate(rows))))


def main() -> int:
    """0 when the canary's word was never wrong but where it cannot know, and every decision is right; 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description=__doc__)
    parser.add_argument("--only", default="", help="run the scenarios whose vendor and name hold this text")
    parser.add_argument("--decisions", action="store_true", help="run the decisions alone, all or those of --only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="how many clients run at once")
    parser.add_argument(ISOLATED, action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    clients = installed()
    isolate(sys.argv[1:])
    if chosen.isolated:
        bring_up_loopback()
    console = Console(width=None if sys.stdout.isatty() else 200)
    network = (
        "a network of its own, loopback only" if chosen.isolated else "this machine's network, through the proxy only"
    )
    every = () if chosen.decisions else (*CLAUDE_ROWS, *CODEX_ROWS)
    rows = [row for row in every if chosen.only in f"{row.vendor.value}, {row.name}"]
    whole = not chosen.only and not chosen.decisions
    console.print(f"{' and '.join(clients.versions)}; {len(rows) or 'no'} scenarios; {network}")
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=FOLDER))
    try:
        trials = asyncio.run(run_all(rows, clients, folder, chosen.jobs, console))
        readings = asyncio.run(source_trials(clients, folder)) if whole else []
        decided = asyncio.run(decisions(clients, folder, chosen.only, console)) if whole or chosen.decisions else []
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not trials and not decided:
        parser.error(f"nothing is named {chosen.only!r}")
    if rows:
        show(trials, console)
    show_readings(readings, console)
    show_decisions(decided, console)
    wrong = faults(trials) if whole else []
    wrong += [fault for reading in readings for fault in reading.faults]
    wrong += decision_faults(decided)
    for fault in wrong:
        console.print(f"[bold red]wrong[/] {fault}", highlight=False)
    held = ["the canary's word held"] * bool(trials) + ["every decision is right"] * bool(decided)
    console.print(", and ".join(held) if not wrong else f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
