"""Caps: slots reserved at the worst that they can cost, charged to their day, and settled once each."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, insert, select, update

from decide.ledger import Row, RowKind
from decide.ports import Caps, CapSpent, Settlement, Slot
from decide.store.alive import Process, alive
from decide.store.moments import micros, moment
from decide.store.prepared import Prepared, contradiction
from decide.store.rows import Writing
from decide.store.tables import DAYS, RUNS, SLOTS


class SlotState(StrEnum):
    """What a slot's day is charged for it: its worst case while open or unsettled, its cost, or nothing."""

    OPEN = "open"
    SETTLED = "settled"
    UNSETTLED = "unsettled"
    RELEASED = "released"


_PASSES = {SlotState.OPEN: 1, SlotState.SETTLED: 1, SlotState.UNSETTLED: 1, SlotState.RELEASED: 0}

_DAY = Prepared(select(DAYS.c.passes, DAYS.c.micro_usd).where(DAYS.c.day == bindparam("on_day")))
_CHARGE = Prepared(
    update(DAYS)
    .where(DAYS.c.day == bindparam("on_day"))
    .values(passes=DAYS.c.passes + bindparam("more"), micro_usd=DAYS.c.micro_usd + bindparam("more_micro"))
)
_NEW_DAY = Prepared(insert(DAYS))
_RESERVE = Prepared(insert(SLOTS))
_SLOT = Prepared(select(SLOTS).where(SLOTS.c.call_id == bindparam("call")))
_CHANGE = Prepared(
    update(SLOTS)
    .where(SLOTS.c.call_id == bindparam("call"))
    .values(state=bindparam("to_state"), micro_usd=bindparam("to_micro"))
)
_OF_RUN = Prepared(select(SLOTS).where(SLOTS.c.run_id == bindparam("run"), SLOTS.c.state == SlotState.OPEN.value))
_ANY = select(SLOTS.c.call_id).where(SLOTS.c.run_id == bindparam("run")).limit(1)
_ABANDON = Prepared(
    update(SLOTS)
    .where(SLOTS.c.run_id == bindparam("run"), SLOTS.c.state == SlotState.OPEN.value)
    .values(state=SlotState.UNSETTLED.value)
)
_UNCLEAR = (
    select(SLOTS, RUNS.c.host, RUNS.c.pid, RUNS.c.started, RUNS.c.until_us)
    .join(RUNS, RUNS.c.run_id == SLOTS.c.run_id)
    .where(SLOTS.c.state.in_([SlotState.OPEN.value, SlotState.UNSETTLED.value]))
    .order_by(SLOTS.c.at_us, SLOTS.c.call_id)
)


