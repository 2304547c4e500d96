"""The text as the gate reads it: one spelling, and tokens that keep their place."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from decide.gate_text import CODE, CURRENCY, NUMBER, POSSESSIVE, QUOTE, QUOTED, STOP, kind, normalise, tokens


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("PAY Now", "pay now"),
        ("ｐａｙ ＄１２", "pay $12"),
        ("٤٠ euros", "40 euros"),
        ("४० रु", "40 र"),
        ("pay\u200b\u200d\ufeff it", "pay it"),
        ("con\u00adtract", "contract"),
        ("p\u3164ay", "pay"),
        ("Café naïve", "cafe naive"),
        ("Straße", "strasse"),
        ("read–only — now − 3", "read-only - now - 3"),
        ("Dana’s ‘key’", "dana's 'key'"),
        ("“yes” «oui» „ja“", '"yes" "oui" "ja"'),
        ("`pay`", "'pay'"),
        ("ﬁne", "fine"),
    ],
)
def test_one_spelling(written: str, read: str) -> None:
    assert normalise(written) == read


@given(st.text())
@example("İ")
@example("ΐ")
@example("\u1e9e\u0345")
def test_a_text_that_is_folded_stays_so(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_plain_letters_read_the_same_by_either_way(text: str) -> None:
    assert normalise(text + "é") == normalise(text) + "e"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Dana's login", ["dana", "'s", "login", STOP]),
        ("don't", ["don", "'t", STOP]),
        ("qu'elle", ["qu", "elle", STOP]),
        ("Pay $1,200.00 now. Then stop!", ["pay", "$", "1,200.00", "now", STOP, "then", "stop", STOP, STOP]),
        ("8k and 1.8k", ["8", "k", "and", "1.8", "k", STOP]),
        ("p99 e2e", ["p99", "e2e", STOP]),
        ("read-only", ["read", "only", STOP]),
        ("Mr. Falk", ["mr", "falk", STOP]),
        ("20 %", ["20", "%", STOP]),
        ("tests/fixtures/price_list.json", [CODE, STOP]),
        ("late_fee_cents", [CODE, STOP]),
        ("`units`?", [CODE, STOP, STOP]),
        ("`UPDATE units`", ["update", "units", STOP]),
        ("and/or 60/20", ["and", "or", "60", "20", STOP]),
        ('say "Yes."', ["say", QUOTE, "yes", STOP, QUOTE, STOP]),
        ("one\n\ntwo", ["one", STOP, "two", STOP]),
        ("one\ntwo", ["one", "two", STOP]),
        ("", []),
    ],
)
def test_tokens(text: str, words: list[str]) -> None:
    assert list(tokens(text).words) == words


@pytest.mark.parametrize(
    ("word", "sort"),
    [("40", NUMBER), ("€", CURRENCY), (CODE, CODE), ("'s", POSSESSIVE), (QUOTE, QUOTED), ("pay", "")],
)
def test_the_kind_of_a_token(word: str, sort: str) -> None:
    assert kind(word) == sort


def test_a_token_knows_what_was_written() -> None:
    read = tokens("Please  pay\u200b the ＶＥＮＤＯＲ, now")
    assert read.text(1, 4) == "pay\u200b the ＶＥＮＤＯＲ,"


@given(st.text())
def test_every_token_has_its_place(text: str) -> None:
    read = tokens(text)
    assert len(read.words) == len(read.chunks)
    assert list(read.raw) == text.split()
    assert all(read.raw[chunk] in text for chunk in read.chunks)
