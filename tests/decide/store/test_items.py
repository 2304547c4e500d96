"""Items: a raised question is asked by one process at a time, and its raiser hears what becomes of it."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decide.handoff.entry import HandoffError, Why
from decide.handoff.inbox import Item, ItemState, order
from decide.ledger import RowKind
from decide.ports import Conflict
from decide.store.audit import Verified
from decide.store.store import SqlStore
from tests.decide.store.handed import asking, later, raising, ran, saying, told_of
from tests.decide.store.work import NOW, OTHER_SNAPSHOT, SNAPSHOT, claiming, dead_pid, opened

LEASE = timedelta(minutes=30)
GONE = dead_pid()


async def ids(store: SqlStore, at: float = 0, most: int = 9) -> list[str]:
    """The items that this process takes now."""
    return [one.item.id for one in await store.handoff.take(later(at), most, LEASE)]


async def test_a_raised_question_waits_and_is_raised_once(store: SqlStore) -> None:
    item = await store.handoff.raise_question(raising(asking()))
    assert item == Item("item-1", asking(), ItemState.WAITING, NOW, NOW, "chat", "ada")
    again = await store.handoff.raise_question(raising(asking(raised_by="another"), "item-2", at=later(5)))
    assert again == item
    assert (
        await store.handoff.item("item-1") == await store.handoff.item("q") == await store.handoff.item("ite") == item
    )
    assert await told_of(store, RowKind.INBOX) == [("raised", "chat")]
    with pytest.raises(LookupError, match="there is no item 'item-2'"):
        await store.handoff.item("item-2")


@pytest.mark.parametrize("by", ["raise", "ask", "hold"])
async def test_an_id_of_another_question_is_refused(store: SqlStore, by: str) -> None:
    other = asking(text="Something else?")
    if by == "raise":
        await store.handoff.raise_question(raising(other))
    else:
        await ran(store, "r1", other, why=Why.WALLED if by == "hold" else None)
    before = await store.last_seq()
    with pytest.raises(HandoffError, match="id: 'q' was used for another question"):
        await store.handoff.raise_question(raising(asking(), "item-2"))
    assert await store.last_seq() == before
    assert isinstance(await store.claim(claiming("r9", digest=asking().digest)), Conflict) or by == "raise"


async def test_an_item_id_is_used_once(store: SqlStore) -> None:
    await store.handoff.raise_question(raising(asking()))
    with pytest.raises(ValueError, match="item id 'item-1' was used before"):
        await store.handoff.raise_question(raising(asking("q2")))


@pytest.mark.parametrize(
    ("outcome", "why", "answered", "state", "mark"),
    [
        pytest.param("agreed", None, False, ItemState.DONE, "receipt-r1", id="decided"),
        pytest.param("needs_human", Why.NEEDS_HUMAN, False, ItemState.QUEUED, "receipt-r1", id="before a person"),
        pytest.param("walled", Why.WALLED, False, ItemState.QUEUED, "receipt-r1", id="walled"),
        pytest.param("walled", Why.WALLED, True, ItemState.DONE, "receipt-r1:answer", id="answered by a person"),
        pytest.param("error", None, False, ItemState.WAITING, None, id="asked, and to be asked again"),
    ],
)
async def test_a_question_that_is_known_is_raised_where_it_stands(
    store: SqlStore, outcome: str, why: Why | None, answered: bool, state: ItemState, mark: str | None
) -> None:
    await ran(store, "r1", asking(), outcome=outcome, why=why)
    if answered:
        await store.handoff.answer("q", saying())
    item = await store.handoff.raise_question(raising(asking()))
    assert item.state is state
    assert await store.handoff.item("q") == item
    assert [one.mark for one in await store.handoff.news(NOW, 9, ["agent"])] == ([mark] if mark else [])
    assert await ids(store) == (["item-1"] if state is ItemState.WAITING else [])


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.none() | st.integers(-50, 50), st.integers(0, 3)), min_size=1, max_size=6),
    st.integers(1, 6),
)
def test_items_are_taken_in_the_order_of_the_inbox(
    tmp_path_factory: pytest.TempPathFactory, moments: list[tuple[int | None, int]], most: int
) -> None:
    async def taken() -> None:
        path = tmp_path_factory.mktemp("order") / "store.db"
        async with await opened(str(path)) as store:
            items = []
            for number, (deadline, at) in enumerate(moments):
                question = asking(f"q{number}", deadline=None if deadline is None else later(deadline))
                raised = raising(question, f"item-{number}", at=later(at))
                items.append(await store.handoff.raise_question(raised))
            items.sort(key=lambda one: (*order(one.question.deadline, one.raised_at), one.id))
            assert await ids(store, 9, most) == [one.id for one in items[:most]]

    asyncio.run(taken())


async def test_what_is_taken_comes_with_its_evidence_and_a_lease(store: SqlStore) -> None:
    await store.handoff.raise_question(raising(asking()))
    (taken,) = await store.handoff.take(NOW, 9, LEASE)
    assert taken.snapshot == SNAPSHOT
    assert taken.item == replace(await store.handoff.item("q"), state=ItemState.RUNNING)
    assert await ids(store, 7200) == []


@pytest.mark.parametrize(
    ("host", "pid", "at", "taken"),
    [
        pytest.param("here", GONE, 1, True, id="its process is gone"),
        pytest.param("here", 1, 1, False, id="its process works"),
        pytest.param("here", 1, 1799, False, id="its process works and its lease lasts"),
        pytest.param("here", 1, 1800, True, id="its process works and its lease ended"),
        pytest.param("there", GONE, 1799, False, id="another host's lease lasts"),
        pytest.param("there", GONE, 1800, True, id="another host's lease ended"),
    ],
)
async def test_an_item_that_another_process_took(
    target: str, store: SqlStore, host: str, pid: int, at: float, taken: bool
) -> None:
    await store.handoff.raise_question(raising(asking()))
    async with await opened(target, host=host, pid=pid) as other:
        assert await ids(other) == ["item-1"]
    assert await ids(store, at) == (["item-1"] if taken else [])


async def test_what_a_dead_process_left_is_taken_in_its_turn(target: str, store: SqlStore) -> None:
    await store.handoff.raise_question(raising(asking("q1"), "left"))
    async with await opened(target, pid=GONE) as other:
        assert await ids(other) == ["left"]
    await store.handoff.raise_question(raising(asking("q2"), "later", at=later(1)))
    await store.handoff.raise_question(raising(asking("q3", deadline=later(60)), "pressing", at=later(2)))
    assert await ids(store, 9, most=1) == ["pressing"]
    assert await ids(store, 9) == ["left", "later"]


async def test_many_who_take_at_once_take_each_item_once(target: str, store: SqlStore) -> None:
    for number in range(12):
        await store.handoff.raise_question(raising(asking(f"q{number}"), f"item-{number}"))
    others = [await opened(target, host=f"host{n}") for n in range(4)]
    rounds = await asyncio.gather(*(ids(one, most=1) for one in others * 4))
    for one in others:
        await one.close()
    assert sorted(item for taken in rounds for item in taken) == sorted(f"item-{n}" for n in range(12))


async def test_what_is_put_back_is_due_when_it_was_said(target: str, store: SqlStore) -> None:
    await store.handoff.raise_question(raising(asking()))
    await ids(store)
    async with await opened(target, host="there") as other:
        await other.handoff.put_back("item-1", NOW)
    assert (await store.handoff.item("q")).state is ItemState.RUNNING
    await store.handoff.put_back("item-1", later(60))
    item = await store.handoff.item("q")
    assert (item.state, item.due_at) == (ItemState.RETRYING, later(60))
    assert await ids(store, 59) == []
    assert await ids(store, 60) == ["item-1"]


@pytest.mark.parametrize(
    ("end", "state", "due", "marks"),
    [
        ({}, ItemState.DONE, 0, ["receipt-r1"]),
        ({"why": Why.WALLED}, ItemState.QUEUED, 0, ["receipt-r1"]),
        ({"outcome": "error", "item": (ItemState.RETRYING, later(70))}, ItemState.RETRYING, 70, []),
        ({"outcome": "cancelled", "item": (ItemState.WAITING, NOW)}, ItemState.WAITING, 0, []),
    ],
)
async def test_the_end_of_a_run_moves_its_item(
    store: SqlStore, end: dict[str, Any], state: ItemState, due: float, marks: list[str]
) -> None:
    await store.handoff.raise_question(raising(asking()))
    await ids(store)
    await ran(store, "r1", asking(), **end)
    item = await store.handoff.item("q")
    assert (item.state, item.due_at, item.receipt_id) == (state, later(due), "receipt-r1")
    assert [one.mark for one in await store.handoff.news(NOW, 9, ["agent"])] == marks
    pending = state in (ItemState.RETRYING, ItemState.WAITING)
    assert await ids(store, due) == (["item-1"] if pending else [])
    assert await ids(store, due - 1) == []


async def test_an_item_that_is_done_stays_done(store: SqlStore) -> None:
    await store.handoff.raise_question(raising(asking()))
    await ran(store, "r1", asking(), why=Why.WALLED)
    await store.handoff.cancel("q", "Ada", "", NOW)
    done = await store.handoff.item("q")
    await ran(store, "r2", asking(), why=Why.WALLED, at=later(5))
    assert await store.handoff.item("q") == done


@pytest.mark.parametrize(
    ("clears", "whole", "at", "asked"),
    [
        (3600, False, 3600, 1),
        (3600, True, 3599, 0),
        (None, True, 1, 1),
        (None, False, 9_999_999, 0),
    ],
)
@pytest.mark.parametrize("raised", [True, False], ids=["raised", "asked on a command line"])
async def test_a_walled_question_is_asked_once_more(
    store: SqlStore, clears: float | None, whole: bool, at: float, asked: int, raised: bool
) -> None:
    if raised:
        await store.handoff.raise_question(raising(asking()))
    await ran(store, "r1", asking(), why=Why.WALLED, retry_at=None if clears is None else later(clears))
    await ran(store, "r2", asking("other"), why=Why.NEEDS_HUMAN)
    assert await store.handoff.ask_cleared(later(at), whole=whole) == asked
    taken = await store.handoff.take(later(at), 9, LEASE)
    assert [one.item.id for one in taken] == (["item-1" if raised else "receipt-r1"] if asked else [])
    assert (await store.handoff.entry("q")).asked_again is bool(asked)
    if asked:
        surface, requester = ("chat", "ada") if raised else ("typed", "agent")
        assert (taken[0].item.surface, taken[0].item.requester, taken[0].snapshot) == (surface, requester, SNAPSHOT)
        await ran(store, "r3", asking(), why=Why.WALLED, retry_at=later(at), at=later(at))
        assert await store.handoff.ask_cleared(later(at + 9), whole=True) == 0
        assert (await store.handoff.item("q")).state is ItemState.QUEUED
    assert isinstance(await store.verify(), Verified)


async def test_evidence_of_what_is_still_to_be_asked_is_not_purged(store: SqlStore) -> None:
    await store.handoff.raise_question(raising(asking(), snapshot=OTHER_SNAPSHOT))
    await ran(store, "r1", asking("other"), why=Why.WALLED)
    assert await store.purge_evidence(later(9_999)) == 0
    (taken,) = await store.handoff.take(NOW, 9, LEASE)
    assert taken.snapshot == OTHER_SNAPSHOT
    await ran(store, "r2", asking())
    await store.handoff.cancel("other", "Ada", "", NOW)
    assert await store.purge_evidence(later(9_999)) == 2


@pytest.mark.parametrize("named", ["item-1", "receipt-r1", "receipt-r2", "q", "ite", "receipt-r"])
async def test_where_a_question_stands_by_whatever_names_it(store: SqlStore, named: str) -> None:
    await store.handoff.raise_question(raising(asking()))
    await ran(store, "r1", asking(), outcome="error")
    await ran(store, "r2", asking(), why=Why.WALLED, at=later(1))
    found = await store.handoff.standing(named)
    assert found.item == await store.handoff.item("q")
    assert found.entry == await store.handoff.entry("q")
    assert found.receipt == await store.receipt("receipt-r2")


@pytest.mark.parametrize("named", ["receipt-", "nothing", "", "receipt-r1\0", "Q"])
async def test_what_names_no_question_or_several_is_told(store: SqlStore, named: str) -> None:
    await ran(store, "r1", asking(), why=Why.WALLED)
    await ran(store, "r2", asking("other"))
    with pytest.raises(LookupError, match=r"nothing is known of|several questions have an id"):
        await store.handoff.standing(named)


async def test_a_question_that_was_only_raised_or_only_decided_stands_somewhere(store: SqlStore) -> None:
    raised = await store.handoff.raise_question(raising(asking("q1")))
    assert (await store.handoff.standing("q1")).item == raised
    assert (await store.handoff.standing("item-1")).receipt is None
    await ran(store, "r1", asking("q2"))
    standing = await store.handoff.standing("q2")
    assert (standing.item, standing.entry) == (None, None)
    assert standing.receipt == await store.receipt("receipt-r1")


async def test_what_waits_is_counted_by_state(store: SqlStore) -> None:
    assert (await store.handoff.handoff_facts()).items == {}
    for number in range(5):
        await store.handoff.raise_question(raising(asking(f"q{number}"), f"item-{number}", at=later(number)))
    await ran(store, "r0", asking("q0"), why=Why.WALLED)
    await ran(store, "r4", asking("q4"))
    await store.handoff.take(later(9), 1, LEASE)
    facts = await store.handoff.handoff_facts()
    assert facts.items == {ItemState.QUEUED: 1, ItemState.RUNNING: 1, ItemState.WAITING: 2}
    assert facts.oldest_item_at == later(1)
    assert len(facts.waiting) == 1
