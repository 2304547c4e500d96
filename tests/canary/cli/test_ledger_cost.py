"""`ledger cost` tells by level what an answer took and what is not known of it, over ledgers that runs wrote."""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest

from canary.capacity.cost_document import COST_SCHEMA
from decide.ledger import RowKind
from decide.store.opening import open_store
from tests.canary.cli.ladders import QUESTION, Ladder, ladder, names, on_a_terminal
from tests.decide.store.work import claiming, ending
from tests.exporters.ledgers import PASS


@pytest.fixture
def asked(tmp_path: Path, home: Path) -> Ladder:
    """A ladder that was asked once."""
    made = ladder(tmp_path)
    assert made.run("ask", *QUESTION).exit_code == 0
    return made


TOLD = """\
medium: 2 of 3 runs answered (2 agreed, 1 held)
              MEDIAN  P95      KNOWN OF  TOTAL   PER ANSWER  1 MORE
USD metered   0.0250  too few  2 of 2    0.0500  0.0250      0.0250
USD notional  0.0250  too few  2 of 2    0.0500  0.0250      0.0250
tokens        4,400   too few  2 of 2    8,800   4,400       4,400
calls         4.0     too few  2 of 2    8.0     4.0         4.0
seconds       """
"""What is told of two questions that each cost four calls, and of one that a cap held; its seconds differ."""


def test_cost_tells_what_an_answer_took_and_what_a_held_question_would_have(tmp_path: Path, home: Path) -> None:
    made = ladder(tmp_path, more="[caps]\npasses_per_day = 13\n")
    for number, code in ((1, 0), (2, 0), (3, 2)):
        assert made.run("ask", "-q", f"Question {number}?", *QUESTION[2:]).exit_code == code
    done = made.run("ledger", "cost")
    assert done.exit_code == 0, done.output
    assert TOLD in done.stdout
    assert "- P95 takes 20 runs or more" in done.stdout
    assert "- what 2 runs took from windows of astra is not known" in done.stdout
    assert "- 1 MORE is what the 1 held would have taken at the mean of the answered runs" in done.stdout
    document = made.document("ledger", "cost")
    jsonschema.validate(document, COST_SCHEMA)
    (level,) = document["levels"]
    assert (document["ledger"], level["level"]) == (str(made.ledger), "medium")
    assert (level["runs"], level["answered"], level["held_or_walled"]) == (3, 2, 1)
    assert {name: level["usd_metered"][name] for name in ("total", "per_answer", "held_or_walled")} == {
        "total": "0.05",
        "per_answer": "0.025",
        "held_or_walled": "0.025",
    }
    assert level["seconds"]["median"] > 0


def test_cost_of_calls_that_nobody_priced_is_not_known(tmp_path: Path, home: Path) -> None:
    made = ladder(tmp_path)
    made.answers(names("keep"), names("keep", cost_usd=None, usage=None))
    assert made.run("ask", *QUESTION, "--level", "low").exit_code == 0
    done = made.run("ledger", "cost", "--level", "low", "--level", "high")
    assert "low: 1 of 1 runs answered (1 agreed)" in done.stdout
    assert re.search(r"^USD metered +not known +not known +0 of 1 +not known +not known$", done.stdout, re.MULTILINE)
    assert re.search(r"^USD notional .* 0\.0250 or more$", done.stdout, re.MULTILINE)
    assert re.search(r"^tokens +not known .* 2,200 or more$", done.stdout, re.MULTILINE)
    assert "- of 1 run the cost of a call of astra is not known" in done.stdout


def test_cost_tells_what_was_taken_of_a_window_that_was_metered(tmp_path: Path, home: Path) -> None:
    made, now = ladder(tmp_path), datetime.now(UTC)
    call = replace(PASS, at=now, receipt="receipt-r")
    took = replace(call, kind=RowKind.QUOTA, window_kind="session", micro_ratio=25_000)
    rows = (call, replace(call, kind=RowKind.DECISION, result="agreed"), took)

    async def work() -> None:
        made.state.mkdir()
        async with await open_store(made.ledger, host="here", pid=1) as store:
            await store.claim(claiming("r"))
            await store.end(ending("r", rows=rows))

    asyncio.run(work())
    done = made.run("ledger", "cost")
    assert re.search(r"^points of fable, session +2\.50 +too few +1 of 1 +2\.50 +2\.50$", done.stdout, re.MULTILINE)
    assert "from windows of fable is not known" not in done.stdout
    (points,) = made.document("ledger", "cost")["levels"][0]["quota_points"]
    assert (points["rung"], points["window"], points["median"]) == ("fable", "session", 2.5)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--level", "high"), "holds no decision at level high since 20"),
        (("--level", "utmost"), "'utmost' is not one of 'low', 'medium', 'high'"),
        (("--since", "0s"), "holds no decision since 20"),
        (("--since", "soon"), "must be a duration such as 90s, 5m or 1h30m"),
        (("--since", "90000000d"), "must be at most 36500d"),
    ],
)
def test_what_costs_cannot_be_told_of_is_64(asked: Ladder, words: tuple[str, ...], told: str) -> None:
    done = asked.run("ledger", "cost", *words)
    assert (done.exit_code, done.stdout) == (64, "")
    assert told in done.stderr


def test_costs_without_a_ledger_are_64_and_make_none(tmp_path: Path, home: Path) -> None:
    made = ladder(tmp_path)
    done = made.run("ledger", "cost", "--json")
    assert (done.exit_code, done.stdout) == (64, "")
    assert f"there is no history: {made.ledger} is not there yet" in done.stderr
    assert not made.state.exists()
    made.state.mkdir()
    made.ledger.write_bytes(b"no database" * 1000)
    assert made.run("ledger", "cost").exit_code == 4


def test_who_waits_for_costs_sees_how_far_the_ledger_is_read(asked: Ladder) -> None:
    ended, text = on_a_terminal(asked, ["ledger", "cost"])
    assert ended == 0, text
    assert "reading the ledger" in text
    assert "1 of 1 runs answered (1 agreed)" in text
    assert asked.run("ledger", "cost").stderr == ""
