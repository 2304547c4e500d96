"""What brings a question before a person, and what a person may answer."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.handoff.entry import (
    NAME_LIMIT,
    WORDS_LIMIT,
    Answer,
    ClosedError,
    Entry,
    EntryState,
    HandoffError,
    Why,
    chosen,
    entering,
    named,
)
from decide.ruling import ANSWERED, Outcome
from tests.decide.fakes import NOW
from tests.decide.handoff.samples import QUESTION

HOUR = timedelta(hours=1)
LATE, EARLY = NOW + HOUR, NOW + 5 * HOUR
"""Deadlines that a retry at NOW + 1 s misses the lead of, and does not."""
AT_ONCE: dict[str, Any] = {"attempts": 1, "retry_at": NOW + timedelta(seconds=1)}

ENTERS = [
    (Outcome.NEEDS_HUMAN, {}, Why.NEEDS_HUMAN),
    (Outcome.WALLED, {}, Why.WALLED),
    (Outcome.ERROR, {"attempts": 1}, None),
    (Outcome.ERROR, {"attempts": 2}, None),
    (Outcome.ERROR, {"attempts": 3}, Why.ERROR),
    (Outcome.ERROR, {"attempts": 1, "max_attempts": 1}, Why.ERROR),
    (Outcome.ERROR, {"deadline": EARLY}, None),
    (Outcome.ERROR, {"deadline": LATE}, Why.ERROR),
    (Outcome.ERROR, {"deadline": LATE, "lead": timedelta(minutes=30)}, None),
    (Outcome.ERROR, {"deadline": NOW - HOUR}, Why.ERROR),
    (Outcome.ERROR, {"deadline": LATE, "retry_at": None}, None),
    (Outcome.HELD, {}, None),
    (Outcome.HELD, {"attempts": 9}, None),
    (Outcome.HELD, {"by_ledger": True}, Why.HELD),
    (Outcome.HELD, {"deadline": EARLY}, None),
    (Outcome.HELD, {"deadline": LATE}, Why.HELD),
    (Outcome.AGREED, {}, None),
    (Outcome.RECONSIDERED, {}, None),
    (Outcome.SINGLE_RUNG, {}, None),
    (Outcome.CANCELLED, {}, None),
]


@pytest.mark.parametrize(("outcome", "facts", "expected"), ENTERS)
def test_what_enters_the_queue(outcome: Outcome, facts: dict[str, Any], expected: Why | None) -> None:
    assert entering(outcome, **({"deadline": None} | AT_ONCE | facts)) is expected


def test_every_outcome_is_in_the_table() -> None:
    assert {outcome for outcome, *_ in ENTERS} == {*Outcome}


@given(st.sampled_from(Outcome), st.integers(0, 9), st.booleans(), st.booleans(), st.integers(-9, 9) | st.none())
def test_an_answer_never_enters_and_a_persons_matter_always_does(
    outcome: Outcome, attempts: int, by_ledger: bool, has_retry: bool, hours: int | None
) -> None:
    retry_at = NOW if has_retry else None
    deadline = None if hours is None else NOW + hours * HOUR
    why = entering(outcome, by_ledger=by_ledger, attempts=attempts, retry_at=retry_at, deadline=deadline)
    if outcome in (*ANSWERED, Outcome.CANCELLED):
        assert why is None
    if outcome in (Outcome.NEEDS_HUMAN, Outcome.WALLED):
        assert why is not None
    if why is not None:
        assert why.value == outcome.value


def test_a_retry_right_at_the_lead_is_in_time() -> None:
    at_lead: dict[str, Any] = {"attempts": 1, "retry_at": NOW, "deadline": NOW + HOUR}
    assert entering(Outcome.ERROR, **at_lead) is None
    later = at_lead | {"retry_at": NOW + timedelta(microseconds=1)}
    assert entering(Outcome.ERROR, **later) is Why.ERROR


@pytest.mark.parametrize("said", ["opt_a", "OPT_A", "  opt_a\n"])
def test_an_option_is_named_blanks_and_case_aside(said: str) -> None:
    assert chosen(QUESTION, said) == "opt_a"


def test_an_option_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(HandoffError, match=r"no option 'opt_z'; there are 'opt_a', 'opt_b'"):
        chosen(QUESTION, "opt_z")
    with pytest.raises(HandoffError) as refused:
        chosen(QUESTION, "x" * 10_000)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("person", ["", "   ", "a\nb", "a\x00b", "eve\u202e", "x" * (NAME_LIMIT + 1), "\ud800"])
def test_nobody_is_named_so(person: str) -> None:
    with pytest.raises(HandoffError, match="person"):
        named(person)
    with pytest.raises(HandoffError, match="person"):
        Answer(person, NOW, "typed", option="opt_a")


def test_a_name_is_stripped() -> None:
    assert named("  Ada Example ") == "Ada Example"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({}, "names an option or says something"),
        ({"text": "  \n "}, "names an option or says something"),
        ({"text": "x" * (WORDS_LIMIT + 1)}, f"at most {WORDS_LIMIT}"),
        ({"text": "half \ud800 of a pair"}, "whole characters"),
        ({"text": "a\x00b"}, "control character"),
        ({"text": "a\x1b[2Jb"}, "control character"),
    ],
)
def test_what_no_receipt_should_hold_is_no_answer(answer: dict[str, str], text: str) -> None:
    with pytest.raises(HandoffError, match=text):
        Answer("ada", NOW, "chat", **answer)


def test_words_may_have_lines_and_any_script() -> None:
    words = "erst\r\n\tdann übermorgen 猫"
    assert Answer("ada", NOW, "chat", text=words).text == words


def test_an_answer_has_a_time_with_a_zone() -> None:
    with pytest.raises(ValueError, match="aware"):
        Answer("ada", NOW.replace(tzinfo=None), "chat", option="opt_a")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (EntryState.ANSWERED, "was answered by ada"),
        (EntryState.CANCELLED, "was cancelled by ada"),
        (EntryState.RESOLVED, "was resolved by the ladder itself"),
    ],
)
def test_a_closed_entry_says_how_it_ended(state: EntryState, words: str) -> None:
    entry = replace(Entry("e1", QUESTION, Why.WALLED, EntryState.OPEN, NOW), state=state, closed_by="ada")
    error = ClosedError(entry)
    assert words in str(error)
    assert error.entry == entry
