"""Follower: the ledger read on and on, through restarts, faults and a fleet."""

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decide.fault import StoreFault
from decide.handoff.ports import HandoffFacts
from decide.ports import Caps
from exporters.follow import FOLD_ROWS, READ_ROWS, LedgerFollower
from exporters.ledger_facts import CapFacts, LedgerFacts
from tests.exporters.ledgers import GATE_ROWS, PASS, QUESTION, FakeLedger, busy_ledger, counts_of, waits
from tests.exporters.scenes import NOW

CAPS = Caps(200, 20_000_000)
LOGGER = "exporters.follow"


async def test_an_empty_ledger_is_readable_and_counts_nothing() -> None:
    follower = LedgerFollower(FakeLedger(), Caps(), gate_rows=GATE_ROWS)
    assert follower.facts is None
    facts = await follower.refresh(NOW)
    assert facts == follower.facts == LedgerFacts(True, counts_of(), 0, 0, CapFacts(), GATE_ROWS, HandoffFacts())


async def test_only_new_rows_are_read_and_counted_once() -> None:
    ledger = FakeLedger(*busy_ledger())
    follower = LedgerFollower(ledger, Caps())
    facts = [await follower.refresh(NOW) for _ in range(3)][-1]
    assert facts.counts == counts_of(*busy_ledger())
    ledger.rows += [PASS, QUESTION]
    facts = await follower.refresh(NOW)
    assert facts.counts == counts_of(*busy_ledger(), PASS, QUESTION)
    assert (facts.rows, facts.lag_rows) == (len(ledger.rows), 0)
    assert ledger.reads == [(0, READ_ROWS), (len(busy_ledger()), READ_ROWS)]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 6), max_size=8))
def test_a_restart_at_any_time_tells_the_same(steps: list[int]) -> None:
    async def run() -> None:
        rows = list(busy_ledger())
        ledger = FakeLedger()
        follower = LedgerFollower(ledger, Caps())
        for count in steps:
            ledger.rows += [rows[place % len(rows)] for place in range(count)]
            facts = await follower.refresh(NOW)
            assert facts == await LedgerFollower(ledger, Caps()).refresh(NOW)

    asyncio.run(run())


async def test_a_long_ledger_is_read_in_portions_shows_its_lag_and_counts_nothing_before_its_end() -> None:
    ledger = FakeLedger(*[QUESTION] * (2 * READ_ROWS + 1))
    follower = LedgerFollower(ledger, CAPS)
    seen: list[LedgerFacts | None] = []
    ledger.meanwhile = lambda: seen.append(follower.facts)
    facts = await follower.refresh(NOW)
    first, *rest = seen
    assert first is None
    assert [(one.rows, one.lag_rows, one.counts, one.readable) for one in rest if one] == [
        (2 * READ_ROWS + 1, READ_ROWS + 1, None, True),
        (2 * READ_ROWS + 1, 1, None, True),
    ]
    assert facts.counts is not None
    assert facts.counts.levels["medium"].questions == 2 * READ_ROWS + 1


async def test_others_have_their_turn_between_portions() -> None:
    ledger = FakeLedger(*[QUESTION] * (3 * FOLD_ROWS))
    follower = LedgerFollower(ledger, Caps())
    turns = 0

    async def other() -> None:
        nonlocal turns
        while not reading.done():
            turns += 1
            await asyncio.sleep(0)

    reading = asyncio.create_task(follower.refresh(NOW))
    await asyncio.gather(reading, other())
    assert turns >= 3


async def test_two_refreshes_at_once_count_once() -> None:
    ledger = FakeLedger(*[QUESTION] * (READ_ROWS + 5))
    follower = LedgerFollower(ledger, Caps())
    facts = await asyncio.gather(follower.refresh(NOW), follower.refresh(NOW))
    assert facts[0] == facts[1]
    assert facts[1].counts == counts_of(*ledger.rows)


async def test_caps_of_the_day_in_their_zone() -> None:
    ledger = FakeLedger()
    ledger.usage = {"2026-07-01": (3, 750_000), "2026-07-02": (1, 1)}
    facts = await LedgerFollower(ledger, CAPS).refresh(NOW)
    assert facts.caps == CapFacts(200, 3, 20_000_000, 750_000)
    east = replace(CAPS, zone="Pacific/Kiritimati")
    assert (await LedgerFollower(ledger, east).refresh(NOW)).caps == CapFacts(200, 1, 20_000_000, 1)
    follower = LedgerFollower(ledger, Caps(passes_per_day=5))
    assert (await follower.refresh(NOW)).caps == CapFacts(5, 3, None, None)
    follower.caps = Caps(micro_usd_per_day=7)
    assert (await follower.refresh(NOW + timedelta(days=2))).caps == CapFacts(None, None, 7, 0)


async def test_an_unreadable_ledger_stands_still_and_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    ledger = FakeLedger(*busy_ledger())
    follower = LedgerFollower(ledger, CAPS)
    with caplog.at_level(logging.INFO, LOGGER):
        good = await follower.refresh(NOW)
        ledger.fault = StoreFault.UNREADABLE
        bad = [await follower.refresh(NOW) for _ in range(3)][-1]
        ledger.fault = None
        ledger.rows.append(PASS)
        again = await follower.refresh(NOW)
    assert bad == replace(good, readable=False, caps=CapFacts(200, None, 20_000_000, None))
    assert again.readable
    assert again.counts == counts_of(*busy_ledger(), PASS)
    told = [record.getMessage() for record in caplog.records]
    assert told == [
        "the ledger cannot be used (ledger_unreadable): the file is gone; restore it",
        "the ledger can be used again",
    ]


