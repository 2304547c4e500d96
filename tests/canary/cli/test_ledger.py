"""`ledger` names the first broken row, lets a named person go on from it, and settles what nobody settled."""

import asyncio
import json
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from decide.ports import Caps, Claim, Reservation, Slot
from decide.store.opening import open_store
from tests.canary.cli.ladders import QUESTION, Ladder, ladder, on_a_terminal

ACCEPT = ["ledger", "accept", "--person", "Ada Berg", "--note", "restored by hand"]


@pytest.fixture
def asked(tmp_path: Path, home: Path) -> Ladder:
    """A ladder that was asked once."""
    made = ladder(tmp_path)
    assert made.run("ask", *QUESTION).exit_code == 0
    return made


def tamper(made: Ladder, *changes: str) -> None:
    """Change rows behind the back of the database's own refusals."""
    with closing(sqlite3.connect(made.ledger)) as ledger, ledger:
        triggers = ledger.execute("select name from sqlite_master where type = 'trigger'").fetchall()
        for (name,) in triggers:
            ledger.execute(f'drop trigger "{name}"')
        for change in changes:
            ledger.execute(change)


def lose_calls(made: Ladder, *micro: int) -> None:
    """Calls reserved by a run on another host whose lease has run out."""
    now = datetime.now(UTC)
    slots = tuple(Slot(f"lost-{n}", cost) for n, cost in enumerate(micro, 1))
    claim = Claim("lost", "question", "sha256:0", now - timedelta(hours=1), timedelta(minutes=1))
    reservation = Reservation("lost", "question", "{}", "[]", f"{now:%Y-%m-%d}", claim.at, slots, Caps())

    async def lose() -> None:
        async with await open_store(made.ledger, host="elsewhere", pid=1) as store:
            await store.claim(claim)
            await store.reserve(reservation)

    asyncio.run(lose())


def test_a_sound_ledger_is_0(asked: Ladder) -> None:
    done = asked.run("ledger", "verify")
    assert done.exit_code == 0
    assert done.stdout == f"sound: all 8 rows of {asked.ledger} are as they were written, or were accepted\n"
    assert done.stderr == ""
    assert asked.document("ledger", "verify") == {"state": "sound", "rows": 8, "row": None, "fault": None}


BREAKS = {
    "changed": (["update ledger set micro_usd = 1 where seq = 3"], 3, "row 3 is not what was written"),
    "removed": (["delete from ledger where seq = 5"], 5, "row 5 is missing"),
    "cut off": (["delete from ledger where seq > 6"], 7, "row 7 is missing"),
}


@pytest.mark.parametrize("how", BREAKS)
def test_a_broken_ledger_is_1_and_the_first_row_is_named(asked: Ladder, how: str) -> None:
    changes, row, fault = BREAKS[how]
    tamper(asked, *changes)
    done = asked.run("ledger", "verify")
    assert done.exit_code == 1
    assert done.stdout.startswith(f"BROKEN at row {row} of {asked.ledger}: {fault}\n")
    assert "rungwatch ledger accept --person" in done.stdout
    document = asked.document("ledger", "verify", code=1)
    assert document == {"state": "broken", "rows": None, "row": row, "fault": fault}


@pytest.mark.parametrize("missing", [True, False])
def test_a_ledger_that_is_not_there_or_cannot_be_read_is_4(tmp_path: Path, home: Path, missing: bool) -> None:
    made = ladder(tmp_path)
    if not missing:
        made.state.mkdir()
        made.ledger.write_bytes(b"no database" * 1000)
    done = made.run("ledger", "verify")
    assert (done.exit_code, done.stdout) == (4, "")
    assert ("there is no ledger at" if missing else "ledger_unreadable") in done.stderr
    assert made.document("ledger", "verify", code=4)["state"] == "unreadable"
    assert made.ledger.exists() is not missing


def test_a_named_person_clears_a_hold_and_it_is_on_record(asked: Ladder) -> None:
    tamper(asked, *BREAKS["changed"][0])
    another = ["ask", "-q", "Another?", *QUESTION[2:]]
    held = asked.run(*another)
    assert held.exit_code == 4
    assert held.stdout.startswith("HELD: ledger_broken: ")
    done = asked.run(*ACCEPT, "--yes")
    assert done.exit_code == 0, done.output
    assert "row 3 of " in done.stderr
    assert done.stdout.splitlines() == [
        "accepted: row 3, row 3 is not what was written; on record under 'Ada Berg'",
        "sound: questions are asked again; the ledger has 10 rows",
    ]
    with closing(sqlite3.connect(asked.ledger)) as ledger:
        (body,) = ledger.execute("select body from ledger where kind = 'accept'").fetchone()
    assert {name: json.loads(body)[name] for name in ("person", "note")} == {
        "person": "Ada Berg",
        "note": "restored by hand",
    }
    assert asked.run("ledger", "verify").exit_code == 0
    assert asked.run(*another).exit_code == 0


def test_each_fault_is_accepted_by_itself(asked: Ladder) -> None:
    tamper(asked, "update ledger set micro_usd = 1 where seq = 3", "update ledger set seat = 'x' where seq = 6")
    first = asked.run(*ACCEPT, "--yes")
    assert first.exit_code == 1
    assert first.stdout.endswith("still BROKEN, at row 6: row 6 is not what was written\n")
    assert asked.run(*ACCEPT, "--yes").exit_code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--yes"], "there is nothing to accept: all 8 rows are as they were written"),
        (["--yes", "--person", " "], "--person and --note: must say who answers for it and why"),
        (["--yes", "--note", ""], "--person and --note: must say who answers for it and why"),
    ],
)
def test_what_cannot_be_accepted_is_64(asked: Ladder, words: list[str], told: str) -> None:
    done = asked.run(*ACCEPT, *words)
    assert done.exit_code == 64
    assert told in done.stderr


