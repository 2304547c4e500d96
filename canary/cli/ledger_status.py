"""Ledger status: what today is charged, which calls nobody settled, and what would hold a question now."""

import sys
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from canary.cli.rehearsal import worst_case
from canary.cli.telling import Fact, Weight
from canary.cli.wording import Reader, distance
from canary.policy import levels_of
from decide.day import day_of, rolls_at
from decide.fault import StoreError, StoreFault
from decide.money import dollars

if TYPE_CHECKING:
    from canary.cli.store import Opened
    from canary.config import Config
    from decide.store.store import SqlStore

Document = dict[str, Any]
BY_LEDGER = frozenset(fault.value for fault in StoreFault)
"""The kinds of hold that a person has to clear."""


async def document(opened: "Opened", now: datetime) -> Document:
    """The status as JSON values; a ledger that is not there yet is an empty one."""
    caps, store = opened.config.caps, opened.store
    day = day_of(now, caps.zone)
    rows = 0 if store is None else await store.last_seq()
    passes, micro = (0, 0) if store is None else await store.day_usage(day)
    lost = () if store is None else await store.unsettled(now)
    by_ledger = [] if store is None else await _probed(store, now)
    return {
        "ledger": opened.label,
        "there": store is not None,
        "rows": rows,
        "day": day,
        "zone": caps.zone,
        "rolls_at": rolls_at(now, caps.zone).isoformat(),
        "passes": {"used": passes, "limit": caps.passes_per_day},
        "usd": {
            "used": dollars(micro),
            "limit": None if caps.usd_per_day is None else dollars(caps.usd_per_day),
        },
        "unsettled": [
            {
                "call_id": one.call_id,
                "day": one.day,
                "charged_usd": dollars(one.micro_usd),
                "run": one.run_id,
                "since": one.since.isoformat(),
            }
            for one in lost
        ],
        "holds": [*by_ledger, *_spent(opened.config, passes, micro)],
    }


async def _probed(store: "SqlStore", now: datetime) -> list[Document]:
    """The ledger's own hold, where there is one."""
    try:
        await store.probe(now)
    except StoreError as error:
        return [{"kind": error.fault.value, "text": str(error)}]
    return []


def _spent(config: "Config", passes: int, micro: int) -> Iterator[Document]:
    """The caps that have no room for the worst case of one more question at the configured level."""
    caps, level, (primary, second) = config.caps, levels_of(config)[config.decide.level], config.in_order()
    calls, worst = worst_case(level, primary.max_usd_per_pass, second.max_usd_per_pass)
    if caps.passes_per_day is not None and passes + calls > caps.passes_per_day:
        yield {"kind": "passes_per_day", "text": f"a question at level {level.name} reserves {calls} calls"}
    if caps.usd_per_day is not None and micro + worst > caps.usd_per_day:
        yield {"kind": "usd_per_day", "text": f"a question at level {level.name} reserves {dollars(worst)} USD"}


def show(found: Document, now: datetime) -> None:
    """Print the status."""
    from canary.cli.sheet import Sheet

    sheet, reader = Sheet(sys.stdout), Reader(now)
    sheet.facts(_facts(found, reader))
    if found["unsettled"]:
        sheet.title("unsettled: charged at their worst case until `rungwatch ledger settle` says what they cost")
        rows = [
            (one["call_id"], one["day"], f"{one['charged_usd']} USD", distance(one["since"], reader))
            for one in found["unsettled"]
        ]
        sheet.rows(("CALL", "DAY", "CHARGED", "SINCE"), rows)


def _facts(found: Document, reader: Reader) -> Iterator[Fact]:
    there = "" if found["there"] else "; not there yet: `rungwatch ask` makes it"
    yield Fact("ledger", found["ledger"] + there)
    yield Fact("rows", str(found["rows"]))
    yield Fact("day", f"{found['day']} ({found['zone']}), rolls {distance(found['rolls_at'], reader)}")
    yield Fact("calls", _used(str(found["passes"]["used"]), found["passes"]["limit"], ""))
    yield Fact("cost", _used(found["usd"]["used"], found["usd"]["limit"], " USD"))
    yield Fact("unsettled", str(len(found["unsettled"])))
    for hold in found["holds"]:
        yield Fact("hold", f"{hold['kind']}: {hold['text']}", Weight.BAD)
    if not found["holds"]:
        yield Fact("hold", "none")


def _used(used: str, limit: str | int | None, unit: str) -> str:
    return f"{used}{unit}, no cap" if limit is None else f"{used} of {limit}{unit}"
