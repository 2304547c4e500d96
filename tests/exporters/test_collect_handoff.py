"""Handoff collectors: what a page says of queue, inbox and clicks, and when it says nothing."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest

from decide.fault import StoreFault
from decide.handoff.entry import Waiting
from decide.handoff.inbox import ItemState
from decide.handoff.ports import HandoffFacts
from decide.ledger import Row
from decide.ports import Caps
from decide.question import LEAD, Consequence
from exporters.catalog_handoff import CLICK_SERIES, CLICKS, QUEUE
from exporters.exposition import Exposition
from exporters.follow import LedgerFollower
from exporters.ledger_collector import LedgerCollector
from exporters.ledger_facts import LedgerFacts
from tests.exporters.ledgers import FakeLedger, facts_of, ledger_view, waiting, waits
from tests.exporters.pages import OPENMETRICS, Series, page, series, value, values
from tests.exporters.scenes import NOW, minutes, ok_view, view

OURS = tuple(metric.name for metric in (*QUEUE, *CLICKS))
NEVER_ZERO = tuple(name for name in OURS if name.endswith("_timestamp_seconds"))
DEPTH, OLDEST = "ladder_queue_depth", "ladder_queue_oldest_timestamp_seconds"
DEADLINE = "ladder_queue_next_deadline_timestamp_seconds"
CLICKED = "ladder_confirm_clicks_total"
NONE, REVERSIBLE, COSTLY, IRREVERSIBLE = Consequence
CONSEQUENCES = st.sampled_from(Consequence)
# by consequence: no deadline, later than the lead, near or past (design 4.5)
TABLE = {
    NONE: ("routine", "routine", "soon"),
    REVERSIBLE: ("routine", "routine", "soon"),
    COSTLY: ("routine", "soon", "wake"),
    IRREVERSIBLE: ("soon", "soon", "wake"),
}


def shown(*rows: Row, at: datetime = NOW, **changes: object) -> str:
    """The page at a moment of a ledger of those rows."""
    facts = replace(facts_of(*rows), **changes)  # type: ignore[arg-type]
    return Exposition(replace(ok_view(), ledger=facts), lambda: at).page().body.decode()


def depths(text: str) -> dict[str, float]:
    """How many wait, by urgency."""
    return of_depth(series(text))


def of_depth(found: Series) -> dict[str, float]:
    """The same of series."""
    return {dict(labels)["urgency"]: depth for (name, labels), depth in found.items() if name == DEPTH}


def expected(entries: Sequence[Waiting], at: datetime) -> dict[str, float]:
    """The same by the design's own table."""
    counts = dict.fromkeys(("routine", "soon", "wake"), 0.0)
    for one in entries:
        column = 0 if one.deadline is None else 2 if at >= one.deadline - timedelta(hours=1) else 1
        counts[TABLE[one.consequence][column]] += 1
    return counts


def names(text: str) -> set[str]:
    """The metrics of ours that have a series."""
    found = {name for name, _ in series(text)}
    return {name for name in OURS if any(one.startswith(name) for one in found)}


def test_everything_countable_is_there_at_0_from_the_start_and_nothing_else() -> None:
    text = page(replace(view(), ledger=facts_of()))
    assert names(text) == set(OURS) - set(NEVER_ZERO)
    assert {v for (name, _), v in series(text).items() if name.startswith(OURS)} == {0}
    found = {dict(labels)["state"] for name, labels in series(text) if name == "ladder_inbox_depth"}
    assert found == {"waiting", "retrying", "running", "queued"}
    assert set(depths(text)) == {"routine", "soon", "wake"}
    assert len(values(text, "ladder_queue_entries_total")) == 4
    assert len(values(text, "ladder_webhook_deliveries_total")) == 3


def test_only_the_pairs_of_event_and_reason_that_there_are_have_a_series() -> None:
    text = page(replace(view(), ledger=facts_of()))
    found = [(dict(labels)["event"], dict(labels)["reason"]) for name, labels in series(text) if name == CLICKED]
    assert sorted(found) == sorted(CLICK_SERIES)
    assert {event for event, reason in found if reason == "none"} == {"minted", "consumed", "expired"}
    assert {reason for event, reason in found if event == "refused"} == {
        *("thread_busy", "unshowable", "other_user"),
        *("expired", "already_consumed", "unknown_click"),
    }


