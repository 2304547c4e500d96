"""A question as JSON or YAML: read strictly, each fault told with its place, and never turned into something else."""

import json
from datetime import UTC, datetime
from typing import Any

import jsonschema
import pytest
import yaml

from decide.document import EVIDENCE_LIMIT, parse, question_schema
from decide.document_text import LIMIT
from decide.question import OPTIONS_LIMIT, Consequence, LevelName, Option, Question, QuestionError
from decide.snapshot import Source, SourceKind

SCHEMA = jsonschema.Draft202012Validator(question_schema())
OPTIONS = [{"id": "keep", "text": "Keep it"}, {"id": "swap", "text": "Swap it"}]
LEAST: dict[str, Any] = {"question": "Which cache?", "options": OPTIONS}
WHOLE: dict[str, Any] = {
    "id": "cache-7",
    "question": "Which cache?",
    "options": [{"id": "keep", "text": "Keep it", "action": "make keep", "acts": ["deploy"]}, OPTIONS[1]],
    "context": "it misses a lot",
    "evidence": [
        {"file": "notes.md"},
        {"text": "more"},
        {"glob": "src/*.py"},
        {"git": "HEAD:x"},
        {"url": "https://x.test/"},
    ],
    "level": "low",
    "consequence": "irreversible",
    "deadline": "2026-10-15T14:00:00+02:00",
    "raised_by": "agent 3",
    "cites": "20261014T120000-abc",
}


def refused(data: str | bytes, name: str = "q.yaml") -> str:
    """What is said of a document that is refused."""
    with pytest.raises(QuestionError) as raised:
        parse(data if isinstance(data, bytes) else data.encode(), name)
    return str(raised.value)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (json.dumps(WHOLE), "q.json"),
        (json.dumps(WHOLE), "standard input"),
        ("\ufeff" + json.dumps(WHOLE, indent=2), "q"),
        (yaml.safe_dump(WHOLE), "q.yaml"),
        (yaml.safe_dump(WHOLE), "standard input"),
        (yaml.safe_dump(WHOLE, default_flow_style=True), "q.yml"),
    ],
)
def test_json_and_yaml_say_the_same(text: str, name: str) -> None:
    question, sources = parse(text.encode(), name)
    assert question == Question(
        "Which cache?",
        (Option("keep", "Keep it", "make keep", ("deploy",)), Option("swap", "Swap it")),
        id="cache-7",
        level=LevelName.LOW,
        consequence=Consequence.IRREVERSIBLE,
        deadline=datetime(2026, 10, 15, 12, tzinfo=UTC),
        raised_by="agent 3",
        cites="20261014T120000-abc",
    )
    assert sources == (
        Source(SourceKind.TEXT, "it misses a lot"),
        Source(SourceKind.FILE, "notes.md"),
        Source(SourceKind.TEXT, "more"),
        Source(SourceKind.GLOB, "src/*.py"),
        Source(SourceKind.GIT, "HEAD:x"),
        Source(SourceKind.URL, "https://x.test/"),
    )


@pytest.mark.parametrize("nothing", [{}, dict.fromkeys(set(WHOLE) - set(LEAST))])
def test_what_is_left_out_or_null_is_the_default(nothing: dict[str, None]) -> None:
    question, sources = parse(json.dumps(LEAST | nothing).encode(), "q.json")
    assert question == Question("Which cache?", (Option("keep", "Keep it"), Option("swap", "Swap it")))
    assert sources == ()


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("no", "YAML takes no for true or false"),
        ("Yes", "YAML takes Yes for true or false"),
        ("on", "YAML takes on for true or false"),
        ("1", "YAML takes 1 for a number"),
        ("0x1F", "YAML takes 0x1F for a number"),
        ("1.50", "YAML takes 1.50 for a number"),
        ("~", "must be text, not nothing"),
    ],
)
def test_a_word_that_yaml_takes_for_something_else_is_told_and_never_turned(word: str, told: str) -> None:
    text = f"question: Which?\noptions:\n  - id: {word}\n    text: a\n  - id: b\n    text: b\n"
    assert refused(text).startswith(f"q.yaml:3: options[0].id: {told}")
    question, _ = parse(text.replace(f"id: {word}", f"id: '{word}'").encode(), "q.yaml")
    assert question.options[0].id == word