class _Slot(NamedTuple):
    """A row of the table, its columns in their order."""

    call_id: str
    run_id: str
    day: str
    micro_usd: int
    state: str
    at_us: int


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A call that was reserved, and nobody knows what it cost, if anything: `day` is charged `micro_usd` for it."""

    call_id: str
    day: str
    micro_usd: int
    run_id: str
    since: datetime


def usage(connection: Connection, day: str) -> tuple[int, int]:
    """Passes and micro-dollars that a day is charged."""
    found = _DAY.run(connection, {"on_day": day}).fetchone()
    return (0, 0) if found is None else (found[0], found[1])


def room(slots: Sequence[Slot], caps: Caps, *, passes: int, micro: int) -> CapSpent | None:
    """The cap that has no room for the worst case of every slot on a day that is charged this much; None when all do.

    Raises ValueError for two slots of one id, and for an amount below 0.
    """
    if len({slot.call_id for slot in slots}) < len(slots) or any(slot.micro_usd < 0 for slot in slots):
        raise ValueError(f"slots need ids of their own and amounts of 0 or more: {slots!r}")
    if caps.passes_per_day is not None and passes + len(slots) > caps.passes_per_day:
        return CapSpent("passes", passes, caps.passes_per_day)
    more = sum(slot.micro_usd for slot in slots)
    if caps.micro_usd_per_day is not None and micro + more > caps.micro_usd_per_day:
        return CapSpent("usd", micro, caps.micro_usd_per_day)
    return None


def charge(connection: Connection, slots: Sequence[Slot], *, run_id: str, day: str, at: datetime) -> None:
    """Charge the day with the worst case of every slot; raises ValueError for a call id that was used before."""
    if not slots:
        return
    fields = {"run_id": run_id, "day": day, "state": SlotState.OPEN.value, "at_us": micros(at)}
    new = [{"call_id": slot.call_id, "micro_usd": slot.micro_usd, **fields} for slot in slots]
    try:
        _RESERVE.run_each(connection, new)
    except contradiction(connection) as error:
        raise _used(slots) from error
    _charge(connection, day, passes=len(slots), micro=sum(slot.micro_usd for slot in slots))


def check_repeated(connection: Connection, slots: Sequence[Slot], run_id: str) -> None:
    """Raise ValueError unless the run reserved all of these slots before."""
    owners = [_slot(connection, slot.call_id) for slot in slots]
    if any(owner is None or owner.run_id != run_id for owner in owners):
        raise _used(slots)


def _used(slots: Sequence[Slot]) -> ValueError:
    return ValueError(f"a call id was reserved before, by another run or without the others: {slots!r}")


def reserved_by(connection: Connection, run_id: str) -> bool:
    """Whether a run ever reserved a slot."""
    return connection.execute(_ANY, {"run": run_id}).first() is not None


def settle(
    connection: Connection, settlements: Sequence[Settlement], *, ending: str = ""
) -> list[tuple[Settlement, str]]:
    """Charge slots with what their calls cost; those that were not settled before come back, each with its run.

    A released slot whose call cost something after all is charged again, once: what was paid is never left out.
    What the run `ending` reserved and did not settle is released with it.
    """
    open_ = map(_Slot._make, _OF_RUN.run(connection, {"run": ending})) if ending else ()
    left = {slot.call_id: slot for slot in open_}
    slots: dict[str, tuple[Settlement, _Slot]] = {}
    for one in settlements:
        slot = left.pop(one.call_id, None) or _slot(connection, one.call_id)
        if slot is None or one.micro_usd < 0:
            raise ValueError(f"call id {one.call_id!r} was never reserved, or costs less than 0: {one.micro_usd}")
        if slot.state != SlotState.SETTLED and one.call_id not in slots:
            slots[one.call_id] = (one, slot)
    settled = [(slot, SlotState.SETTLED, one.micro_usd) for one, slot in slots.values()]
    _change(connection, [*settled, *((slot, SlotState.RELEASED, 0) for slot in left.values())])
    return [(one, slot.run_id) for one, slot in slots.values()]


def settle_by_evidence(
    writing: Writing, call_id: str, micro_usd: int, *, at: datetime, evidence: str, here: str
) -> None:
    """Charge a call that nobody settled with what evidence says that it cost, and record the evidence."""
    slot = next((one for one in writing.connection.execute(_UNCLEAR) if one.call_id == call_id), None)
    if slot is None or not _lost(slot, at=at, here=here):
        raise ValueError(f"call id {call_id!r} is not unsettled; `rungwatch ledger status` lists those that are")
    if micro_usd < 0 or not evidence.strip():
        raise ValueError("evidence is a text that is not empty, and an amount of 0 or more")
    _change(writing.connection, [(slot, SlotState.SETTLED, micro_usd)])
    told = {"evidence": evidence.strip(), "day": slot.day, "charged_before": slot.micro_usd, "run": slot.run_id}
    row = Row(RowKind.SETTLEMENT, at, call_id=call_id, micro_usd=micro_usd, body=json.dumps(told))
    writing.append([row])


def abandon(connection: Connection, run_id: str) -> None:
    """Mark what a run that is gone left open: it stays charged in full until evidence settles it."""
    _ABANDON.run(connection, {"run": run_id})


def unsettled(connection: Connection, *, at: datetime, here: str) -> tuple[Unsettled, ...]:
    """The calls of which nobody knows what they cost, the oldest first."""
    lost = [slot for slot in connection.execute(_UNCLEAR) if _lost(slot, at=at, here=here)]
    return tuple(Unsettled(s.call_id, s.day, s.micro_usd, s.run_id, moment(s.at_us)) for s in lost)


def _slot(connection: Connection, call_id: str) -> _Slot | None:
    found = _SLOT.run(connection, {"call": call_id}).fetchone()
    return None if found is None else _Slot._make(found)


def _lost(slot: Any, *, at: datetime, here: str) -> bool:
    if slot.state == SlotState.UNSETTLED:
        return True
    runs = alive(Process(slot.host, slot.pid, slot.started), here=here)
    return not runs if runs is not None else slot.until_us <= micros(at)


def _change(connection: Connection, changes: Sequence[tuple[Any, SlotState, int]]) -> None:
    """Give slots another state and charge, and their days the difference."""
    if not changes:
        return
    new = [{"call": slot.call_id, "to_state": state.value, "to_micro": micro} for slot, state, micro in changes]
    _CHANGE.run_each(connection, new)
    for day in dict.fromkeys(slot.day for slot, _, _ in changes):
        of_day = [change for change in changes if change[0].day == day]
        passes = sum(_PASSES[state] - _PASSES[SlotState(slot.state)] for slot, state, _ in of_day)
        micro = sum(micro - slot.micro_usd for slot, _, micro in of_day)
        if passes or micro:
            _charge(connection, day, passes=passes, micro=micro)


def _charge(connection: Connection, day: str, *, passes: int, micro: int) -> None:
    charged = _CHARGE.run(connection, {"on_day": day, "more": passes, "more_micro": micro})
    if charged.rowcount == 0:
        _NEW_DAY.run(connection, {"day": day, "passes": passes, "micro_usd": micro})
