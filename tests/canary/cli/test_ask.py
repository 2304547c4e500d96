"""`ask` takes a question through the ladder, prints the ruling with the model's name, and exits by it."""

import json
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from decide.question import LevelName
from decide.receipt_schema import RECEIPT_SCHEMA
from tests.canary.cli.ladders import BROKEN, CAPPED, NO_LOGIN, QUESTION, Ladder, declines, ladder, names

ROOT = Path(__file__).parents[3]
DOCUMENT: dict[str, Any] = {
    "question": "Which cache do we keep?",
    "options": [{"id": "keep", "text": "Keep the first", "action": "make keep"}, {"id": "swap", "text": "Swap it"}],
    "evidence": [{"file": "notes.md"}],
}
NAMELESS = {"model": None}


@pytest.fixture
def both(tmp_path: Path, home: Path) -> Ladder:
    """A ladder whose two rungs agree."""
    return ladder(tmp_path)


PATHS: dict[str, tuple[dict[str, Any], dict[str, Any], int, list[str]]] = {
    "agreed": (
        names("keep"),
        names("keep"),
        0,
        ["RESOLVED via FABLE (claude-fable-5) and ASTRA (gpt-6-astra): keep, Keep the first"],
    ),
    "the primary missing": (
        CAPPED,
        names("swap"),
        0,
        ["RESOLVED via ASTRA (gpt-6-astra): swap, Use the other", "SINGLE RUNG: FABLE never ran (seat_capped)"],
    ),
    "the second missing": (
        names("swap"),
        NO_LOGIN,
        0,
        ["RESOLVED via FABLE (claude-fable-5): swap, Use the other", "SINGLE RUNG: ASTRA never ran (needs_login)"],
    ),
    "a model unknown": (
        names("keep"),
        names("keep") | NAMELESS,
        0,
        [
            "RESOLVED via FABLE (claude-fable-5): keep, Keep the first",
            "SINGLE RUNG: the model that answered as ASTRA is UNKNOWN",
        ],
    ),
    "both models unknown": (
        names("keep") | NAMELESS,
        names("keep") | NAMELESS,
        0,
        [
            "RESOLVED via UNKNOWN: keep, Keep the first",
            "SINGLE RUNG: the model that answered as FABLE and as ASTRA is",
        ],
    ),
    "reconsidered": (names("keep"), names("swap"), 0, ["RESOLVED via FABLE (claude-fable-5): keep, Keep the first"]),
    "declined": (
        declines("insufficient_evidence", gap="the miss rate"),
        names("keep"),
        3,
        ["NEEDS HUMAN: fable says that evidence is missing: the miss rate", "missing    the miss rate"],
    ),
    "a policy row": (
        names("keep") | {"verdict": {"resolvable": True, "rec": "keep", "touches": ["money"]}},
        names("keep"),
        3,
        [
            "NEEDS HUMAN: fable answered, and a policy row holds",
            "policy     money (class, a verdict's touches)",
            "\ndo  ",
        ],
    ),
    "an error": (BROKEN, BROKEN, 2, ["ERROR: fable was not reached (server_error)", "retry      "]),
    "walled": (
        CAPPED,
        NO_LOGIN,
        4,
        ["WALLED: fable was not reached (seat_capped); astra was not reached (needs_login)", "retry      no time"],
    ),
}


@pytest.mark.parametrize("path", PATHS)
def test_it_prints_the_ruling_and_exits_by_it(both: Ladder, path: str) -> None:
    fable, astra, code, told = PATHS[path]
    both.answers(fable, astra)
    done = both.run("ask", *QUESTION)
    assert done.exit_code == code, done.output
    assert done.stderr == ""
    for words in told:
        assert words in done.stdout
    receipt = both.document("receipt", "show")
    jsonschema.validate(receipt, RECEIPT_SCHEMA)
    assert receipt["exit_code"] == code
    assert done.stdout.endswith(f"receipt    {receipt['id']}\n")


def test_kinds_of_billing_are_never_added_up(both: Ladder) -> None:
    shown = both.run("ask", *QUESTION).stdout
    assert "cost       0.025 USD by subscription, notional (provider); 0.025 USD metered (provider)\n" in shown


