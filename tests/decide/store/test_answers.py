"""Answers: a person's word closes an entry and its question once, whatever else is going on."""

import asyncio
from typing import Any

import pytest

from decide.fault import StoreError
from decide.handoff.entry import ClosedError, EntryState, HandoffError, Why
from decide.handoff.inbox import ItemState
from decide.handoff.ports import Hold
from decide.ledger import RowKind
from decide.ports import Decided, Ready
from decide.store.audit import Broken, Verified
from decide.store.store import SqlStore
from tests.decide.store.handed import acting, asking, body, later, raising, ran, rows_of, saying, told_of
from tests.decide.store.work import NOW, claiming, opened, reserving, sql

PERSON = {"name": "Ada Berg", "option": "stop", "text": None, "at": NOW.isoformat(), "surface": "typed"}


def holding(run: str = "h1", key: str = "q", **more: Any) -> Hold:
    """A question that a broken ledger held."""
    receipt = {"outcome": "held", "exit_code": 4, "run": run, "person": None}
    return Hold(f"receipt-{run}", receipt, asking(key, **more), NOW)


async def waiting_item(store: SqlStore) -> None:
    """A raised question that waits for a person."""
    await store.handoff.raise_question(raising(asking()))
    await ran(store, "r1", asking(), why=Why.WALLED)


async def test_an_answer_closes_entry_question_and_item_and_lands_on_the_receipt(store: SqlStore) -> None:
    await waiting_item(store)
    closed = await store.handoff.answer("receipt-r1", saying(at=later(30)), acting("answer-receipt-r1"))
    assert (closed.state, closed.closed_by, closed.closed_at) == (EntryState.ANSWERED, "Ada Berg", later(30))
    assert closed.answer == saying(at=later(30))
    assert await store.handoff.entry("q") == closed
    person = PERSON | {"at": later(30).isoformat()}
    assert (await store.receipt("receipt-r1"))["person"] == person
    again = await store.claim(claiming("r9", digest=asking().digest))
    assert isinstance(again, Decided)
    assert again.receipt["person"] == person
    assert (await store.handoff.item("item-1")).state is ItemState.DONE
    assert [act.id for act in await store.handoff.due_acts()] == ["answer-receipt-r1"]
    entered, answered = await rows_of(store, RowKind.QUEUE)
    assert (entered.result, answered.result, answered.stage) == ("entered", "answered", "walled")
    assert (answered.duration_us, answered.receipt, body(answered)) == (
        30_000_000,
        "receipt-r1",
        {"person": "Ada Berg"},
    )
    assert isinstance(await store.verify(), Verified)


async def test_an_answer_is_on_every_receipt_since_its_entry_came(store: SqlStore) -> None:
    await ran(store, "r0", asking(), outcome="error")
    await ran(store, "r1", asking(), why=Why.WALLED)
    await ran(store, "r2", asking(), why=Why.WALLED, at=later(9))
    await store.handoff.answer("q", saying("", text="neither: wait\nfor Bo"))
    persons = [(await store.receipt(f"receipt-r{n}"))["person"] for n in range(3)]
    assert persons == [None, *[PERSON | {"option": None, "text": "neither: wait\nfor Bo"}] * 2]
    assert (await store.handoff.standing("q")).receipt is not None


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("answer", "was answered by Ada Berg"),
        ("cancel", "was cancelled by Ada Berg"),
        ("resolve", "was resolved by the ladder itself"),
    ],
)
async def test_a_closed_entry_stays_as_it_is(store: SqlStore, how: str, says: str) -> None:
    await ran(store, "r1", asking(), why=Why.WALLED)
    if how == "answer":
        await store.handoff.answer("q", saying())
    elif how == "cancel":
        await store.handoff.cancel("q", " Ada Berg ", "never\0 mind", NOW)
    else:
        await ran(store, "r2", asking())
    before = sql_state(await store.handoff.entry("q"), await store.last_seq())
    for act in (store.handoff.answer("receipt-r1", saying("keep", "Bo")), store.handoff.cancel("q", "Bo", "", NOW)):
        with pytest.raises(ClosedError, match=f"entry receipt-r1 {says}; an entry is closed once") as caught:
            await act
        assert caught.value.entry == await store.handoff.entry("receipt-r1")
    assert sql_state(await store.handoff.entry("q"), await store.last_seq()) == before


