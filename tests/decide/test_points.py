"""Points: whose what grew between two readings is, and that nothing of it is lost or told twice."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.consultation import PassRole
from decide.meter import MeterSample, step
from decide.points import LONGEST_GAP, MILLION, Certainty, Consulted, Work, consulted, taken
from decide.quota import WindowKind

NOW = datetime(2026, 10, 15, 12, tzinfo=UTC)
BEFORE = MeterSample("fable", "desk", WindowKind.SESSION, "", NOW, 0.25, NOW + timedelta(hours=3))
AFTER = replace(BEFORE, at=NOW + timedelta(minutes=5), used=0.28)
A, B = Consulted("r-a", "q-a", "medium", "vote"), Consulted("r-b", "q-b", "high", "vote")
ALONE, SHARED = Certainty.ATTRIBUTED, Certainty.SHARED


def work(whose: Consulted, begin: float, end: float, tokens: int = 1000) -> Work:
    """A pass between two minutes after NOW."""
    return Work(whose, NOW + timedelta(minutes=begin), NOW + timedelta(minutes=end), tokens)


SPLITS = [
    ("nothing ran", [], []),
    ("one ran", [work(A, 1, 2)], [(A, 30_000, ALONE)]),
    ("two passes of one consultation", [work(A, 1, 2), work(A, 1, 3, 9)], [(A, 30_000, ALONE)]),
    (
        "two consultations, by tokens",
        [work(A, 1, 2, 2000), work(B, 3, 4)],
        [(A, 20_000, SHARED), (B, 10_000, SHARED)],
    ),
    ("half of it before", [work(A, -1, 1, 2000), work(B, 3, 4)], [(A, 15_000, SHARED), (B, 15_000, SHARED)]),
    ("half of it after", [work(A, 4, 6, 4000), work(B, 3, 4)], [(A, 20_000, SHARED), (B, 10_000, SHARED)]),
    ("one tells no tokens", [work(A, 1, 2, 0), work(B, 3, 4)], [(A, 15_000, SHARED), (B, 15_000, SHARED)]),
    ("one was over before", [work(A, -2, 0), work(B, 3, 4)], [(B, 30_000, ALONE)]),
    ("one began later", [work(A, 5, 6), work(B, 3, 4)], [(B, 30_000, ALONE)]),
    ("one took no time", [work(A, 2, 2), work(B, 3, 4)], [(A, 15_000, SHARED), (B, 15_000, SHARED)]),
    ("a third each", [work(A, 1, 2), work(B, 3, 4, 2000)], [(A, 10_000, SHARED), (B, 20_000, SHARED)]),
]


@pytest.mark.parametrize(("what", "ran", "wanted"), SPLITS, ids=[row[0] for row in SPLITS])
def test_what_grew_is_put_down_to_what_ran(
    what: str, ran: list[Work], wanted: list[tuple[Consulted, int, Certainty]]
) -> None:
    found = taken(BEFORE, AFTER, ran)
    assert [(one.consulted, one.micro_ratio, one.certainty) for one in found] == wanted, what


def test_nothing_grew_is_known_and_not_left_out() -> None:
    (one,) = taken(BEFORE, replace(AFTER, used=0.25), [work(A, 1, 2)])
    assert (one.micro_ratio, one.certainty) == (0, ALONE)


def test_readings_too_far_apart_say_nothing() -> None:
    at = BEFORE.at + LONGEST_GAP
    assert taken(BEFORE, replace(AFTER, at=at), [work(A, 1, 2)])
    assert taken(BEFORE, replace(AFTER, at=at + timedelta(microseconds=1)), [work(A, 1, 2)]) == ()


ROLES = [
    (PassRole.VOTE, "vote"),
    (PassRole.REPEAT, "vote"),
    (PassRole.REREAD, "vote"),
    (PassRole.RECONSIDERATION, "reconsideration"),
    (PassRole.CROSS_CHECK, "cross_check"),
]


@pytest.mark.parametrize(("role", "whose"), ROLES)
def test_a_pass_belongs_to_the_consultation_that_it_adds_to(role: PassRole, whose: str) -> None:
    assert consulted("r", "q", "low", role.value) == Consulted("r", "q", "low", whose)


def test_every_role_is_looked_at() -> None:
    assert [role for role, _ in ROLES] == list(PassRole)


minutes = st.integers(-10, 40)
passes = st.builds(
    lambda whose, begin, lasts, tokens: work(whose, begin, begin + lasts, tokens),
    st.sampled_from([A, B, replace(A, role="reconsideration")]),
    minutes,
    st.integers(0, 10),
    st.integers(0, 5000),
)
meters = st.lists(st.integers(0, 100), min_size=2, max_size=6)


@given(used=meters, ran=st.lists(passes, max_size=8))
def test_the_parts_add_up_to_what_grew_while_something_ran(used: Sequence[int], ran: list[Work]) -> None:
    samples = [
        replace(BEFORE, at=NOW + timedelta(minutes=5 * number), used=each / 100) for number, each in enumerate(used)
    ]
    told: Counter[Consulted] = Counter()
    wanted = 0
    for before, after in pairwise(samples):
        found = taken(before, after, ran)
        assert (Certainty.SHARED in {one.certainty for one in found}) == (len(found) > 1)
        assert all(one.micro_ratio >= 0 for one in found)
        told.update({one.consulted: one.micro_ratio for one in found})
        if any(one.began < after.at and one.ended > before.at for one in ran):
            wanted += round(step(before, after) * MILLION)
    assert sum(told.values()) == wanted
