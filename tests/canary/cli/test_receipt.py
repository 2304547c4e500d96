"""`receipt` lists what is kept, newest first, and shows one in full; the printed forms are golden files."""

import asyncio
import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from rich.cells import cell_len
from rich.console import Console

from canary.cli.receipt_text import sections
from canary.cli.sheet import Sheet
from canary.cli.telling import Seen, ruling
from canary.cli.wording import Reader
from decide.level import LEVELS
from decide.ports import Caps
from decide.question import Consequence, LevelName, Option, Question
from decide.reply import Billing, Failure
from decide.run import ask
from decide.snapshot import Source, SourceKind
from tests.canary.cli.ladders import CAPPED, NO_LOGIN, QUESTION, Ladder, ladder, names
from tests.decide.fakes import NOW, Answer, by_place, declines, fails, in_turn, says, setup_of
from tests.decide.test_run import CAPPED as WALL
from tests.decide.test_run import MALFORMED, TIMED_OUT
from tests.decide.test_run import NO_LOGIN as LOGGED_OUT
from tests.decide.voters import voter

READER = Reader(NOW + timedelta(minutes=1), ZoneInfo("Europe/Berlin"))
ASKED = Question(
    "Which cache library do we keep?",
    (Option("opt_a", "Keep the first", "make keep", ("rebuild",)), Option("opt_b", "Keep the other")),
    id="cache-7",
    consequence=Consequence.IRREVERSIBLE,
    deadline=NOW + timedelta(hours=2),
    raised_by="agent 3",
)
HOSTILE = "\x1b[2J\x1b]0;owned\x07[red]alarm[/red]\n:smile: \u202eback"
UNPAID = replace(LEVELS[LevelName.HIGH], max_passes=18)
SCENES: dict[str, tuple[Answer, Answer, dict[str, Any]]] = {
    "agreed": (says("opt_a"), says("opt_a"), {}),
    "single": (WALL, says("opt_b"), {}),
    "reconsidered": (in_turn(says("opt_a"), says("opt_a"), says("opt_b")), says("opt_b"), {}),
    "flip": (by_place(0), says("opt_a"), {}),
    "declined": (declines("insufficient_evidence", gap="the miss rate of last week"), says("opt_a"), {}),
    "policy": (says("opt_a", touches=["money"]), says("opt_a"), {}),
    "walled": (WALL, LOGGED_OUT, {}),
    "error": (TIMED_OUT, fails(Failure.RATE_LIMITED, billed=False, retry_after_s=90), {}),
    "held": (says("opt_a"), says("opt_a"), {"caps": Caps(passes_per_day=8)}),
    "unsure": (says("opt_a"), in_turn(says("opt_a"), MALFORMED), {}),
    "fault": (
        voter(says("opt_a")),
        voter(says("opt_a"), check=says("opt_b", rationale="the miss rate is of last week")),
        {"level": LevelName.HIGH},
    ),
    "unchecked": (voter(says("opt_a")), voter(says("opt_a"), check=TIMED_OUT), {"level": LevelName.HIGH}),
    "split": (
        voter(says("opt_a"), says("opt_b"), TIMED_OUT, backward=[says("opt_a")]),
        voter(says("opt_a")),
        {"level": LevelName.HIGH, "levels": {**LEVELS, LevelName.HIGH: UNPAID}},
    ),
    "hostile": (says("opt_a", rationale=HOSTILE), declines("insufficient_evidence", gap=HOSTILE), {}),
}


def document_of(name: str) -> dict[str, Any]:
    """The receipt of a scene, the second rung paid by use."""
    primary, second, fields = SCENES[name]
    setup = setup_of(primary, second, **fields)
    seats = setup.second.seats

    async def paid() -> Any:
        return [replace(one, billing=Billing.METERED) for one in await seats()]

    setup = replace(setup, second=replace(setup.second, seats=paid))
    sources = (Source(SourceKind.TEXT, "it misses a lot"), Source(SourceKind.TEXT, "more"))
    asked = asyncio.run(ask(ASKED, setup=setup, sources=sources))
    loaded: dict[str, Any] = json.loads(json.dumps(asked.document))
    return loaded


