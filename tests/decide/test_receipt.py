"""A receipt satisfies its published schema on every path, and its headline and banner say who stands behind it."""

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from decide.fault import StoreError, StoreFault
from decide.ports import Caps
from decide.question import Option
from decide.receipt import Receipt, banner, headline
from decide.receipt_schema import RECEIPT_SCHEMA
from decide.reply import Failure, Reply
from decide.run import ask
from decide.snapshot import Source, SourceKind
from tests.decide.fakes import QUESTION, Answer, MemoryStore, fails, in_turn, says, setup_of
from tests.decide.test_run import CAPPED, MALFORMED, NO_LOGIN, PATHS, TIMED_OUT

SCHEMA = jsonschema.Draft202012Validator(RECEIPT_SCHEMA)
SOURCES = (Source(SourceKind.TEXT, "x" * 60_000),)


def plain(receipt: Receipt) -> Any:
    """A receipt as whoever reads its JSON gets it."""
    return json.loads(json.dumps(receipt.document))


def nameless(answer: Answer) -> Answer:
    """A model whose wire does not name it."""

    async def answered(brief: Any, access: Any) -> Reply:
        return replace(await answer(brief, access), models=())

    return answered


async def receipt_of(primary: Answer, second: Answer, **fields: Any) -> dict[str, Any]:
    """The receipt of a run in which no call pins its model."""
    setup = setup_of(primary, second, **fields)
    free = {name: replace(getattr(setup, name), pins_model=False) for name in ("primary", "second")}
    document = plain(await ask(QUESTION, setup=replace(setup, **free), sources=SOURCES))
    SCHEMA.validate(document)
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize("path", PATHS)
async def test_every_path_satisfies_the_published_schema(path: str) -> None:
    primary, second, *_ = PATHS[path]
    SCHEMA.validate(plain(await ask(QUESTION, setup=setup_of(primary, second), sources=SOURCES)))


async def test_what_holds_a_question_satisfies_it_too() -> None:
    question = replace(QUESTION, options=(Option("opt_a", "Go", acts=("production_write",)), Option("opt_b", "Wait")))
    broken = MemoryStore(fault=StoreError(StoreFault.BROKEN, "row 7"))
    for asked, fields in (
        (question, {}),
        (QUESTION, {"caps": Caps(passes_per_day=1)}),
        (QUESTION, {"store": broken}),
    ):
        SCHEMA.validate(plain(await ask(asked, setup=setup_of(says("opt_a"), says("opt_a"), **fields))))


async def test_a_resumed_run_satisfies_it_with_what_it_kept() -> None:
    setup = setup_of(in_turn(says("opt_b"), TIMED_OUT, TIMED_OUT, says("opt_b")), says("opt_b"))
    await ask(QUESTION, setup=setup)
    document = plain(await ask(QUESTION, setup=setup))
    SCHEMA.validate(document)
    assert [one["order"] for one in document["passes"] if one["kept"]] == ["forward", "forward", "reversed"]


SPOILT: dict[str, Any] = {
    "an unknown key": {"mood": "good"},
    "an answer of an error": {"outcome": "error", "exit_code": 2},
    "no model": {"answered_by": None},
    "a single rung that is not told": {"outcome": "single_rung"},
    "an agreement by one rung": {"single_rung": True},
    "an exit code of its own": {"exit_code": 1},
    "exit 2 without a retry": {"outcome": "error", "exit_code": 2, "answer": None, "answered_by": None},
    "a time without a zone": {"ended_at": "2026-10-15T12:00:00"},
    "a role of its own": {"rungs": [{"name": "fable", "role": "third", "model": "m"}]},
}


@pytest.mark.parametrize("fault", SPOILT)
async def test_the_schema_refuses_what_no_run_can_end_in(fault: str) -> None:
    document = await receipt_of(says("opt_a"), says("opt_a"))
    assert not SCHEMA.is_valid(document | SPOILT[fault])