def test_nobody_accepts_where_nobody_can_be_asked(asked: Ladder) -> None:
    tamper(asked, *BREAKS["changed"][0])
    done = asked.run(*ACCEPT, stdin="y\n")
    assert done.exit_code == 64
    assert "give --yes" in done.stderr
    assert asked.run("ledger", "verify").exit_code == 1
    assert asked.run("ledger", "accept", "--yes").exit_code == 64


@pytest.mark.parametrize(("answer", "code", "after"), [(b"y\n", 0, 0), (b"n\n", 130, 1)])
def test_a_person_at_a_terminal_is_asked(asked: Ladder, answer: bytes, code: int, after: int) -> None:
    tamper(asked, *BREAKS["changed"][0])
    ended, text = on_a_terminal(asked, ACCEPT, ask=b"word?", answer=answer)
    assert ended == code, text
    assert re.search(r"row 3 of .+: row 3 is not what was written", text)
    assert asked.run("ledger", "verify").exit_code == after


def test_status_tells_what_the_day_is_charged(tmp_path: Path, home: Path) -> None:
    caps = '[caps]\npasses_per_day = 13\nusd_per_day = "20.00"\nzone = "Europe/Oslo"\n'
    rates = "\n".join(f'["{model}"]\ninput = "1"\noutput = "1"' for model in ("claude-fable-5", "gpt-6-astra"))
    (tmp_path / "prices.toml").write_text(rates, encoding="utf-8")
    made = ladder(tmp_path, more=f"{caps}[decide]\nprices = {json.dumps(str(tmp_path / 'prices.toml'))}\n")
    before = made.document("ledger", "status")
    assert (before["there"], before["rows"], before["holds"]) == (False, 0, [])
    assert not made.state.exists()
    assert made.run("ask", *QUESTION).exit_code == 0
    document = made.document("ledger", "status")
    assert document["rows"] == 8
    assert document["passes"] == {"used": 4, "limit": 13}
    assert document["usd"] == {"used": "0.05", "limit": "20.00"}
    assert document["zone"] == "Europe/Oslo"
    assert document["holds"] == []
    assert made.run("ask", "-q", "Another?", *QUESTION[2:]).exit_code == 0
    held = made.document("ledger", "status")
    assert [one["kind"] for one in held["holds"]] == ["passes_per_day"]
    assert made.run("ask", "-q", "A third?", *QUESTION[2:]).exit_code == 2
    shown = made.run("ledger", "status").stdout
    assert "calls      8 of 13\n" in shown
    assert "cost       0.10 of 20.00 USD\n" in shown
    assert "hold       passes_per_day: a question at level medium reserves 9 calls\n" in shown


@pytest.mark.parametrize(("cap", "held"), [("4.49", ["usd_per_day"]), ("4.50", [])])
def test_status_foresees_what_a_cap_in_dollars_holds(tmp_path: Path, home: Path, cap: str, held: list[str]) -> None:
    made = ladder(tmp_path, more=f'[caps]\nusd_per_day = "{cap}"\n')  # 9 calls at 0.50 each are reserved
    assert [one["kind"] for one in made.document("ledger", "status")["holds"]] == held


@pytest.mark.parametrize("how", [*BREAKS, "unreadable"])
def test_status_is_4_while_the_ledger_holds_every_question(asked: Ladder, how: str) -> None:
    if how == "unreadable":
        asked.ledger.write_bytes(b"no database" * 1000)
        done = asked.run("ledger", "status")
        assert (done.exit_code, done.stdout) == (4, "")
        return
    tamper(asked, *BREAKS[how][0])
    document = asked.document("ledger", "status", code=4)
    assert [one["kind"] for one in document["holds"]] == ["ledger_broken"]
    shown = asked.run("ledger", "status")
    assert shown.exit_code == 4
    assert "hold       ledger_broken: " in shown.stdout


def test_what_nobody_settled_is_settled_by_evidence_once(asked: Ladder) -> None:
    lose_calls(asked, 500_000, 750_000)
    document = asked.document("ledger", "status")
    lost: list[dict[str, Any]] = document["unsettled"]
    assert [(one["call_id"], one["charged_usd"]) for one in lost] == [("lost-1", "0.50"), ("lost-2", "0.75")]
    assert document["usd"]["used"] == "1.30"
    assert "\nlost-1  " in asked.run("ledger", "status").stdout
    settle = ["ledger", "settle", "lost-1", "--usd", "0.21", "--evidence", "invoice of today"]
    done = asked.run(*settle)
    assert done.exit_code == 0, done.output
    assert done.stdout == "settled: lost-1 cost 0.21 USD; 0.50 USD had been charged\n"
    document = asked.document("ledger", "status")
    assert [one["call_id"] for one in document["unsettled"]] == ["lost-2"]
    assert document["usd"]["used"] == "1.01"
    again = asked.run(*settle)
    assert again.exit_code == 64
    assert "'lost-1' is not unsettled" in again.stderr


@pytest.mark.parametrize(
    ("usd", "evidence", "told"),
    [
        ("much", "invoice", "--usd: must be an amount in dollars"),
        ("-1", "invoice", "--usd: must be an amount of 0 to"),
        ("0.21", " ", "evidence is a text that is not empty"),
    ],
)
def test_what_cannot_be_settled_is_64(asked: Ladder, usd: str, evidence: str, told: str) -> None:
    lose_calls(asked, 500_000)
    done = asked.run("ledger", "settle", "lost-1", f"--usd={usd}", "--evidence", evidence)
    assert done.exit_code == 64
    assert told in done.stderr
    assert len(asked.document("ledger", "status")["unsettled"]) == 1
