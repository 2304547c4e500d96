"""Fold of the handoff: what each kind of row counts, and what it does not."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decide.handoff.click import ClickEvent
from decide.handoff.entry import Why
from decide.handoff.execution import Refusal
from decide.handoff.ports import Delivery
from decide.handoff.rows import QueueEvent
from decide.ledger import Row
from exporters.fold import Fold
from exporters.fold_handoff import NO_CLICKS, NO_QUEUE, ClickCounts, QueueCounts
from exporters.histogram import ANSWER_BOUNDS, CLICK_BOUNDS, nothing
from tests.exporters.ledgers import ACTED, GATE, PASS, RAISED, clicked, counts_of, handed_over, plain, queued, told

MINUTE, HOUR, DAY = 60, 3600, 86400
MOMENTS = st.integers(0, 10**6)
HANDED = st.lists(
    st.one_of(
        st.builds(
            lambda event, why, after: queued(event, why, after=after),
            *map(st.sampled_from, (QueueEvent, Why)),
            MOMENTS,
        ),
        st.builds(
            lambda event, refusal, after: clicked(event, refusal, after=after),
            st.sampled_from(ClickEvent),
            st.none() | st.sampled_from(Refusal),
            MOMENTS,
        ),
        st.sampled_from([*map(told, Delivery), *handed_over(), PASS, GATE]),
    ),
    max_size=30,
)


@pytest.mark.parametrize("why", Why)
def test_an_entry_is_counted_by_why_it_came(why: Why) -> None:
    counts = counts_of(queued(QueueEvent.ENTERED, why), queued(QueueEvent.ENTERED, why)).queue
    assert counts == QueueCounts({why: 2}, nothing(ANSWER_BOUNDS), {})


@pytest.mark.parametrize("event", QueueEvent)
def test_an_answer_alone_says_how_long_people_took(event: QueueEvent) -> None:
    answers = counts_of(queued(event, after=90)).queue.answers
    answered = event is QueueEvent.ANSWERED
    assert answers.sum_us == 90_000_000 * answered
    assert answers.counts[ANSWER_BOUNDS.index(120.0)] == sum(answers.counts) == answered


@pytest.mark.parametrize("event", [QueueEvent.ANSWERED, QueueEvent.RESOLVED, QueueEvent.CANCELLED])
def test_an_entry_that_goes_is_not_counted_again(event: QueueEvent) -> None:
    assert counts_of(queued(event)).queue.entries == {}


@pytest.mark.parametrize("result", Delivery)
def test_an_attempt_at_telling_is_counted_by_its_result(result: Delivery) -> None:
    assert counts_of(told(result), told(result)).queue == replace(NO_QUEUE, deliveries={result: 2})


@pytest.mark.parametrize("event", ClickEvent)
def test_what_happened_to_a_click_is_counted_and_a_consumed_one_timed(event: ClickEvent) -> None:
    counts = counts_of(clicked(event, after=7)).clicks
    consumed = event is ClickEvent.CONSUMED
    assert counts.events == {(event, "none"): 1}
    assert counts.consumed.sum_us == 7_000_000 * consumed
    assert counts.consumed.counts[CLICK_BOUNDS.index(10.0)] == sum(counts.consumed.counts) == consumed


@pytest.mark.parametrize("refusal", Refusal)
def test_a_refused_press_is_counted_by_its_reason(refusal: Refusal) -> None:
    counts = counts_of(clicked(ClickEvent.REFUSED, refusal, after=7), clicked(ClickEvent.REFUSED, refusal)).clicks
    assert counts == ClickCounts({("refused", refusal.value): 2}, nothing(CLICK_BOUNDS))


@pytest.mark.parametrize("row", [RAISED, ACTED])
def test_what_no_counter_needs_only_moves_on(row: Row) -> None:
    fold = Fold()
    fold.add(plain([row]))
    assert fold.seq == 1
    assert fold.counts() == counts_of()


def test_words_of_a_newer_version_are_kept_as_they_are() -> None:
    counts = counts_of(*handed_over())
    assert counts.queue.entries == {"needs_human": 1, "walled": 1, "bored": 1}
    assert counts.queue.deliveries == {"failed": 1, "delivered": 1, "bounced": 1}
    assert counts.clicks.events["folded", "none"] == counts.clicks.events["refused", "tired"] == 1


def test_what_did_not_change_is_the_same_object() -> None:
    fold = Fold()
    fold.add(plain(handed_over()))
    before = fold.counts()
    fold.add(plain([clicked(ClickEvent.MINTED), queued(QueueEvent.CANCELLED)], after=fold.seq))
    after = fold.counts()
    assert after.queue is before.queue
    assert after.clicks.events["minted", "none"] == before.clicks.events["minted", "none"] + 1


def test_nothing_counted_is_the_empty_counts() -> None:
    counts = counts_of(PASS)
    assert counts.queue is NO_QUEUE
    assert counts.clicks is NO_CLICKS


@pytest.mark.parametrize(
    ("seconds", "bound"),
    [
        (4, 30),
        (5 * MINUTE, 300),
        (HOUR, 3600),
        (7 * HOUR, 28800),
        (15 * HOUR, 57600),
        (DAY, 86400),
        (2.6 * DAY, 259200),
    ],
)
def test_the_bounds_tell_apart_how_people_answer(seconds: float, bound: float) -> None:
    """At once, in minutes, within the lead, on a working day, over a night, in a day, over a weekend."""
    answers = counts_of(queued(QueueEvent.ANSWERED, after=seconds)).queue.answers
    assert dict(zip(answers.bounds, answers.counts, strict=False))[bound] == 1


def test_the_bounds_of_clicks_hold_every_time_that_one_can_be_pressed() -> None:
    assert CLICK_BOUNDS[0] <= 1
    assert {10 * MINUTE, DAY} <= set(CLICK_BOUNDS)
    assert max(CLICK_BOUNDS) == DAY


@settings(max_examples=150, deadline=None)
@given(HANDED, st.lists(st.integers(0, 30)))
def test_a_fold_from_the_start_equals_one_that_went_on(rows: list[Row], cuts: list[int]) -> None:
    fold, whole = Fold(), plain(rows)
    for start, stop in pairwise([0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]):
        fold.add(whole[start:stop])
        fold.counts()
    assert fold.counts() == counts_of(*rows)
    assert sum(fold.counts().clicks.events.values()) == sum(row.kind == "click" for row in rows)
    assert sum(fold.counts().queue.answers.counts) == sum(
        (row.kind, row.result) == ("queue", "answered") for row in rows
    )
