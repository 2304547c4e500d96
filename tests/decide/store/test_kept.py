"""Kept: a pass that stands is the same after a night in the store."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.consultation import NOBODY, AnsweredBy, Ballot, ModelFrom, Order
from decide.ports import KeptPass
from decide.quota import WindowKind
from decide.reply import Failure, Trouble
from decide.store.kept import dump, load
from decide.verdict import Decline, Declined, NoVerdict, Resolved, Result

WORDS = st.text(max_size=20)
TOUCHES = st.lists(WORDS, max_size=3).map(tuple)
TROUBLES = st.builds(
    Trouble,
    st.sampled_from(Failure),
    st.none() | st.sampled_from(WindowKind),
    st.none() | st.datetimes(timezones=st.just(UTC)),
    st.none() | st.floats(0, 1e9),
    WORDS,
    st.booleans(),
)
RESULTS: st.SearchStrategy[Result] = st.one_of(
    st.builds(Resolved, WORDS, TOUCHES, WORDS),
    st.builds(Declined, st.sampled_from(Decline), TOUCHES, WORDS, WORDS),
    st.builds(NoVerdict, TROUBLES, st.booleans()),
)
ANSWERS = st.just(NOBODY) | st.builds(
    AnsweredBy, st.text(min_size=1).filter(lambda name: name != "UNKNOWN"), st.just(ModelFrom.REPORTED)
)
BALLOTS = st.builds(Ballot, st.sampled_from(Order), RESULTS, ANSWERS, st.booleans())
PASSES = st.builds(
    KeptPass,
    st.sampled_from(["primary", "second", "cross_check"]),
    BALLOTS,
    st.dictionaries(WORDS, st.integers() | st.none()),
)


@given(PASSES)
def test_what_was_dumped_is_loaded_equal(kept: KeptPass) -> None:
    assert load(dump(kept)) == kept


def test_a_pass_that_was_kept_before_there_were_rereads_is_none() -> None:
    document = json.loads(dump(KeptPass("primary", Ballot(Order.FORWARD, Resolved("a"), reread=True), {})))
    assert load(json.dumps(document)).ballot.reread
    del document["reread"]
    assert not load(json.dumps(document)).ballot.reread


def test_a_record_of_something_else_is_refused() -> None:
    ballot = Ballot(Order.FORWARD, Resolved("a"))
    assert load(dump(KeptPass("second", ballot, {"at": datetime(2026, 1, 1, tzinfo=UTC)}))).record == {
        "at": "2026-01-01T00:00:00+00:00"
    }
    with pytest.raises(TypeError, match="text, numbers and times"):
        dump(KeptPass("second", ballot, {"x": object()}))