def test_counts_are_shown_by_their_words() -> None:
    text = page(ledger_view())
    assert value(text, "ladder_queue_entries_total", why="walled") == 1
    assert value(text, "ladder_queue_answer_seconds_sum") == 2412.5
    assert value(text, "ladder_webhook_deliveries_total", result="failed") == 1
    assert value(text, CLICKED, event="minted", reason="none") == 2
    assert value(text, CLICKED, event="refused", reason="other_user") == 1
    assert value(text, "ladder_confirm_consume_seconds_sum") == 7.25


def test_words_of_a_newer_version_are_shown_as_other() -> None:
    text = page(ledger_view())
    assert value(text, "ladder_queue_entries_total", why="other") == 1
    assert value(text, "ladder_webhook_deliveries_total", result="other") == 1
    assert value(text, CLICKED, event="other", reason="none") == 1
    assert value(text, CLICKED, event="refused", reason="other") == 1
    assert not [word for word in ("bored", "bounced", "folded", "tired") if word in text]


def test_what_waits_is_shown_by_state_and_since_when() -> None:
    text = page(ledger_view())
    assert values(text, "ladder_inbox_depth") == [2, 1, 1, 5]
    assert value(text, "ladder_inbox_oldest_timestamp_seconds") == (NOW - minutes(50)).timestamp()
    assert value(text, "ladder_confirm_pending") == 2
    assert value(text, "ladder_confirm_oldest_pending_timestamp_seconds") == (NOW - minutes(4)).timestamp()


def test_the_longest_waiting_of_each_urgency_is_shown_and_only_where_one_waits() -> None:
    entries = waiting(NONE, since=30), waiting(NONE, since=90), waiting(COSTLY, 10, since=5)
    text = shown(handoff=HandoffFacts(entries))
    assert value(text, OLDEST, urgency="routine") == (NOW - minutes(90)).timestamp()
    assert value(text, OLDEST, urgency="wake") == (NOW - minutes(5)).timestamp()
    assert values(text, OLDEST, urgency="soon") == []


@pytest.mark.parametrize(
    ("handoff", "gone"),
    [
        (HandoffFacts(), NEVER_ZERO),
        (HandoffFacts((waiting(NONE, 30),)), (DEADLINE,)),
        (HandoffFacts((waiting(IRREVERSIBLE),)), (DEADLINE,)),
        (HandoffFacts(items={ItemState.QUEUED: 3}), ("ladder_inbox_oldest_timestamp_seconds",)),
        (HandoffFacts(items={ItemState.DONE: 3}), NEVER_ZERO),
        (waits(), ()),
    ],
)
def test_a_moment_is_absent_while_nothing_waits(handoff: HandoffFacts, gone: tuple[str, ...]) -> None:
    text = shown(handoff=handoff)
    assert not names(text) & set(gone)
    assert 0 not in [v for (name, _), v in series(text).items() if name in NEVER_ZERO]
    assert "done" not in {dict(labels).get("state") for _, labels in series(text)}


@pytest.mark.parametrize(
    ("entries", "minutes_ahead"),
    [
        ([(COSTLY, 90)], 90),
        ([(COSTLY, 90), (IRREVERSIBLE, 600), (NONE, 5), (REVERSIBLE, 5)], 90),
        ([(IRREVERSIBLE, 600), (COSTLY, None)], 600),
        ([(COSTLY, -20), (COSTLY, 30)], -20),
        ([(NONE, 5), (COSTLY, None)], None),
    ],
)
def test_the_next_deadline_is_the_earliest_that_wakes_somebody(
    entries: list[tuple[Consequence, float | None]], minutes_ahead: float | None
) -> None:
    """Whatever the time: it is known long before the entry is of urgency wake, and stays once it is past."""
    facts = HandoffFacts(tuple(waiting(*one) for one in entries))
    found = [] if minutes_ahead is None else [(NOW + minutes(minutes_ahead)).timestamp()]
    for hours in (-100, 0, 1, 100):
        assert values(shown(handoff=facts, at=NOW + timedelta(hours=hours)), DEADLINE) == found


def test_urgency_rises_as_time_passes_though_nothing_was_read() -> None:
    facts = HandoffFacts((waiting(COSTLY, 90), waiting(NONE, 90)))
    told = [depths(shown(handoff=facts, at=NOW + minutes(after))) for after in (0, 29.99, 30, 9000)]
    early, late = {"routine": 1, "soon": 1, "wake": 0}, {"routine": 0, "soon": 1, "wake": 1}
    assert told == [early, early, late, late]


