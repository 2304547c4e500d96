"""The far side of `serve_rss`: the loopback provider on the fast clock that the canary is given too."""

import argparse
import asyncio
import sys

from canary.demo.provider import Provider, bench_seats, serve
from tests.bench.fast import FastClock


async def run(zero: float, seats: int) -> None:
    """Answer for ever, after one line that says where."""
    clock = FastClock(zero)
    provider = Provider(bench_seats(seats, clock.now()), clock.now)
    async with serve(provider) as base:
        sys.stdout.write(f"listening on {base}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--zero", type=float)
    parser.add_argument("--seats", type=int)
    chosen = parser.parse_args()
    asyncio.run(run(chosen.zero, chosen.seats))
