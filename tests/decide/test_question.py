"""Question: what can be asked, which messages refuse the rest, and when two questions are the same one."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.question import (
    ID_LIMIT,
    LEAD,
    OPTIONS_LIMIT,
    TEXT_LIMIT,
    Consequence,
    LevelName,
    Option,
    Question,
    QuestionError,
    dump,
    folded,
    load,
)

MERGE, WAIT = Option("merge", "Merge it", "gh pr merge 7", ("deploy", "spend_money")), Option("wait", "Wait")
ASKED = Question("Merge now?", (MERGE, WAIT))


def many(count: int) -> tuple[Option, ...]:
    return tuple(Option(f"o{number}", "text") for number in range(count))


def with_ids(*ids: str) -> Question:
    return Question("Which?", tuple(Option(one, "text") for one in ids))


REFUSED: list[tuple[Callable[[], Question], str]] = [
    (lambda: replace(ASKED, text=""), "text: must not be empty"),
    (lambda: replace(ASKED, text=" \n\t"), "text: must not be empty"),
    (lambda: replace(ASKED, text="x" * (TEXT_LIMIT + 1)), "text: must be at most 100000 characters, not 100001"),
    (lambda: replace(ASKED, options=()), "options: there must be 2 to 26, not 0"),
    (lambda: replace(ASKED, options=(MERGE,)), "options: there must be 2 to 26, not 1"),
    (lambda: replace(ASKED, options=many(27)), "options: there must be 2 to 26, not 27"),
    (lambda: with_ids("a", ""), "options: id of option 2: must not be empty"),
    (lambda: with_ids(" ", "b"), "options: id of option 1: must not be empty"),
    (lambda: with_ids("a", "b" * 129), "options: id of option 2: must be at most 128 characters, not 129"),
    (lambda: replace(ASKED, options=(MERGE, Option("w", " "))), "options: text of 'w': must not be empty"),
    (
        lambda: replace(ASKED, options=(MERGE, Option("w", "x" * (TEXT_LIMIT + 1)))),
        "options: text of 'w': must be at most 100000 characters, not 100001",
    ),
    (lambda: with_ids("a", "b", "a"), "options: id 'a' is there twice, case and outer blanks aside"),
    (lambda: with_ids("opt", "OPT"), "options: id 'OPT' is there twice, case and outer blanks aside"),
    (lambda: with_ids("opt", " opt\n"), "options: id ' opt\\n' is there twice, case and outer blanks aside"),
    (lambda: with_ids("straße", "STRASSE"), "options: id 'STRASSE' is there twice, case and outer blanks aside"),
    (lambda: replace(ASKED, id="i" * 129), f"id: must be at most 128 printable characters, not '{'i' * 40}'"),
    (lambda: replace(ASKED, id="a\nb"), "id: must be at most 128 printable characters, not 'a\\nb'"),
    (
        lambda: replace(ASKED, deadline=datetime(2026, 9, 10, 20, 40)),  # noqa: DTZ001 - that is what is refused
        "deadline: must name its zone, such as 2026-09-10T20:40:00Z",
    ),
    (lambda: replace(ASKED, text="\ud800"), "question: must be whole characters, not half of a surrogate pair"),
    (
        lambda: replace(ASKED, options=(MERGE, replace(WAIT, action="echo \udfff"))),
        "options: option 2: must be whole characters, not half of a surrogate pair",
    ),
]


@pytest.mark.parametrize(("made", "message"), REFUSED)
def test_a_refusal_names_the_field_and_what_is_allowed(made: Callable[[], Question], message: str) -> None:
    with pytest.raises(QuestionError) as refused:
        made()
    assert str(refused.value) == message


def test_what_is_just_allowed_is_allowed() -> None:
    longest = Option("i" * ID_LIMIT, "x" * TEXT_LIMIT)
    Question("x" * TEXT_LIMIT, (longest, *many(OPTIONS_LIMIT - 1)), id="i" * ID_LIMIT)
    replace(ASKED, deadline=datetime(2026, 9, 10, tzinfo=timezone(timedelta(hours=-5))), id="Frage 7 – ÄÖ")


def test_what_a_question_is_taken_for_when_it_does_not_say() -> None:
    assert (ASKED.consequence, ASKED.level, ASKED.deadline) == (Consequence.COSTLY, None, None)
    assert timedelta(minutes=60) == LEAD
    assert [one.value for one in Consequence] == ["none", "reversible", "costly", "irreversible"]


SAME = [
    replace(ASKED, text="  Merge   now?\n"),
    replace(ASKED, options=(WAIT, MERGE)),
    replace(ASKED, options=(replace(MERGE, text="Merge\n it "), WAIT)),
    replace(ASKED, options=(replace(MERGE, id=" merge "), WAIT)),
    replace(ASKED, options=(replace(MERGE, action="gh  pr merge 7 "), WAIT)),
    replace(ASKED, options=(replace(MERGE, acts=("spend_money", " Deploy")), WAIT)),
    replace(ASKED, id="q-7"),
    replace(ASKED, level=LevelName.LOW),
    replace(ASKED, consequence=Consequence.IRREVERSIBLE),
    replace(ASKED, deadline=datetime(2026, 9, 10, tzinfo=UTC)),
    replace(ASKED, raised_by="agent-3"),
    replace(ASKED, cites="r-1"),
]
OTHER = [
    replace(ASKED, text="Merge now"),
    replace(ASKED, text="merge now?"),
    replace(ASKED, text="Mergenow?"),
    replace(ASKED, options=(replace(MERGE, text="Merge it."), WAIT)),
    replace(ASKED, options=(replace(MERGE, id="go"), WAIT)),
    replace(ASKED, options=(replace(MERGE, action=""), WAIT)),
    replace(ASKED, options=(replace(MERGE, acts=("deploy",)), WAIT)),
    replace(ASKED, options=(replace(MERGE, acts=()), WAIT)),
    replace(ASKED, options=(MERGE, WAIT, Option("ask", "Ask"))),
    replace(ASKED, options=(replace(MERGE, text=WAIT.text), replace(WAIT, text=MERGE.text))),
]


@pytest.mark.parametrize("same", SAME)
def test_the_same_question_has_the_same_digest(same: Question) -> None:
    assert same.digest == ASKED.digest


def test_every_other_question_has_another_digest() -> None:
    digests = [ASKED.digest, *(other.digest for other in OTHER)]
    assert len(set(digests)) == len(digests)


def test_composed_and_decomposed_letters_are_the_same() -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    assert replace(ASKED, text=composed).digest == replace(ASKED, text=decomposed).digest


def test_the_canonical_text_of_a_question_stays_as_it_is() -> None:
    """Changing this changes every digest, so that no question would be known again."""
    canonical = (
        '["Merge \\u00fc?",[["merge","Merge it","gh pr merge 7",["deploy","spend_money"]],["wait","Wait","",[]]]]'
    )
    asked = Question("Merge  ü? ", (WAIT, MERGE))
    assert asked.digest == "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()
    assert asked.digest == "sha256:b220f0c0441c0d55efde1bc0fed25ec0c542eff9a595b0a76b4b381ce41cac3f"


def test_a_question_is_kept_under_its_id_else_under_its_digest() -> None:
    assert replace(ASKED, id="q-7").key == "q-7"
    assert ASKED.key == ASKED.digest
    assert ASKED.digest.startswith("sha256:")


CANONICAL = [
    ("merge", "merge"),
    (" MERGE\n", "merge"),
    ("Wait", "wait"),
    ("mer ge", None),
    ("merge.", None),
    ("", None),
    ("deploy", None),
]


@pytest.mark.parametrize(("named", "option"), CANONICAL)
def test_an_option_is_named_by_its_id_blanks_and_case_aside(named: str, option: str | None) -> None:
    assert ASKED.canonical(named) == option


@given(st.lists(st.text(max_size=4), min_size=2, max_size=5), st.text(max_size=4))
def test_at_most_one_option_has_a_name(ids: list[str], named: str) -> None:
    try:
        question = with_ids(*ids)
    except QuestionError:
        names = [folded(one) for one in ids]
        assert "" in names or len(set(names)) < len(names) or not all(one.isprintable() for one in ids)
        return
    canonical = question.canonical(named)
    assert [one for one in ids if folded(one) == folded(named)] == ([] if canonical is None else [canonical])
    assert all(question.canonical(one.upper()) == one for one in ids if folded(one.upper()) == folded(one))


@pytest.mark.parametrize(
    "question",
    [
        ASKED,
        Question(
            "Merge\u00e4 now?\0",
            (MERGE, WAIT),
            id="q-1",
            level=LevelName.LOW,
            consequence=Consequence.IRREVERSIBLE,
            deadline=datetime(2026, 10, 15, 14, 0, 0, 1, tzinfo=timezone(timedelta(hours=2))),
            raised_by="agent",
            cites="r-1",
        ),
    ],
)
def test_a_question_that_is_kept_is_the_same_one(question: Question) -> None:
    assert load(dump(question)) == question
    assert load(dump(question)).digest == question.digest