async def test_another_fault_is_told_too(caplog: pytest.LogCaptureFixture) -> None:
    ledger = FakeLedger()
    follower = LedgerFollower(ledger, Caps())
    for fault in (StoreFault.UNREADABLE, StoreFault.BROKEN, StoreFault.BROKEN):
        ledger.fault = fault
        await follower.refresh(NOW)
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]


async def test_a_ledger_that_was_never_read_counts_nothing_rather_than_0() -> None:
    ledger = FakeLedger(*busy_ledger())
    ledger.fault = StoreFault.UNREADABLE
    follower = LedgerFollower(ledger, Caps())
    assert await follower.refresh(NOW) == LedgerFacts(False)


async def test_a_ledger_that_fails_half_way_is_read_on_from_there() -> None:
    ledger = FakeLedger(*[QUESTION] * (READ_ROWS + 1))
    follower = LedgerFollower(ledger, Caps())

    def break_at_the_second() -> None:
        ledger.fault = StoreFault.UNREADABLE if ledger.reads else None

    ledger.meanwhile = break_at_the_second
    half = await follower.refresh(NOW)
    assert (half.readable, half.counts, half.lag_rows) == (False, None, 1)
    ledger.meanwhile, ledger.fault = lambda: None, None
    whole = await follower.refresh(NOW)
    assert whole.counts == counts_of(*ledger.rows)
    assert ledger.reads == [(0, READ_ROWS), (READ_ROWS, READ_ROWS)]


async def test_a_store_that_cannot_be_written_is_still_read() -> None:
    ledger = FakeLedger(PASS)
    follower = LedgerFollower(ledger, CAPS)
    ledger.unwritable = True
    facts = await follower.refresh(NOW)
    assert not facts.readable
    assert facts.counts == counts_of(PASS)
    assert facts.caps.passes_used is None


async def test_a_ledger_that_was_replaced_by_a_shorter_one_is_counted_anew(caplog: pytest.LogCaptureFixture) -> None:
    ledger = FakeLedger(*busy_ledger())
    follower = LedgerFollower(ledger, Caps())
    await follower.refresh(NOW)
    ledger.rows = [QUESTION]
    facts = await follower.refresh(NOW)
    assert (facts.counts, facts.rows) == (counts_of(QUESTION), 1)
    assert f"the ledger ends at row 1, not {len(busy_ledger())}: counted anew" in caplog.text


async def test_in_a_fleet_only_the_elected_one_serves_the_counters() -> None:
    ledger = FakeLedger(*busy_ledger())
    follower = LedgerFollower(ledger, CAPS, serves_counters=False)
    facts = await follower.refresh(NOW)
    assert facts == LedgerFacts(True, caps=CapFacts(200, 0, 20_000_000, 0))
    reads = list(ledger.reads)
    follower.serves_counters = True
    facts = await follower.refresh(NOW)
    assert facts.counts == counts_of(*busy_ledger())
    assert ledger.reads == reads


async def test_in_a_fleet_only_the_elected_one_serves_what_waits_and_another_can_take_over_at_once() -> None:
    ledger = FakeLedger()
    ledger.waits = waits()
    follower = LedgerFollower(ledger, CAPS, serves_counters=False)
    assert (await follower.refresh(NOW)).handoff is None
    ledger.fault = StoreFault.UNREADABLE
    follower.serves_counters = True
    assert (await follower.refresh(NOW)).handoff == waits()


async def test_what_waits_is_read_at_each_refresh_and_stays_while_it_cannot_be() -> None:
    ledger = FakeLedger()
    follower = LedgerFollower(ledger, Caps(), lead=timedelta(hours=3))
    ledger.fault = StoreFault.UNREADABLE
    assert (await follower.refresh(NOW)).handoff is None
    ledger.fault, ledger.waits = None, waits()
    assert (await follower.refresh(NOW)).handoff == waits()
    for fault in StoreFault:
        ledger.fault = fault
        lost = await follower.refresh(NOW)
        assert (lost.handoff, lost.readable, lost.lead) == (waits(), False, timedelta(hours=3))
    ledger.fault, ledger.waits = None, HandoffFacts()
    assert (await follower.refresh(NOW)).handoff == HandoffFacts()


async def test_what_waits_is_read_though_nothing_can_be_written() -> None:
    ledger = FakeLedger()
    ledger.waits, ledger.unwritable = waits(), True
    facts = await LedgerFollower(ledger, Caps()).refresh(NOW)
    assert (facts.handoff, facts.readable) == (waits(), False)


async def test_a_wake_does_not_wait_for_a_long_ledger() -> None:
    ledger = FakeLedger(*[QUESTION] * (READ_ROWS + 1))
    ledger.waits = waits()
    follower = LedgerFollower(ledger, Caps())
    seen: list[LedgerFacts | None] = []
    ledger.meanwhile = lambda: seen.append(follower.facts)
    await follower.refresh(NOW)
    assert [(one.handoff, one.counts) for one in seen if one] == [(waits(), None)]
