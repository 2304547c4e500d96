"""`serve` as it is wired, but tick after tick without a pause on a fast clock: a thousand take a minute, not days."""

import argparse
import asyncio
import logging
import sys
from pathlib import Path
from socket import socket

import uvicorn

from canary import folder
from canary.app import Extras, compose, real_world
from canary.listening import listen
from canary.load import Loaded, read
from tests.bench.fast import FastClock


async def drive(loaded: Loaded, state_dir: Path, bound: socket, clock: FastClock) -> None:
    """Serve the pages, and tick until killed."""
    world, _ = real_world(loaded.config, clock)
    made = compose(loaded, state_dir, world, Extras(clock))
    daemon, app = made.daemon, made.app
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    while not serving.done():
        await daemon.tick()
        await made.refresh()


def main() -> None:
    """Serve on a free port until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--zero", type=float)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--state-dir", type=Path)
    chosen = parser.parse_args()
    logging.basicConfig(filename=chosen.config.with_suffix(".log"), level=logging.INFO, format="%(message)s")
    folder.prepare(chosen.state_dir)
    with folder.lock(chosen.state_dir), listen("127.0.0.1:0") as bound:
        sys.stdout.write(f"listening on 127.0.0.1:{bound.getsockname()[1]}\n")
        sys.stdout.flush()
        loaded = Loaded(read(chosen.config), chosen.config)
        asyncio.run(drive(loaded, chosen.state_dir, bound, FastClock(chosen.zero)))


if __name__ == "__main__":
    main()
