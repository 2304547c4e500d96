"""Numbers of queue and clicks that a page shows of a real store, after each thing that happens and after a restart."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from decide.handoff.entry import Why
from decide.handoff.inbox import ItemState
from decide.handoff.ports import NewClick
from decide.ports import Caps
from decide.question import Consequence
from decide.store.store import SqlStore
from exporters.exposition import Exposition
from exporters.follow import LedgerFollower
from exporters.view import View
from tests.cases.adapter import given, when
from tests.decide.store.handed import RULED, TTL, acted, acting, asking, later, minted, raising, ran, saying
from tests.decide.store.work import opened
from tests.exporters.pages import Series, series

CLICKED = "ladder_confirm_clicks_total"


class Scrape:
    """An exporter of that store that goes on, and at each look another that begins anew and must show the same."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._follower = LedgerFollower(store, Caps())

    async def look(self, at: datetime) -> Series:
        """The series of a page at that moment."""
        pages = [await self._page(one, at) for one in (self._follower, LedgerFollower(self._store, Caps()))]
        assert pages[0] == pages[1]
        return series(pages[0])

    async def clicks(self, at: datetime) -> dict[str, float]:
        """How often each thing happened to clicks that ever did, by the event, or a refusal's reason behind "no"."""
        found = [(dict(labels), n) for (name, labels), n in (await self.look(at)).items() if name == CLICKED]
        return {
            one["event"] if one["reason"] == "none" else f"no: {one['reason']}": count
            for one, count in found
            if count
        }

    async def _page(self, follower: LedgerFollower, at: datetime) -> str:
        view = View((), (), ledger=await follower.refresh(at))
        return Exposition(view, lambda: at).text().decode()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    """A new store in a file."""
    async with await opened(str(tmp_path / "store.db")) as one:
        yield one


async def test_cnf_01_two_quick_presses_are_one_consumed_and_one_refused(store: SqlStore) -> None:
    """CNF-01."""
    scrape, presses = Scrape(store), given("CNF-01")["clicks"]
    click = await minted(store, "cf_1")
    assert await scrape.clicks(later(0)) == {"minted": 1}
    for press in presses:
        await store.handoff.press(click.id, click.requester, later(5 + press["t_ms"] / 1000))
    found = await scrape.look(later(6))
    assert await scrape.clicks(later(6)) == {"minted": 1, "consumed": 1, "no: already_consumed": 1}
    assert found["ladder_confirm_consume_seconds_count", ()] == 1
    assert found["ladder_confirm_consume_seconds_sum", ()] == 5
    assert found["ladder_confirm_pending", ()] == 0
    assert ("ladder_confirm_oldest_pending_timestamp_seconds", ()) not in found


async def test_cnf_02_a_press_by_another_is_refused_and_the_click_still_waits(store: SqlStore) -> None:
    """CNF-02."""
    scrape, click = Scrape(store), await minted(store, "cf_1")
    await store.handoff.press(click.id, given("CNF-02")["click_by"], later(1))
    found = await scrape.look(later(1))
    assert await scrape.clicks(later(1)) == {"minted": 1, "no: other_user": 1}
    assert found["ladder_confirm_pending", ()] == 1
    assert found["ladder_confirm_oldest_pending_timestamp_seconds", ()] == click.minted_at.timestamp()


async def test_cnf_05_expiry_is_counted_once_however_often_it_is_met(store: SqlStore) -> None:
    """CNF-05."""
    scrape, case = Scrape(store), given("CNF-05")
    created, ttl = when(case["created"]), timedelta(seconds=case["ttl_s"])
    for number, pressed_at in enumerate(case["clicks_at"]):
        click = await minted(store, f"cf_{number}", f"t{number}", at=created, ttl=ttl)
        await store.handoff.press(click.id, click.requester, when(pressed_at))
        await store.handoff.sweep(when(pressed_at))
        await store.handoff.press(click.id, click.requester, when(pressed_at))
    at = when(max(case["clicks_at"]))
    assert await scrape.clicks(at) == {
        "minted": 3,
        "consumed": 1,
        "no: already_consumed": 1,
        "expired": 2,
        "no: expired": 4,
    }


async def test_a_click_for_a_thread_that_has_one_and_one_that_is_unknown_are_told_apart(store: SqlStore) -> None:
    scrape = Scrape(store)
    await minted(store, "cf_A")
    await acted(store, acting("act-cf_B"))
    await store.handoff.mint("act-cf_B", RULED, NewClick("cf_B", later(1), TTL))
    await store.handoff.press("cf_C", "ada", later(1))
    assert await scrape.clicks(later(1)) == {"minted": 1, "no: thread_busy": 1, "no: unknown_click": 1}


async def test_an_entry_is_counted_waits_by_urgency_and_is_timed_by_its_answer(store: SqlStore) -> None:
    scrape = Scrape(store)
    question = asking(consequence=Consequence.COSTLY, deadline=later(7200))
    await ran(store, "run-1", question, why=Why.NEEDS_HUMAN)
    await ran(store, "run-2", asking("q2", "Another?", consequence=Consequence.NONE), why=Why.NEEDS_HUMAN)
    before, after = await scrape.look(later(10)), await scrape.look(later(3600))
    depth, deadline = "ladder_queue_depth", ("ladder_queue_next_deadline_timestamp_seconds", ())
    assert [before[depth, (("urgency", one),)] for one in ("routine", "soon", "wake")] == [1, 1, 0]
    assert [after[depth, (("urgency", one),)] for one in ("routine", "soon", "wake")] == [1, 0, 1]
    assert before[deadline] == after[deadline] == later(7200).timestamp()
    (entry,) = [one for one in await store.handoff.waiting() if one.question_key == question.key]
    await store.handoff.answer(entry.id, saying(at=later(4000)))
    found = await scrape.look(later(9000))
    assert [found[depth, (("urgency", one),)] for one in ("routine", "soon", "wake")] == [1, 0, 0]
    assert deadline not in found
    assert found["ladder_queue_entries_total", (("why", "needs_human"),)] == 2
    assert found["ladder_queue_answer_seconds_count", ()] == 1
    assert found["ladder_queue_answer_seconds_sum", ()] == 4000


async def test_an_entry_that_the_ladder_resolved_is_no_answer_of_a_person(store: SqlStore) -> None:
    scrape, question = Scrape(store), asking()
    await ran(store, "run-1", question, why=Why.WALLED)
    await ran(store, "run-2", question, at=later(600))
    found = await scrape.look(later(600))
    assert found["ladder_queue_entries_total", (("why", "walled"),)] == 1
    assert found["ladder_queue_answer_seconds_count", ()] == 0
    assert sum(count for (name, _), count in found.items() if name == "ladder_queue_depth") == 0


async def test_the_inbox_is_shown_by_state_and_its_oldest_is_one_still_to_be_asked(store: SqlStore) -> None:
    scrape = Scrape(store)
    for number in range(3):
        raised = raising(asking(f"q{number}", f"Number {number}?"), f"item-{number}", at=later(number))
        await store.handoff.raise_question(raised)
    await ran(store, "run-0", asking("q0", "Number 0?"), why=Why.NEEDS_HUMAN, at=later(60))
    found = await scrape.look(later(60))
    assert {state: found["ladder_inbox_depth", (("state", state),)] for state in ItemState if state != "done"} == {
        "waiting": 2,
        "retrying": 0,
        "running": 0,
        "queued": 1,
    }
    assert found["ladder_inbox_oldest_timestamp_seconds", ()] == later(1).timestamp()
