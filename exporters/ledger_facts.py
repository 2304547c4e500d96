"""Ledger facts: what the ledger says at a moment, as one immutable value that any thread may read."""

from dataclasses import dataclass, field
from datetime import timedelta

from decide.handoff.ports import HandoffFacts
from decide.question import LEAD
from exporters.fold import Counts


@dataclass(frozen=True, slots=True)
class CapFacts:
    """The day's caps, None where there is none, and what of them is used, None while not known."""

    passes_limit: int | None = None
    passes_used: int | None = None
    micro_usd_limit: int | None = None
    micro_usd_used: int | None = None


@dataclass(frozen=True, slots=True)
class LedgerFacts:
    """What is known of the ledger.

    `counts` is None until every row that was there at the start has been folded: a counter that starts at 0 and
    catches up would look like spending. It is None as well where another exporter of the fleet serves the counters;
    `rows`, and `lag_rows` that are not folded yet, are None then too. `gate_rows` are the policy's rows, each with
    its stage, which are counted from the start. `handoff` is what waited when that could last be read: None before it
    first could, and where another exporter serves it. How urgent that is depends on the moment and on `lead`.
    """

    readable: bool
    counts: Counts | None = None
    rows: int | None = None
    lag_rows: int | None = None
    caps: CapFacts = field(default_factory=CapFacts)
    gate_rows: tuple[tuple[str, str], ...] = ()
    handoff: HandoffFacts | None = None
    lead: timedelta = LEAD
