"""sources_parse and feed_cli: how long a thousand readings of each source take, and a status line."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench.measure import Row, interleaved, seconds
from tests.canary.sources.mutations import text_of
from tests.canary.sources.samples import SAMPLES, Read, of_report, of_second_report

PARSE, FEED = "sources_parse", "feed_cli"
READINGS, WITHIN_S, PARSE_RUNS, FEED_RUNS = 1_000, 0.2, 7, 25
FEED_ALLOWANCE_S = 0.06
FLOOR = (sys.executable, "-c", "import json")
COMMAND = (sys.executable, str(Path(sys.executable).with_name("rungwatch")), "feed")
REPORT = {
    "session_id": "0",
    "model": {"display_name": "Fable"},
    "rate_limits": {
        "five_hour": {"used_percentage": 23.5, "resets_at": 1738425600},
        "seven_day": {"used_percentage": 41.2, "resets_at": 1738857600},
    },
}


def parse() -> list[Row]:
    """Each source's largest sample, against reading the same text as JSON."""
    largest: dict[Read, tuple[str, bytes]] = {}
    for name, (read, document) in SAMPLES.items():
        if read in (of_report, of_second_report):  # what the status line writes; the source reads what it kept
            continue
        text = text_of(document).encode()
        if read not in largest or len(text) > len(largest[read][1]):
            largest[read] = (name.split(" ", maxsplit=1)[0], text)
    return [_parsed(name, read, text) for read, (name, text) in largest.items()]


def _parsed(name: str, read: Read, text: bytes) -> Row:
    def thousand(act: Callable[[bytes], Any]) -> float:
        return seconds(lambda: [act(text) for _ in range(READINGS)])

    row = f"{PARSE} {name} ({read.__name__.removeprefix('of_')})"
    ours, floor = interleaved(lambda: thousand(read), lambda: thousand(_loaded), PARSE_RUNS, row, loud=False)
    return Row(row, ours, floor, "s", PARSE_RUNS, most=WITHIN_S)


def _loaded(text: bytes) -> object:
    return [json.loads(line) for line in text.splitlines() if line.strip()] if text.strip() else None


def feed() -> list[Row]:
    """`rungwatch feed` with a report on its standard input, against an interpreter that imports json."""
    with tempfile.TemporaryDirectory(prefix="rungwatch-bench-") as scratch:
        environ = os.environ | {"HOME": scratch, "RUNGWATCH_STATE_DIR": f"{scratch}/state"}

        def run(command: tuple[str, ...]) -> Callable[[], float]:
            return lambda: seconds(
                lambda: subprocess.run(
                    command,
                    input=json.dumps(REPORT).encode(),
                    env=environ,
                    check=True,
                    capture_output=True,
                    timeout=30,
                )
            )

        ours, floor = interleaved(run(COMMAND), run(FLOOR), FEED_RUNS, FEED, loud=False)
    return [Row(FEED, ours, floor, "s", FEED_RUNS, most=round(1.5 * floor + FEED_ALLOWANCE_S, 4))]