def test_a_page_that_nobody_refreshes_wakes_all_the_same() -> None:
    clock = [NOW]
    pages = Exposition(replace(ok_view(), ledger=replace(facts_of(), handoff=waits())), lambda: clock[0])
    before = depths(pages.page().body.decode())
    clock[0] += timedelta(hours=10)
    after = depths(pages.page().body.decode())
    assert (before["wake"], after["wake"]) == (1, 2)


def test_the_configured_lead_is_gone_by() -> None:
    facts = HandoffFacts((waiting(COSTLY, 90),))
    assert depths(shown(handoff=facts, lead=timedelta(hours=2)))["wake"] == 1
    assert depths(shown(handoff=facts, lead=timedelta(hours=1)))["wake"] == 0


def test_no_ledger_is_no_series_and_neither_is_one_that_was_never_read() -> None:
    assert names(page(ok_view())) == set()
    assert names(page(replace(ok_view(), ledger=LedgerFacts(False)))) == set()


def test_what_waits_is_shown_while_a_long_ledger_is_still_folded() -> None:
    text = page(replace(ok_view(), ledger=LedgerFacts(True, None, 9, 9, handoff=waits())))
    assert depths(text)["wake"] == 1
    assert values(text, CLICKED) == values(text, "ladder_queue_answer_seconds_count") == []


def test_an_exemplar_names_the_receipt_of_the_answered_question() -> None:
    text = page(ledger_view(), OPENMETRICS)
    line = next(one for one in text.splitlines() if one.startswith('ladder_queue_answer_seconds_bucket{le="3600.0"}'))
    assert '# {receipt="r-1"} 2400.0' in line


def test_labels_are_closed_sets_without_names() -> None:
    for metric in (*QUEUE, *CLICKS):
        assert all(one.values for one in metric.labels)
    found = {words for name, labels in series(page(ledger_view())) if name.startswith(OURS) for _, words in labels}
    assert not found & {"lane 7", "Which one?", "q-1", "r-1", "ada", "c-1", "i-1"}
    assert len(found) > 30


STEPS = st.one_of(
    st.tuples(st.just("wait"), st.integers(1, 400)),
    st.tuples(st.just("enter"), st.tuples(CONSEQUENCES, st.none() | st.integers(-200, 900))),
    st.tuples(st.just("answer"), st.integers(0, 5)),
    st.tuples(st.sampled_from(["lose", "heal", "lock", "restart"]), st.none()),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(STEPS, max_size=20))
def test_urgency_changes_with_time_and_answers_and_never_with_an_outage(steps: list[tuple[str, object]]) -> None:
    asyncio.run(_lived(steps))


async def _lived(steps: list[tuple[str, object]]) -> None:
    """However long the store is lost: what was read last stays, and its urgency is that of the moment."""
    ledger, at = FakeLedger(), NOW
    follower, read = LedgerFollower(ledger, Caps()), None
    for step, how in steps:
        match step, how:
            case "wait", int(count):
                at += minutes(count)
            case "enter", (Consequence() as consequence, deadline_in):
                ledger.waits = HandoffFacts((*ledger.waits.waiting, waiting(consequence, deadline_in)))  # type: ignore[arg-type]
            case "answer", int(place):
                ledger.waits = HandoffFacts(
                    tuple(one for number, one in enumerate(ledger.waits.waiting) if number != place)
                )
            case "restart", _:
                follower, read = LedgerFollower(ledger, Caps()), None
            case _:
                ledger.fault = StoreFault.UNREADABLE if step == "lose" else None
                ledger.unwritable = step == "lock"
        read = ledger.waits.waiting if ledger.fault is None else read
        found = await _scraped(follower, at)
        assert of_depth(found) == ({} if read is None else expected(read, at))
        assert found["ladder_ledger_readable", ()] == (ledger.fault is None and not ledger.unwritable)


async def _scraped(follower: LedgerFollower, at: datetime) -> Series:
    """What a scrape shows after a refresh."""
    await follower.refresh(at)
    registry = CollectorRegistry()
    registry.register(LedgerCollector(lambda: follower.facts, clock=lambda: at))
    return series(generate_latest(registry).decode())


def test_the_default_lead_is_the_rules_own() -> None:
    assert facts_of().lead == LedgerFollower(FakeLedger(), Caps()).lead == LEAD == timedelta(hours=1)
