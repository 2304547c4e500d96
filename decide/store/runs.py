"""Runs: each step of one on the question, its slots and the ledger together, in the transaction that it is handed."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import bindparam, select

from decide.ports import CapSpent, Claim, Claimed, Ending, Ready, Reservation, Settlement
from decide.store import caps, onward, questions, receipts
from decide.store.alive import Process
from decide.store.prepared import Prepared
from decide.store.rows import Writing
from decide.store.tables import DAYS, QUESTIONS, SLOTS

# one statement: whoever races for a cap is held up by each of them, and by a journey each to another machine
_STANDS = Prepared(
    select(
        select(QUESTIONS.c.run_id).where(QUESTIONS.c.question_key == bindparam("key")).scalar_subquery(),
        select(SLOTS.c.run_id).where(SLOTS.c.call_id == bindparam("call")).scalar_subquery(),
        select(DAYS.c.passes).where(DAYS.c.day == bindparam("on_day")).scalar_subquery(),
        select(DAYS.c.micro_usd).where(DAYS.c.day == bindparam("on_day")).scalar_subquery(),
    )
)
"""Who holds a question, who reserved a call, and what a day is charged."""


def claim(writing: Writing, wanted: Claim, *, me: Process) -> Claimed:
    """The question for this run, or why it is not to be asked; what the claim brings is reserved on a new one."""
    claimed = questions.claim(writing.connection, wanted, me=me)
    if wanted.first is None or not isinstance(claimed, Ready) or claimed.snapshot is not None:
        return claimed
    spent = reserve(writing, wanted.first)
    return replace(claimed, reserved=spent is None, spent=spent)


def withdraw(writing: Writing, run_id: str) -> None:
    """Take back a claim that nobody knows of, and what was reserved with it: no call was made."""
    caps.settle(writing.connection, (), ending=run_id)
    questions.withdraw(writing.connection, run_id)


def reserve(writing: Writing, wanted: Reservation) -> CapSpent | None:
    """Reserve every slot or none; one that was made before stays as it is, so that a lost answer can be asked for."""
    first = wanted.slots[0].call_id if wanted.slots else ""
    stands = {"key": wanted.question_key, "call": first, "on_day": wanted.day}
    holder, owner, passes, micro = _STANDS.run(writing.connection, stands).fetchone()
    if holder != wanted.run_id:
        raise questions.not_held(writing.connection, wanted.run_id, wanted.question_key)
    if owner is not None:
        caps.check_repeated(writing.connection, wanted.slots, wanted.run_id)
        return None
    spent = caps.room(wanted.slots, wanted.caps, passes=passes or 0, micro=micro or 0)
    if spent is not None:
        return spent
    caps.charge(writing.connection, wanted.slots, run_id=wanted.run_id, day=wanted.day, at=wanted.at)
    questions.asked(writing.connection, wanted)
    writing.append(wanted.rows)
    return None


def settle(writing: Writing, settlements: Sequence[Settlement]) -> None:
    """Charge each slot once, append the rows of those that were charged now, and keep what stands."""
    new = caps.settle(writing.connection, settlements)
    questions.keep(writing.connection, new, after=writing.head.seq)
    writing.append(one.row for one, _ in new)


def end(writing: Writing, ending: Ending) -> None:
    """Settle the last calls, give back slots and question, keep the receipt, append the rows; a run ends once."""
    run = questions.run_of(writing.connection, ending.run_id, ending.question_key)
    if run.ended_us is not None:
        return
    new = caps.settle(writing.connection, ending.settlements, ending=ending.run_id)
    if not ending.closed:  # a closed question is never resumed, so that nothing of it has to stand
        questions.keep(writing.connection, new, after=writing.head.seq)
    receipts.keep(writing.connection, ending)
    if not run.snapshot:
        questions.asked(writing.connection, ending)
    questions.end(writing.connection, ending)
    writing.append([*(one.row for one, _ in new), *ending.rows, *onward.ended(writing.connection, ending)])
