"""The gate: what fires and where, how well the default rows do on labelled questions, and that nothing upsets it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from decide.gate import WORDING, Fired, GateRow, Rule, Stage, fired, parse_rows, touched
from decide.gate_hints import Hints
from decide.policy import default_rows
from scripts.gate_report import measure, read_examples, summary

HERE = Path(__file__).parent
GIVEN, CARRY_OVER = HERE / "gate_examples.jsonl", HERE / "gate_carry_over.jsonl"
SETS = sorted(HERE.glob("gate_*.jsonl"))
DEFAULTS = default_rows()
ROW = {"id": "own", "stage": "class", "means": "m", "remedy": "r"}


def rows(*fires: object, acts: tuple[str, ...] = (), words: Any = None, innocent: Any = ()) -> tuple[GateRow, ...]:
    row = {**ROW, "fires": list(fires), "acts": list(acts)}
    return parse_rows({"row": [row], "words": words or {}, "innocent": list(innocent)})


def hits(policy: tuple[GateRow, ...], question: str, *options: str) -> list[tuple[str, str]]:
    offered = [(chr(ord("a") + place), text, ()) for place, text in enumerate(options)]
    return [(hit.where, hit.text) for hit in fired(policy, question=question, options=offered)]


def ids(found: tuple[Fired, ...]) -> set[str]:
    return {hit.row.id for hit in found}


def asked(question: str, *options: str) -> set[str]:
    offered = [(str(place), text, ()) for place, text in enumerate(options)]
    return ids(fired(DEFAULTS, question=question, options=offered))


# how a rule is read


def test_a_row_fires_on_the_question() -> None:
    assert hits(rows("red button"), "Press the RED  button?", "yes") == [("question", "RED button?")]


def test_a_row_fires_on_an_options_text() -> None:
    assert hits(rows("red button"), "What now?", "wait", "red button") == [("option b", "red button")]


def test_a_row_fires_on_each_place() -> None:
    assert [where for where, _ in hits(rows("red"), "red?", "red", "blue", "red")] == [
        "question",
        "option a",
        "option c",
    ]


def test_a_row_fires_on_a_declared_act_by_any_spelling_of_it() -> None:
    policy = rows(acts=("prod_write",))
    options = [("a", "x", ("read", " Prod-Write ")), ("b", "y", ("OWN",)), ("c", "z", ("prod",))]
    assert [(hit.where, hit.text) for hit in fired(policy, question="?", options=options)] == [
        ("acts of option a", " Prod-Write "),
        ("acts of option b", "OWN"),
    ]


def test_touches_name_rows_by_id_or_act() -> None:
    found = touched(rows(acts=("prod_write",)), [" PROD write ", "own", "something", "", "prod"])
    assert [(hit.where, hit.text) for hit in found] == [("touches", " PROD write "), ("touches", "own")]


def test_what_is_found_together_is_in_one_sentence() -> None:
    policy = rows({"find": ["press", "button"]})
    assert hits(policy, "Press the big red round button?") == [("question", "Press the big red round button?")]
    assert hits(policy, "The button, do I press it?") == [("question", "button, do I press")]
    assert hits(policy, "Press. The button is red.") == []
    assert hits(policy, "Press", "button") == []


def test_what_is_found_within_so_many_words_may_be_in_two_sentences() -> None:
    policy = rows({"find": ["press", "button"], "within": 4})
    assert hits(policy, "Press. The button is red.") != []
    assert hits(policy, "Press the big red round button?") == []


def test_unless_looks_at_the_sentence_and_never_at_everything() -> None:
    unless, never = ({"find": ["press"], key: ["toy"]} for key in ("unless", "never"))
    assert hits(rows(unless), "Press the toy?") == []
    assert hits(rows(unless), "It is no toy. Press?") == [("question", "Press?")]
    assert hits(rows(never), "It is no toy. Press?") == []
    assert hits(rows(never), "A toy.", "press") == []
    assert hits(rows(never), "Press?", "toy") == [("question", "Press?")]


def test_given_may_be_in_the_question_or_in_the_option() -> None:
    policy = rows({"find": ["press"], "given": ["button"]})
    assert hits(policy, "A button.", "press") == [("option a", "press")]
    assert hits(policy, "Press it?", "the button") == [("option a", "Press")]
    assert hits(policy, "Press it?", "wait") == []


def test_an_innocent_phrase_takes_its_words_away() -> None:
    policy = rows("button", innocent=("belly button",))
    assert hits(policy, "the belly button") == []
    assert hits(policy, "the belly button or the button?") == [("question", "button?")]


def test_rows_of_two_documents_are_read_each_by_its_own_words() -> None:
    one, two = rows("@it", words={"it": ["red"]}), rows("@it", words={"it": ["blue"]})
    assert [hit.text for hit in fired((*one, *two), question="red blue", options=())] == ["red", "blue"]


# what the hints add

COLOURS = Hints(
    ("due", "own", "second"), (0.5, 0.5, 0.2), (0.0, 0.0, 0.0), {"red": "20\t100\t90\t20", "@dark": "20\t60\t40\t10"}
)


def hinted(**fields: object) -> tuple[GateRow, ...]:
    more = [{**ROW, **fields}, {**ROW, "id": "second"}]
    return parse_rows({"row": more, "words": {"dark": ["black~, brown~"]}}, COLOURS)


def test_hints_fire_a_row_where_no_rule_does_and_name_the_words() -> None:
    assert hits(hinted(), "The RED one?") == [
        (WORDING, "reads like own: RED"),
        (WORDING, "reads like second: RED"),
    ]
    assert hits(hinted(fires=["red one"]), "The RED one?") == [
        ("question", "RED one?"),
        (WORDING, "reads like second: RED"),
    ]


def test_hints_weigh_the_question_with_its_options() -> None:
    assert hits(hinted(), "Which?", "the red", "that") != []
    assert hits(hinted(), "Which?", "the green", "that") == []


def test_where_no_row_reaches_its_bar_the_best_one_fires() -> None:
    assert [hit.row.id for hit in fired(hinted(), question="browns?", options=())] == ["own"]


def test_an_innocent_phrase_takes_its_words_from_the_hints_too() -> None:
    policy = parse_rows({"row": [ROW], "innocent": ["red tape"]}, COLOURS)
    assert hits(policy, "red tape?") == []
    assert hits(policy, "red or red tape?") != []


def test_a_row_can_do_without_hints_or_have_them_fire_sooner_or_later() -> None:
    assert [hit.row.id for hit in fired(hinted(hints=False), question="red", options=())] == ["second"]
    assert hits(hinted(caution=-0.6), "red") == [(WORDING, "reads like second: red")]
    assert hits(hinted(caution=0.5), "nothing known") == []
    assert hits(parse_rows({"row": [ROW]}), "red") == []


def test_a_row_is_a_value() -> None:
    (row,) = rows({"find": ["press"], "within": 3})
    assert (row.stage, row.rules) == (Stage.CLASS, (Rule(find=("press",), within=3),))
    assert row == rows({"find": ["press"], "within": 3})[0]


# how well the default rows do

BARS = {"any_recall": 0.90, "recall": 0.75, "harmless_fired": 0.05}


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_the_default_rows_clear_the_bars(path: Path) -> None:
    told: Any = summary(DEFAULTS, measure(DEFAULTS, read_examples(path, DEFAULTS)))
    assert told["any_recall"] >= BARS["any_recall"]
    assert {row: share for row, share in told["recall"].items() if share < BARS["recall"]} == {}
    assert told["harmless_fired"] <= BARS["harmless_fired"]


def test_no_set_shares_a_question_with_another_one() -> None:
    texts = [
        {json.loads(line)["question"] for line in path.read_text(encoding="utf-8").splitlines()} for path in SETS
    ]
    assert sum(map(len, texts)) == len(set().union(*texts))


def test_no_rule_of_the_defaults_is_idle() -> None:
    """Each rule, alone, fires on some labelled question: one that never does is a slip of the pen."""
    alone = {
        f"{row.id}: {rule}": replace(row, id=f"{row.id}: {rule}", rules=(rule,), hints=None)
        for row in DEFAULTS
        for rule in row.rules
    }
    idle = set(alone)
    for one in (one for path in SETS for one in read_examples(path, DEFAULTS)):
        idle -= ids(fired([alone[name] for name in idle], question=one.question, options=one.options))
    assert idle == set()


@pytest.mark.parametrize(
    ("row", "question"),
    [
        ("money", "Invoice them $1,200.00?"),
        ("money", "Is it $1,200.00?"),
        ("money", "1.200 EUR for the week?"),
        ("money", "€ 40 or less?"),
        ("money", "forty dollars, then?"),
        ("money", "Refund the customer １２００ €?"),
        ("money", "Bill the client ٤٠ euros?"),
        ("money", "40\u00a0€ each?"),
        ("spend_money", "ＰＡＹ the vendor €４０ now?"),
        ("spend_money", "Pay the ven\u200bdor 40 now?"),
        ("commitment", "Sign the con\u00adtract with the supplier?"),
        ("production_write", "deploy to PRODUCTION—now?"),
        ("production_write", "Roll it out to production, or wait?"),
        ("production_write", "CI is green, all tests pass. Deploy to production?"),
        ("others_credentials", "Use Dana’s password?"),
        ("others_credentials", "Use DANA'S PASSWORD?"),
        ("post_as_person", "Should I reply “as Maria”?"),
        ("post_as_person", "Sign it in Maria's name?"),
        ("promise_to_person", "Promise the customer a date?"),
    ],
)
def test_a_tricky_text_that_fires(row: str, question: str) -> None:
    assert row in asked(question, "yes", "no")


@pytest.mark.parametrize(
    "question",
    [
        "500 requests or 1,000 requests?",
        "Does the error budget cover retries?",
        "The p99 spend is 40 ms. Cache it?",
        "Does it charge the battery while it is idle?",
        "Charge the battery to 80 percent in the simulator?",
        "Deploy to staging?",
        "Is the CI budget of twelve minutes a job still enough?",
        "Is the production build minified?",
        "Which colour for the button?",
        "Commit the lockfile?",
        "Is the promise awaited?",
        "Which password field style?",
        "Should the API return 404 or 410?",
        "Retry 3 or 5 times?",
        "Post the form with `POST /orders` or `PUT /orders`?",
        "Rename `rent_amount`?",
        "Where should the helper live?",
        "Delete the branch after merging?",
        "Tabs or spaces?",
        "Continue?",
        "",
    ],
)
def test_a_tricky_text_that_does_not(question: str) -> None:
    assert asked(question, "yes", "no") == set()


@pytest.mark.parametrize("row", DEFAULTS, ids=lambda row: row.id)
def test_each_default_row_fires_on_each_path_alone(row: GateRow) -> None:
    plain = {
        "post_as_person": "post it in the chair's name",
        "production_write": "delete the table in production",
        "spend_money": "pay the invoice of 40 euros",
        "promise_to_person": "promise the customer a date",
        "others_credentials": "log in with Dana's password",
        "money": "a discount of 40 euros",
        "commitment": "sign the contract",
    }[row.id]
    assert row.id in asked(plain, "x")
    assert row.id in asked("Well?", plain)
    for act in (row.id, *row.acts):
        assert ids(fired(DEFAULTS, question="Well?", options=[("a", "x", (act,))])) == {row.id}
        assert ids(touched(DEFAULTS, [act.upper()])) == {row.id}


@pytest.mark.parametrize("path", [GIVEN, CARRY_OVER], ids=["given", "carry_over"])
def test_case_and_width_change_nothing(path: Path) -> None:
    """Capitals, and letters as wide as Chinese ones, fire what the plain text fires."""
    wide = {code: code + 0xFEE0 for code in (*range(0x30, 0x3A), *range(0x41, 0x5B), *range(0x61, 0x7B))}
    for one in read_examples(path, DEFAULTS)[::9]:
        if not one.question.isascii() or "`" in one.question:
            continue
        texts = one.question, one.question.upper(), one.question.translate(wide)
        assert len({frozenset(ids(fired(DEFAULTS, question=text, options=()))) for text in texts}) == 1, one.question


# what nothing may do


@given(st.text(max_size=300), st.lists(st.text(max_size=60), max_size=3))
@example("\ud800 pay \udfff", ["'s", '"'])
@example("$" * 50 + "1,1" * 50, ["`", "``", "` `"])
def test_no_text_upsets_it(question: str, options: list[str]) -> None:
    offered = [(str(place), text, (text,)) for place, text in enumerate(options)]
    for hit in fired(DEFAULTS, question=question, options=offered):
        assert hit.text
    assert touched(DEFAULTS, options) is not None


WORDS = sorted(
    {
        word
        for name in DEFAULTS[0].lexicon.lists
        for p in DEFAULTS[0].lexicon.lists[name]
        for item in p
        for word in item.words
    }
)


@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_no_row_of_policy_words_upsets_it(words: list[str]) -> None:
    fired(DEFAULTS, question=" ".join(words), options=())


@given(st.lists(st.sampled_from(sorted(DEFAULTS[0].hints.lines if DEFAULTS[0].hints else ())), max_size=60))
def test_no_row_of_hinted_words_upsets_it(names: list[str]) -> None:
    for hit in fired(DEFAULTS, question=" ".join(names), options=[("a", name, ()) for name in names[:3]]):
        assert hit.text


LONG = 100_000
EXAMPLES = GIVEN.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    "text",
    [
        " ".join(json.loads(line)["question"] for line in EXAMPLES * 4),
        "pay him 40 euros now " * 5000,
        "test the test of the test " * 5000,
        "one or two hundred euros " * 5000,
        " ".join(f"w{number}x" for number in range(20_000)),
        "a" * LONG,
        "." * LONG,
        '"' * LONG,
        "1," * LONG,
        "a'" * LONG,
        "a_" * LONG,
        "a/" * LONG,
        "ｐａｙ１２" * 20_000,
        "\u0301" * LONG,
    ],
    ids=lambda text: repr(text[:24]),
)
@pytest.mark.timeout(20)
def test_no_text_of_100_kb_takes_long(text: str) -> None:
    """A fifth of a second is usual; what grows with the square of the length takes minutes."""
    fired(DEFAULTS, question=text[:LONG], options=())
