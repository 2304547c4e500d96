"""Blocks: 30 days of a ladder with 100 seats at 5-minute samples, as blocks that promtool makes from OpenMetrics."""

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from exporters.exposition import Exposition
from tests.bench.measure import say
from tests.exporters.ledgers import busy_ledger, facts_of, waits
from tests.exporters.scenes import ASTRA, FABLE, NOW, open_seat, rung, view
from tests.exporters.services import need

SEATS, DAYS, STEP_S, DAY_S = 100, 30, 300, 86_400
BLOCK_S = 54 * 3600
"""Long blocks as Prometheus makes them in time; promtool reads its whole input once for each."""
END_S = int(NOW.timestamp()) // STEP_S * STEP_S
TARGET = 'job="rungwatch",instance="127.0.0.1:9477"'
_LINE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
Moving = Callable[[int, float], float]
"""The value of a series at a step, from its value on the page."""


def page() -> str:
    """One page of a rungwatch with that many seats on two rungs and a busy ledger."""
    seats = [open_seat(f"seat-{number:03}", number % 97 / 100) for number in range(SEATS // 2)]
    found = view(rung(FABLE, *seats), rung(ASTRA, *seats))
    polls = {(name.name, seat.name): 0.6 for name in (FABLE, ASTRA) for seat in seats}
    ledger = replace(facts_of(*busy_ledger()), handoff=waits())
    shown = replace(found, canary=replace(found.canary, poll_used=polls, last_tick_at=NOW, skew_s=0.2), ledger=ledger)
    return Exposition(shown, lambda: NOW).text().decode()


def write(folder: Path) -> int:
    """Write the blocks, one after another, and give the number of series."""
    series = list(_series(page()))
    begins = END_S - DAYS * DAY_S
    for start in range(begins // BLOCK_S * BLOCK_S, END_S + 1, BLOCK_S):
        steps = range(max(start, begins) // STEP_S, (min(start + BLOCK_S, END_S + STEP_S) - 1) // STEP_S + 1)
        text = folder / "block.om"
        with text.open("w", encoding="utf-8") as out:
            for name, value, moving in series:
                out.write("".join([f"{name} {moving(step, value):.10g} {step * STEP_S}\n" for step in steps]))
            out.write("# EOF\n")
        command = ("tsdb", "create-blocks-from", f"--max-block-duration={BLOCK_S}s", "openmetrics")
        subprocess.run(
            (need("promtool"), *command, text, folder / "tsdb"), check=True, capture_output=True, timeout=600
        )
        text.unlink()
        say(f"blocks: {max(0, END_S - start - BLOCK_S) // DAY_S} days left")
    return len(series)


def _series(text: str) -> Iterator[tuple[str, float, Moving]]:
    yield f"up{{{TARGET}}}", 1.0, _stands
    for line in text.splitlines():
        found = _LINE.match(line)
        if found:
            labels = ",".join(part for part in (found[2], TARGET) if part)
            yield f"{found[1]}{{{labels}}}", float(found[3]), _moving(found[1])


def _moving(name: str) -> Moving:
    if name.endswith(("_total", "_bucket", "_count", "_sum")):
        return lambda step, value: value * 10 + value * (step % 1_000_000)
    if name.endswith("_timestamp_seconds"):
        return lambda step, value: value + step * STEP_S - END_S
    if name == "ladder_seat_quota_used_ratio":
        return lambda step, value: (value + step / 60) % 1
    return _stands


def _stands(step: int, value: float) -> float:
    return value
