"""What a line runs: a command of the list whose blanks hold one plain argument each, and nothing else."""

import itertools
import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.handoff.command import LINE_LIMIT, Command, CommandClass, bound, table, unshowable
from tests.decide.handoff.samples import RULES

READ, WRITE, DESTRUCTIVE = CommandClass
LISTED = RULES.commands


@pytest.mark.parametrize(
    ("line", "name", "words"),
    [
        ("unit status worker", "unit-status", ("unit", "status", "worker")),
        ("  unit   status\tworker ", "unit-status", ("unit", "status", "worker")),
        ("unit status 'worker'", "unit-status", ("unit", "status", "worker")),
        ('un"it" status worker', "unit-status", ("unit", "status", "worker")),
        ("unit restart web@2.service", "unit-restart", ("unit", "restart", "web@2.service")),
        ("unit restart ./path/to:1,2=3%4+5", "unit-restart", ("unit", "restart", "./path/to:1,2=3%4+5")),
    ],
)
def test_a_line_that_is_a_command(line: str, name: str, words: tuple[str, ...]) -> None:
    found = bound(line, LISTED)
    assert found is not None
    assert (found.command.name, found.words) == (name, words)


STRANGE = [
    "",
    " ",
    "unit",
    "unit status",
    "unit status worker now",
    "unit status ''",
    "unit status worker; reboot",
    "unit status worker;reboot",
    "unit status worker && reboot",
    "unit status worker&",
    "unit status worker|sh",
    "unit status $(reboot)",
    "unit status `reboot`",
    "unit status ${HOME}",
    "unit status $HOME",
    "unit status ~root",
    "unit status *",
    "unit status wor?er",
    "unit status [a-z]",
    "unit status {a,b}",
    "unit status >out",
    "unit status <in",
    "unit status 'two words'",
    "unit status two\\ words",
    "unit status 'worker",
    'unit status "worker',
    "unit status worker\\",
    "unit status 'wor\nker'",
    "unit status worker\nreboot",
    "unit status worker # really",
    "unit status -f",
    "unit status --now",
    "unit status '-f'",
    "unit status \\-f",
    "unit status @file",
    "unit status +cmd",
    "unit status :branch",
    "unit status =x",
    "unit status %1",
    "unit status ,x",
    "unit status w\u043erker",
    "unit status \uff57orker",
    "unit status worker\u202e",
    "unit status wor\u200bker",
    "unit status wor\u00adker",
    "un\u0456t status worker",
    "UNIT status worker",
    "./unit status worker",
    "unit status worker\x00",
    "unit status " + "x" * 201,
    "unit status {name}",
]
"""Metacharacters, quotes left open, options in blanks, look-alikes, hidden characters: none is a command."""


@pytest.mark.parametrize("line", STRANGE)
def test_a_line_that_is_on_no_list(line: str) -> None:
    assert bound(line, LISTED) is None


@given(st.text(max_size=60))
def test_whatever_a_line_holds_what_runs_is_of_the_list(text: str) -> None:
    for line in (text, f"unit status {text}", f"unit status {shlex.quote(text)}"):
        found = bound(line, LISTED)
        if found is None:
            continue
        assert found.words[:-1] in {one.words[:-1] for one in LISTED}
        assert found.words[-1].isascii()
        assert not found.words[-1].startswith("-")
        assert bound(found.line, LISTED) == found
        assert not unshowable(found.line)


def test_of_several_that_fit_the_gravest_counts() -> None:
    named = [
        Command("any", ("unit", "{verb}", "{name}"), READ),
        Command("wipe", ("unit", "wipe", "{name}"), DESTRUCTIVE),
        Command("wipe-one", ("unit", "wipe", "cache"), WRITE),
    ]
    for order in itertools.permutations(named):
        found = bound("unit wipe cache", order)
        assert found is not None
        assert found.command.name == "wipe"
    lesser = bound("unit status cache", named)
    assert lesser is not None
    assert lesser.command.name == "any"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "first word"),
        (("",), "first word"),
        (("unit", ""), "no word is empty"),
        (("{program}", "x"), "first word"),
        (("unit{x}",), "first word"),
        (("unit", "--name={name}"), "mixes a blank"),
        (("unit", "{a}{b}"), "mixes a blank"),
        (("sh", "-c", "{script}"), "would run whatever"),
        (("/bin/bash", "{file}"), "would run whatever"),
        (("sudo", "{command}"), "would run whatever"),
        (("sudo", "sh", "-c", "{script}"), "would run whatever"),
        (("env", "{program}"), "would run whatever"),
        (("python3", "-c", "{code}"), "would run whatever"),
    ],
)
def test_an_entry_that_could_run_anything_is_refused(words: tuple[str, ...], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Command("one", words, READ)


@pytest.mark.parametrize(
    "words",
    [
        ("sudo", "systemctl", "restart", "{unit}"),
        ("python3", "manage.py", "{task}"),
        ("git", "-c", "{setting}"),
        ("sh", "-c", "echo fixed"),
        ("unit", "{Name}"),
    ],
)
def test_an_entry_that_says_what_it_runs(words: tuple[str, ...]) -> None:
    assert Command("one", words, READ).words == words


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("x" * LINE_LIMIT, ""),
        ("x" * (LINE_LIMIT + 1), "501 characters"),
        ("unit restart \u202egnp.exe", r"U\+202E"),
        ("unit restart a\nb", r"U\+000A"),
        ("unit restart a\u00a0b", r"U\+00A0"),
        ("unit restart \ud800", r"U\+D800"),
        ("unit restart \U000f0000", r"U\+F0000"),
        ("unit restart sk-ant-api03-SENTINEL", "looks like a secret"),
        ("unit restart übermorgen", ""),
    ],
)
def test_what_no_button_can_show(line: str, why: str) -> None:
    found = unshowable(line)
    assert re.search(why, found) if why else not found
    assert "SENTINEL" not in found


def test_classes_are_ordered() -> None:
    reached = [(one, other) for one in CommandClass for other in CommandClass if one.reaches(other)]
    assert reached == [
        (READ, READ),
        (WRITE, READ),
        (WRITE, WRITE),
        (DESTRUCTIVE, READ),
        (DESTRUCTIVE, WRITE),
        (DESTRUCTIVE, DESTRUCTIVE),
    ]


def test_every_name_is_there_once() -> None:
    assert [*table(LISTED)] == ["unit-status", "unit-restart", "unit-wipe"]
    with pytest.raises(ValueError, match="'unit-wipe' is there twice"):
        table((*LISTED, LISTED[-1]))
