"""`confirm` lists clicks, presses one as whoever is bound to it, and hands out its link, good while it lives."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from canary.cli.main import run
from canary.ledger import Ledger
from canary.link_keys import FILE, keys
from canary.own_name import own_name
from decide import snapshot
from decide.handoff.execution import Surface
from decide.handoff.inbox import Raised
from decide.handoff.link import read
from decide.question import Option, Question
from decide.snapshot import Snapshot
from tests.canary.cli.ladders import Ladder, ladder, names
from tests.canary.cli.test_queue import COMMANDS
from tests.canary.cli.test_raising import pulled

FAILING = '[[command]]\nname = "fail"\nrun = ["false", "{what}"]\nclass = "destructive"\n'
RESTART = Question(
    "Does the report begin early?",
    (Option("yes", "Do it", "echo restarting report"), Option("no", "Leave it")),
    id="r1",
)


def offered(folder: Path, question: Question = RESTART, requester: str | None = None) -> tuple[Ladder, str]:
    """A ladder with one pending click, raised from the console by whoever runs the tests."""
    made = ladder(folder, more=COMMANDS + FAILING)
    made.answers(names("yes"), names("yes"))

    async def raised() -> None:
        ledger, now = Ledger(made.ledger), datetime.now(UTC)
        who = own_name() if requester is None else requester
        one = Raised("item-1", question, snapshot.dump(Snapshot(())), now, Surface.CHAT.value, who)
        await (await ledger.opened()).handoff.raise_question(one)
        await ledger.close()

    made.state.mkdir()
    asyncio.run(raised())
    pulled(made)
    (click,) = made.document("confirm", "list")
    assert (click["state"], click["line"]) == ("pending", question.options[0].action)
    return made, str(click["id"])


def test_a_press_runs_its_command_once_and_a_second_is_told_the_first_ones_outcome(tmp_path: Path) -> None:
    made, click = offered(tmp_path)
    first = made.run("confirm", "press", click)
    assert (first.exit_code, "restarting report" in first.stdout) == (0, True), first.output
    again = made.document("confirm", "press", click, code=3)
    assert (again["consumed"], again["refusal"]) == (False, "already_consumed")
    assert "was pressed" in again["reason"]
    shown = made.document("confirm", "show", click)
    assert (shown["state"], shown["act"]["state"], shown["act"]["code"]) == ("consumed", "done", 0)
    assert "exit status 0" in made.run("confirm", "show", click).stdout
    assert made.run("ledger", "verify").exit_code == 0


def test_somebody_elses_click_stays_as_it_is(tmp_path: Path) -> None:
    made, click = offered(tmp_path, requester="somebody else")
    done = made.run("confirm", "press", click)
    assert (done.exit_code, "somebody else's to press" in done.stderr) == (3, True), done.output
    assert made.document("confirm", "show", click)["state"] == "pending"


def test_a_command_that_fails_is_told_so(tmp_path: Path) -> None:
    failing = replace(RESTART, options=(Option("yes", "Do it", "false now"), Option("no", "Leave it")))
    made, click = offered(tmp_path, failing)
    done = made.run("confirm", "press", click)
    assert (done.exit_code, "failed: false now (exit status 1)" in done.stdout) == (1, True), done.output


def test_a_click_that_there_is_not_is_told(tmp_path: Path) -> None:
    made, _ = offered(tmp_path)
    done = made.run("confirm", "press", "cf_unknown")
    assert (done.exit_code, "no such click" in done.stderr) == (3, True), done.output
    assert made.run("confirm", "show", "cf_unknown").exit_code == 64


def test_a_link_names_the_click_and_outlives_a_new_key(tmp_path: Path) -> None:
    made, click = offered(tmp_path)
    link = made.run("confirm", "link", click).stdout.strip()
    base, _, token = link.rpartition("/confirm/")
    assert base == "http://127.0.0.1:9477"
    places = made.places
    assert run(["confirm", "rotate", *places]) == 0
    found = read(token, keys(made.state / FILE), datetime.now(UTC))
    assert (found.click_id, found.subject) == (click, own_name())
    secrets = [row["key"] for row in json.loads((made.state / FILE).read_text())["keys"]]
    rotated = made.run("confirm", "rotate")
    assert rotated.exit_code == 0
    assert not any(secret in rotated.output for secret in secrets)


@pytest.mark.parametrize("words", [("press",), ("show",), ("link",)])
def test_without_a_click_named_it_is_usage(tmp_path: Path, words: tuple[str, ...]) -> None:
    assert ladder(tmp_path).run("confirm", *words).exit_code == 64