def printed(document: dict[str, Any], sheet: Sheet, *, whole: bool) -> None:
    """Print a receipt as `ask` or as `receipt show` does."""
    sheet.facts(ruling(document, READER))
    for section in sections(document, READER) if whole else ():
        sheet.title(section.title)
        sheet.facts(section.facts)
        if section.rows:
            sheet.rows(section.heads, section.rows)


def piped(document: dict[str, Any], *, whole: bool) -> str:
    """A receipt as a pipe gets it."""
    out = StringIO()
    printed(document, Sheet(out), whole=whole)
    return out.getvalue()


def drawn(document: dict[str, Any], width: int = 80) -> str:
    """A receipt in full as a terminal of that width shows it, without colours."""
    out = StringIO()
    console = Console(
        file=out, width=width, force_terminal=True, color_system=None, highlight=False, markup=False, emoji=False,
        _environ={},
    )  # fmt: skip
    printed(document, Sheet(out, console), whole=True)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


@pytest.mark.parametrize("name", SCENES)
def test_golden(name: str, golden: Callable[[str, str], None]) -> None:
    document = document_of(name)
    golden(f"ruling-{name}.txt", piped(document, whole=False))
    if name in ("agreed", "single", "flip", "error", "fault", "hostile"):
        golden(f"receipt-{name}.txt", piped(document, whole=True))
    if name in ("single", "hostile"):
        golden(f"receipt-{name}-80.txt", drawn(document))


@pytest.mark.parametrize("width", [60, 80, 140])
@pytest.mark.parametrize("name", SCENES)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    assert max(cell_len(line) for line in drawn(document_of(name), width).splitlines()) <= width


@pytest.mark.parametrize("form", ["pipe", "terminal"])
def test_what_a_model_says_steers_nothing(form: str) -> None:
    document = document_of("hostile")
    text = piped(document, whole=True) if form == "pipe" else drawn(document, 140)
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert "[red]alarm[/red] :smile: " in " ".join(text.split())


def test_an_output_without_these_signs_gets_others() -> None:
    raw = BytesIO()
    out = TextIOWrapper(raw, encoding="ascii")
    document = document_of("agreed")
    document["question"]["text"] = "Größer?"
    printed(document, Sheet(out), whole=True)
    out.flush()
    assert b"asks       Gr??er?" in raw.getvalue()


def test_what_was_taken_of_windows_stands_below_the_calls_and_older_receipts_have_none() -> None:
    document = document_of("agreed")
    taken = {"rung": "fable", "seat": "desk", "role": "cross_check", "window": "weekly_model", "scope": "Fable"}
    more = {"rung": "astra", "seat": "codex-main", "role": "vote", "window": "session", "scope": None}
    document["quota"] = [taken | {"points": 0.25, "shared": True}, more | {"points": 3.0, "shared": False}]
    lines = [" ".join(line.split()) for line in piped(document, whole=True).splitlines()]
    at = lines.index("RUNG SEAT FOR WINDOW POINTS NOTE")
    assert lines[at + 1 : at + 3] == [
        "fable desk cross check weekly model Fable 0.25 shared: others ran meanwhile, split by tokens",
        "astra codex-main vote session 3 -",
    ]
    del document["quota"]
    assert "POINTS" not in piped(document, whole=True)


def test_what_no_store_holds_says_so() -> None:
    facts = ruling(document_of("agreed"), READER, Seen(stored=False, earlier=True))
    assert facts[1].text == "Decided 14:00 CEST, 59 s ago; nothing was asked now."
    assert facts[-1].text.endswith("; no store holds it, so keep what is printed here")


@pytest.fixture
def made(tmp_path: Path, home: Path) -> Ladder:
    """A ladder that has answered, alone, and been walled."""
    made = ladder(tmp_path)
    made.run("ask", *QUESTION)
    made.answers(CAPPED, names("swap", model=None))
    made.run("ask", "-q", "And " + "which one " * 20, *QUESTION[2:])
    made.answers(CAPPED, NO_LOGIN)
    made.run("ask", "-q", "And now?", *QUESTION[2:])
    return made