def sql_state(*what: object) -> tuple[object, ...]:
    """What has to be the same afterwards."""
    return what


async def test_a_cancelled_entry_says_who_and_why(store: SqlStore) -> None:
    await waiting_item(store)
    closed = await store.handoff.cancel("q", " Ada Berg ", "never\0 mind", later(8))
    assert (closed.state, closed.closed_by, closed.note) == (EntryState.CANCELLED, "Ada Berg", "never\ufffd mind")
    assert closed == await store.handoff.entry("q")
    assert (await store.handoff.item("q")).state is ItemState.DONE
    assert (await store.receipt("receipt-r1"))["person"] is None
    assert await told_of(store, RowKind.QUEUE) == [("entered", "walled"), ("cancelled", "walled")]


@pytest.mark.parametrize(("person", "note"), [("", "x"), ("Ada\nBerg", "x"), ("x" * 129, "x"), ("Ada", "x" * 10_001)])
async def test_nobody_cancels_without_a_name_or_with_a_book(store: SqlStore, person: str, note: str) -> None:
    await ran(store, "r1", asking(), why=Why.WALLED)
    with pytest.raises(HandoffError, match=r"person: must be|note: at most 10000"):
        await store.handoff.cancel("q", person, note, NOW)
    assert (await store.handoff.entry("q")).state is EntryState.OPEN


async def test_of_two_people_who_answer_at_once_one_does(target: str, store: SqlStore) -> None:
    await ran(store, "r1", asking(), why=Why.WALLED)
    async with await opened(target) as other:
        people = [(one, f"P{n}") for n, one in enumerate((store, other) * 4)]
        answers = [one.handoff.answer("q", saying("keep", name)) for one, name in people]
        done = await asyncio.gather(*answers, return_exceptions=True)
    won = [one for one in done if not isinstance(one, BaseException)]
    lost = [one for one in done if isinstance(one, ClosedError)]
    assert (len(won), len(lost)) == (1, 7)
    assert {one.entry.closed_by for one in lost} == {won[0].closed_by}
    assert (await store.receipt("receipt-r1"))["person"]["name"] == won[0].closed_by
    assert [result for result, _ in await told_of(store, RowKind.QUEUE)] == ["entered", "answered"]


@pytest.mark.parametrize("outcome", ["agreed", "walled", "error"])
async def test_a_run_that_was_out_changes_nothing_of_what_a_person_answered(store: SqlStore, outcome: str) -> None:
    await waiting_item(store)
    assert isinstance(await store.claim(claiming("r2", digest=asking().digest)), Ready)
    await store.handoff.answer("q", saying("keep"))
    entry, item = await store.handoff.entry("q"), await store.handoff.item("q")
    why = Why.WALLED if outcome == "walled" else None
    await ran(store, "r2", asking(), outcome=outcome, why=why, at=later(5), claimed=True, act=acting("receipt-r2"))
    assert (await store.handoff.entry("q"), await store.handoff.item("q")) == (entry, item)
    assert await store.handoff.waiting() == ()
    assert (await store.receipt("receipt-r2"))["person"]["option"] == "keep"
    with pytest.raises(LookupError):
        await store.handoff.act("receipt-r2")
    standing = await store.handoff.standing("receipt-r2")
    assert standing.receipt is not None
    assert standing.receipt["run"] == "r1"


