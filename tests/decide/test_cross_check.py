"""Cross check: what the one pass that looks for faults comes to, and how a receipt tells it."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.consultation import Ballot, Declined, Order
from decide.cross_check import Check, Checked, Finding, NoFault, Skipped, read_check
from decide.gate import parse_rows
from decide.receipt_check import CheckWord, check_line, checked
from decide.receipt_schema import RECEIPT_SCHEMA
from decide.reply import Failure, Trouble
from decide.verdict import Decline, NoVerdict, Result
from decide.verdict import Declined as PassDeclined
from decide.verdict import Resolved as PassResolved

WORDS = {"means": "what it means", "remedy": "what to do"}
ROWS = parse_rows(
    {
        "row": [
            {"id": "money", "stage": "class", "acts": ["price_change"], **WORDS},
            {"id": "production_write", "stage": "authority", "acts": ["deploy"], **WORDS},
        ]
    }
)
LACKS, HUMAN = Decline.INSUFFICIENT_EVIDENCE, Decline.NEEDS_HUMAN


def fails(failure: Failure, *touches: str) -> NoVerdict:
    return NoVerdict(Trouble(failure), bool(touches), touches)


def skipped(why: str) -> Skipped:
    return Skipped(Check.CROSS_CHECK, why)


TABLE: list[tuple[Result, Checked]] = [
    (PassResolved("x"), NoFault()),
    (PassResolved("x", rationale="I looked at the log"), NoFault()),
    (PassResolved("y"), Finding("y is to be taken instead", "y")),
    (PassResolved("y", rationale="x ignores the log"), Finding("y is to be taken instead: x ignores the log", "y")),
    (PassDeclined(HUMAN, rationale="taste"), Finding("a person must decide: taste", kind=HUMAN)),
    (PassDeclined(LACKS, gap="the log"), Finding("evidence is missing: the log", kind=LACKS)),
    (PassDeclined(LACKS, gap="  ", rationale="thin"), Finding("evidence is missing: thin", kind=LACKS)),
    (
        PassDeclined(Decline.OUTSIDE_AUTHORITY),
        Finding("this is outside the reviewers' authority", kind=Decline.OUTSIDE_AUTHORITY),
    ),
    # what says nothing of the answer is no finding
    (PassDeclined(Decline.MODEL_REFUSAL), skipped("model_refusal")),
    (fails(Failure.TIMEOUT), skipped("timeout")),
    (fails(Failure.SEAT_CAPPED), skipped("seat_capped")),
    (fails(Failure.MALFORMED, "nothing"), skipped("malformed")),
    # a policy row comes first, whatever else the verdict says, authority before class
    (PassResolved("x", ("money",)), Declined(Decline.CLASS_GATE, "money")),
    (PassResolved("y", ("price_change",)), Declined(Decline.CLASS_GATE, "money")),
    (PassResolved("x", ("money", "deploy")), Declined(Decline.OUTSIDE_AUTHORITY, "production_write")),
    (PassDeclined(HUMAN, ("deploy",)), Declined(Decline.OUTSIDE_AUTHORITY, "production_write")),
    (fails(Failure.MALFORMED, "money"), Declined(Decline.CLASS_GATE, "money")),
]


@pytest.mark.parametrize(("result", "expected"), TABLE)
def test_each_row(result: Result, expected: Checked) -> None:
    assert read_check(Ballot(Order.FORWARD, result), agreed="x", rows=iter(ROWS)) == expected


@pytest.mark.parametrize("failure", Failure)
def test_no_failure_is_a_finding(failure: Failure) -> None:
    assert read_check(Ballot(Order.FORWARD, fails(failure)), agreed="x", rows=ROWS) == skipped(failure.value)


NOTHING = {"option": None, "kind": None, "row": None, "says": None}
TOLD: list[tuple[Checked | None, dict[str, Any] | None, str]] = [
    (None, None, ""),
    (NoFault(), NOTHING | {"result": "no_fault"}, "found no fault"),
    (
        Finding("y: late", "y"),
        NOTHING | {"result": "finding", "option": "y", "says": "y: late"},
        "found a fault: y: late",
    ),
    (
        Finding("evidence is missing", kind=LACKS),
        NOTHING | {"result": "finding", "kind": "insufficient_evidence", "says": "evidence is missing"},
        "found a fault: evidence is missing",
    ),
    (
        Declined(Decline.CLASS_GATE, "money"),
        NOTHING | {"result": "held", "kind": "class_gate", "row": "money"},
        "touches the policy row money",
    ),
    (skipped("timeout"), NOTHING | {"result": "skipped", "says": "timeout"}, "skipped: timeout"),
]


@pytest.mark.parametrize(("found", "told", "line"), TOLD)
def test_how_a_receipt_tells_it(found: Checked | None, told: dict[str, Any] | None, line: str) -> None:
    assert checked(found) == told
    assert check_line({"cross_check": told}) == line
    schema = RECEIPT_SCHEMA["properties"]["cross_check"]
    assert jsonschema.Draft202012Validator({**schema, "$defs": RECEIPT_SCHEMA["$defs"]}).is_valid(told)


def test_every_word_is_told() -> None:
    assert {told["result"] for _, told, _ in TOLD if told} == set(CheckWord)
    assert check_line({"id": "a receipt older than checks"}) == ""


@given(st.text())
def test_a_line_is_one_line_of_bounded_length(text: str) -> None:
    line = check_line({"cross_check": checked(Finding(text, "y"))})
    assert len(line) < 250
    assert len(line.splitlines()) <= 1