def test_the_list_is_newest_first_with_the_model_of_each_answer(made: Ladder) -> None:
    heads, *rows = made.run("receipt", "list").stdout.splitlines()
    assert heads.split() == ["ENDED", "OUTCOME", "EXIT", "MODEL", "QUESTION", "RECEIPT"]
    ids = [one["id"] for one in made.document("receipt", "list")]
    told = [" ".join(row.split()[3:]) for row in rows]
    assert told == [
        f"walled 4 - And now? {ids[0]}",
        f"single_rung 0 UNKNOWN And {'which one ' * 6}which ... {ids[1]}",
        f"agreed 0 claude-fable-5, gpt-6-astra Which cache do we keep? {ids[2]}",
    ]


def test_the_list_ends_and_goes_on_where_it_is_told(made: Ladder) -> None:
    ids = [one["id"] for one in made.document("receipt", "list")]
    assert [one["id"] for one in made.document("receipt", "list", "--limit", "1")] == ids[:1]
    assert [one["id"] for one in made.document("receipt", "list", "--before", ids[0])] == ids[1:]
    assert made.run("receipt", "list", "--before", "nothing").exit_code == 64


def test_one_is_shown_by_the_beginning_of_its_id_or_as_the_newest(made: Ladder) -> None:
    ids = [one["id"] for one in made.document("receipt", "list")]
    assert made.document("receipt", "show")["id"] == ids[0]
    assert made.document("receipt", "show", ids[2])["id"] == ids[2]
    assert made.document("receipt", "show", ids[2][:-3])["id"] == ids[2]
    shown = made.run("receipt", "show", ids[2][:-3]).stdout
    assert shown.startswith("RESOLVED via FABLE (claude-fable-5) and ASTRA (gpt-6-astra): keep, Keep the first\n")
    assert "\nrungs\n" in shown


def test_an_unknown_id_is_64_and_the_nearest_are_named(made: Ladder) -> None:
    ids = [one["id"] for one in made.document("receipt", "list")]
    wrong = ids[1][:-1] + ("0" if ids[1][-1] != "0" else "1")
    done = made.run("receipt", "show", wrong)
    assert done.exit_code == 64
    assert f"there is no receipt {wrong!r}; the nearest are {ids[1]}" in done.stderr
    far = made.run("receipt", "show", "nothing")
    assert far.exit_code == 64
    assert f"there is no receipt 'nothing'; the newest are {', '.join(ids)}" in far.stderr
    many = made.run("receipt", "show", "20")
    assert many.exit_code == 64
    assert f"several receipts begin with '20': {ids[0]}" in many.stderr


def test_without_a_ledger_there_is_none_and_none_is_made(tmp_path: Path, home: Path) -> None:
    empty = ladder(tmp_path)
    listed = empty.run("receipt", "list")
    assert (listed.exit_code, listed.stdout) == (0, "")
    assert "no question was asked yet" in listed.stderr
    assert empty.document("receipt", "list") == []
    shown = empty.run("receipt", "show")
    assert shown.exit_code == 64
    assert "`rungwatch ask` makes" in shown.stderr
    assert not empty.state.exists()


@pytest.mark.parametrize("words", [["list"], ["show"], ["show", "--json"]])
def test_a_ledger_that_cannot_be_read_is_4(made: Ladder, words: list[str]) -> None:
    made.ledger.write_bytes(b"no database" * 1000)
    done = made.run("receipt", *words)
    assert (done.exit_code, done.stdout) == (4, "")
    assert done.stderr.startswith("Error: ledger_unreadable: ")


def test_a_password_in_the_place_of_the_store_is_told_nowhere(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = ladder(tmp_path, more='[store]\nurl_env = "LEDGER"\n')
    unset = far.run("receipt", "list")
    assert unset.exit_code == 64
    assert "the environment variable 'LEDGER' holds no postgresql:// URL" in unset.stderr
    monkeypatch.setenv("LEDGER", "postgresql://me:plantedSecretNumber7@127.0.0.1:1/none")
    for words in (["receipt", "list"], ["receipt", "show"], ["ledger", "verify"], ["ledger", "status"]):
        done = far.run(*words)
        assert done.exit_code == 4
        assert "plantedSecretNumber7" not in done.output


def test_the_ledger_itself_keeps_every_receipt(made: Ladder) -> None:
    rows = sqlite3.connect(made.ledger).execute("select count(*) from receipts").fetchone()
    assert rows == (len(made.document("receipt", "list")),)