def test_the_schema_leaves_nothing_open() -> None:
    def objects(schema: Any) -> Any:
        if isinstance(schema, dict):
            if schema.get("type") == "object" and "properties" in schema:
                yield schema
            for member in schema.values():
                yield from objects(member)
        elif isinstance(schema, list):
            for member in schema:
                yield from objects(member)

    jsonschema.Draft202012Validator.check_schema(RECEIPT_SCHEMA)
    found = list(objects(RECEIPT_SCHEMA))
    assert len(found) > 20
    for schema in found:
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])


NO_NAME_A = nameless(says("opt_a"))
HEADLINES: dict[str, tuple[Answer, Answer, str, str]] = {
    "agreed": (
        says("opt_a"),
        says("opt_a"),
        "RESOLVED via FABLE (fable-model) and ASTRA (astra-model): opt_a, Keep the first",
        "",
    ),
    "reconsidered": (
        says("opt_a"),
        says("opt_b"),
        "RESOLVED via FABLE (fable-model): opt_a, Keep the first",
        "",
    ),
    "turned": (
        in_turn(says("opt_a"), says("opt_a"), says("opt_b")),
        says("opt_b"),
        "RESOLVED via FABLE (fable-model): opt_b, Keep the other",
        "",
    ),
    "second alone": (
        CAPPED,
        says("opt_b"),
        "RESOLVED via ASTRA (astra-model): opt_b, Keep the other",
        "SINGLE RUNG: FABLE never ran (seat_capped)",
    ),
    "primary alone": (
        says("opt_b"),
        NO_LOGIN,
        "RESOLVED via FABLE (fable-model): opt_b, Keep the other",
        "SINGLE RUNG: ASTRA never ran (needs_login)",
    ),
    "second unsure": (
        says("opt_a"),
        in_turn(says("opt_a"), MALFORMED),
        "RESOLVED via FABLE (fable-model): opt_a, Keep the first",
        "SINGLE RUNG: ASTRA gave no whole answer (malformed)",
    ),
    "second nameless": (
        says("opt_a"),
        NO_NAME_A,
        "RESOLVED via FABLE (fable-model): opt_a, Keep the first",
        "SINGLE RUNG: the model that answered as ASTRA is UNKNOWN",
    ),
    "primary nameless": (
        NO_NAME_A,
        says("opt_a"),
        "RESOLVED via ASTRA (astra-model): opt_a, Keep the first",
        "SINGLE RUNG: the model that answered as FABLE is UNKNOWN",
    ),
    "both nameless": (
        NO_NAME_A,
        NO_NAME_A,
        "RESOLVED via UNKNOWN: opt_a, Keep the first",
        "SINGLE RUNG: the model that answered as FABLE and as ASTRA is UNKNOWN",
    ),
    "nameless and alone": (
        NO_NAME_A,
        CAPPED,
        "RESOLVED via UNKNOWN: opt_a, Keep the first",
        "SINGLE RUNG: ASTRA never ran (seat_capped)",
    ),
    "differing, one nameless": (
        says("opt_a"),
        nameless(says("opt_b")),
        "NEEDS HUMAN: fable names opt_a (model fable-model); astra names opt_b (model UNKNOWN)",
        "",
    ),
    "walled": (
        CAPPED,
        NO_LOGIN,
        "WALLED: fable was not reached (seat_capped); astra was not reached (needs_login)",
        "",
    ),
    "error": (
        fails(Failure.NETWORK),
        CAPPED,
        "ERROR: fable was not reached (network); astra was not reached (seat_capped)",
        "",
    ),
}


@pytest.mark.parametrize("path", HEADLINES)
async def test_headline_and_banner(path: str) -> None:
    primary, second, line, alone = HEADLINES[path]
    document = await receipt_of(primary, second)
    assert (headline(document), banner(document)) == (line, alone)


async def test_one_model_that_answers_as_both_rungs_is_one_rung() -> None:
    document = await receipt_of(says("opt_a"), says("opt_a"))
    consulted = document["consultations"]
    twice = document | {
        "outcome": "single_rung",
        "single_rung": True,
        "consultations": consulted | {"second": consulted["primary"]},
    }
    assert headline(twice) == "RESOLVED via FABLE (fable-model): opt_a, Keep the first"
    assert banner(twice) == "SINGLE RUNG: one model answered as FABLE and as ASTRA"
