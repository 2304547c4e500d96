"""Ruling: the table of design 4.3 written out by hand, every pair of states once."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import pytest

from decide.consultation import (
    NOBODY,
    AnsweredBy,
    Declined,
    Incomplete,
    ModelFrom,
    Resolved,
    State,
    Unreachable,
)
from decide.cross_check import Check, Finding, NoFault, Skipped
from decide.reply import Failure
from decide.ruling import (
    ANSWERED,
    RULING_EXITS,
    Outcome,
    Reconsider,
    Ruling,
    rule,
    rule_again,
    rule_checked,
    rule_found,
)
from decide.verdict import Decline

ONE, TWO = "claude-fable-5", "gpt-6-astra"
TIMEOUT = (Failure.TIMEOUT,)


def by(model: str, source: ModelFrom = ModelFrom.REPORTED) -> AnsweredBy:
    return AnsweredBy(model, source)


COMMON: dict[str, State] = {
    "D": Declined(Decline.NEEDS_HUMAN),
    "I-": Incomplete((), TIMEOUT),
    "Ix": Incomplete(("x",), TIMEOUT),
    "Iy": Incomplete(("y",), TIMEOUT),
    "Ixy": Incomplete(("x", "y"), TIMEOUT),
    "Ud": Unreachable((Failure.SEAT_CAPPED, Failure.NEEDS_LOGIN)),
    "Ut": Unreachable((Failure.SEAT_CAPPED, Failure.TIMEOUT)),
}
# resolved to x or y: r the wire reported the model, q it was requested, u it is UNKNOWN, s it is the primary's own
PRIMARY: dict[str, State] = {
    "Xr": Resolved("x", by(ONE)),
    "Xq": Resolved("x", by(ONE, ModelFrom.REQUESTED)),
    "Xu": Resolved("x", NOBODY),
    **COMMON,
}
SECOND: dict[str, State] = {
    **{f"{option.upper()}r": Resolved(option, by(TWO)) for option in "xy"},
    **{f"{option.upper()}q": Resolved(option, by(TWO, ModelFrom.REQUESTED)) for option in "xy"},
    **{f"{option.upper()}s": Resolved(option, by(ONE.upper())) for option in "xy"},
    **{f"{option.upper()}u": Resolved(option, NOBODY) for option in "xy"},
    **COMMON,
}

# A agreed x; 1 and 2 single_rung by the primary's or the second's answer; N needs_human; R the primary reconsiders;
# W walled; E error
GRID = """
     Xr Xq Xs Xu  Yr Yq Ys Yu  D  I- Ix Iy Ixy  Ud Ut
