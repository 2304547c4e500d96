"""Fold: every row counts once, whatever portions it comes in."""

from dataclasses import fields, replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decide.ledger import Row, RowKind
from exporters.fold import Counts, Fold
from exporters.fold_runs import NO_RUNG, PassKey, Spent
from exporters.histogram import DECISION_BOUNDS, PASS_BOUNDS
from exporters.ledger_rows import COLUMNS
from tests.exporters.ledgers import (
    ACCEPT,
    CONSULTATION,
    DECISION,
    GATE,
    PASS,
    QUESTION,
    QUOTA,
    REFUSED,
    SETTLEMENT,
    SKIPPED,
    busy_ledger,
    counts_of,
    plain,
)
from tests.exporters.scenes import NOW

VOTE = PassKey("medium", "vote", "resolved", "metered", "provider")
WORDS = st.sampled_from(
    ["low", "medium", "vote", "resolved", "agreed", "metered", "", "new", "entered", "answered", "consumed"]
)
NUMBERS = st.integers(0, 5_000_000_000)
ROWS = st.lists(
    st.builds(
        Row,
        kind=st.sampled_from(RowKind),
        at=st.just(NOW),
        level=WORDS,
        rung=st.sampled_from(["fable", "astra", ""]),
        role=WORDS,
        result=WORDS,
        billing=WORDS,
        source=WORDS,
        micro_usd=NUMBERS,
        input_tokens=NUMBERS,
        reasoning_tokens=NUMBERS,
        duration_us=NUMBERS,
        micro_ratio=NUMBERS,
        window_kind=WORDS,
        gate_row=WORDS,
        stage=WORDS,
        receipt=st.text(max_size=3),
    ),
    max_size=30,
)


def test_the_columns_are_those_of_the_ledger() -> None:
    assert set(COLUMNS) <= {"seq", *PASS.values()}


def test_a_pass_is_counted_with_its_money_tokens_and_duration() -> None:
    counts = counts_of(PASS, replace(PASS, micro_usd=1, reasoning_tokens=0, duration_us=2_000_001))
    rung = counts.rungs["fable"]
    assert rung.passes == {VOTE: Spent(2, 400_001, 200, 40, 6, 80, 5)}
    assert rung.durations.sum_us == 3_500_001
    assert [n for n in rung.durations.counts if n] == [1, 1]
    assert rung.durations.counts[PASS_BOUNDS.index(2.0)] == 1
    assert rung.durations.counts[PASS_BOUNDS.index(5.0)] == 1
    assert not rung.consultations
    assert not counts.levels
    assert not counts.gates


def test_questions_and_decisions_are_counted_by_level() -> None:
    counts = counts_of(
        QUESTION, replace(QUESTION, level="low"), QUESTION, DECISION, replace(DECISION, result="error")
    )
    medium, low = counts.levels["medium"], counts.levels["low"]
    assert (medium.questions, medium.outcomes) == (2, {"agreed": 1, "error": 1})
    assert (low.questions, low.outcomes) == (1, {})
    assert medium.durations.counts[DECISION_BOUNDS.index(60.0)] == 2
    assert not counts.rungs


def test_skipped_checks_are_counted_by_level() -> None:
    counts = counts_of(SKIPPED, replace(SKIPPED, level="low"), SKIPPED, replace(SKIPPED, result="split_reread"))
    assert counts.levels["high"].skipped == {"cross_check": 2, "split_reread": 1}
    assert counts.levels["low"].skipped == {"cross_check": 1}
    assert counts.levels["high"].outcomes == {}


def test_what_was_taken_of_windows_is_counted_by_level_and_window() -> None:
    shared = replace(QUOTA, result="shared", micro_ratio=1, role="reconsideration")
    other = replace(QUOTA, level="high", window_kind="weekly")
    counts = counts_of(QUOTA, shared, other, replace(QUOTA, rung="astra", micro_ratio=0))
    assert counts.rungs["fable"].quota == {("medium", "session"): 30_001, ("high", "weekly"): 30_000}
    assert counts.rungs["astra"].quota == {("medium", "session"): 0}
    assert counts.rungs["fable"].passes == {}


def test_consultations_and_gate_rows_are_counted() -> None:
    counts = counts_of(CONSULTATION, replace(CONSULTATION, result="flip"), CONSULTATION, GATE, GATE)
    assert counts.rungs["fable"].consultations == {("medium", "resolved"): 2, ("medium", "flip"): 1}
    assert counts.rungs["fable"].passes == {}
    assert counts.gates == {("money", "authority"): 2}


def test_a_late_settlement_is_money_without_a_pass() -> None:
    rung = counts_of(SETTLEMENT, replace(SETTLEMENT, result="timeout")).rungs["astra"]
    assert rung.passes == {PassKey("low", "repeat", "", "metered", "price_table"): Spent(0, 140_000, 0, 0, 0, 0, 0)}
    assert rung.durations == NO_RUNG.durations


def test_what_no_counter_needs_or_nobody_knows_only_moves_on() -> None:
    fold = Fold()
    (strange,) = plain([PASS], after=2)
    fold.add([*plain([REFUSED, ACCEPT]), (3, "conjecture", *strange[2:])])
    assert fold.seq == 3
    assert fold.counts() == Counts({}, {}, {})


