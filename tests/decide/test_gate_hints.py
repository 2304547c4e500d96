"""The hints: what is seen of a text, what a score is made of, and the file they are kept in."""

import pytest

from decide.gate_features import features, stem
from decide.gate_hints import Hints, parse_hints
from decide.gate_text import tokens
from decide.gate_words import Lexicon, phrase

KINDS = {"pai": ("paying",), "pay": ("paying",), "euro": ("currency_word",)}
FILE = "# a note\ncolumns\trarity\tdue\tone\ttwo\nbars\t\t0.5\t0.2\t0.1\nbias\t\t0\t-0.5\t0\npay\t20\t100\t\t30\n"


def seen(question: str, *options: str) -> dict[str, tuple[str, ...]]:
    return features(tokens(question), map(tokens, options), KINDS)


@pytest.mark.parametrize(
    "forms",
    [
        ("deploy", "deploys", "deployed", "deploying"),
        ("study", "studies", "studied"),
        ("drop", "drops", "dropped", "dropping"),
        ("promise", "promises", "promised", "promising"),
        ("box", "boxes"),
        ("cancel", "cancelled", "cancels"),
        ("publish", "publisher", "publishing"),
    ],
)
def test_the_forms_of_a_word_come_out_alike(forms: tuple[str, ...]) -> None:
    assert len({stem(form).rstrip("l") for form in forms}) == 1


@pytest.mark.parametrize("word", ["", "a", "is", "bus", "news", "thing", "red", "less", "日本", "s" * 99])
def test_a_word_never_comes_out_as_nothing(word: str) -> None:
    assert bool(stem(word)) == bool(word)


def test_what_is_seen_of_a_text() -> None:
    assert seen("Pays it. Now?", "later on") == {
        "pay": ("Pays",),
        "@paying": ("Pays",),
        "it": ("it",),
        "@paying it": ("Pays", "it"),
        "pay it": ("Pays", "it"),
        "now": ("Now",),
        "later": ("later",),
        "| later": ("later",),
        "on": ("on",),
        "later on": ("later", "on"),
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [("€ 40", "#amount"), ("40 euros", "#amount"), ("40 %", "#percent"), ("40 cats", "#number"), ("`x_y`", "<code>")],
)
def test_what_sort_of_number_or_sign_it_is(text: str, name: str) -> None:
    assert name in seen(text)


def test_a_word_set_aside_is_seen_as_innocent_only() -> None:
    lexicon = Lexicon({"innocent": (phrase("red tape"),)})
    assert seen_of(lexicon, "cut red tape") == {"cut", "cut #innocent", "#innocent", "#innocent #innocent"}


def seen_of(lexicon: Lexicon, text: str) -> set[str]:
    return set(features(lexicon.read(text).left, (), lexicon.kinds))


def test_the_lists_of_a_word_are_known_by_its_stem() -> None:
    lexicon = Lexicon(
        {"a": (phrase("pay~"), phrase("two words")), "b": (phrase("pays|bills"),), "c d": (phrase("x"),)}
    )
    assert lexicon.kinds == {"pay": ("a", "b"), "bill": ("b",)}


def test_a_score_is_the_bias_and_the_weights_by_rarity() -> None:
    hints = parse_hints(FILE)
    assert hints.rows == ("one", "two")
    assert hints.scores({"pay": ("pay",), "unknown": ("x",)}) == (1.0, -0.5, 0.3)
    assert hints.scores({}) == (0.0, -0.5, 0.0)


def test_a_row_fires_when_due_and_at_its_bar_or_best() -> None:
    hints = parse_hints(FILE)
    assert [str(hint) for hint in hints.read(seen("pay"), {})] == ["reads like two: pay"]
    assert [hint.row for hint in hints.read(seen("pay"), {"one": 0.8})] == ["one", "two"]
    assert hints.read(seen("pay"), {"two": -0.6}) == ()
    assert hints.read(seen("nothing"), {"two": 9}) == ()


@pytest.mark.parametrize(
    "text", ["", "columns\trarity\tdue\tone\nbars\t\t1\nbias\t\t1\t2\n", "bars\t\t1\nbias\t\t1\ncolumns\t\t1\n"]
)
def test_a_file_without_its_first_lines_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="three lines come first"):
        parse_hints(text)


def test_hints_are_a_value() -> None:
    assert parse_hints(FILE) == Hints(
        ("due", "one", "two"), (0.5, 0.2, 0.1), (0.0, -0.5, 0.0), {"pay": "20\t100\t\t30"}
    )
