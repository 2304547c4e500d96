"""The learning of the hints: it is exact, the kept file fits the data, and what it says of unseen sets clears the bars."""

import re

from decide.gate_hints import DUE, parse_hints
from decide.policy import default_hints, default_rows
from scripts.gate_learn import Labelled, learn
from scripts.gate_train import FILE, OURS, SETS, bars, digest, written

HEAD = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line.startswith("#")]


def labelled(words: str, *fires: str, arguable: tuple[str, ...] = ()) -> Labelled:
    return Labelled({word: (word,) for word in words.split()}, frozenset(fires), frozenset(arguable))


EXAMPLES = [
    *[labelled("pay the bill", "money")] * 3,
    *[labelled("sign the lease", "bond")] * 3,
    *[labelled("name the file")] * 3,
    *[labelled("move the file", arguable=("money",))] * 2,
]


def test_what_is_learnt_tells_the_rows_apart() -> None:
    hints = learn(EXAMPLES, (DUE, "money", "bond"))
    due, money, bond = zip(*(hints.scores(one.features) for one in EXAMPLES[::3]), strict=True)
    assert [score > 0 for score in due] == [True, True, False, False]
    assert (max(money), max(bond)) == (money[0], bond[1])
    assert "move" in hints.lines


def test_the_same_examples_teach_the_same() -> None:
    assert learn(EXAMPLES, (DUE, "money")) == learn(EXAMPLES, (DUE, "money"))


def test_what_can_be_argued_about_says_nothing() -> None:
    one = labelled("x", arguable=("money",))
    assert (one.says(DUE), one.says("money"), one.says("bond")) == (None, None, False)
    assert labelled("x", "money").says(DUE) is True


def test_few_of_the_harmless_reach_the_bar_and_few_of_a_row_are_below_theirs() -> None:
    free = [(labelled("x"), (place / 1000, -1.0), 1000) for place in range(1000)]
    due = [(labelled("x", "money"), (1.0, -place / 1000), 1000) for place in range(1000)]
    bar, own = bars((DUE, "money"), [*free, *due])
    assert sum(score >= bar for _, (score, _), _ in free) <= 30
    assert sum(score >= own for _, (_, score), _ in due) == 970


def test_the_kept_file_is_made_from_the_committed_data() -> None:
    """When it is not: make gate-train."""
    assert [line for line in HEAD if digest() in line] != []


def test_the_kept_file_reads_as_it_was_written() -> None:
    assert parse_hints(written(default_hints(), ["a note"])) == default_hints()
    assert default_hints().rows == tuple(row.id for row in default_rows())


def test_every_line_of_the_kept_file_has_a_weight_for_each_column() -> None:
    hints = default_hints()
    assert {line.count("\t") for line in hints.lines.values()} == {len(hints.columns)}


def test_hints_that_had_not_met_a_set_clear_the_bars_on_it() -> None:
    """The numbers are those that the learning wrote down; `make gate-train ARGS=--evaluate` shows them afresh."""
    found = {
        cells[0]: cells[1:] for cells in (re.split(r" +", line[2:].strip()) for line in HEAD) if cells[0] in SETS
    }
    assert found.keys() == SETS.keys() - OURS.keys()
    for _, some, harmless, _, lowest, *_ in found.values():
        assert (float(some) >= 0.9, float(harmless) <= 0.06, float(lowest) >= 0.7) == (True, True, True), found
