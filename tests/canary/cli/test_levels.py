"""Levels from the command line: forced per question or per call, with what the configuration makes of each."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from decide.question import LevelName
from decide.receipt_schema import RECEIPT_SCHEMA
from tests.canary.cli.ladders import QUESTION, Ladder, ladder, names

MORE = """\
[decide]
level = "low"
[level.low]
effort = "minimal"
evidence_budget = 10
[level.medium]
cross_check = true
[level.high]
votes = 2
max_passes = 18
one_sentence = true
model = { fable = "claude-fable-5-20261014" }
"""


@pytest.fixture
def made(tmp_path: Path, home: Path) -> Ladder:
    """A ladder with a configuration of levels, whose rungs agree."""
    return ladder(tmp_path, more=MORE)


def asked(made: Ladder, *words: str, level: str | None = None) -> Any:
    """The receipt of a question in a document of its own."""
    options = [{"id": "keep", "text": "Keep the first"}, {"id": "swap", "text": "Use the other"}]
    evidence = [{"text": "it misses a lot"}]
    document: dict[str, Any] = {"question": "Which cache?", "options": options, "evidence": evidence}
    path = made.folder / "q.json"
    path.write_text(json.dumps(document | ({"level": level} if level else {})), encoding="utf-8")
    return made.document("ask", str(path), *words)


ROLES = {
    LevelName.LOW: {"vote": 4},
    LevelName.MEDIUM: {"vote": 4, "cross_check": 1},
    LevelName.HIGH: {"vote": 8, "cross_check": 1},
}


@pytest.mark.parametrize(
    ("document", "flag", "level"),
    [
        (None, None, LevelName.LOW),
        ("medium", None, LevelName.MEDIUM),
        ("high", None, LevelName.HIGH),
        ("low", "high", LevelName.HIGH),
        ("high", "low", LevelName.LOW),
        (None, "medium", LevelName.MEDIUM),
    ],
)
def test_the_call_wins_over_the_question_and_that_over_the_configuration(
    made: Ladder, document: str | None, flag: str | None, level: LevelName
) -> None:
    receipt = asked(made, *(["--level", flag] if flag else []), level=document)
    jsonschema.validate(receipt, RECEIPT_SCHEMA)
    assert receipt["level"]["name"] == level
    assert Counter(one["role"] for one in receipt["passes"]) == ROLES[level]


def test_every_value_of_the_level_is_on_the_receipt(made: Ladder) -> None:
    low = asked(made)
    assert low["level"] == {
        "name": "low",
        "votes": 1,
        "effort": "minimal",
        "one_sentence": True,
        "evidence_budget": 10,
        "max_passes": 9,
        "split_reread": False,
        "cross_check": False,
        "models": {},
        "tie_break": "fresh",
    }
    (source,) = low["snapshot"]["sources"]
    assert source["cut"] == {"kept_chars": 10, "of_chars": 15}


def test_a_level_asks_for_its_own_model(made: Ladder) -> None:
    made.answers(names("keep"), names("keep"))
    receipt = asked(made, "--level", "high")
    assert [one["model"] for one in receipt["rungs"]] == ["claude-fable-5-20261014", "gpt-6-astra"]
    assert receipt["answered_by"] == {"model": "claude-fable-5-20261014", "from": "reported"}
    shown = made.run("receipt", "show").stdout
    assert "models claude-fable-5-20261014 for fable" in shown
    assert "cross-check  -" in shown


def test_a_rehearsal_shows_what_the_level_makes_of_it(made: Ladder) -> None:
    shown = made.document("ask", *QUESTION, "--level", "high", "--dry-run")
    assert shown["level"] == "high"
    assert shown["reserves"] == {"passes": 18, "usd": "9.00"}
    assert shown["rungs"][0] == {"name": "fable", "model": "claude-fable-5-20261014"}
    assert "one sentence" in shown["briefs"][0]["text"]
    low = made.document("ask", *QUESTION, "--text", "it misses a lot", "--dry-run")
    assert low["snapshot"]["sources"][0]["kept_chars"] == 10
    assert made.calls() == []


def test_the_ledgers_status_foresees_what_the_configured_level_reserves(tmp_path: Path, home: Path) -> None:
    more = '[decide]\nlevel = "high"\n[level.high]\nvotes = 2\nmax_passes = 12\n[caps]\npasses_per_day = 11\n'
    (hold,) = ladder(tmp_path, more=more).document("ledger", "status")["holds"]
    assert hold["text"] == "a question at level high reserves 12 calls"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("[level.huge]\nvotes = 1\n", "level.huge: unknown key; allowed here: high, low, medium"),
        ("[level.high]\nvotes = 5\n", "level.high.max_passes: must be 30 to 200"),
        ("[level.high]\nmax_passes = 17\n", "level.high.max_passes: must be 18 to 200, not 17"),
        ('[level.low.model]\nfable = "gpt-6-astra"\n', "level.low.model: rung 'fable' accepts 'claude-fable-5'"),
    ],
)
def test_a_level_that_no_run_could_keep_is_64_and_asks_nobody(
    tmp_path: Path, home: Path, more: str, told: str
) -> None:
    wrong = ladder(tmp_path, more=more)
    done = wrong.run("ask", *QUESTION)
    assert (done.exit_code, done.stdout, wrong.calls()) == (64, "", [])
    assert told in done.stderr
