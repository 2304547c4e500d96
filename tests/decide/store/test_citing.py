"""Citing: an answer to a new question closes the entry that it cites, where that one only lacked evidence."""

import json
from dataclasses import replace

import pytest

from decide.handoff.entry import EntryState, Why
from decide.handoff.inbox import ItemState, NewsKind
from decide.handoff.ports import Onward
from decide.handoff.waiting import Answered, answer_of
from decide.ledger import RowKind
from decide.ports import Ready
from decide.question import dump
from decide.store.store import SqlStore
from tests.decide.store.handed import asking, later, raising, ran, saying, told_of
from tests.decide.store.work import claiming, ending

OLD, NEW = asking("old"), asking("new", "With the plan of the query: is it stopped?", cites="receipt-r1")


async def declined(store: SqlStore, kind: str) -> None:
    """A run of the old question that ends so, which somebody raised."""
    await store.handoff.raise_question(raising(OLD))
    assert isinstance(await store.claim(claiming("r1", "old", digest=OLD.digest)), Ready)
    non_vote = {"kind": kind, "durable": True, "gap": "the plan of the query"}
    receipt = {"outcome": "needs_human", "exit_code": 3, "run": "r1", "person": None, "non_vote": non_vote}
    onward = Onward(OLD, (ItemState.QUEUED, later(0)), why=Why.NEEDS_HUMAN)
    await store.end(
        replace(
            ending("r1", key="old", outcome="needs_human", question=dump(OLD), onward=onward),
            receipt=json.loads(json.dumps(receipt)),
        )
    )


async def test_the_ladders_answer_to_the_new_question_stands_for_the_old_one(store: SqlStore) -> None:
    await declined(store, "insufficient_evidence")
    await ran(store, "r2", NEW, at=later(60))
    entry = await store.handoff.entry("old")
    assert (entry.state, entry.closed_by, entry.closed_at) == (EntryState.RESOLVED, "receipt-r2", later(60))
    standing = await store.handoff.standing("item-1")
    assert standing.receipt is not None
    assert (standing.receipt["run"], answer_of(standing)) == ("r2", Answered.LADDER)
    assert standing.item is not None
    assert standing.item.state is ItemState.DONE
    (news,) = [one for one in await store.handoff.news(later(61), 9, ["agent"]) if one.item.id == "item-1"]
    assert (news.kind, news.receipt["run"]) == (NewsKind.RULING, "r2")
    told = await told_of(store, RowKind.QUEUE)
    assert told == [("entered", "needs_human"), ("resolved", "needs_human")]


async def test_a_persons_answer_to_the_new_question_stands_for_the_old_one_too(store: SqlStore) -> None:
    await declined(store, "insufficient_evidence")
    await ran(store, "r2", NEW, why=Why.NEEDS_HUMAN, at=later(60))
    assert (await store.handoff.entry("old")).state is EntryState.OPEN
    await store.handoff.answer("receipt-r2", saying(at=later(90)))
    assert (await store.handoff.entry("old")).closed_by == "receipt-r2"
    assert answer_of(await store.handoff.standing("old")) is Answered.PERSON


@pytest.mark.parametrize("kind", ["outside_authority", "unavailable"])
async def test_nothing_else_is_closed_by_citing_it(store: SqlStore, kind: str) -> None:
    await declined(store, kind)
    await ran(store, "r2", NEW, at=later(60))
    assert (await store.handoff.entry("old")).state is EntryState.OPEN


@pytest.mark.parametrize("cites", ["", "receipt-of-nothing", "receipt-r"])
async def test_a_question_that_cites_another_or_none_closes_nothing(store: SqlStore, cites: str) -> None:
    await declined(store, "insufficient_evidence")
    await ran(store, "r2", replace(NEW, cites=cites), at=later(60))
    assert (await store.handoff.entry("old")).state is EntryState.OPEN


async def test_an_entry_that_a_person_answered_stays_answered(store: SqlStore) -> None:
    await declined(store, "insufficient_evidence")
    await store.handoff.answer("old", saying())
    await ran(store, "r2", NEW, at=later(60))
    assert (await store.handoff.entry("old")).state is EntryState.ANSWERED
