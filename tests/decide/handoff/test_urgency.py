"""Urgency follows the design's table, and nothing but consequence, deadline and the time moves it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.handoff.entry import Entry, EntryState, Why, entering
from decide.handoff.inbox import ItemState
from decide.handoff.ports import Onward
from decide.handoff.urgency import Urgency, urgency
from decide.question import LEAD, Consequence
from decide.ruling import Outcome
from tests.decide.fakes import NOW
from tests.decide.handoff.fakes import MemoryHandoff
from tests.decide.handoff.samples import QUESTION, receipt_of

ROUTINE, SOON, WAKE = Urgency.ROUTINE, Urgency.SOON, Urgency.WAKE
MINUTE = timedelta(minutes=1)
TABLE = [
    (Consequence.NONE, None, ROUTINE),
    (Consequence.NONE, 61 * MINUTE, ROUTINE),
    (Consequence.NONE, 60 * MINUTE, SOON),
    (Consequence.NONE, -MINUTE, SOON),
    (Consequence.REVERSIBLE, None, ROUTINE),
    (Consequence.REVERSIBLE, 61 * MINUTE, ROUTINE),
    (Consequence.REVERSIBLE, 60 * MINUTE, SOON),
    (Consequence.REVERSIBLE, -MINUTE, SOON),
    (Consequence.COSTLY, None, ROUTINE),
    (Consequence.COSTLY, 61 * MINUTE, SOON),
    (Consequence.COSTLY, 60 * MINUTE, WAKE),
    (Consequence.COSTLY, -MINUTE, WAKE),
    (Consequence.IRREVERSIBLE, None, SOON),
    (Consequence.IRREVERSIBLE, 61 * MINUTE, SOON),
    (Consequence.IRREVERSIBLE, 60 * MINUTE, WAKE),
    (Consequence.IRREVERSIBLE, -MINUTE, WAKE),
]
"""Design 4.5 by hand: without a deadline, with one beyond the lead, on it, and past."""


@pytest.mark.parametrize(("consequence", "ahead", "expected"), TABLE)
def test_every_cell_of_the_table(consequence: Consequence, ahead: timedelta | None, expected: Urgency) -> None:
    deadline = None if ahead is None else NOW + ahead
    assert urgency(consequence, deadline, now=NOW) is expected


def test_the_lead_is_configured() -> None:
    near = NOW + timedelta(minutes=90)
    assert urgency(Consequence.COSTLY, near, now=NOW) is SOON
    assert urgency(Consequence.COSTLY, near, now=NOW, lead=timedelta(minutes=90)) is WAKE


@pytest.mark.parametrize("deadline", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_no_deadline_is_too_far_away(deadline: datetime) -> None:
    assert urgency(Consequence.COSTLY, deadline, now=NOW) in Urgency
    why = entering(Outcome.ERROR, attempts=1, retry_at=NOW, deadline=deadline)
    assert why is (Why.ERROR if deadline < NOW else None)


OUTAGES = st.lists(
    st.tuples(
        st.sampled_from([Why.WALLED, Why.ERROR, Why.HELD, Why.NEEDS_HUMAN, "asked again"]),
        st.timedeltas(timedelta(), timedelta(days=3)),
    ),
    max_size=12,
)
"""What may befall a ladder while a question waits: walls, errors, holds, another try; each for as long."""


@given(OUTAGES, st.sampled_from(Consequence), st.none() | st.timedeltas(timedelta(hours=-2), timedelta(days=20)))
async def test_no_outage_however_long_changes_an_urgency(
    outages: list[tuple[Why | str, timedelta]], consequence: Consequence, ahead: timedelta | None
) -> None:
    deadline = None if ahead is None else NOW + ahead
    question = replace(QUESTION, consequence=consequence, deadline=deadline)
    store, now = MemoryHandoff(), NOW
    for place, (what, lasts) in enumerate([(Why.WALLED, timedelta()), *outages]):
        if isinstance(what, Why):
            receipt = receipt_of(what, exit_code=4, id=f"r{place}", ended_at=now.isoformat())
            store.ended(receipt, Onward(question, item=(ItemState.QUEUED, now), why=what, retry_at=now + lasts))
        else:
            await store.ask_cleared(now, whole=True)
        now += lasts
        (waiting,) = await store.waiting()
        untouched = Entry("e", question, Why.NEEDS_HUMAN, EntryState.OPEN, now)
        expected = urgency(consequence, deadline, now=now)
        assert waiting.urgency(now) is untouched.urgency(now) is expected
        assert (await store.entry(waiting.id)).urgency(now, LEAD) is expected
