"""Ledger cost: what the levels of a ledger cost, read with a bar where a person waits for it."""

import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from canary.capacity.cost import LevelCost, level_costs
from canary.capacity.history import Decision, Rows, decisions
from canary.cli.main import UsageFault
from exporters.moment import iso

if TYPE_CHECKING:
    from canary.cli.store import Opened
    from decide.store.store import SqlStore


async def costs(opened: "Opened", since: datetime, levels: Sequence[str]) -> tuple[str, tuple[LevelCost, ...]]:
    """The ledger's name and the costs of those levels, of all when none is named.

    Raises UsageFault where the ledger tells of none.
    """
    if opened.store is None:
        raise UsageFault(f"there is no history: {opened.label} is not there yet; ask something first")
    found = level_costs(await _decisions(opened.store, since))
    chosen = tuple(each for each in found if not levels or each.level in levels)
    if not chosen:
        at = f" at level {' or '.join(levels)}" if levels else ""
        raise UsageFault(f"{opened.label} holds no decision{at} since {iso(since)}; give a longer --since")
    return opened.label, chosen


async def _decisions(store: "SqlStore", since: datetime) -> tuple[Decision, ...]:
    if not sys.stderr.isatty():
        return await decisions(store, since=since)
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading the ledger", total=await store.last_seq())
        told = _Told(store, lambda row: bar.update(task, completed=row))
        return await decisions(told, since=since)


class _Told:
    """Rows that tell up to which one they were read."""

    def __init__(self, rows: Rows, told: Callable[[int], None]) -> None:
        self._rows, self._told = rows, told

    async def columns_after(self, seq: int, limit: int, columns: Sequence[str]) -> Sequence[tuple[Any, ...]]:
        """The rows, once it is told where they begin."""
        self._told(seq)
        return await self._rows.columns_after(seq, limit, columns)
