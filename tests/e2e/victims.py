"""Victims: a nursery that forks one run for each name on its input, so that a test may kill it at any instant.

Each run tells every instant by a byte on its standard output; the nursery adds the run's pid and how it ended.
"""

import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from canary.config import Config
from canary.deciding import ready
from decide.handoff.ports import Hold
from decide.ports import CapSpent, Claim, Claimed, Ending, Reservation, Settlement, Store
from decide.question import LevelName, Option, Question
from decide.run import ask
from decide.watch import Event

JUDGE = """\
#!/bin/sh
nonce=$(sed -n 's/.*"nonce": "\\([^"]*\\)".*/\\1/p' | head -n 1)
echo call >> "$0.log"
sleep 30 > /dev/null 2>&1 < /dev/null &
child=$!
sleep 0.03
kill $child
echo '{"schema": "rungwatch.reply/1", "model": "'"$1"'", "usage": {"input": 1000, "output": 100}, "text": "{\\"nonce\\": \\"'"$nonce"'\\", \\"resolvable\\": true, \\"rec\\": \\"opt_a\\"}"}'
"""
PRICES = "".join(f'["{name}-model"]\ninput = "10"\noutput = "10"\n' for name in ("fable", "astra"))


def config_of(folder: Path) -> Config:
    """Two rungs that are programs with a child of their own, priced and capped."""
    judge, prices = folder / "judge.sh", folder / "prices.toml"
    judge.write_text(JUDGE)
    judge.chmod(0o700)
    prices.write_text(PRICES)
    rungs = [
        {
            "name": name,
            "kind": "command",
            "model": f"{name}-model",
            "command": [str(judge), f"{name}-model"],
            "seat": [{"name": "box"}],
        }
        for name in ("fable", "astra")
    ]
    return Config.model_validate(
        {
            "ladder": {"primary": "fable", "second": "astra"},
            "rung": rungs,
            "caps": {"passes_per_day": 100_000, "usd_per_day": "100000"},
            "decide": {"prices": str(prices)},
        }
    )


def question(name: str, level: LevelName) -> Question:
    """The question of a victim."""
    options = (Option("opt_a", "One"), Option("opt_b", "Two"))
    return Question(f"Which name is clearer? ({name})", options, id=name, level=level)


def tick() -> None:
    """Tell that an instant has come."""
    os.write(1, b".")


class Told:
    """A store that tells before and after everything it does."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def claim(self, claim: Claim) -> Claimed:
        tick()
        found = await self._store.claim(claim)
        tick()
        return found

    async def reserve(self, reservation: Reservation) -> CapSpent | None:
        tick()
        found = await self._store.reserve(reservation)
        tick()
        return found

    async def settle(self, settlements: Sequence[Settlement]) -> None:
        tick()
        await self._store.settle(settlements)
        tick()

    async def end(self, ending: Ending) -> None:
        tick()
        await self._store.end(ending)
        tick()

    async def hold(self, hold: Hold) -> None:
        await self._store.hold(hold)

    async def release(self, run_id: str) -> None:
        await self._store.release(run_id)


def watch(event: Event) -> None:
    tick()


async def one(folder: Path, name: str, level: LevelName) -> int:
    """One run to its end; its exit code."""
    async with ready(config_of(folder), folder / "state", environ=dict(os.environ)) as made:
        tick()
        setup = replace(made.setup, store=Told(made.setup.store))
        done = await ask(question(name, level), setup=setup, watch=watch)
        return done.exit_code


def main() -> None:
    folder, level = Path(sys.argv[1]), LevelName(sys.argv[2])
    asyncio.run(one(folder, "first", level))  # whatever is loaded late is loaded here, once for all victims
    os.write(1, b"!")
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            os._exit(asyncio.run(one(folder, line.strip(), level)))
        os.write(1, f"[{pid}]".encode())
        _, status = os.waitpid(pid, 0)
        os.write(1, f"<{os.waitstatus_to_exitcode(status)}>".encode())


if __name__ == "__main__":
    main()
