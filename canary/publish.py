"""View of the canary for the ways out: what is remembered and configured, as one value."""

from datetime import datetime
from typing import TYPE_CHECKING

from canary.budget import recent
from canary.memory import Memory
from canary.plan import Plan
from canary.sources.table import SOURCES
from canary.version import VERSION
from exporters.view import CanaryFacts, RungName, View

if TYPE_CHECKING:  # a command that shows no metric does without the fold
    from exporters.ledger_facts import LedgerFacts


def view_of(
    plan: Plan,
    memory: Memory,
    now: datetime,
    *,
    reload_ok: bool = True,
    caption: str = "",
    ledger: "LedgerFacts | None" = None,
) -> View:
    """The present as the ways out may show it."""
    counters = memory.counters
    reads = {(source, result): count for key, count in counters.reads.items() for source, result in [key.split(" ")]}
    budget = plan.limits.reads_per_hour
    polls = {
        (rung, seat): len(recent(kept.polls, now)) / budget
        for key, kept in memory.seats.items()
        for rung, _, seat in [key.partition("/")]
    }
    return View(
        rungs=tuple(RungName(rung.name, rung.role) for rung in plan.rungs),
        sources=tuple(SOURCES),
        state=memory.state,
        canary=CanaryFacts(
            ticks=counters.ticks,
            missed_ticks=counters.missed,
            last_tick_at=memory.last_tick_at,
            last_success_at=memory.last_success_at,
            tick_duration_s=memory.state.duration_s if memory.state else None,
            reads=reads,
            poll_used=polls,
            skew_s=memory.state.skew_s if memory.state else None,
            reload_ok=reload_ok,
        ),
        stale_after=plan.limits.stale_after,
        interval=plan.interval,
        version=VERSION,
        caption=caption,
        ledger=ledger,
        forecasts=memory.forecasts,
    )
