"""`raise` keeps a question for the daemon, and `await` waits until the ladder or a person has answered it."""

import asyncio
import os
from pathlib import Path

import pytest

from canary.app import real_world
from canary.clock import SystemClock
from canary.ledger import Ledger
from canary.load import load
from canary.reaching import Means, Reaching
from decide.handoff.effect import runner
from tests.canary.cli.ladders import BROKEN, QUESTION, Ladder, declines, ladder, names


def pulled(made: Ladder) -> None:
    """One round of a daemon of this ladder."""

    async def round_() -> None:
        config, clock = load(made.folder / "rungwatch.toml", {}).config, SystemClock()
        world, http = real_world(config, clock)
        means = Means(clock, os.environ, runner(os.environ), world.fetch)
        ledger = Ledger(made.ledger)
        reaching = Reaching(config, made.state, ledger, means, lambda: True)
        await reaching.pull()
        await reaching.carry_soon()
        await reaching.stop()
        await ledger.close()
        await http.aclose()

    asyncio.run(round_())


def test_a_raised_question_is_asked_by_the_daemon_and_its_answer_awaited(tmp_path: Path) -> None:
    made = ladder(tmp_path)
    done = made.run("raise", *QUESTION, "--by", "lane-7")
    item = done.stdout.strip()
    assert (done.exit_code, len(item.split())) == (0, 1)
    assert made.calls() == []
    early = made.run("await", item, "--timeout", "100ms")
    assert (early.exit_code, "nobody has been asked yet" in early.stderr) == (2, True)
    pulled(made)
    answer = made.document("await", item)
    assert (answer["state"], answer["receipt"]["outcome"], answer["exit_code"]) == ("done", "agreed", 0)
    assert "RESOLVED via FABLE (claude-fable-5) and ASTRA (gpt-6-astra): keep" in made.run("await", item).stdout


def test_evidence_is_read_when_a_question_is_raised(tmp_path: Path) -> None:
    made = ladder(tmp_path)
    note = tmp_path / "note.md"
    note.write_text("the first words")
    item = made.run("raise", *QUESTION, "--file", str(note)).stdout.strip()
    note.unlink()
    pulled(made)
    assert made.document("await", item)["receipt"]["snapshot"]["sources"][0]["kind"] == "file"


def test_the_same_question_raised_again_is_the_one_that_is_there(tmp_path: Path) -> None:
    made = ladder(tmp_path)
    first, again = (made.run("raise", *QUESTION).stdout for _ in range(2))
    assert first == again
    pulled(made)
    pulled(made)
    assert len(made.calls()) == 4
    late = made.document("raise", *QUESTION)
    assert (late["id"], late["state"]) == (first.strip(), "done")


def test_an_id_that_another_question_used_is_refused(tmp_path: Path) -> None:
    made = ladder(tmp_path)
    assert made.run("raise", *QUESTION, "--id", "q1").exit_code == 0
    done = made.run("raise", "-q", "Another?", "-o", "a=A", "-o", "b=B", "--id", "q1")
    assert (done.exit_code, "q1" in done.stderr) == (64, True)


def test_a_question_that_waits_for_a_person_is_awaited_until_that_person_answers(tmp_path: Path) -> None:
    made = ladder(tmp_path)
    made.answers(declines("needs_human"), names("keep"))
    item = made.run("raise", *QUESTION, "--id", "q1").stdout.strip()
    pulled(made)
    assert made.run("await", item, "--ruling").exit_code == 3
    waited = made.run("await", item, "--timeout", "100ms")
    assert (waited.exit_code, "it waits for a person" in waited.stderr) == (3, True)
    assert made.run("queue", "answer", "q1", "-o", "swap", "--person", "ada").exit_code == 0
    assert made.run("await", item).exit_code == 0
    pulled(made)
    assert len(made.calls()) == 4


def test_what_failed_is_not_asked_again_before_its_time(tmp_path: Path) -> None:
    made = ladder(tmp_path)
    made.answers(BROKEN, BROKEN)
    item = made.run("raise", *QUESTION).stdout.strip()
    pulled(made)
    pulled(made)
    told = made.document("await", item, "--timeout", "100ms", code=2)
    assert (told["state"], told["receipt"]["attempts"], len(made.calls())) == ("retrying", 1, 4)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("await", "nothing"), "nothing"),
        (("await", "x", "--timeout", "soon"), "must be a duration"),
        (("raise",), "give a question"),
        (("raise", "-q", "One?", "-o", "a=A"), "must be 2 to 26, not 1"),
    ],
)
def test_bad_input_is_told(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    made = ladder(tmp_path)
    made.run("raise", *QUESTION)
    done = made.run(*words)
    assert (done.exit_code, told in done.stderr) == (64, True), done.output


def test_a_store_that_cannot_keep_it_is_told(tmp_path: Path) -> None:
    made = ladder(tmp_path)
    made.state.mkdir()
    made.ledger.write_text("no database at all, but long enough to be read as one" * 40)
    done = made.run("raise", *QUESTION)
    assert (done.exit_code, "ledger_" in done.stderr) == (4, True), done.output
