"""Entries: a question waits for a person from the run that brings it until it is answered, and is closed once."""

from typing import Any

import pytest

from decide.handoff.entry import Answer, ClosedError, Entry, EntryState, Waiting, Why
from decide.handoff.ports import HandoffStore
from decide.ledger import RowKind
from decide.question import Consequence
from decide.store.audit import Verified
from decide.store.store import SqlStore
from tests.decide.store.handed import asking, later, ran, rows_of, told_of
from tests.decide.store.work import NOW, decided, opened

WALL = later(3600)


def port(store: SqlStore) -> HandoffStore:
    """The handoff as others know it."""
    return store.handoff


async def test_a_question_waits_with_all_that_a_list_needs(store: SqlStore) -> None:
    long = "Which of the two\nis it?  " + "x" * 300
    question = asking("q1", long, deadline=later(60), consequence=Consequence.IRREVERSIBLE)
    await ran(store, "r1", question, why=Why.NEEDS_HUMAN)
    (waits,) = await port(store).waiting()
    title = waits.title
    assert waits == Waiting(
        "receipt-r1", "q1", title, Why.NEEDS_HUMAN, Consequence.IRREVERSIBLE, later(60), NOW, "agent"
    )
    assert title.startswith("Which of the two is it? xxx")
    assert len(title) == 200
    assert await port(store).entry("receipt-r1") == Entry(
        "receipt-r1", question, Why.NEEDS_HUMAN, EntryState.OPEN, NOW
    )
    assert await told_of(store, RowKind.QUEUE) == [("entered", "needs_human")]


@pytest.mark.parametrize(
    ("second", "state", "why", "clears", "rows"),
    [
        pytest.param({}, EntryState.RESOLVED, Why.WALLED, WALL, ["resolved"], id="answered by the ladder"),
        pytest.param({"why": Why.WALLED, "retry_at": None}, EntryState.OPEN, Why.WALLED, None, [], id="walled anew"),
        pytest.param({"why": Why.NEEDS_HUMAN}, EntryState.OPEN, Why.NEEDS_HUMAN, None, [], id="declined now"),
        pytest.param({"outcome": "error"}, EntryState.OPEN, Why.WALLED, WALL, [], id="to be tried again"),
    ],
)
async def test_the_next_run_of_a_waiting_question(
    store: SqlStore, second: dict[str, Any], state: EntryState, why: Why, clears: object, rows: list[str]
) -> None:
    await ran(store, "r1", asking(), why=Why.WALLED, retry_at=WALL)
    await ran(store, "r2", asking(), at=later(90), **second)
    entry = await store.handoff.entry("q")
    assert (entry.id, entry.state, entry.why, entry.clears_at) == ("receipt-r1", state, why, clears)
    assert entry.entered_at == NOW
    told = await rows_of(store, RowKind.QUEUE)
    assert [row.result for row in told] == ["entered", *rows]
    if rows:
        assert told[-1].duration_us == 90_000_000
        assert entry.closed_at == later(90)
        assert await store.handoff.waiting() == ()
    assert isinstance(await store.verify(), Verified)


async def test_a_run_that_ends_well_or_may_be_tried_again_brings_nobody(store: SqlStore) -> None:
    await ran(store, "r1", asking("q1"))
    await ran(store, "r2", asking("q2"), outcome="error")
    await decided(store, "r3")
    assert await store.handoff.waiting() == ()
    assert await rows_of(store, RowKind.QUEUE) == []


async def test_a_cancelled_question_can_wait_again(store: SqlStore) -> None:
    await ran(store, "r1", asking(), why=Why.WALLED)
    await store.handoff.cancel("q", "Ada", "not now", later(5))
    await ran(store, "r2", asking(), why=Why.WALLED, at=later(10))
    assert [one.id for one in await store.handoff.waiting()] == ["receipt-r2"]
    assert (await store.handoff.entry("q")).id == "receipt-r2"
    with pytest.raises(ClosedError, match="entry receipt-r1 was cancelled by Ada; an entry is closed once"):
        await store.handoff.cancel("receipt-r1", "Ada", "", later(20))


async def test_entries_are_read_the_latest_first_and_page_by_page(store: SqlStore) -> None:
    for number in range(5):
        await ran(store, f"r{number}", asking(f"q{number}"), why=Why.NEEDS_HUMAN, at=later(number // 2))
    await store.handoff.cancel("q3", "Ada", "", later(9))
    first = [one.id for one in await store.handoff.entries(3)]
    assert first == ["receipt-r4", "receipt-r3", "receipt-r2"]
    assert [one.id for one in await store.handoff.entries(9, first[-1])] == ["receipt-r1", "receipt-r0"]
    assert [one.id for one in await store.handoff.waiting()] == [
        "receipt-r0",
        "receipt-r1",
        "receipt-r2",
        "receipt-r4",
    ]
    with pytest.raises(LookupError, match="there is no entry 'nothing'"):
        await store.handoff.entries(3, "nothing")


@pytest.mark.parametrize("meant", ["receipt-ab1", "receipt-ab", "q1"])
async def test_an_entry_is_named_by_its_id_enough_of_it_or_its_question(store: SqlStore, meant: str) -> None:
    await ran(store, "ab1", asking("q1"), why=Why.NEEDS_HUMAN)
    await ran(store, "c", asking("q2"), why=Why.NEEDS_HUMAN)
    assert (await store.handoff.entry(meant)).id == "receipt-ab1"


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("receipt-", "several entries begin with 'receipt-': receipt-c, receipt-ab1"),
        ("RECEIPT-AB", "there is no entry 'RECEIPT-AB'"),
        ("receipt_c", "there is no entry"),
        ("receipt-c\0", "there is no entry"),
        ("\udcff", "there is no entry"),
        ("%", "there is no entry"),
        ("", "there is no entry ''"),
    ],
)
async def test_what_names_no_entry_or_several_is_told(store: SqlStore, named: str, says: str) -> None:
    await ran(store, "ab1", asking("q1"), why=Why.NEEDS_HUMAN)
    await ran(store, "c", asking("q2"), why=Why.NEEDS_HUMAN, at=later(1))
    with pytest.raises(LookupError, match=says.replace("(", "\\(")):
        await store.handoff.entry(named)


async def test_what_waits_is_read_afresh_each_time(target: str, store: SqlStore) -> None:
    await ran(store, "r1", asking("q1"), why=Why.WALLED)
    first = await store.handoff.waiting()
    async with await opened(target) as other:
        await ran(other, "r2", asking("q2"), why=Why.ERROR, at=later(1))
        await ran(other, "r3", asking("q1"), why=Why.ERROR, at=later(2))
        await other.handoff.answer("q2", Answer("Ada", later(3), "typed", "keep"))
    (again,) = await store.handoff.waiting()
    assert (first[0].why, again.why) == (Why.WALLED, Why.ERROR)
    assert again.entered_at == NOW
    assert (await store.handoff.handoff_facts()).waiting == (again,)