Xr   A  A  1  1   R  R  N  N   N  E  1  E  E    1  1
Xq   A  A  1  1   R  R  N  N   N  E  1  E  E    1  1
Xu   2  2  2  1   N  N  N  N   N  E  1  E  E    1  1
D    N  N  N  N   N  N  N  N   N  N  N  N  N    N  N
I-   E  E  E  E   E  E  E  E   N  E  E  E  E    E  E
Ix   E  E  E  E   E  E  E  E   N  E  E  E  E    E  E
Iy   E  E  E  E   E  E  E  E   N  E  E  E  E    E  E
Ixy  E  E  E  E   E  E  E  E   N  E  E  E  E    E  E
Ud   2  2  2  2   2  2  2  2   N  E  E  E  E    W  E
Ut   2  2  2  2   2  2  2  2   N  E  E  E  E    E  E
"""


def cells() -> Iterator[tuple[str, str, str]]:
    """Every cell of the grid with the names of its row and column."""
    head, *rows = (line.split() for line in GRID.strip().splitlines())
    for name, *row in rows:
        for column, cell in zip(head, row, strict=True):
            yield name, column, cell


CELLS = list(cells())
OUTCOME = {
    "A": (Outcome.AGREED, 0),
    "1": (Outcome.SINGLE_RUNG, 0),
    "2": (Outcome.SINGLE_RUNG, 0),
    "N": (Outcome.NEEDS_HUMAN, 3),
    "W": (Outcome.WALLED, 4),
    "E": (Outcome.ERROR, 2),
}


def test_the_table_has_every_pair_of_states_once() -> None:
    pairs = [(row, column) for row, column, _ in CELLS]
    assert sorted(pairs) == sorted(product(PRIMARY, SECOND))
    assert len(pairs) == len(set(pairs)) == 150


@pytest.mark.parametrize(("row", "column", "cell"), CELLS)
def test_each_pair_of_states_has_its_ruling(row: str, column: str, cell: str) -> None:
    primary, second = PRIMARY[row], SECOND[column]
    ruling = rule(primary, second)
    if cell == "R":
        assert ruling == Reconsider(primary, second)  # type: ignore[arg-type]  # both are Resolved in such a cell
        return
    assert isinstance(ruling, Ruling)
    assert (ruling.primary, ruling.second, ruling.reconsideration) == (primary, second, None)
    outcome, code = OUTCOME[cell]
    assert (ruling.outcome, RULING_EXITS[ruling.outcome]) == (outcome, code)
    answer = {"A": primary, "1": primary, "2": second}.get(cell)
    if answer is None:
        assert (ruling.option_id, ruling.answered_by) == ("", None)
    else:
        assert isinstance(answer, Resolved)
        assert (ruling.option_id, ruling.answered_by) == (answer.option_id, answer.answered_by)


@pytest.mark.parametrize("kind", Decline)
def test_a_decline_of_any_kind_by_either_rung_goes_to_a_person(kind: Decline) -> None:
    for row, column in product(PRIMARY, SECOND):
        for pair in ((PRIMARY[row], Declined(kind, "a row")), (Declined(kind, "a row"), SECOND[column])):
            ruling = rule(*pair)
            assert isinstance(ruling, Ruling)
            assert ruling.outcome is Outcome.NEEDS_HUMAN


def test_the_options_names_do_not_matter() -> None:
    """The same table with x and y exchanged in both states."""

    def exchanged(state: State) -> State:
        names = {"x": "y", "y": "x"}
        if isinstance(state, Resolved):
            return replace(state, option_id=names[state.option_id])
        if isinstance(state, Incomplete):
            return replace(state, named=tuple(names[option] for option in state.named))
        return state

    for row, column, cell in CELLS:
        ruling = rule(exchanged(PRIMARY[row]), exchanged(SECOND[column]))
        assert isinstance(ruling, Reconsider) if cell == "R" else ruling.outcome is OUTCOME[cell][0]  # type: ignore[union-attr]


AGAIN: list[tuple[State, Outcome, int]] = [
    *((Resolved(option, by(ONE)), Outcome.RECONSIDERED, 0) for option in "xyz"),
    *((Resolved(option, by(ONE, ModelFrom.REQUESTED)), Outcome.RECONSIDERED, 0) for option in "xyz"),
    *((Resolved(option, NOBODY), Outcome.ERROR, 2) for option in "xyz"),
    *((Declined(kind), Outcome.NEEDS_HUMAN, 3) for kind in Decline),
    (Declined(Decline.CLASS_GATE, "money"), Outcome.NEEDS_HUMAN, 3),
    (Incomplete((), TIMEOUT), Outcome.ERROR, 2),
    (Incomplete(("x",), TIMEOUT), Outcome.ERROR, 2),
    (Incomplete(("y",), TIMEOUT), Outcome.ERROR, 2),
    (Incomplete(("x", "y"), TIMEOUT), Outcome.ERROR, 2),
    (Unreachable((Failure.SEAT_CAPPED,)), Outcome.WALLED, 4),
    (Unreachable((Failure.SEAT_CAPPED, Failure.SUBSTITUTED)), Outcome.WALLED, 4),
    (Unreachable((Failure.TIMEOUT,)), Outcome.ERROR, 2),
    (Unreachable((Failure.SEAT_CAPPED, Failure.TIMEOUT)), Outcome.ERROR, 2),
    (Unreachable(()), Outcome.ERROR, 2),
]
DISPUTED = [(row, column) for row, column, cell in CELLS if cell == "R"]


@pytest.mark.parametrize(("again", "outcome", "code"), AGAIN)
@pytest.mark.parametrize(("row", "column"), DISPUTED)
def test_what_the_reconsideration_makes_of_a_dispute(
    row: str, column: str, again: State, outcome: Outcome, code: int
) -> None:
    primary, second = PRIMARY[row], SECOND[column]
    assert isinstance(primary, Resolved)
    assert isinstance(second, Resolved)
    ruling = rule_again(primary, second, again)
    assert (ruling.outcome, RULING_EXITS[ruling.outcome]) == (outcome, code)
    assert (ruling.primary, ruling.second, ruling.reconsideration) == (primary, second, again)
    if outcome is Outcome.RECONSIDERED:
        assert isinstance(again, Resolved)
        assert (ruling.option_id, ruling.answered_by) == (again.option_id, again.answered_by)
    else:
        assert (ruling.option_id, ruling.answered_by) == ("", None)


FOUND = Finding("y is to be taken instead", "y")
AFTER_A_FINDING: list[tuple[State, Outcome]] = [
    (Resolved("x", by(ONE)), Outcome.RECONSIDERED),
    (Resolved("z", by(ONE, ModelFrom.REQUESTED)), Outcome.RECONSIDERED),
    (Resolved("x", NOBODY), Outcome.ERROR),
    (Resolved("y", NOBODY), Outcome.ERROR),
    *((Declined(kind), Outcome.NEEDS_HUMAN) for kind in Decline),
    (Incomplete((), TIMEOUT), Outcome.AGREED),
    (Incomplete(("y",), TIMEOUT), Outcome.AGREED),
    (Unreachable((Failure.SEAT_CAPPED,)), Outcome.AGREED),
    (Unreachable(TIMEOUT), Outcome.AGREED),
    (Unreachable(()), Outcome.AGREED),
]


@pytest.mark.parametrize(("again", "outcome"), AFTER_A_FINDING)
def test_what_the_reconsideration_makes_of_a_finding(again: State, outcome: Outcome) -> None:
    ruling = rule_found(AGREED, FOUND, again)
    assert (ruling.outcome, ruling.reconsideration, ruling.cross_check) == (outcome, again, FOUND)
    assert (ruling.primary, ruling.second) == (AGREED.primary, AGREED.second)
    if outcome is Outcome.RECONSIDERED:
        assert isinstance(again, Resolved)
        assert (ruling.option_id, ruling.answered_by) == (again.option_id, again.answered_by)
    elif outcome is Outcome.AGREED:
        assert (ruling.option_id, ruling.answered_by) == (AGREED.option_id, AGREED.answered_by)
    else:
        assert (ruling.option_id, ruling.answered_by) == ("", None)


@pytest.mark.parametrize("found", [NoFault(), Skipped(Check.CROSS_CHECK, "timeout")])
def test_a_check_without_a_fault_changes_nothing_and_is_told(found: NoFault | Skipped) -> None:
    assert rule_checked(AGREED, found) == replace(AGREED, cross_check=found)


@pytest.mark.parametrize("kind", [Decline.CLASS_GATE, Decline.OUTSIDE_AUTHORITY])
def test_a_policy_row_that_a_check_touches_holds_the_answer(kind: Decline) -> None:
    held = Declined(kind, "money")
    ruling = rule_checked(AGREED, held)
    assert (ruling.outcome, ruling.option_id, ruling.cross_check) == (Outcome.NEEDS_HUMAN, "", held)


def test_a_dispute_is_between_two_known_models_alone() -> None:
    assert DISPUTED == [("Xr", "Yr"), ("Xr", "Yq"), ("Xq", "Yr"), ("Xq", "Yq")]


@pytest.mark.parametrize("option", ["x", "y", "z"])
@pytest.mark.parametrize("answered_by", [by(ONE), by(TWO), NOBODY])
def test_agreed_takes_two_known_different_models_that_name_that_option(option: str, answered_by: AnsweredBy) -> None:
    for row, column, cell in CELLS:
        made = PRIMARY[row], SECOND[column]
        if cell == "A" and option == "x" and answered_by in _answers(*made):
            assert Ruling(Outcome.AGREED, *made, option, answered_by).option_id == "x"
        else:
            with pytest.raises(ValueError, match=r"agreed takes two|no consultation gave"):
                Ruling(Outcome.AGREED, *made, option, answered_by)


AGREED = Ruling(Outcome.AGREED, PRIMARY["Xr"], SECOND["Xr"], "x", by(ONE))
NO_AGREEMENT: list[Callable[[], Ruling]] = [
    lambda: replace(AGREED, second=PRIMARY["Xr"]),
    lambda: replace(AGREED, second=SECOND["Xs"]),
    lambda: replace(AGREED, second=SECOND["Yr"]),
    lambda: replace(AGREED, second=SECOND["Xu"]),
    lambda: replace(AGREED, primary=PRIMARY["Xu"]),
    lambda: replace(AGREED, primary=COMMON["Ix"]),
    lambda: replace(AGREED, second=COMMON["Ix"]),
    lambda: replace(AGREED, second=COMMON["Ud"]),
    lambda: replace(AGREED, second=COMMON["D"]),
    lambda: replace(AGREED, option_id="y"),
    lambda: replace(AGREED, option_id=""),
    lambda: replace(AGREED, option_id=" x"),
    lambda: replace(AGREED, answered_by=None),
    lambda: replace(AGREED, answered_by=NOBODY),
    lambda: replace(AGREED, answered_by=by("claude-opus-4-8")),
    lambda: replace(_single(), outcome=Outcome.AGREED),
    lambda: replace(AGREED, primary=SECOND["Xr"], second=replace(_resolved("Xr"), answered_by=by(TWO.title()))),
]


def _answers(*states: State) -> list[AnsweredBy]:
    return [state.answered_by for state in states if isinstance(state, Resolved)]


def _single() -> Ruling:
    ruling = rule(PRIMARY["Xr"], COMMON["Ud"])
    assert isinstance(ruling, Ruling)
    return ruling


def _resolved(name: str) -> Resolved:
    state = SECOND[name]
    assert isinstance(state, Resolved)
    return state


@pytest.mark.parametrize("made", NO_AGREEMENT)
def test_there_is_no_other_way_to_agreed(made: Callable[[], Ruling]) -> None:
    with pytest.raises(ValueError, match=r"agreed (takes two|and the answer)|no consultation gave"):
        made()


@pytest.mark.parametrize("outcome", Outcome)
def test_an_answer_goes_with_an_answered_outcome_and_with_no_other(outcome: Outcome) -> None:
    states = PRIMARY["Xr"], SECOND["Xr"]
    made: list[tuple[str, AnsweredBy | None]] = [("x", by(ONE)), ("", None), ("x", None), ("", by(ONE))]
    fitting = made[0] if outcome in ANSWERED else made[1]
    for option, answered_by in made:
        if (option, answered_by) == fitting:
            assert Ruling(outcome, *states, option, answered_by).outcome is outcome
        else:
            with pytest.raises(ValueError, match=r"agreed takes two|do not go together"):
                Ruling(outcome, *states, option, answered_by)


@pytest.mark.parametrize("outcome", ANSWERED)
def test_an_answer_is_one_that_a_consultation_gave(outcome: Outcome) -> None:
    states = PRIMARY["Xr"], SECOND["Xr"]
    for option, answered_by in (("z", by(ONE)), ("y", by(ONE)), ("x", NOBODY), ("x", by("claude-opus-4-8"))):
        with pytest.raises(ValueError, match=r"agreed takes two|no consultation gave"):
            Ruling(outcome, *states, option, answered_by)
    with pytest.raises(ValueError, match="no consultation gave"):
        Ruling(Outcome.SINGLE_RUNG, COMMON["Ix"], COMMON["Ud"], "x", by(ONE))


def test_the_exit_codes() -> None:
    assert {outcome.value: code for outcome, code in RULING_EXITS.items()} == {
        "agreed": 0,
        "reconsidered": 0,
        "single_rung": 0,
        "error": 2,
        "needs_human": 3,
        "walled": 4,
        "cancelled": 130,
    }
    assert set(Outcome) - set(RULING_EXITS) == {Outcome.HELD}  # two codes: a cap's and the ledger's
    assert {outcome.value for outcome in ANSWERED} == {"agreed", "reconsidered", "single_rung"}
