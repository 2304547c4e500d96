"""Caps: reserved at the worst, settled once, charged to the day of the reservation, whatever happens to the run."""

import asyncio
from datetime import timedelta
from decimal import Decimal

import pytest

from decide.ledger import RowKind
from decide.money import micro_usd
from decide.ports import Caps, CapSpent
from decide.store.caps import Unsettled
from decide.store.store import SqlStore
from tests.decide.store.work import DAY, LEASE, NOW, claiming, dead_pid, ending, opened, passed, reserving, sql


async def test_a_settlement_and_its_repetition_and_a_release_charge_once(store: SqlStore) -> None:
    """LED-15."""
    await store.claim(claiming("r1"))
    await store.reserve(reserving("r1", "c1", micro=300_000))
    assert await store.day_usage(DAY) == (1, 300_000)
    for _ in range(2):
        await store.settle([passed("c1", 210_000)])
        assert await store.day_usage(DAY) == (1, 210_000)
    await store.settle([passed("c1", 999_000), passed("c1", 999_000)])
    await store.end(ending("r1"))
    await store.end(ending("r1"))
    assert await store.day_usage(DAY) == (1, 210_000)
    kinds = [entry.row.kind for entry in await store.rows_after(0, 10)]
    assert kinds == [RowKind.PASS, RowKind.DECISION]


@pytest.mark.parametrize(
    ("calls", "each", "cap", "admitted"),
    [(2001, "0.003", "6.00", 2000), (11, "0.1", "1.0", 10), (4, "0.1", "0.3", 3)],
)
async def test_money_meets_its_cap_exactly(store: SqlStore, calls: int, each: str, cap: str, admitted: int) -> None:
    """LED-12."""
    await store.claim(claiming("r"))
    caps = Caps(None, micro_usd(cap))
    at_once = admitted - 2
    first = reserving("r", *(f"c{n}" for n in range(at_once)), micro=micro_usd(each), caps=caps)
    assert await store.reserve(first) is None
    answers = [
        await store.reserve(reserving("r", f"c{n}", micro=micro_usd(each), caps=caps)) for n in range(at_once, calls)
    ]
    used = int(Decimal(each) * admitted * 1_000_000)
    assert answers == [None, None, CapSpent("usd", used, micro_usd(cap))]
    assert await store.day_usage(DAY) == (admitted, used)


async def test_every_slot_is_reserved_or_none(store: SqlStore) -> None:
    await store.claim(claiming("r"))
    assert await store.reserve(reserving("r", "a", "b", caps=Caps(3))) is None
    assert await store.reserve(reserving("r", "c", "d", caps=Caps(3))) == CapSpent("passes", 2, 3)
    assert await store.day_usage(DAY) == (2, 600_000)
    assert await store.reserve(reserving("r", "e", caps=Caps(3))) is None


async def test_parallel_reservations_share_what_is_left(store: SqlStore) -> None:
    """LED-03: 4.74 of 5.00 is charged, and four calls of 0.09 come at once."""
    await store.claim(claiming("old"))
    await store.reserve(reserving("old", "old", micro=4_740_000))
    for run in "abcd":
        await store.claim(claiming(run, run))
    caps = Caps(None, 5_000_000)
    answers = await asyncio.gather(
        *(store.reserve(reserving(run, run, key=run, micro=90_000, caps=caps)) for run in "abcd")
    )
    assert sorted(answers, key=str) == [CapSpent("usd", 4_920_000, 5_000_000)] * 2 + [None] * 2
    assert await store.day_usage(DAY) == (3, 4_920_000)


async def test_a_slot_stays_with_the_day_of_its_reservation(store: SqlStore) -> None:
    """LED-10: what the clock says when it is settled moves nothing."""
    await store.claim(claiming("r"))
    await store.reserve(reserving("r", "late", micro=4_000_000, day="2026-10-15"))
    await store.reserve(reserving("r", "early", micro=1_000_000, day="2026-10-16", at=NOW + timedelta(days=1)))
    await store.settle([passed("late", 4_000_000), passed("early", 1_000_000)])
    assert await store.day_usage("2026-10-15") == (1, 4_000_000)
    assert await store.day_usage("2026-10-16") == (1, 1_000_000)


async def test_a_run_whose_process_died_stays_charged_until_evidence_settles_it(target: str) -> None:
    """LED-05."""
    async with await opened(target, pid=dead_pid()) as gone:
        await gone.claim(claiming("r"))
        await gone.reserve(reserving("r", "c", micro=300_000))
    async with await opened(target) as store:
        assert await store.day_usage(DAY) == (1, 300_000)
        assert await store.unsettled(NOW) == (Unsettled("c", DAY, 300_000, "r", NOW),)
        await store.settle_by_evidence("c", 120_000, at=NOW, evidence_text=" the vendor's log, line 3 ")
        assert await store.day_usage(DAY) == (1, 120_000)
        assert await store.unsettled(NOW) == ()
        (entry,) = await store.rows_after(0, 10)
        assert (entry.row.kind, entry.row.call_id, entry.row.micro_usd) == (RowKind.SETTLEMENT, "c", 120_000)
        assert "the vendor's log, line 3" in entry.row.body
        with pytest.raises(ValueError, match="'c' is not unsettled"):
            await store.settle_by_evidence("c", 1, at=NOW, evidence_text="again")
        await store.settle([passed("c", 5)])
        assert await store.day_usage(DAY) == (1, 120_000)


