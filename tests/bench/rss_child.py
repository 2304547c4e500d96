"""`rungwatch serve` as it is, but on a fast clock, so that a thousand ticks take a minute and not three days."""

import argparse
import asyncio
import logging
import sys
from pathlib import Path

from canary import folder
from canary.app import Extras, listen, serve
from canary.load import Loaded, read
from tests.bench.fast import SPEED, FastClock


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
        asyncio.run(serve(loaded, chosen.state_dir, bound, Extras(FastClock(chosen.zero), SPEED)))


if __name__ == "__main__":
    main()
