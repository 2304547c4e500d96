"""Racer: a process of its own that races for the last slot of each round, or works until it is killed.

`python -m tests.decide.store.racer race|work TARGET NAME ROUNDS`: it says "ready", waits for a line, and begins.
"""

import asyncio
import json
import sys

from decide.ports import Caps
from tests.decide.store.work import claiming, decided, opened, reserving


async def race(target: str, name: str, rounds: int) -> None:
    """Reserve one call in each round, every round being a day that has room for one, and print the rounds won."""
    async with await opened(target) as store:
        await store.claim(claiming(name, name))
        begin()
        won = []
        for number in range(rounds):
            wanted = reserving(name, f"{name}-{number}", key=name, caps=Caps(1, 300_000), day=f"round-{number}")
            if await store.reserve(wanted) is None:
                won.append(number)
    say(json.dumps(won))


async def work(target: str, name: str, rounds: int) -> None:
    """Run after run, each told when it is whole."""
    async with await opened(target) as store:
        begin()
        for number in range(rounds):
            await decided(store, f"{name}-{number}", calls=3)
            say(f"{name}-{number}")


def say(line: str) -> None:
    """One line to whoever started this."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def begin() -> None:
    """Wait for the word to begin."""
    say("ready")
    sys.stdin.readline()


if __name__ == "__main__":
    act = {"race": race, "work": work}[sys.argv[1]]
    asyncio.run(act(sys.argv[2], sys.argv[3], int(sys.argv[4])))
