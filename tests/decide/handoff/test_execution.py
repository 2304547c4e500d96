"""The execution table cell by cell, and that nothing else in the product words a refusal."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from decide.handoff.command import Command, CommandClass
from decide.handoff.execution import (
    REFUSALS,
    Fate,
    Refusal,
    Rules,
    Sentence,
    Surface,
    refused,
    sentence,
    shown,
    withdrawn,
)
from tests.decide.handoff.samples import RULES

ROOT = Path(__file__).parents[3]
READ, WRITE, DESTRUCTIVE = CommandClass
CHAT, TYPED = Surface
RUN, CLICK, REFUSE = Fate
LINES = {READ: "unit status worker", WRITE: "unit restart worker", DESTRUCTIVE: "unit wipe worker"}

CELLS = [
    (READ, READ, CHAT, CLICK),
    (READ, READ, TYPED, REFUSE),
    (READ, WRITE, CHAT, RUN),
    (READ, WRITE, TYPED, RUN),
    (READ, DESTRUCTIVE, CHAT, RUN),
    (READ, DESTRUCTIVE, TYPED, RUN),
    (WRITE, READ, CHAT, CLICK),
    (WRITE, READ, TYPED, REFUSE),
    (WRITE, WRITE, CHAT, CLICK),
    (WRITE, WRITE, TYPED, REFUSE),
    (WRITE, DESTRUCTIVE, CHAT, RUN),
    (WRITE, DESTRUCTIVE, TYPED, RUN),
    (DESTRUCTIVE, READ, CHAT, CLICK),
    (DESTRUCTIVE, READ, TYPED, REFUSE),
    (DESTRUCTIVE, WRITE, CHAT, CLICK),
    (DESTRUCTIVE, WRITE, TYPED, REFUSE),
    (DESTRUCTIVE, DESTRUCTIVE, CHAT, CLICK),
    (DESTRUCTIVE, DESTRUCTIVE, TYPED, REFUSE),
]
"""Design 4.8 by hand: the command's class, the confirm class, the surface, and what becomes of it."""


@pytest.mark.parametrize(("kind", "confirm", "surface", "fate"), CELLS)
def test_every_cell_of_the_table(kind: CommandClass, confirm: CommandClass, surface: Surface, fate: Fate) -> None:
    ruled = sentence(LINES[kind], surface, Rules(RULES.commands, confirm))
    assert (ruled.fate, ruled.line, ruled.kind) == (fate, LINES[kind], kind)
    assert ruled.refusal == (Refusal.TYPED_FORM if fate is REFUSE else None)
    assert ruled.words == (() if fate is REFUSE else tuple(LINES[kind].split()))
    assert kind in ruled.reason


def test_the_typed_surface_is_told_the_typed_form() -> None:
    ruled = sentence("unit  'restart' worker", TYPED, RULES)
    assert ruled.reason == (
        "not run from here: unit-restart is of class write, at or above write; type it: unit restart worker"
    )


def test_no_chat_surface_prints_a_line_to_retype() -> None:
    for kind, line in LINES.items():
        assert "type it" not in sentence(line, CHAT, Rules(RULES.commands, kind)).reason


@pytest.mark.parametrize("surface", Surface)
def test_a_line_of_no_list_never_runs(surface: Surface) -> None:
    ruled = sentence("rm -rf\n /\u202e", surface, RULES)
    assert (ruled.fate, ruled.refusal, ruled.words) == (REFUSE, Refusal.NOT_LISTED, ())
    assert ruled.reason == "nothing runs: rm -rf / is no command of the allow-list"


def test_what_no_button_shows_is_refused_and_says_why() -> None:
    hidden = Rules((Command("odd", ("unit", "restart", "wor\u200bker"), WRITE),))
    ruled = sentence("unit restart wor\u200bker", CHAT, hidden)
    assert (ruled.fate, ruled.refusal, ruled.words) == (REFUSE, Refusal.UNSHOWABLE, ())
    assert ruled.reason.startswith(
        "no click is offered: the line cannot be shown whole, it holds the character U+200B"
    )