async def test_a_call_whose_run_works_is_not_unsettled(store: SqlStore) -> None:
    await store.claim(claiming("r"))
    await store.reserve(reserving("r", "c"))
    assert await store.unsettled(NOW + timedelta(days=9)) == ()
    with pytest.raises(ValueError, match="'c' is not unsettled"):
        await store.settle_by_evidence("c", 0, at=NOW, evidence_text="none")


async def test_a_run_on_another_host_is_gone_when_its_lease_ran_out(target: str, store: SqlStore) -> None:
    async with await opened(target, host="there") as other:
        await other.claim(claiming("r"))
        await other.reserve(reserving("r", "c"))
    assert await store.unsettled(NOW + LEASE - timedelta(microseconds=1)) == ()
    assert [one.call_id for one in await store.unsettled(NOW + LEASE)] == ["c"]


@pytest.mark.parametrize(("micro", "words"), [(-1, "a log"), (0, "  ")])
async def test_evidence_has_words_and_an_amount(target: str, micro: int, words: str) -> None:
    async with await opened(target, pid=dead_pid()) as gone:
        await gone.claim(claiming("r"))
        await gone.reserve(reserving("r", "c"))
    async with await opened(target) as store:
        with pytest.raises(ValueError, match="not empty"):
            await store.settle_by_evidence("c", micro, at=NOW, evidence_text=words)
        assert await store.day_usage(DAY) == (1, 300_000)


async def test_an_end_gives_back_what_was_not_used(store: SqlStore) -> None:
    await store.claim(claiming("r"))
    await store.reserve(reserving("r", "used", "spare"))
    await store.settle([passed("used", 100_000)])
    await store.end(ending("r"))
    assert await store.day_usage(DAY) == (1, 100_000)
    assert await store.unsettled(NOW) == ()


async def test_a_call_that_cost_something_after_its_release_is_charged_once(store: SqlStore) -> None:
    await store.claim(claiming("r"))
    await store.reserve(reserving("r", "c"))
    await store.end(ending("r"))
    assert await store.day_usage(DAY) == (0, 0)
    for _ in range(2):
        await store.settle([passed("c", 70_000)])
        assert await store.day_usage(DAY) == (1, 70_000)


async def test_one_callers_mistake_is_not_the_others(store: SqlStore) -> None:
    await store.claim(claiming("r"))
    await store.reserve(reserving("r", "a", "b"))
    answers = await asyncio.gather(
        store.settle([passed("a", 1)]),
        store.settle([passed("never", 1)]),
        store.settle([passed("b", 1)]),
        return_exceptions=True,
    )
    assert answers[0] is None
    assert answers[2] is None
    assert isinstance(answers[1], ValueError)
    assert await store.day_usage(DAY) == (2, 2)


async def test_settlements_that_queue_up_share_a_commit(store: SqlStore, target: str) -> None:
    """PostgreSQL stamps each row with its transaction; SQLite's file grows a commit at a time."""
    await store.claim(claiming("r"))
    calls = [f"c{n}" for n in range(8)]
    await store.reserve(reserving("r", *calls))
    await asyncio.gather(*(store.settle([passed(call)]) for call in calls))
    assert await store.day_usage(DAY) == (8, 8 * 210_000)
    if "://" in target:
        ((transactions,),) = sql(target, "SELECT count(DISTINCT xmin::text) FROM ledger")
        assert transactions < len(calls)


async def test_a_settlement_whose_caller_stopped_waiting_is_made_all_the_same(store: SqlStore) -> None:
    await store.claim(claiming("r"))
    await store.reserve(reserving("r", "c"))
    waiting = asyncio.ensure_future(store.settle([passed("c", 5)]))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await store.day_usage(DAY) == (1, 5)


@pytest.mark.parametrize(
    ("calls", "micro", "match"),
    [(("a", "a"), 1, "ids of their own"), (("a",), -1, "0 or more"), (("taken",), 1, "by another run")],
)
async def test_slots_that_cannot_be(store: SqlStore, calls: tuple[str, ...], micro: int, match: str) -> None:
    await store.claim(claiming("other", "other"))
    await store.reserve(reserving("other", "taken", key="other", micro=7))
    await store.claim(claiming("r"))
    with pytest.raises(ValueError, match=match):
        await store.reserve(reserving("r", *calls, micro=micro))
    assert await store.day_usage(DAY) == (1, 7)


async def test_a_reservation_whose_answer_was_lost_is_made_once(store: SqlStore) -> None:
    await store.claim(claiming("r"))
    for _ in range(2):
        assert await store.reserve(reserving("r", "a", "b", caps=Caps(2))) is None
    assert await store.day_usage(DAY) == (2, 600_000)
    with pytest.raises(ValueError, match="without the others"):
        await store.reserve(reserving("r", "b", "c"))
