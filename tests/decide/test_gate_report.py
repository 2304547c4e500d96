"""The report on labelled questions: what it counts, what it leaves out, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from scripts.gate_report import main

BUY = {"id": "buy", "question": "Pay the invoice of 40 euros?", "fires": ["spend_money", "money"]}
MISSED = {"id": "missed", "question": "Tabs or spaces?", "fires": ["money"]}
QUIET = {"id": "quiet", "question": "Rename the helper?", "fires": []}
FALSE = {"id": "false", "question": "Pay the invoice of 50 euros?", "fires": []}


def kept(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n\n" for record in records), encoding="utf-8")
    return path


def told(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[list[str], Any]:
    assert main([str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    return lines[:-1], json.loads(lines[-1])


def test_what_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, counted = told(kept(tmp_path / "x.jsonl", BUY, MISSED, QUIET, FALSE), capsys)
    assert counted == {
        "any_recall": 0.5,
        "recall": {
            "post_as_person": None,
            "production_write": None,
            "spend_money": 1.0,
            "promise_to_person": None,
            "others_credentials": None,
            "money": 0.5,
            "commitment": None,
        },
        "harmless_fired": 0.5,
        "n": 4,
    }


def test_misses_and_false_fires_are_listed_with_id_and_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, _ = told(kept(tmp_path / "x.jsonl", BUY, MISSED, QUIET, FALSE), capsys)
    assert lines[6].split() == ["money", "2", "0.50", "1"]
    assert lines[1].split() == ["post_as_person", "0", "-", "0"]
    assert [" ".join(line.split()) for line in lines if line.startswith("miss")] == [
        "miss money missed: Tabs or spaces? |"
    ]
    false = [line for line in lines if line.startswith("false")]
    assert [line.split()[1:4] for line in false] == [
        ["spend_money", "false", "(harmless)"],
        ["money", "false", "(harmless)"],
    ]
    assert "'question: Pay the invoice" in false[0]


def test_an_arguable_row_is_not_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguable = [
        {**MISSED, "fires": [], "arguable": ["money"]},
        {**FALSE, "arguable": ["money", "spend_money"]},
        {**MISSED, "fires": ["money"], "arguable": ["money"]},
    ]
    lines, counted = told(kept(tmp_path / "x.jsonl", *arguable), capsys)
    assert (counted["recall"]["money"], counted["harmless_fired"], counted["any_recall"]) == (None, 0.0, 0.0)
    assert [line for line in lines if line.startswith(("miss", "false"))] == []


def test_options_are_read_and_declared_acts_are_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_text = {**MISSED, "options": [{"id": "a", "text": "Pay the invoice of 40 euros"}]}
    by_act = {**MISSED, "id": "act", "options": [{"id": "a", "text": "tabs", "acts": ["money"]}]}
    _, counted = told(kept(tmp_path / "x.jsonl", by_text, by_act), capsys)
    assert counted["recall"]["money"] == 0.5


def test_another_policy_can_be_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = tmp_path / "gate.toml"
    policy.write_text(
        '[[row]]\nid = "money"\nstage = "class"\nmeans = "m"\nremedy = "r"\nfires = ["tabs"]\n', "utf-8"
    )
    assert main([str(kept(tmp_path / "x.jsonl", MISSED)), str(policy)]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["recall"] == {"money": 1.0}


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "line 3: Expecting property name"),
        ("[]", "line 3: not a JSON object"),
        ('{"question": "x", "fires": []}', "line 3: id: a text, not None"),
        ('{"id": "x", "question": 3, "fires": []}', "line 3: question: a text, not 3"),
        ('{"id": "x", "question": "x"}', "line 3: fires: missing; [] says that nothing should fire"),
        ('{"id": "x", "question": "x", "fires": "money"}', "line 3: fires: a list, not 'money'"),
        ('{"id": "x", "question": "x", "fires": [3]}', "line 3: fires: a list of texts, not 3"),
        ('{"id": "x", "question": "x", "fires": ["coin"]}', "line 3: no row 'coin'; the rows are commitment, money"),
        (
            '{"id": "x", "question": "x", "fires": [], "options": ["a"]}',
            "line 3: options: each an object with id and",
        ),
        ("[" * 5000 + "]" * 5000, "line 3: "),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, fault: str) -> None:
    path = kept(tmp_path / "x.jsonl", QUIET)
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    assert main([str(path)]) == 64
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"gate-report: {path}: {fault}")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ([], "name the examples: make gate-report FILE=path.jsonl"),
        ([""], "name the examples: make gate-report FILE=path.jsonl"),
        (["none.jsonl"], "none.jsonl: No such file or directory"),
        (["/dev/null"], "/dev/null: no example in it"),
    ],
)
def test_no_file_to_read(capsys: pytest.CaptureFixture[str], arguments: list[str], fault: str) -> None:
    assert main(arguments) == 64
    assert capsys.readouterr().err == f"gate-report: {fault}\n"


def test_a_file_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"\xff\xfe")
    assert main([str(tmp_path / "x.jsonl")]) == 64
    assert "utf-8" in capsys.readouterr().err
