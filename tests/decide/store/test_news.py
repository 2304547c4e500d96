"""News: a raiser is told of a ruling, of an answer and of a cancellation, each until it was delivered or given up."""

import pytest

from decide.handoff.entry import Why
from decide.handoff.inbox import NewsKind
from decide.handoff.ports import Delivery
from decide.ledger import RowKind
from decide.store.store import SqlStore
from tests.decide.store.handed import asking, body, later, raising, ran, rows_of, saying
from tests.decide.store.work import NOW

RAISERS = ("agent", "another")


async def told_now(store: SqlStore, at: float = 0) -> list[str]:
    """The marks of what may be told now."""
    return [one.mark for one in await store.handoff.news(later(at), 9, RAISERS)]


async def queued(store: SqlStore) -> None:
    """A raised question that waits for a person."""
    await store.handoff.raise_question(raising(asking()))
    await ran(store, "r1", asking(), why=Why.WALLED)


async def test_each_thing_that_happens_is_news_with_the_receipt_as_it_is(store: SqlStore) -> None:
    await queued(store)
    (ruling,) = await store.handoff.news(NOW, 9, RAISERS)
    assert (ruling.mark, ruling.kind, ruling.person, ruling.tries) == ("receipt-r1", NewsKind.RULING, "", 0)
    assert ruling.receipt == await store.receipt("receipt-r1")
    assert ruling.item == await store.handoff.item("q")
    await store.handoff.told(ruling, Delivery.DELIVERED, NOW)
    assert await told_now(store) == []
    await store.handoff.answer("q", saying())
    (answer,) = await store.handoff.news(NOW, 9, RAISERS)
    assert (answer.mark, answer.kind, answer.person) == ("receipt-r1:answer", NewsKind.ANSWER, "Ada Berg")
    assert answer.receipt["person"] is not None


async def test_a_cancelled_question_is_news(store: SqlStore) -> None:
    await queued(store)
    await store.handoff.cancel("q", "Bo", "", NOW)
    (news,) = await store.handoff.news(NOW, 9, RAISERS)
    assert (news.mark, news.kind, news.person) == ("receipt-r1:cancelled", NewsKind.CANCELLED, "Bo")


@pytest.mark.parametrize("result", Delivery)
async def test_how_telling_went_says_whether_it_is_tried_again(store: SqlStore, result: Delivery) -> None:
    await queued(store)
    (news,) = await store.handoff.news(NOW, 9, RAISERS)
    await store.handoff.told(news, result, NOW, again_at=later(60))
    assert await told_now(store, 59) == []
    again = await store.handoff.news(later(60), 9, RAISERS)
    assert [(one.mark, one.tries) for one in again] == ([("receipt-r1", 1)] if result is Delivery.FAILED else [])
    (row,) = await rows_of(store, RowKind.WEBHOOK)
    assert (row.result, row.call_id, row.question, body(row)) == (result, "item-1", "q", {"mark": "receipt-r1"})


@pytest.mark.parametrize("result", Delivery)
async def test_what_happens_while_a_raiser_is_told_is_told_too_and_at_once(store: SqlStore, result: Delivery) -> None:
    await queued(store)
    (news,) = await store.handoff.news(NOW, 9, RAISERS)
    await store.handoff.answer("q", saying())
    await store.handoff.told(news, result, NOW, again_at=later(60))
    (after,) = await store.handoff.news(NOW, 9, RAISERS)
    assert (after.mark, after.tries) == ("receipt-r1:answer", 0)


async def test_news_is_read_for_those_who_can_be_told_the_oldest_first(store: SqlStore) -> None:
    for number, raiser in enumerate(("another", "nobody", "agent", "agent")):
        question = asking(f"q{number}", raised_by=raiser)
        await store.handoff.raise_question(raising(question, f"item-{number}", at=later(9 - number)))
        await ran(store, f"r{number}", question)
    assert await told_now(store) == ["receipt-r3", "receipt-r2", "receipt-r0"]
    assert [one.mark for one in await store.handoff.news(NOW, 1, RAISERS)] == ["receipt-r3"]
    assert await store.handoff.news(NOW, 9, []) == ()
