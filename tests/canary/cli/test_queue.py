"""`queue` lists what waits, shows it, and closes it with a person's answer; what cannot be done changes nothing."""

import json
from pathlib import Path

import pytest

from tests.canary.cli.ladders import NO_LOGIN, QUESTION, Ladder, declines, ladder, names

COMMANDS = """
[[command]]
name = "count"
run = ["echo", "counting", "{table}"]
class = "read"
[[command]]
name = "restart"
run = ["echo", "restarting", "{unit}"]
class = "write"
"""
ACTING = {
    "id": "act-1",
    "question": "Which is to be done?",
    "options": [
        {"id": "count", "text": "Count", "action": "echo counting search"},
        {"id": "restart", "text": "Restart", "action": "echo restarting worker"},
        {"id": "other", "text": "Something of no list", "action": "rm -r everything"},
        {"id": "nothing", "text": "Nothing"},
    ],
}


def waiting(folder: Path, *, more: str = "") -> Ladder:
    """A ladder one of whose questions waits, declined by both rungs."""
    made = ladder(folder, more=more)
    made.answers(declines("needs_human"), declines("needs_human"))
    (folder / "act.json").write_text(json.dumps(ACTING))
    done = made.run("ask", str(folder / "act.json"))
    assert done.exit_code == 3, done.output
    return made


def test_an_empty_queue_says_so(tmp_path: Path) -> None:
    made = ladder(tmp_path)
    done = made.run("queue", "list")
    assert (done.exit_code, "nothing waits here" in done.stderr) == (64, True)
    assert made.run("ask", *QUESTION).exit_code == 0
    assert made.run("queue", "list").stdout == "nothing waits for a person\n"
    assert made.document("queue", "list") == []


def test_what_waits_is_listed_and_shown(tmp_path: Path) -> None:
    made = waiting(tmp_path)
    (line,) = made.document("queue", "list")
    assert (line["urgency"], line["why"], line["question"]["key"]) == ("routine", "needs_human", "act-1")
    assert "Which is to be done?" in made.run("queue", "list").stdout
    for named in (line["id"][:12], "act-1", line["id"]):
        told = made.document("queue", "show", named)
        assert (told["id"], told["state"]) == (line["id"], "open")
    shown = made.document("queue", "show", line["id"])
    assert [option["id"] for option in shown["question"]["options"]] == ["count", "restart", "other", "nothing"]
    words = made.run("queue", "show", "act-1").stdout
    assert all(word in words for word in ("open, routine", "echo restarting worker", "NEEDS HUMAN"))


def test_a_walled_question_waits_and_is_pressing_by_its_deadline_alone(tmp_path: Path) -> None:
    made = ladder(tmp_path)
    made.answers(NO_LOGIN, NO_LOGIN)
    assert made.run("ask", *QUESTION, "--deadline", "2020-01-01T00:00:00Z").exit_code == 4
    assert made.run("ask", *QUESTION[:2], "-o", "a=A", "-o", "b=B").exit_code == 4
    urgencies = [(line["urgency"], line["why"]) for line in made.document("queue", "list")]
    assert urgencies == [("wake", "walled"), ("routine", "walled")]


def test_an_answer_closes_the_entry_and_is_what_everybody_is_told(tmp_path: Path) -> None:
    made = waiting(tmp_path)
    said = made.document("queue", "answer", "act-1", "-o", " NOTHING ", "-t", "leave it", "--person", "Ada Berg")
    assert (said["state"], said["person"], said["act"]) == ("answered", "Ada Berg", None)
    assert made.document("queue", "list") == []
    receipt = made.document("receipt", "show")
    assert {**receipt["person"], "at": ""} == {
        "name": "Ada Berg",
        "option": "nothing",
        "text": "leave it",
        "at": "",
        "surface": "typed",
    }
    again = made.run("ask", str(tmp_path / "act.json"))
    assert (again.exit_code, "ANSWERED by Ada Berg: nothing, Nothing; leave it" in again.stdout) == (0, True)
    assert len(made.calls()) == 4
    awaited = made.run("await", "act-1")
    assert (awaited.exit_code, "ANSWERED by Ada Berg" in awaited.stdout) == (0, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("answer", "act-1"), "give --option ID or --text TEXT"),
        (("answer", "act-1", "-o", "moon"), "there is no option 'moon'; there are 'count', 'restart'"),
        (("answer", "act-1", "-t", "x", "--person", " "), "person: must be 1 to 128 printable characters"),
        (("answer", "act-2", "-t", "x"), "act-2"),
        (("show", "act-2"), "act-2"),
        (("cancel", "act-1", "--note", " "), "--note: say why"),
        (("cancel", "act-2", "--note", "x"), "act-2"),
    ],
)
def test_what_cannot_be_done_is_told_and_changes_nothing(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    made = waiting(tmp_path)
    done = made.run("queue", *words)
    assert (done.exit_code, told in done.stderr) == (64, True), done.output
    assert [line["why"] for line in made.document("queue", "list")] == ["needs_human"]


def test_an_entry_is_closed_once(tmp_path: Path) -> None:
    made = waiting(tmp_path)
    assert made.run("queue", "cancel", "act-1", "--note", "the lane is gone", "--person", "grace").exit_code == 0
    for words in (("answer", "act-1", "-o", "nothing"), ("cancel", "act-1", "--note", "again")):
        done = made.run("queue", *words)
        assert (done.exit_code, "was cancelled by grace" in done.stderr) == (64, True)
    shown = made.document("queue", "show", "act-1")
    assert (shown["state"], shown["closed_by"], shown["note"]) == ("cancelled", "grace", "the lane is gone")
    assert made.run("await", "act-1", "--timeout", "1s").exit_code == 3


@pytest.mark.parametrize(
    ("option", "state", "told"),
    [
        ("count", "done", "counting search"),
        ("restart", "refused", "type it: echo restarting worker"),
        ("other", "refused", "is no command of the allow-list"),
    ],
)
def test_a_typed_answer_runs_below_the_confirm_class_and_is_refused_with_its_line_from_it_on(
    tmp_path: Path, option: str, state: str, told: str
) -> None:
    made = waiting(tmp_path, more=COMMANDS)
    act = made.document("queue", "answer", "act-1", "-o", option)["act"]
    assert (act["state"], told in (act["output"] or act["reason"])) == (state, True)


@pytest.mark.parametrize(
    ("option", "told"),
    [("count", "counting search"), ("restart", "not run from here"), ("other", "nothing runs"), ("nothing", "")],
)
def test_an_answer_of_the_ladder_goes_through_the_same_table(tmp_path: Path, option: str, told: str) -> None:
    made = ladder(tmp_path, more=COMMANDS)
    made.answers(names(option), names(option))
    (tmp_path / "act.json").write_text(json.dumps(ACTING))
    for _ in range(2):  # asked again it is told again, and not run again
        done = made.run("ask", str(tmp_path / "act.json"))
        assert (done.exit_code, told in done.stdout) == (0, True), done.output
    ran = made.document("receipt", "show")["execution"]
    assert (ran is None) == (option == "nothing")
    starts = made.run("ledger", "verify")
    assert starts.exit_code == 0
