"""Rungs and ladder: their tables, what is carried from tick to tick, and what an old state may still say."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.ladder import (
    LadderState,
    LadderWord,
    Role,
    RungState,
    RungStatus,
    Transition,
    as_seen,
    follow,
    judge_ladder,
    judge_rung,
    unlisted,
)
from decide.pick import pick_seat
from decide.quota import Reading, Window, WindowKind
from decide.reason import WORDS, Reason
from decide.seat import STALE_AFTER, Quota, Seat, SeatState, Token, TokenState

NOW = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
REACHABLE, UNKNOWN, UNREACHABLE = RungState
LIVE = Token(TokenState.LIVE)
SEATS = {
    SeatState.AVAILABLE: Seat("a", LIVE, quota=Quota.UNMETERED),
    SeatState.UNKNOWN: Seat("u", LIVE),
    SeatState.CAPPED: Seat(
        "c", LIVE, readings=(Reading("s", NOW, (Window(WindowKind.SESSION, 1.0, NOW + MINUTE),)),)
    ),
    SeatState.NO_TOKEN: Seat("n", Token(TokenState.NEEDS_LOGIN, Reason.EXPIRED)),
}


@pytest.mark.parametrize(
    "states",
    [tuple(s for s, kept in zip(SeatState, mask, strict=True) if kept) for mask in product([0, 1], repeat=4)],
)
def test_a_rung_is_as_good_as_its_best_seat(states: tuple[SeatState, ...]) -> None:
    status = judge_rung("fable", Role.PRIMARY, pick_seat([SEATS[state] for state in states], now=NOW))
    if SeatState.AVAILABLE in states:
        assert status.state is REACHABLE
        assert status.reasons == ()
    elif SeatState.UNKNOWN in states:
        assert status.state is UNKNOWN
    else:
        assert status.state is UNREACHABLE
        assert status.reasons
    assert status.configured == len(states)
    assert status.clears_at == (NOW + MINUTE if SeatState.CAPPED in states else None)


def test_a_rung_without_a_seat_says_so() -> None:
    assert judge_rung("fable", Role.PRIMARY, pick_seat([], now=NOW)).reasons == (Reason.NO_SEAT,)


@pytest.mark.parametrize("seat", SeatState)
def test_a_rung_whose_list_cannot_be_read_is_never_unreachable(seat: SeatState) -> None:
    rung = unlisted(judge_rung("fable", Role.PRIMARY, pick_seat([SEATS[seat]], now=NOW)), Reason.MALFORMED)
    if seat is SeatState.AVAILABLE:
        assert (rung.state, rung.reasons) == (REACHABLE, ())
    else:
        assert rung.state is UNKNOWN
        assert rung.reasons[0] is Reason.MALFORMED
        assert rung.clears_at is None
    empty = unlisted(judge_rung("fable", Role.PRIMARY, pick_seat([], now=NOW)), Reason.MALFORMED)
    assert (empty.state, empty.reasons) == (UNKNOWN, (Reason.MALFORMED,))


def test_reasons_come_most_frequent_first() -> None:
    dead = [replace(SEATS[SeatState.NO_TOKEN], name=f"n{n}") for n in range(2)]
    status = judge_rung("fable", Role.PRIMARY, pick_seat([SEATS[SeatState.CAPPED], *dead], now=NOW))
    assert status.reasons == (Reason.EXPIRED, Reason.SESSION_CAP)


LADDER = [
    (REACHABLE, REACHABLE, LadderWord.OK),
    (REACHABLE, UNKNOWN, LadderWord.DEGRADED),
    (REACHABLE, UNREACHABLE, LadderWord.DEGRADED),
    (UNKNOWN, REACHABLE, LadderWord.DEGRADED),
    (UNKNOWN, UNKNOWN, LadderWord.BLIND),
    (UNKNOWN, UNREACHABLE, LadderWord.BLIND),
    (UNREACHABLE, REACHABLE, LadderWord.DEGRADED),
    (UNREACHABLE, UNKNOWN, LadderWord.BLIND),
    (UNREACHABLE, UNREACHABLE, LadderWord.DOWN),
]


def rungs(first: RungState, second: RungState) -> tuple[RungStatus, RungStatus]:
    return RungStatus("fable", Role.PRIMARY, first), RungStatus("astra", Role.SECOND, second)


def ladder(first: RungState, second: RungState, at: datetime = NOW) -> LadderState:
    both = rungs(first, second)
    return LadderState(at, judge_ladder(both), both)


@pytest.mark.parametrize(("first", "second", "word"), LADDER)
def test_the_ladder_from_its_two_rungs(first: RungState, second: RungState, word: LadderWord) -> None:
    assert judge_ladder(rungs(first, second)) is word


def test_the_table_above_leaves_no_pair_out() -> None:
    assert {row[:2] for row in LADDER} == set(product(RungState, repeat=2))
    assert judge_ladder([]) is LadderWord.BLIND


def test_a_state_that_stays_keeps_its_since_and_one_that_changes_is_a_transition() -> None:
    first, none = follow(None, ladder(REACHABLE, REACHABLE), stale_after=STALE_AFTER)
    assert none == ()
    assert (first.since, first.last_ok_at) == (NOW, NOW)
    second, same = follow(first, ladder(REACHABLE, REACHABLE, NOW + MINUTE), stale_after=STALE_AFTER)
    assert same == ()
    assert (second.since, second.last_ok_at) == (NOW, NOW + MINUTE)
    third, changed = follow(second, ladder(UNREACHABLE, REACHABLE, NOW + 2 * MINUTE), stale_after=STALE_AFTER)
    assert changed == (
        Transition(NOW + 2 * MINUTE, "fable", "reachable", "unreachable"),
        Transition(NOW + 2 * MINUTE, "ladder", "ok", "degraded"),
    )
    assert (third.since, third.last_ok_at) == (NOW + 2 * MINUTE, NOW + MINUTE)
    fable = third.rung("fable")
    assert fable is not None
    assert (fable.since, fable.last_reachable_at) == (NOW + 2 * MINUTE, NOW + MINUTE)


def test_a_clock_that_stepped_back_puts_no_since_in_the_future() -> None:
    first, _ = follow(None, ladder(REACHABLE, REACHABLE), stale_after=STALE_AFTER)
    back, _ = follow(first, ladder(REACHABLE, REACHABLE, NOW - timedelta(hours=2)), stale_after=STALE_AFTER)
    assert back.since == NOW - timedelta(hours=2)


def test_a_time_in_which_nobody_looked_was_blind_and_no_since_goes_back_through_it() -> None:
    first, _ = follow(None, ladder(REACHABLE, REACHABLE), stale_after=STALE_AFTER)
    later = NOW + timedelta(days=3)
    second, transitions = follow(first, ladder(REACHABLE, REACHABLE, later), stale_after=STALE_AFTER)
    assert second.since == later
    assert transitions[-1] == Transition(later, "ladder", "blind", "ok")
    lapses = [one for one in transitions if one.at == NOW + STALE_AFTER]
    assert [(one.subject, one.before, one.after) for one in lapses] == [
        ("fable", "reachable", "unknown"),
        ("astra", "reachable", "unknown"),
        ("ladder", "ok", "blind"),
    ]
    third, _ = follow(first, ladder(UNKNOWN, UNKNOWN, later), stale_after=STALE_AFTER)
    assert third.since == NOW + STALE_AFTER


@pytest.mark.parametrize(("age", "fresh"), [(0, True), (15, True), (15.1, False), (-1, True), (-1.1, False)])
def test_an_old_state_turns_blind_and_everything_unknown(age: float, fresh: bool) -> None:
    both = [
        judge_rung(name, role, pick_seat(SEATS.values(), now=NOW))
        for name, role in (("fable", Role.PRIMARY), ("astra", Role.SECOND))
    ]
    state = LadderState(NOW, judge_ladder(both), tuple(both))
    seen = as_seen(state, now=NOW + age * MINUTE, stale_after=STALE_AFTER)
    assert (seen == state) is fresh
    if not fresh:
        assert seen.state is LadderWord.BLIND
        assert {rung.state for rung in seen.rungs} == {UNKNOWN}
        assert {seat.state for rung in seen.rungs for seat in rung.seats} == {SeatState.UNKNOWN}
        assert {seat.token.state for rung in seen.rungs for seat in rung.seats} == {TokenState.UNKNOWN}
        assert all(seat.headroom is None and not seat.binding for rung in seen.rungs for seat in rung.seats)


@given(st.lists(st.tuples(st.sampled_from(RungState), st.sampled_from(RungState)), min_size=1, max_size=20))
def test_transitions_replayed_give_the_last_state(history: list[tuple[RungState, RungState]]) -> None:
    state: LadderState | None = None
    seen: dict[str, str] = {}
    for step, pair in enumerate(history):
        before = state
        state, transitions = follow(state, ladder(*pair, NOW + step * MINUTE), stale_after=STALE_AFTER)
        if before is None:
            seen = {"ladder": state.state, **{rung.name: rung.state for rung in state.rungs}}
        for transition in transitions:
            assert seen[transition.subject] == transition.before
            seen[transition.subject] = transition.after
    assert state is not None
    assert seen == {"ladder": state.state, **{rung.name: rung.state for rung in state.rungs}}


def test_every_reason_has_words_and_a_remedy() -> None:
    assert set(WORDS) == set(Reason)
    for words in WORDS.values():
        assert words.means
        assert words.remedy
        assert not words.means.endswith(".")