@pytest.mark.parametrize("form", ["file", "YAML file", "standard input", "flags"])
def test_a_question_comes_from_a_file_standard_input_or_flags(
    both: Ladder, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = both.folder / "far"
    folder.mkdir()
    (folder / "notes.md").write_text("it misses a lot", encoding="utf-8")
    (folder / "q.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    (folder / "q.yaml").write_text("# a note\n" + json.dumps(DOCUMENT), encoding="utf-8")
    words = {"file": [str(folder / "q.json")], "YAML file": [str(folder / "q.yaml")], "standard input": ["-"]}
    if form in ("standard input", "flags"):
        monkeypatch.chdir(folder)  # from there its paths count
    given = words.get(form, [*QUESTION, "--file", "notes.md"])
    done = both.run("ask", *given, "--json", stdin=json.dumps(DOCUMENT) if form == "standard input" else None)
    assert done.exit_code == 0, done.output
    receipt = json.loads(done.stdout)
    assert receipt["question"]["text"] == DOCUMENT["question"]
    assert [(one["kind"], one["name"]) for one in receipt["snapshot"]["sources"]] == [("file", "notes.md")]


def test_flags_say_all_that_a_document_can(both: Ladder) -> None:
    words = ["--id", "cache-7", "--consequence", "irreversible", "--deadline", "2026-10-15T14:00:00+02:00"]
    more = ["--by", "agent 3", "--cites", "r1", "--text", "more", "--level", "low"]
    receipt = both.document("ask", *QUESTION, *words, *more)
    told = {name: receipt["question"][name] for name in ("id", "consequence", "deadline", "raised_by", "cites")}
    assert told == {
        "id": "cache-7",
        "consequence": "irreversible",
        "deadline": "2026-10-15T14:00:00+02:00",
        "raised_by": "agent 3",
        "cites": "r1",
    }
    assert receipt["level"]["name"] == "low"
    assert receipt["snapshot"]["sources"][0]["kind"] == "text"


def test_an_action_is_shown_with_the_answer(both: Ladder) -> None:
    document = DOCUMENT | {"evidence": []}
    assert "\nruns       make keep\n" in both.run("ask", "-", stdin=json.dumps(document)).stdout


@pytest.mark.parametrize("path", ["agreed", "an error"])
def test_json_is_the_receipt(both: Ladder, path: str) -> None:
    fable, astra, code, _ = PATHS[path]
    both.answers(fable, astra)
    receipt = both.document("ask", *QUESTION, code=code)
    jsonschema.validate(receipt, RECEIPT_SCHEMA)
    assert receipt == both.document("receipt", "show", receipt["id"])


def test_what_was_decided_is_not_asked_again(both: Ladder) -> None:
    first = both.run("ask", *QUESTION)
    made = both.calls()
    again = both.run("ask", *QUESTION)
    assert both.calls() == made
    assert again.exit_code == 0
    assert re.search(r"^Decided .+ ago; nothing was asked now\.$", again.stdout, re.MULTILINE)
    assert "nothing was asked now" not in first.stdout


USAGE: dict[str, tuple[list[str], str]] = {
    "nothing": ([], "give a question: a FILE, - for standard input, or --question with two --option ID=TEXT"),
    "no such file": (["nowhere.yaml"], "there is no question at nowhere.yaml"),
    "a folder": (["/"], "the question / cannot be read: Is a directory"),
    "file and flags": (["q.yaml", "--by", "me"], "--by describes a question of its own: leave it out, or leave out"),
    "one option": ([*QUESTION[:4]], "flags: options: must be 2 to 26, not 1"),
    "option without =": ([*QUESTION, "-o", "third"], "--option: must be ID=TEXT, such as keep='Keep the first'"),
    "an id twice": ([*QUESTION, "-o", "KEEP=again"], "id 'KEEP' is there twice"),
    "deadline": ([*QUESTION, "--deadline", "noon"], "flags: deadline: must be a time with its zone"),
    "level": ([*QUESTION, "--level", "huge"], f"'huge' is not one of {', '.join(repr(x.value) for x in LevelName)}"),
    "evidence": ([*QUESTION, "--file", "nowhere.md"], "evidence file nowhere.md: "),
    "configuration": ([*QUESTION, "--config", "/nowhere.toml"], "there is no configuration at /nowhere.toml"),
}


@pytest.mark.parametrize("fault", USAGE)
@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_usage_is_64_and_spends_nothing(
    both: Ladder, fault: str, dry: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words, told = USAGE[fault]
    monkeypatch.chdir(both.folder)
    done = both.run("ask", *words, *dry)
    assert (done.exit_code, done.stdout) == (64, "")
    assert told in done.stderr
    assert not both.calls()
    if both.ledger.exists():
        assert sqlite3.connect(both.ledger).execute("select count(*) from ledger").fetchone() == (0,)


def test_an_id_of_another_question_is_64(both: Ladder) -> None:
    assert both.run("ask", *QUESTION, "--id", "q1").exit_code == 0
    done = both.run("ask", "-q", "Another?", *QUESTION[2:], "--id", "q1")
    assert done.exit_code == 64
    assert "'q1' was used for another question" in done.stderr


@pytest.mark.parametrize(
    ("caps", "told"),
    [("passes_per_day = 8", "passes_per_day"), ('usd_per_day = "1.00"', "usd_per_day")],
)
def test_a_spent_cap_holds_and_says_until_when(tmp_path: Path, home: Path, caps: str, told: str) -> None:
    capped = ladder(
        tmp_path, more=f"[caps]\n{caps}\n[decide]\nprices = {json.dumps(str(tmp_path / 'prices.toml'))}\n"
    )
    rates = "\n".join(f'["{model}"]\ninput = "1"\noutput = "1"' for model in ("claude-fable-5", "gpt-6-astra"))
    (tmp_path / "prices.toml").write_text(rates, encoding="utf-8")
    done = capped.run("ask", *QUESTION)
    assert done.exit_code == 2, done.output
    assert f"HELD: the cap {told} is too low for one run" in done.stdout
    assert re.search(r"^retry +\S.*, in ", done.stdout, re.MULTILINE)
    assert not capped.calls()


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_ledger_that_cannot_be_read_holds_and_the_receipt_is_shown(both: Ladder, as_json: list[str]) -> None:
    both.state.mkdir()
    both.ledger.write_bytes(b"no database at all, and not empty" * 100)
    done = both.run("ask", *QUESTION, *as_json)
    assert done.exit_code == 4, done.output
    if as_json:
        jsonschema.validate(json.loads(done.stdout), RECEIPT_SCHEMA)
        assert "no store holds this receipt" in done.stderr
    else:
        assert done.stdout.startswith("HELD: ledger_unreadable: ")
        assert "no store holds it, so keep what is printed here" in done.stdout
    assert not both.calls()
    assert both.ledger.read_bytes().startswith(b"no database at all")


def test_a_dry_run_shows_both_briefs_and_asks_nobody(both: Ladder) -> None:
    words = [*QUESTION, "--text", "it misses\x1b[2J a lot"]
    shown = both.run("ask", *words, "--dry-run")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("DRY RUN: nobody is asked and nothing is reserved.\n")
    assert "reserves  9 calls, at most 4.50 USD" in shown.stdout
    forward, backward = shown.stdout.split("===== brief, ")[1:]
    assert forward.index('"keep": Keep the first') < forward.index('"swap": Use the other')
    assert backward.index('"swap": Use the other') < backward.index('"keep": Keep the first')
    assert "it misses?[2J a lot" in forward
    document = both.document("ask", *words, "--dry-run")
    assert [one["options"] for one in document["briefs"]] == [["keep", "swap"], ["swap", "keep"]]
    assert all("it misses\x1b[2J a lot" in one["text"] for one in document["briefs"])
    assert not both.calls()
    assert not both.state.exists()


def test_a_dry_run_tells_what_policy_would_do(both: Ladder) -> None:
    option = {"id": "keep", "text": "Go", "acts": ["production_write"]}
    document = DOCUMENT | {"options": [option, DOCUMENT["options"][1]], "evidence": []}
    shown = both.run("ask", "-", "--dry-run", stdin=json.dumps(document))
    assert "policy    production_write (acts of option keep): nobody would be asked; " in shown.stdout


SECRET = "sk-planted-5ecretNumber7"
TELLTALE = """\
#!/bin/sh
for name in /dev/stdout /dev/stderr; do cat "$CLAUDE_CONFIG_DIR/.credentials.json" > $name; done
exit 1
"""


def nothing_tells(made: Ladder) -> None:
    """Neither what is printed nor what is kept holds the planted secret, whether the rung is asked or not."""
    shown = [made.run("ask", *QUESTION), made.run("ask", *QUESTION, "--dry-run"), made.run("receipt", "show")]
    shown += [made.run("receipt", "show", "--json"), made.run("ledger", "status"), made.run("receipt", "list")]
    assert shown[0].stdout.startswith("RESOLVED via ASTRA")
    for done in shown:
        assert done.exit_code == 0, done.output
        assert SECRET not in done.output
    for path in made.state.iterdir():
        assert SECRET.encode() not in path.read_bytes()


@pytest.mark.parametrize("leak", ["{RUNGWATCH_API_KEY}", "Error: key {RUNGWATCH_API_KEY} is wrong"])
def test_a_key_that_a_command_tells_is_told_nowhere(
    tmp_path: Path, home: Path, leak: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED", SECRET)
    keyed = ladder(tmp_path, seat='auth = "api_key"\napi_key_env = "PLANTED"')
    keyed.answers({"stderr": leak}, names("keep"))
    nothing_tells(keyed)
    assert "fable" in [call[0] for call in keyed.calls()]


def test_a_login_that_a_client_tells_is_told_nowhere(tmp_path: Path, home: Path) -> None:
    made = ladder(tmp_path)
    login = {"accessToken": SECRET, "refreshToken": f"{SECRET}-too", "expiresAt": 4_000_000_000_000}
    (tmp_path / ".credentials.json").write_text(json.dumps({"claudeAiOauth": login}), encoding="utf-8")
    client = tmp_path / "client"
    client.write_text(TELLTALE, encoding="utf-8")
    client.chmod(0o755)
    path = tmp_path / "rungwatch.toml"
    first, rest = path.read_text(encoding="utf-8").split('[[rung]]\nname = "astra"')
    head = first.partition("[[rung]]")[0]
    rung = '[[rung]]\nname = "fable"\nkind = "claude"\nmodel = "claude-fable-5"\n[[rung.seat]]\nname = "desk"\n'
    seat = f"config_dir = {json.dumps(str(tmp_path))}\nclient = {json.dumps(str(client))}\n"
    path.write_text(f'{head}{rung}{seat}[[rung]]\nname = "astra"{rest}', encoding="utf-8")
    nothing_tells(made)
    assert "desk" in [one["seat"] for one in made.document("receipt", "show")["passes"]]


def test_nothing_heavy_is_loaded_for_help() -> None:
    heavy = {"pydantic", "yaml", "rich", "sqlalchemy", "alembic", "httpx", "genai_prices", "asyncpg", "psycopg"}
    code = (
        "import canary.cli.ask, canary.cli.receipt, canary.cli.ledger, decide, json, sys; "
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True, cwd=ROOT)
    assert heavy.isdisjoint(name.partition(".")[0] for name in json.loads(done.stdout))


def test_a_seat_that_walled_a_run_is_capped_for_the_canary_too(both: Ladder) -> None:
    both.answers(CAPPED, names("keep"))
    assert both.run("ask", *QUESTION).exit_code == 0
    shown = both.run("canary")
    assert "ladder OK" not in shown.output
    assert "a decision run was refused on this seat" in shown.output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_the_exit_code_is_the_rulings_also_where_nothing_can_be_printed(both: Ladder, extra: list[str]) -> None:
    both.answers(declines("needs_human"), names("keep"))
    code = "import sys; from canary.cli.main import main; main()"
    words = [sys.executable, "-c", code, "ask", *QUESTION, *extra, *both.places]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert "cannot be printed" in done.stderr