@pytest.mark.parametrize("surface", Surface)
@pytest.mark.parametrize("line", [*LINES.values(), "unit of no list worker"])
def test_no_secret_of_a_line_is_shown(line: str, surface: Surface) -> None:
    ruled = sentence(line.replace("worker", "sk-ant-api03-SENTINEL"), surface, RULES)
    assert "SENTINEL" not in ruled.line + ruled.reason + repr(ruled)


def test_a_line_is_shown_plain_and_no_longer_than_a_button() -> None:
    assert shown(" a\tb\n\x1b[2Jc\u202ed ") == "a b [2Jc d"
    assert len(shown("x y " * 1000)) == 500
    assert shown(" \u202e\n") == "(nothing that can be seen)"


def test_what_cannot_be_offered_after_all_runs_nothing() -> None:
    ruled = sentence(LINES[WRITE], CHAT, RULES)
    busy = withdrawn(ruled, Refusal.THREAD_BUSY, first="unit wipe cache")
    assert (busy.fate, busy.words, busy.line) == (REFUSE, (), ruled.line)
    assert busy.reason == "no second click in this thread: unit wipe cache is still pending"


FIELDS = {refusal: {name for _, name, *_ in Formatter().parse(text) if name} for refusal, text in REFUSALS.items()}


@pytest.mark.parametrize("refusal", Refusal)
def test_every_refusal_has_words_that_hold_what_they_are_given(refusal: Refusal) -> None:
    words = refused(refusal, **{name: f"<{name} {{x}}>" for name in FIELDS[refusal]})
    assert all(f"<{name} {{x}}>" in words for name in FIELDS[refusal])
    for name in FIELDS[refusal]:
        with pytest.raises(KeyError):
            refused(refusal, **dict.fromkeys(FIELDS[refusal] - {name}, ""))


PRODUCT = [path for name in ("decide", "exporters", "canary", "dashboards") for path in (ROOT / name).rglob("*.py")]
OWN = ROOT / "decide" / "handoff" / "execution.py"
EVERYDAY = {("there", "is", "no", "such")}
"""Words that say nothing of a refusal by themselves."""


def runs_of_words(text: str) -> set[tuple[str, ...]]:
    """Every four words that follow each other, or three that are all there is between two values."""
    runs = set()
    for part in re.split(r"\{\w+\}|;", text):
        words = re.findall(r"[a-z']+", part.lower())
        size = max(3, min(4, len(words)))
        runs |= {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}
    return runs - EVERYDAY


WORDED = {run for text in REFUSALS.values() for run in runs_of_words(text)}


def texts(source: str) -> Iterator[str]:
    """Every text of a module that is not a docstring; the parts of one with values in it, joined by a gap."""
    tree = ast.parse(source)
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield ";".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told | parts:
            yield node.value


def test_no_other_module_words_a_refusal() -> None:
    worded = {
        str(path.relative_to(ROOT)): sorted(" ".join(run) for run in found)
        for path in PRODUCT
        if path != OWN
        for found in [
            {run for text in texts(path.read_text(encoding="utf-8")) for run in runs_of_words(text) & WORDED}
        ]
        if found
    }
    assert worded == {}


@pytest.mark.parametrize(
    "source",
    [
        'told = "This click expired; sorry"',
        'told = f"{name} came late; nothing was run"',
        'told = f"{name}: there is no such click, sorry"',
        'told = ("no second click " "in this thread")',
        'print("no click is offered: the store cannot keep it")',
    ],
)
def test_the_check_sees_each_of_them(source: str) -> None:
    assert runs_of_words(next(texts(source))) & WORDED


def test_the_check_knows_words_of_every_refusal() -> None:
    assert all(runs_of_words(text) for text in REFUSALS.values())


def test_a_sentence_of_no_list_names_no_command() -> None:
    assert sentence("ls", CHAT, Rules()) == Sentence(
        REFUSE, "ls", refused(Refusal.NOT_LISTED, line="ls"), refusal=Refusal.NOT_LISTED
    )