def test_a_date_in_yaml_stays_as_it_was_written() -> None:
    text = "question: When?\noptions: [{id: 2026-10-01, text: a}, {id: b, text: b}]\ndeadline: 2026-10-15T12:00:00Z\n"
    question, _ = parse(text.encode(), "q.yaml")
    assert question.options[0].id == "2026-10-01"
    assert question.deadline == datetime(2026, 10, 15, 12, tzinfo=UTC)


FAULTS: dict[str, tuple[Any, str]] = {
    "no mapping": ([1], "q.json: must be a mapping of keys to values, not a list"),
    "no question": ({"options": OPTIONS}, "q.json: question: must be given"),
    "no options": ({"question": "x"}, "q.json: options: must be given"),
    "empty question": (LEAST | {"question": ""}, "q.json: question: must not be empty"),
    "blank question": (LEAST | {"question": " "}, "q.json: text: must not be empty"),
    "a number": (LEAST | {"question": 7}, "q.json: question: must be text, not 7"),
    "one option": (LEAST | {"options": OPTIONS[:1]}, f"q.json: options: must be 2 to {OPTIONS_LIMIT}, not 1"),
    "options of a mapping": (LEAST | {"options": {"a": "b"}}, "q.json: options: must be a list, not a mapping"),
    "option of text": (LEAST | {"options": ["keep", OPTIONS[1]]}, "q.json: options[0]: must be a mapping"),
    "option id true": (
        LEAST | {"options": [{"id": True, "text": "x"}, OPTIONS[1]]},
        "q.json: options[0].id: must be text, not true",
    ),
    "an id twice": (LEAST | {"options": [OPTIONS[0], OPTIONS[0] | {"id": " KEEP"}]}, "id ' KEEP' is there twice"),
    "unknown key": (LEAST | {"choices": []}, "q.json: choices: unknown key; allowed here: question, options, id,"),
    "unknown option key": (
        LEAST | {"options": [OPTIONS[0] | {"risk": "low"}, OPTIONS[1]]},
        "q.json: options[0].risk: unknown key; allowed here: id, text, action, acts",
    ),
    "unknown evidence key": (
        LEAST | {"evidence": [{"path": "x"}]},
        "q.json: evidence[0].path: unknown key; allowed here: text, file, glob, git, url",
    ),
    "two in one": (
        LEAST | {"evidence": [{"file": "a", "git": "b"}]},
        "q.json: evidence[0]: must have exactly one of text, file, glob, git, url",
    ),
    "none in one": (LEAST | {"evidence": [{}]}, "q.json: evidence[0]: must have exactly one of"),
    "empty place": (LEAST | {"evidence": [{"file": ""}]}, "q.json: evidence[0].file: must not be empty"),
    "context of files": (LEAST | {"context": [{"file": "a"}]}, "q.json: context: must be one text; files and"),
    "too much evidence": (
        LEAST | {"evidence": [{"text": "x"}] * (EVIDENCE_LIMIT + 1)},
        f"q.json: evidence: must be at most {EVIDENCE_LIMIT}, not {EVIDENCE_LIMIT + 1}",
    ),
    "level": (LEAST | {"level": "huge"}, "q.json: level: must be 'low'"),
    "consequence": (LEAST | {"consequence": 1}, "q.json: consequence: must be 'none', 'reversible', 'costly' or"),
    "no zone": (LEAST | {"deadline": "2026-10-15T14:00:00"}, "q.json: deadline: must be a time with its zone"),
    "a day alone": (LEAST | {"deadline": "2026-10-15"}, "q.json: deadline: must be a time with its zone"),
    "no such day": (LEAST | {"deadline": "2026-02-31T00:00:00Z"}, "q.json: deadline: day"),
    "half a pair": (LEAST | {"question": "\ud800"}, "q.json: question: "),
    "half a pair as evidence": (LEAST | {"context": "\ud800"}, "q.json: context: "),
    "NUL": (LEAST | {"evidence": [{"text": "a\0b"}]}, "q.json: evidence[0].text: must not hold a NUL character"),
    "acts of text": (
        LEAST | {"options": [OPTIONS[0] | {"acts": "deploy"}, OPTIONS[1]]},
        "q.json: options[0].acts: must be a list, not 'deploy'",
    ),
    "long id": (LEAST | {"id": "x" * 129}, "q.json: id: must be at most 128 characters, not 129"),
}
NOT_IN_SCHEMA = {"blank question", "an id twice", "no zone", "a day alone", "no such day", "NUL"} | {
    "half a pair", "half a pair as evidence"
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_names_its_place_and_what_is_allowed(fault: str) -> None:
    document, told = FAULTS[fault]
    assert told in refused(json.dumps(document), "q.json")
    if fault not in NOT_IN_SCHEMA:
        assert not SCHEMA.is_valid(document), "the published schema allows what is refused"


@pytest.mark.parametrize("document", [LEAST, WHOLE, LEAST | {"level": None, "evidence": []}])
def test_the_published_schema_allows_what_is_read(document: dict[str, Any]) -> None:
    SCHEMA.validate(document)
    parse(json.dumps(document).encode(), "q.json")


def test_every_fault_is_told_at_once_with_its_line() -> None:
    text = "question: Which?\noptions:\n- {id: no, text: a}\n- {id: b}\n\nlevel: huge\nevidence: [x]\n"
    assert [line.partition(": ")[0] for line in refused(text).splitlines()] == [
        "q.yaml:3",
        "q.yaml:4",
        "q.yaml:7",
        "q.yaml:6",
    ]


BROKEN: dict[str, tuple[str | bytes, str, str]] = {
    "empty": (b" \n", "q", "q: is empty"),
    "no UTF-8": (b"question: \xff", "q", "q: must be UTF-8; byte 11 is not"),
    "too long": (b"x" * (LIMIT + 1), "q", f"q: must be at most {LIMIT} bytes"),
    "JSON": ('{"question": "x",}', "q", "q:1: not valid JSON: "),
    "JSON by name": ("question: x", "q.json", "q.json:1: not valid JSON: "),
    "a key twice in JSON": ('{"id": "a", "id": "b"}', "q", "q: the key 'id' is there twice"),
    "a key twice in YAML": ("id: a\nid: b\n", "q", "q:2: the key 'id' is there twice"),
    "no quotes": ("question: keep: or not", "q", "q:1: not valid YAML: mapping values are not allowed"),
    "two documents": ("id: a\n---\nid: b\n", "q", "q:2: not valid YAML: "),
    "control characters": ("id: \x07", "q", "q: not valid YAML: "),
    "an alias": ("id: &a x\nraised_by: *a\n", "q", "anchors and aliases are not read"),
    "a tag": ("id: !!python/object/apply:os.getcwd []\n", "q", "q:1: the tag 'tag:yaml.org,2002:python"),
    "a key of a list": ("? [a]\n: b\n", "q", "q:1: a key must be one word"),
    "deep JSON": ('{"a":' * 100_000, "q", "q: is nested too deeply"),
    "deep YAML": ("[" * 100_000, "q", "q:1: not valid YAML: "),
    "a long number": ('{"id": ' + "9" * 10_000 + "}", "q", "q: not valid JSON: "),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_text_that_is_no_document_is_told(fault: str) -> None:
    data, name, told = BROKEN[fault]
    assert told in refused(data, name)


def test_what_is_told_repeats_no_long_value() -> None:
    assert "x" * 50 not in refused(json.dumps(LEAST | {"level": "x" * 5_000}), "q.json")
