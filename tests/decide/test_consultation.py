"""Consultation: the precedence of design 4.2 for one vote and for three, row by row, and what holds for any passes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.consultation import (
    NOBODY,
    UNKNOWN_MODEL,
    AnsweredBy,
    AskAgain,
    Ballot,
    Declined,
    Incomplete,
    ModelFrom,
    Order,
    Resolved,
    State,
    Unreachable,
    consult,
    disagreed,
    reached,
    unreached,
    wanting,
)
from decide.gate import parse_rows
from decide.reply import Failure, Trouble
from decide.verdict import Decline, NoVerdict, Result
from decide.verdict import Declined as PassDeclined
from decide.verdict import Resolved as PassResolved

NOW = datetime(2026, 9, 10, 19, 30, tzinfo=UTC)
FORWARD, REVERSED = Order
WORDS = {"means": "what it means", "remedy": "what to do"}
ROWS = parse_rows(
    {
        "row": [
            {"id": "money", "stage": "class", "acts": ["price_change"], **WORDS},
            {"id": "spend_money", "stage": "authority", "acts": ["buy", "refund"], **WORDS},
            {"id": "commitment", "stage": "class", "acts": ["deadline"], **WORDS},
            {"id": "production_write", "stage": "authority", "acts": ["deploy"], **WORDS},
        ]
    }
)
FABLE = AnsweredBy("claude-fable-5", ModelFrom.REPORTED)


def fails(failure: Failure, *, reached: bool = False) -> NoVerdict:
    return NoVerdict(Trouble(failure), reached)


X, Y = PassResolved("x"), PassResolved("y")
HUMAN = PassDeclined(Decline.NEEDS_HUMAN)
BAD = fails(Failure.MALFORMED, reached=True)  # with the nonce
STRAY = fails(Failure.MALFORMED)  # without it
CUT = fails(Failure.TRUNCATED, reached=True)
LATE = fails(Failure.TIMEOUT)
CAPPED = fails(Failure.SEAT_CAPPED)
LOGIN = fails(Failure.NEEDS_LOGIN)


def ballots(forward: Sequence[Result], backward: Sequence[Result]) -> list[Ballot]:
    """The passes of either order, each answered by the same model where there is a verdict."""
    return [
        Ballot(order, result, FABLE if isinstance(result, PassResolved) else NOBODY)
        for order, results in zip(Order, (forward, backward), strict=True)
        for result in results
    ]


def consulted(
    forward: Sequence[Result], backward: Sequence[Result], *, class_row: str = "", may_repeat: bool = True
) -> State | AskAgain:
    return consult(ballots(forward, backward), rows=iter(ROWS), class_row=class_row, votes=1, may_repeat=may_repeat)


def declined(kind: Decline, row: str = "") -> Declined:
    return Declined(kind, row)


RESOLVED_X = Resolved("x", FABLE)
FLIP = Declined(Decline.FLIP)
BY_HUMAN = Declined(Decline.NEEDS_HUMAN)


def incomplete(*failures: Failure, named: tuple[str, ...] = ()) -> Incomplete:
    return Incomplete(named, failures, FABLE if named else NOBODY)


def ask(*orders: Order) -> AskAgain:
    return AskAgain(orders)


TIMEOUT, MALFORMED, TRUNCATED, SEAT_CAPPED = (
    Failure.TIMEOUT,
    Failure.MALFORMED,
    Failure.TRUNCATED,
    Failure.SEAT_CAPPED,
)
TABLE: list[tuple[list[Result], list[Result], State | AskAgain, State | AskAgain]] = [
    # forward, reversed, while an order may be asked once more, when none may
    ([X], [X], RESOLVED_X, RESOLVED_X),
    ([X], [Y], FLIP, FLIP),
    ([Y], [X], FLIP, FLIP),
    # 1: a decline wins, also when its twin timed out
    ([HUMAN], [HUMAN], BY_HUMAN, BY_HUMAN),
    ([HUMAN], [X], BY_HUMAN, BY_HUMAN),
    ([X], [HUMAN], BY_HUMAN, BY_HUMAN),
    ([HUMAN], [LATE], BY_HUMAN, BY_HUMAN),
    ([LATE], [HUMAN], BY_HUMAN, BY_HUMAN),
    ([HUMAN], [CAPPED], BY_HUMAN, BY_HUMAN),
    ([HUMAN], [BAD], BY_HUMAN, BY_HUMAN),
    ([HUMAN], [], BY_HUMAN, BY_HUMAN),
    # 2: not reached, and nothing is asked again
    ([LATE], [LATE], Unreachable((TIMEOUT, TIMEOUT)), Unreachable((TIMEOUT, TIMEOUT))),
    ([CAPPED], [LATE], Unreachable((SEAT_CAPPED, TIMEOUT)), Unreachable((SEAT_CAPPED, TIMEOUT))),
    ([CAPPED], [CAPPED], Unreachable((SEAT_CAPPED,) * 2), Unreachable((SEAT_CAPPED,) * 2)),
    ([STRAY], [LATE], Unreachable((MALFORMED, TIMEOUT)), Unreachable((MALFORMED, TIMEOUT))),
    ([CAPPED], [], Unreachable((SEAT_CAPPED,)), Unreachable((SEAT_CAPPED,))),
    ([], [], Unreachable(()), Unreachable(())),
    # 4: reached and short of a verdict
    ([X], [LATE], ask(REVERSED), incomplete(TIMEOUT, named=("x",))),
    ([LATE], [X], ask(FORWARD), incomplete(TIMEOUT, named=("x",))),
    ([X], [CAPPED], ask(REVERSED), incomplete(SEAT_CAPPED, named=("x",))),
    ([X], [BAD], ask(REVERSED), incomplete(MALFORMED, named=("x",))),
    ([X], [STRAY], ask(REVERSED), incomplete(MALFORMED, named=("x",))),
    ([CUT], [X], ask(FORWARD), incomplete(TRUNCATED, named=("x",))),
    ([X], [], ask(REVERSED), incomplete(named=("x",))),
    ([BAD], [BAD], ask(FORWARD, REVERSED), incomplete(MALFORMED, MALFORMED)),
    ([CUT], [LATE], ask(FORWARD, REVERSED), incomplete(TRUNCATED, TIMEOUT)),
    ([CAPPED], [BAD], ask(FORWARD, REVERSED), incomplete(SEAT_CAPPED, MALFORMED)),
    # an order that was asked once more
    ([X], [LATE, X], RESOLVED_X, RESOLVED_X),
    ([BAD, X], [BAD, X], RESOLVED_X, RESOLVED_X),
    ([X], [LATE, Y], FLIP, FLIP),
    ([X], [LATE, HUMAN], BY_HUMAN, BY_HUMAN),
    ([X], [LATE, BAD], ask(REVERSED), incomplete(TIMEOUT, MALFORMED, named=("x",))),
    ([CUT, LATE], [X], ask(FORWARD), incomplete(TRUNCATED, TIMEOUT, named=("x",))),
    ([BAD, LATE], [BAD, X], ask(FORWARD), incomplete(MALFORMED, TIMEOUT, MALFORMED, named=("x",))),
    ([BAD, LATE], [CUT, LATE], ask(*Order), incomplete(MALFORMED, TIMEOUT, TRUNCATED, TIMEOUT)),
    ([X, Y], [], ask(REVERSED), incomplete(named=("x", "y"))),
    ([X, X], [LATE], ask(REVERSED), incomplete(TIMEOUT, named=("x",))),
]


@pytest.mark.parametrize(("forward", "backward", "at_first", "at_last"), TABLE)
def test_each_row(
    forward: list[Result], backward: list[Result], at_first: State | AskAgain, at_last: State | AskAgain
) -> None:
    assert consulted(forward, backward) == at_first
    assert consulted(forward, backward, may_repeat=False) == at_last


KINDS = [Decline.OUTSIDE_AUTHORITY, Decline.MODEL_REFUSAL, Decline.NEEDS_HUMAN, Decline.INSUFFICIENT_EVIDENCE]


@pytest.mark.parametrize(("first", "second"), list(product(KINDS, KINDS)))
def test_of_several_declines_the_first_in_precedence_counts(first: Decline, second: Decline) -> None:
    expected = first if KINDS.index(first) <= KINDS.index(second) else second
    assert consulted([PassDeclined(first)], [PassDeclined(second)]) == Declined(expected)


def test_a_gap_is_told_of_the_decline_that_counts() -> None:
    lacking = PassDeclined(Decline.INSUFFICIENT_EVIDENCE, gap="the log")
    assert consulted([X], [lacking]) == Declined(Decline.INSUFFICIENT_EVIDENCE, gap="the log")
    assert consulted([HUMAN], [lacking]) == BY_HUMAN


def touching(*words: str, option: str = "x") -> PassResolved:
    return PassResolved(option, words)


GATED: list[tuple[str, list[Result], list[Result], State | AskAgain]] = [
    # class row of the question, forward, reversed: what a policy row makes of it
    ("money", [X], [X], declined(Decline.CLASS_GATE, "money")),
    ("", [touching("money")], [X], declined(Decline.CLASS_GATE, "money")),
    ("", [X], [touching("price_change")], declined(Decline.CLASS_GATE, "money")),
    ("", [X], [touching("Price-Change ")], declined(Decline.CLASS_GATE, "money")),
    ("", [touching("spend_money")], [X], declined(Decline.OUTSIDE_AUTHORITY, "spend_money")),
    ("", [X], [touching("refund")], declined(Decline.OUTSIDE_AUTHORITY, "spend_money")),
    # authority before class, whichever is named first, and before the question's own class row
    ("", [touching("money", "deploy")], [X], declined(Decline.OUTSIDE_AUTHORITY, "production_write")),
    ("", [touching("money")], [touching("deploy")], declined(Decline.OUTSIDE_AUTHORITY, "production_write")),
    ("money", [X], [touching("deploy")], declined(Decline.OUTSIDE_AUTHORITY, "production_write")),
    ("commitment", [X], [touching("money")], declined(Decline.CLASS_GATE, "commitment")),
    # before a flip and before asking once more, whatever the option
    ("money", [X], [Y], declined(Decline.CLASS_GATE, "money")),
    ("", [X], [touching("money", option="y")], declined(Decline.CLASS_GATE, "money")),
    ("", [touching("deploy")], [LATE], declined(Decline.OUTSIDE_AUTHORITY, "production_write")),
    ("money", [BAD], [LATE], declined(Decline.CLASS_GATE, "money")),
    # after a decline of the rung itself, and never where no rung was reached
    ("money", [HUMAN], [touching("deploy")], BY_HUMAN),
    ("money", [LATE], [CAPPED], Unreachable((TIMEOUT, SEAT_CAPPED))),
    # what names no row fires nothing
    ("", [touching("nothing at all")], [touching("")], RESOLVED_X),
]


@pytest.mark.parametrize(("class_row", "forward", "backward", "expected"), GATED)
@pytest.mark.parametrize("may_repeat", [True, False])
def test_a_policy_row_fires_whatever_the_rung_says(
    class_row: str, forward: list[Result], backward: list[Result], expected: State | AskAgain, may_repeat: bool
) -> None:
    assert consulted(forward, backward, class_row=class_row, may_repeat=may_repeat) == expected


@pytest.mark.parametrize("votes", [1, 3])
def test_an_order_needs_a_majority_of_its_votes(votes: int) -> None:
    majority = votes // 2 + 1
    full, short = [X] * majority, [X] * (majority - 1) + [LATE] * (votes - majority + 1)
    asked = [consult(ballots(full, b), rows=ROWS, class_row="", votes=votes, may_repeat=True) for b in (full, short)]
    assert asked == [RESOLVED_X, ask(REVERSED)]


Z = PassResolved("z")
SPLIT = Declined(Decline.SPLIT)
XXX: list[Result] = [X, X, X]
LATE_REREAD = Ballot(FORWARD, LATE, reread=True)
TWO_LATE = incomplete(TIMEOUT, TIMEOUT, named=("x", "y"))
HIGH: list[tuple[list[Result], list[Ballot], State | AskAgain, State | AskAgain]] = [
    # forward of three votes, its re-read, while an order may be asked once more, when none may; reversed is XXX
    ([X, X, X], [], RESOLVED_X, RESOLVED_X),
    ([X, Y, X], [], RESOLVED_X, RESOLVED_X),
    ([Y, Y, X], [], FLIP, FLIP),
    ([X, LATE, X], [], RESOLVED_X, RESOLVED_X),
    # 5: no two equal votes
    ([X, Y, Z], [], AskAgain((), (FORWARD,)), SPLIT),
    ([X, Y, LATE], [], AskAgain((), (FORWARD,)), SPLIT),
    ([X, Y, Z], [Ballot(FORWARD, X, FABLE, True)], RESOLVED_X, RESOLVED_X),
    ([X, Y, LATE], [Ballot(FORWARD, X, FABLE, True)], RESOLVED_X, RESOLVED_X),
    ([X, Y, Z], [Ballot(FORWARD, Y, FABLE, True)], FLIP, FLIP),
    ([X, Y, LATE], [Ballot(FORWARD, Z, FABLE, True)], SPLIT, SPLIT),
    ([X, Y, Z], [Ballot(FORWARD, HUMAN, FABLE, True)], BY_HUMAN, BY_HUMAN),
    (
        [X, Y, Z],
        [LATE_REREAD],
        incomplete(TIMEOUT, named=("x", "y", "z")),
        incomplete(TIMEOUT, named=("x", "y", "z")),
    ),
    ([X, Y, LATE], [LATE_REREAD], TWO_LATE, TWO_LATE),
    # 4 before 5: an order without a majority of its verdicts, and after its one extra pass nothing more
    ([X, LATE, LATE], [], ask(FORWARD), incomplete(TIMEOUT, TIMEOUT, named=("x",))),
    ([X, LATE, LATE, Y], [], AskAgain((), (FORWARD,)), SPLIT),
    ([X, LATE, LATE, X], [], RESOLVED_X, RESOLVED_X),
    ([LATE, LATE, LATE], [], ask(FORWARD), incomplete(*[TIMEOUT] * 3, named=("x",))),
]


@pytest.mark.parametrize(("forward", "again", "at_first", "at_last"), HIGH)
def test_each_row_of_three_votes(
    forward: list[Result], again: list[Ballot], at_first: State | AskAgain, at_last: State | AskAgain
) -> None:
    rules: dict[str, Any] = {"rows": ROWS, "class_row": "", "votes": 3, "split_reread": True}
    cast = [*ballots(forward, []), *again, *ballots([], XXX)]
    assert consult(cast, may_repeat=True, **rules) == at_first
    assert settled(consult(cast, may_repeat=False, **rules)) == settled(at_last)


def test_a_split_is_not_read_again_where_the_level_has_no_such_check() -> None:
    assert consult(ballots([X, Y, Z], XXX), rows=ROWS, class_row="", votes=3, may_repeat=True) == SPLIT


def test_both_kinds_of_extra_pass_are_asked_for_at_once() -> None:
    cast = ballots([X, LATE, LATE], [X, Y, Z])
    state = consult(cast, rows=ROWS, class_row="", votes=3, may_repeat=True, split_reread=True)
    assert state == AskAgain((FORWARD,), (REVERSED,))


@pytest.mark.parametrize("votes", [2, 3, 4, 5, 9])
def test_a_reread_decides_between_options_that_were_named_and_for_no_other(votes: int) -> None:
    split = [PassResolved(f"o{n}") for n in range(votes)]
    full = [split[0]] * votes
    rules: dict[str, Any] = {"rows": ROWS, "class_row": "", "votes": votes, "may_repeat": False, "split_reread": True}
    for option, state in (("o0", Resolved("o0", FABLE)), ("o1", FLIP), ("new", SPLIT)):
        reread = Ballot(FORWARD, PassResolved(option), FABLE, reread=True)
        assert consult([*ballots(split, full), reread], **rules) == state
    assert disagreed(ballots(split[::-1], []), FORWARD) == tuple(f"o{n}" for n in range(votes))


WANTING: list[tuple[list[Result], list[Ballot], int, int]] = [
    # forward, re-reads that stand, votes, how many forward lacks
    ([], [], 1, 1),
    ([], [], 3, 3),
    ([X], [], 1, 0),
    ([X], [], 3, 2),
    ([X, Y], [], 3, 1),
    ([X, X], [], 3, 0),
    ([X, Y, Z], [], 3, 0),
    ([X, Y, Z], [], 1, 0),
    ([X], [], 5, 4),
    ([HUMAN], [], 3, 0),
    ([], [Ballot(REVERSED, HUMAN)], 3, 0),
    ([X, Y], [Ballot(FORWARD, Z, FABLE, True)], 3, 0),
    ([X, Y], [Ballot(REVERSED, Z, FABLE, True)], 3, 1),
]


@pytest.mark.parametrize(("forward", "others", "votes", "lacks"), WANTING)
def test_what_an_order_lacks_when_it_is_resumed(
    forward: list[Result], others: list[Ballot], votes: int, lacks: int
) -> None:
    assert wanting([*ballots(forward, []), *others], FORWARD, votes) == lacks


REACHED: list[tuple[list[Result], bool]] = [
    ([], False),
    ([X], True),
    ([HUMAN], True),
    ([PassDeclined(Decline.MODEL_REFUSAL)], True),
    ([BAD], True),
    ([CUT], True),
    ([STRAY], False),
    ([CAPPED, LATE, LOGIN], False),
    ([CAPPED, LATE, BAD], True),
]


@pytest.mark.parametrize(("results", "expected"), REACHED)
def test_reached_is_a_verdict_object_or_a_refusal_of_any_pass(results: list[Result], expected: bool) -> None:
    assert reached(iter(results)) is expected


@pytest.mark.parametrize("failure", Failure)
@pytest.mark.parametrize("with_object", [True, False])
def test_no_reason_of_itself_says_whether_a_rung_was_reached(failure: Failure, with_object: bool) -> None:
    assert reached([fails(failure, reached=with_object)]) is with_object


DURABLE = [
    ([SEAT_CAPPED], True),
    ([Failure.NEEDS_LOGIN], True),
    ([Failure.NOT_INSTALLED], True),
    ([Failure.MODEL_UNAVAILABLE], True),
    ([Failure.SUBSTITUTED], True),
    ([SEAT_CAPPED, Failure.NEEDS_LOGIN], True),
    ([Failure.RATE_LIMITED], False),
    ([Failure.CLIENT_ERROR], False),
    ([TIMEOUT], False),
    ([Failure.NETWORK], False),
    ([Failure.SERVER_ERROR], False),
    ([Failure.NO_JSON], False),
    ([MALFORMED], False),
    ([TRUNCATED], False),
    ([Failure.EMPTY], False),
    ([SEAT_CAPPED, TIMEOUT], False),
    ([TIMEOUT, SEAT_CAPPED], False),
    ([SEAT_CAPPED, SEAT_CAPPED, Failure.EMPTY], False),
    ([], False),
]


@pytest.mark.parametrize(("failures", "durable"), DURABLE)
def test_unreachable_is_durable_only_if_every_pass_failed_durably(failures: list[Failure], durable: bool) -> None:
    state = unreached(map(fails, failures))
    assert (state.failures, state.durable) == (tuple(failures), durable)
    assert {failure for row, _ in DURABLE for failure in row} == set(Failure)


def test_unreachable_says_when_the_first_seat_clears_and_the_longest_wait_that_a_server_asked_for() -> None:
    soon, late = NOW + timedelta(minutes=70), NOW + timedelta(days=3)
    capped = [NoVerdict(Trouble(SEAT_CAPPED, clears_at=at)) for at in (late, soon, None)]
    assert unreached(capped).clears_at == soon
    throttled = [NoVerdict(Trouble(Failure.RATE_LIMITED, retry_after_s=wait)) for wait in (5, 60, None)]
    assert unreached(throttled).retry_after_s == 60
    assert (unreached([LATE]).clears_at, unreached([LATE]).retry_after_s) == (None, None)


REPORTED = AnsweredBy("claude-fable-5", ModelFrom.REPORTED)
REQUESTED = AnsweredBy("claude-fable-5", ModelFrom.REQUESTED)
ANSWERS = [
    (REPORTED, REPORTED, REPORTED),
    (REPORTED, REQUESTED, REQUESTED),
    (REQUESTED, REPORTED, REQUESTED),
    (REPORTED, NOBODY, NOBODY),
    (NOBODY, REPORTED, NOBODY),
    (NOBODY, REQUESTED, NOBODY),
    (NOBODY, NOBODY, NOBODY),
]


@pytest.mark.parametrize(("forward", "backward", "expected"), ANSWERS)
def test_an_answer_names_its_model_only_as_surely_as_the_least_sure_pass(
    forward: AnsweredBy, backward: AnsweredBy, expected: AnsweredBy
) -> None:
    failed = Ballot(FORWARD, LATE, NOBODY)
    passes = [failed, Ballot(FORWARD, X, forward), Ballot(REVERSED, X, backward)]
    state = consult(passes, rows=ROWS, class_row="", votes=1, may_repeat=False)
    assert state == Resolved("x", expected)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: AnsweredBy("", ModelFrom.REPORTED),
        lambda: AnsweredBy("", ModelFrom.UNKNOWN),
        lambda: AnsweredBy("claude-fable-5", ModelFrom.UNKNOWN),
        lambda: AnsweredBy(UNKNOWN_MODEL, ModelFrom.REPORTED),
        lambda: AnsweredBy(UNKNOWN_MODEL, ModelFrom.REQUESTED),
    ],
)
def test_a_model_is_named_with_its_source_or_unknown(wrong: Callable[[], AnsweredBy]) -> None:
    with pytest.raises(ValueError, match="no model is known"):
        wrong()
    assert (NOBODY.known, REPORTED.known, REQUESTED.known) == (False, True, True)


troubles = st.builds(
    Trouble,
    st.sampled_from(Failure),
    clears_at=st.none() | st.integers(1, 9).map(lambda hours: NOW + timedelta(hours=hours)),
    retry_after_s=st.none() | st.floats(1, 3600),
)
some_words = st.lists(st.sampled_from(["money", "buy", "deadline", "deploy", "other"]), max_size=2).map(tuple)
results = st.one_of(
    st.builds(PassResolved, st.sampled_from("xyz"), some_words),
    st.builds(PassDeclined, st.sampled_from(KINDS), some_words),
    st.builds(NoVerdict, troubles, st.booleans()),
)
answers = st.sampled_from([REPORTED, REQUESTED, NOBODY])
passes = st.lists(st.builds(Ballot, st.sampled_from(Order), results, answers), max_size=5)
rereads = st.builds(Ballot, st.sampled_from(Order), results, answers, st.just(True))


def settled(state: State | AskAgain) -> State | AskAgain:
    """A state without the order of what it lists."""
    match state:
        case Incomplete():
            return replace(state, named=tuple(sorted(state.named)), failures=tuple(sorted(state.failures)))
        case Unreachable():
            return replace(state, failures=tuple(sorted(state.failures)))
        case _:
            return state


@given(passes, st.sampled_from(["", "money"]), st.sampled_from([1, 3]), st.booleans(), st.booleans())
def test_any_passes_make_a_state_whatever_their_sequence(
    given_passes: list[Ballot], class_row: str, votes: int, may_repeat: bool, reread: bool
) -> None:
    rules: dict[str, Any] = {"rows": ROWS, "class_row": class_row, "votes": votes, "split_reread": reread}
    states = [settled(consult(sequence, may_repeat=may_repeat, **rules)) for sequence in permutations(given_passes)]
    assert all(state == states[0] for state in states)


@given(passes, st.sampled_from(["", "money"]), st.booleans(), st.sampled_from(KINDS), st.integers(0, 5))
def test_a_decline_always_wins(
    others: list[Ballot], class_row: str, may_repeat: bool, kind: Decline, place: int
) -> None:
    cast = [*others[:place], Ballot(REVERSED, PassDeclined(kind)), *others[place:]]
    state = consult(cast, rows=ROWS, class_row=class_row, votes=1, may_repeat=may_repeat)
    assert isinstance(state, Declined)
    assert KINDS.index(state.kind) <= KINDS.index(kind)


@given(passes, st.booleans())
def test_resolved_takes_a_verdict_of_both_orders_and_no_other_option(cast: list[Ballot], may_repeat: bool) -> None:
    state = consult(cast, rows=ROWS, class_row="", votes=1, may_repeat=may_repeat)
    named = {(b.order, b.result.option_id) for b in cast if isinstance(b.result, PassResolved)}
    if isinstance(state, Resolved):
        for order in Order:
            votes = [b.result.option_id for b in cast if b.order is order and isinstance(b.result, PassResolved)]
            assert votes.count(state.option_id) * 2 > len(votes) > 0
    if isinstance(state, Unreachable):
        assert not named
    if isinstance(state, AskAgain):
        assert may_repeat
        assert not {order for order, _ in named} & set(state.orders)
    if isinstance(state, Incomplete):
        assert not may_repeat
        assert set(state.named) == {option for _, option in named}


@given(passes, st.integers(1, 5))
def test_an_order_that_lacks_votes_is_never_settled_by_what_stands(cast: list[Ballot], votes: int) -> None:
    state = consult(cast, rows=(), class_row="", votes=votes, may_repeat=False, split_reread=True)
    if any(wanting(cast, order, votes) for order in Order):
        assert not isinstance(state, Resolved)


@given(passes, rereads, st.sampled_from([1, 3]))
def test_a_reread_never_changes_what_a_majority_says(cast: list[Ballot], reread: Ballot, votes: int) -> None:
    rules: dict[str, Any] = {"rows": (), "class_row": "", "votes": votes, "may_repeat": False, "split_reread": True}
    before, after = consult(cast, **rules), consult([*cast, reread], **rules)
    if isinstance(before, Resolved) and not isinstance(reread.result, PassDeclined):
        assert isinstance(after, Resolved)
        assert after.option_id == before.option_id
