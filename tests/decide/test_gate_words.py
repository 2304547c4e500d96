"""The phrase language: what each sign of it means, what is refused, and that no text takes long."""

import re

import pytest

from decide.gate_words import INNOCENT, Lexicon, inflected, phrase


def lexicon(**lists: str) -> Lexicon:
    return Lexicon({name: tuple(phrase(text) for text in texts.split(",")) for name, texts in lists.items()})


def found(written: str, text: str, **lists: str) -> list[str]:
    """The words of each match of the phrases `written`."""
    reading = lexicon(wanted=written, **lists).read(text)
    return [reading.tokens.text(start, end) for start, ends in reading.spans["wanted"].items() for end in ends]


@pytest.mark.parametrize(
    ("written", "text", "matches"),
    [
        ("pay the vendor", "Pay the vendor!", ["Pay the vendor!"]),
        ("pay the vendor", "pay a vendor", []),
        ("pay~", "pays paying payed payable", ["pays", "paying", "payed"]),
        ("refund*", "refunds refundable fund", ["refunds", "refundable"]),
        ("raise|lower fee", "raise fee, lower fee, waive fee", ["raise fee,", "lower fee,"]),
        ("let .. know", "let him know", ["let him know"]),
        ("let .. know", "let him or her know", ["let him or her know"]),
        ("let .. know", "let the two of us know", []),
        ("let ..6 know", "let the two of us know", ["let the two of us know"]),
        ("let .. know", "let know", ["let know"]),
        ("let .. know", "let it. know", []),
        ("<currency> <number>", "$40 or 40 or €5", ["$40", "€5"]),
        ("<possessive> key", "Dana's key", ["Dana's key"]),
        ("<code> file", "the price_list file", ["price_list file"]),
        ("read-only", "READ ONLY", ["READ ONLY"]),
        ("sí", "SI", ["SI"]),
        ("fee|<code>", "fee late_fee", ["fee", "late_fee"]),
    ],
)
def test_a_phrase(written: str, text: str, matches: list[str]) -> None:
    assert found(written, text) == matches


def test_a_list_stands_for_any_of_its_phrases_wherever_it_is_named() -> None:
    assert found("tell @who", "tell the owner, tell it", who="owner, the owner") == ["tell the owner,"]
    assert found("@who .. pays", "the owner never pays", who="owner, the owner") == [
        "the owner never pays",
        "owner never pays",
    ]


def test_words_of_an_innocent_phrase_are_seen_by_no_other_list() -> None:
    innocent = {INNOCENT: "error budget"}
    assert found("budget", "the error budget and the budget", **innocent) == ["budget"]
    assert lexicon(**innocent).read("error budget").has(INNOCENT)


def test_what_an_innocent_phrase_is_made_of_sees_every_word() -> None:
    reading = lexicon(innocent="@homonym", homonym="error budget", budget="budget").read("error budget")
    assert (reading.has("homonym"), reading.has("budget")) == (True, False)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("", "not a phrase"),
        (".. pay", "begins and ends with a word"),
        ("pay ..", "begins and ends with a word"),
        ("a ..40 b", "a gap is 1 to 12 words"),
        ("a ..0 b", "a gap is 1 to 12 words"),
        ("<money>", "the kinds are <number>, <currency>, <code>, <possessive>, <quote>"),
        ("pa*", "at least 3 letters"),
        ("pay|two-words", "'two-words' is not one word"),
        ("!?", "has no word in it"),
        ("@who|her", "a list stands alone"),
    ],
)
def test_what_is_no_phrase(written: str, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        phrase(written)


def test_a_list_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(ValueError, match="list 'a' names 'c'; the lists are a, b"):
        lexicon(a="x @c", b="y")


def test_a_list_that_is_part_of_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="part of itself: a > b > a"):
        lexicon(a="x @b", b="@a y")


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("deny", {"deny", "denies", "denied", "denying"}),
        ("grab", {"grab", "grabs", "grabbed", "grabbing"}),
        ("waive", {"waive", "waives", "waived", "waiving"}),
    ],
)
def test_the_regular_forms_of_a_word(word: str, forms: set[str]) -> None:
    assert forms <= inflected(word)