@pytest.mark.parametrize("column", COLUMNS[1:])
@pytest.mark.parametrize("spoiled", [None, b"\xff", 1.5])
def test_a_spoiled_row_is_passed_over_and_its_neighbours_are_counted(column: str, spoiled: object) -> None:
    rows = plain([PASS, PASS, GATE, PASS])
    place = COLUMNS.index(column)
    rows[1] = (*rows[1][:place], spoiled, *rows[1][place + 1 :])
    fold = Fold()
    fold.add(rows)
    counted = [PASS] if column in ("receipt", "at_us") else []
    assert fold.counts() == counts_of(PASS, *counted, GATE, PASS)
    assert fold.seq == 4


def test_a_row_without_a_name_is_counted_under_other() -> None:
    rows = [replace(row, rung=name, gate_row=name) for row in (PASS, CONSULTATION, GATE) for name in ("", "other")]
    counts = counts_of(*rows)
    assert counts.rungs["other"].passes[VOTE].passes == 2
    assert counts.rungs["other"].consultations == {("medium", "resolved"): 2}
    assert sum(counts.rungs["other"].durations.counts) == 2
    assert counts.gates == {("other", "authority"): 2}


def test_the_latest_receipt_of_a_bucket_is_its_exemplar() -> None:
    rows = [
        replace(PASS, receipt=receipt, duration_us=us) for receipt, us in (("a", 1), ("b", 2), ("", 3), ("c", 9**9))
    ]
    durations = counts_of(*rows).rungs["fable"].durations
    shown = {place: found.receipt for place, found in enumerate(durations.exemplars) if found}
    assert shown == {0: "b", PASS_BOUNDS.index(600.0): "c"}
    assert durations.exemplars[0] is not None
    assert (durations.exemplars[0].micros, durations.exemplars[0].at_us) == (2, int(NOW.timestamp()) * 1_000_000)


def test_counts_are_left_alone_by_later_rows_and_kept_where_nothing_changed() -> None:
    fold = Fold()
    fold.add(plain([PASS, SETTLEMENT, DECISION, GATE]))
    before, text = fold.counts(), repr(fold.counts())
    fold.add(plain([PASS, CONSULTATION, GATE], after=4))
    after = fold.counts()
    assert fold.counts() is after
    assert repr(before) == text
    assert after.rungs["astra"] is before.rungs["astra"]
    assert after.levels["medium"] is before.levels["medium"]
    assert after.rungs["fable"] != before.rungs["fable"]
    assert after.gates == {("money", "authority"): 2}


@pytest.mark.parametrize("place", range(len(busy_ledger())))
def test_one_more_row_of_any_kind_shows_at_once(place: int) -> None:
    rows = busy_ledger()
    fold = Fold()
    fold.add(plain(rows))
    fold.counts()
    fold.add(plain([rows[place]], after=len(rows)))
    assert fold.counts() == counts_of(*rows, rows[place])


@settings(max_examples=150, deadline=None)
@given(ROWS, st.lists(st.integers(0, 30)))
def test_any_portions_add_up_to_the_same(rows: list[Row], cuts: list[int]) -> None:
    fold, whole = Fold(), plain(rows)
    stops = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    for start, stop in pairwise(stops):
        fold.add(whole[start:stop])
        fold.counts()
    assert fold.counts() == counts_of(*rows)
    assert fold.seq == len(rows)


@settings(max_examples=100, deadline=None)
@given(ROWS)
def test_no_count_goes_back_and_nothing_is_lost(rows: list[Row]) -> None:
    fold, before = Fold(), counts_of()
    for place, row in enumerate(rows):
        fold.add(plain([row], after=place))
        after = fold.counts()
        assert _grew(before, after)
        before = after
    paid = [row for row in rows if row.kind in (RowKind.PASS, RowKind.SETTLEMENT)]
    cells = [cell for rung in before.rungs.values() for cell in rung.passes.values()]
    assert sum(cell.micro_usd for cell in cells) == sum(row.micro_usd for row in paid)
    assert sum(sum(cell[2:]) for cell in cells) == sum(row.input_tokens + row.reasoning_tokens for row in paid)
    assert sum(cell.passes for cell in cells) == sum(row.kind is RowKind.PASS for row in rows)


def test_every_kind_of_row_is_in_the_busy_ledger() -> None:
    assert {row.kind for row in busy_ledger()} == set(RowKind)


def _grew(before: Counts, after: Counts) -> bool:
    """Whether everything that was counted before still is, at least as often."""
    return all(_numbers(getattr(before, f.name)) <= _numbers(getattr(after, f.name)) for f in fields(Counts)) and all(
        all(was <= now for was, now in zip(spent, after.rungs[name].passes[key], strict=True))
        for name, rung in before.rungs.items()
        for key, spent in rung.passes.items()
    )


def _numbers(counted: object) -> int:
    """The sum of all whole numbers in a count."""
    if isinstance(counted, dict):
        return sum(map(_numbers, counted.values()))
    if isinstance(counted, tuple | list):
        return sum(map(_numbers, counted))
    if isinstance(counted, int):
        return counted
    names = getattr(counted, "__slots__", ())
    return sum(_numbers(getattr(counted, name)) for name in names if name not in ("exemplars", "bounds"))
