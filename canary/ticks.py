"""Ticks: the latest ticks of a running daemon, a line each."""

from canary.memory import Memory
from canary.tick import Ticked
from exporters.console.desk import TickLine

KEPT = 200
"""How many ticks are remembered."""


def tick_line(before: Memory, done: Ticked) -> TickLine:
    """A tick in one line: reads that were held back to keep the budget are none."""
    new = {key: n - before.counters.reads.get(key, 0) for key, n in done.memory.counters.reads.items()}
    made = {key.rpartition(" ")[2]: 0 for key in new}
    for key, count in new.items():
        made[key.rpartition(" ")[2]] += count
    reads = sum(count for result, count in made.items() if result != "held")
    state = done.state
    return TickLine(
        state.at, state.duration_s, done.result.value, state.state.value, reads, reads - made.get("ok", 0)
    )