async def test_a_run_that_was_out_brings_no_cancelled_question_back(store: SqlStore) -> None:
    await waiting_item(store)
    assert isinstance(await store.claim(claiming("r2", digest=asking().digest, at=later(1))), Ready)
    await store.handoff.cancel("q", "Ada", "not needed", later(2))
    await ran(store, "r2", asking(), why=Why.NEEDS_HUMAN, at=later(3), claimed=True)
    assert await store.handoff.waiting() == ()
    assert (await store.handoff.item("q")).state is ItemState.DONE


async def test_an_answer_outlives_the_run_that_had_claimed_and_not_begun(store: SqlStore) -> None:
    await store.handoff.hold(holding())
    assert isinstance(await store.claim(claiming("r1", digest=asking().digest)), Ready)
    await store.handoff.answer("q", saying())
    await store.release("r1")
    assert isinstance(await store.claim(claiming("r2", digest=asking().digest)), Decided)


async def test_a_held_question_waits_with_its_receipt_once(store: SqlStore) -> None:
    for _ in range(2):
        await store.hold(holding())
    await store.handoff.hold(holding("h2"))
    (waits,) = await store.handoff.waiting()
    assert (waits.id, waits.why) == ("receipt-h1", Why.HELD)
    assert await told_of(store, RowKind.QUEUE) == [("entered", "held")]
    assert {line.receipt_id for line in await store.receipts(9)} == {"receipt-h1", "receipt-h2"}
    await ran(store, "r1", asking(), at=later(5))
    assert (await store.handoff.entry("q")).state is EntryState.RESOLVED


async def test_a_hold_leaves_a_question_that_waits_already_as_it_waits(store: SqlStore) -> None:
    await ran(store, "r1", asking(), why=Why.WALLED)
    before = await store.handoff.entry("q")
    await store.hold(holding())
    assert await store.handoff.entry("q") == before
    assert (await store.receipt("receipt-h1"))["outcome"] == "held"


async def test_a_person_can_answer_while_the_ledger_is_broken(target: str, store: SqlStore) -> None:
    await ran(store, "r1", asking("other"))
    sql(target, "UPDATE ledger SET body = 'x' WHERE seq = 1", guarded=False)
    with pytest.raises(StoreError, match="is broken"):
        await store.claim(claiming("r2", digest=asking().digest))
    await store.hold(holding())
    await store.handoff.answer("q", saying())
    assert (await store.receipt("receipt-h1"))["person"] == PERSON
    found = await store.verify()
    assert isinstance(found, Broken)
    await store.accept("Ada Berg", "looked at", at=NOW)
    assert isinstance(await store.verify(), Verified)
    again = await store.claim(claiming("r3", digest=asking().digest))
    assert isinstance(again, Decided)
    assert again.receipt["person"] == PERSON


async def test_a_hold_brings_back_nothing_that_is_decided(store: SqlStore) -> None:
    await ran(store, "r1", asking("q1"))
    await ran(store, "r2", asking("q2"), why=Why.WALLED)
    await store.handoff.answer("q2", saying())
    for key in ("q1", "q2"):
        await store.hold(holding(f"h-{key}", key))
    assert await store.handoff.waiting() == ()
    assert (await store.receipt("receipt-h-q1"))["person"] is None
    assert (await store.receipt("receipt-h-q2"))["person"] == PERSON


async def test_an_answer_closes_no_other_question_of_its_id(store: SqlStore) -> None:
    await store.claim(claiming("r1", digest=asking().digest))
    await store.reserve(reserving("r1", "c1", key="q"))
    await store.handoff.hold(holding(text="Another text under that id?"))
    await store.handoff.answer("receipt-h1", saying())
    assert sql_state(*[line.receipt_id for line in await store.receipts(9)]) == ("receipt-h1",)
    await ran(store, "r1", asking(), claimed=True, at=later(1))
    again = await store.claim(claiming("r2", digest=asking().digest))
    assert isinstance(again, Decided)
    assert again.receipt["run"] == "r1"
