"""`plan` from the command line: what it prints, as JSON and in pictures, what it refuses, and how it is stopped."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest

from canary.capacity.backtest import backtest
from canary.capacity.document import PLAN_SCHEMA, backtest_document
from canary.cli.main import run
from canary.cli.plan_text import show_backtest
from canary.cli.sheet import Sheet
from decide.ledger import Row, RowKind
from decide.meter import MeterSample
from decide.store.opening import open_store
from tests.canary.capacity.recorded import incident
from tests.decide.store.work import claiming, ending
from tests.e2e.running import free_address, until

SCENARIO = """
[plan]
working_hours = ["Mon-Fri 08:00-18:00"]

[ladder]
primary = "fable"
second = "astra"

[kinds.max]
rung = "fable"
usd_per_month = "200.00"
windows = [{ kind = "session" }, { kind = "weekly" }]

[kinds.pro]
rung = "astra"
usd_per_month = "100.00"
windows = [{ kind = "session" }, { kind = "weekly" }]

[seats]
max = 1
pro = 1

[most]
max = 3
pro = 2

[levels.medium]
questions_per_hour = { "Mon-Fri 08:00-18:00" = 2.0 }
rungs.fable = { usd = "0.14", points = { session = 8.0, weekly = 1.2 } }
rungs.astra = { usd = "0.09", points = { session = 4.0, weekly = 0.6 } }

[levels.high]
questions_per_hour = { "Mon-Fri 08:00-18:00" = 0.2 }
rungs.fable = { passes = 6, usd = "0.42", points = { session = 24.0, weekly = 3.6 } }
rungs.astra = { passes = 7, usd = "0.30", points = { session = 14.0, weekly = 2.0 } }
"""
CONFIG = """
[ladder]
primary = "fable"
second = "astra"

[[rung]]
name = "fable"
kind = "claude"
model = "claude-fable-5"
seat = [{{ name = "desk", config_dir = "{folder}/claude" }}]

[[rung]]
name = "astra"
kind = "codex"
model = "gpt-6-astra"
seat = [{{ name = "main", config_dir = "{folder}/codex" }}]
"""
QUICK = ("--weeks", "20", "--processes", "1")


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "team.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return str(path)


def test_the_answer_comes_first_and_what_is_assumed_last(scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(("plan", scenario, *QUICK)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "is the cheapest that is missing at most 1.00% of working time" in lines[0]
    assert lines[0].startswith("fable: ")
    assert lines[-1].startswith("- ")
    text = "\n".join(lines)
    for part in ("by number of seats", "by hour of the week", "by level", "one more max", "25% of high at medium"):
        assert part in text
    assert "- demand is what the scenario says" in text


def test_the_hours_of_the_week_are_a_row_a_day(scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(("plan", scenario, *QUICK))
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines if line[:3] in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")]
    assert rows
    assert all(len(row[1]) == 24 and set(row[1]) <= set(".0123456789") for row in rows)
    assert any(set(row[1]) != {"."} for row in rows)


def test_json_and_pictures(scenario: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pictures = tmp_path / "plan.svg", tmp_path / "plan.png"
    options = [option for path in pictures for option in ("--picture", str(path))]
    assert run(("plan", scenario, *QUICK, "--json", *options)) == 0
    document = json.loads(capsys.readouterr().out)
    assert [rung["name"] for rung in document["rungs"]] == ["fable", "astra"]
    assert all(path.stat().st_size > 10_000 for path in pictures)


def test_the_same_seed_gives_the_same_plan(scenario: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for seed in ("5", "5", "6"):
        run(("plan", scenario, *QUICK, "--json", "--seed", seed))
        document = json.loads(capsys.readouterr().out)
        told.append([rung["by_seats"] for rung in document["rungs"]])
    assert told[0] == told[1] != told[2]


def refused(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    """What a usage error says; no traceback is among it."""
    assert run(("plan", *arguments)) == 64
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


@pytest.fixture
def place(tmp_path: Path) -> tuple[str, ...]:
    """The options of a configuration and of a state folder of its own."""
    config = tmp_path / "rungwatch.toml"
    config.write_text(CONFIG.format(folder=tmp_path), encoding="utf-8")
    return "--config", str(config), "--state-dir", str(tmp_path / "state")


def test_what_cannot_be_planned_is_refused(
    scenario: str, place: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nobody = f"http://{free_address()}"
    bad = tmp_path / "bad.toml"
    bad.write_text(SCENARIO.replace("= 2.0 }", "= -2.0 }", 1), encoding="utf-8")
    bare = tmp_path / "bare.toml"
    bare.write_text(SCENARIO[: SCENARIO.index("[levels.medium]")], encoding="utf-8")
    for arguments, told in (
        ((str(bad),), "levels.medium.questions_per_hour.Mon-Fri 08:00-18:00: must be 0 or more, not -2.0"),
        ((str(tmp_path / "none.toml"),), "there is no scenario at"),
        ((str(bare), *place), "there is no history"),
        ((str(bare), "--prometheus", nobody), "did not answer"),
        (place, "there is no history"),
        ((scenario, "--ledger"), "--ledger: the scenario says itself what is asked"),
        ((scenario, "--prometheus", nobody), "--prometheus: the scenario says itself what is asked"),
        ((scenario, "--weeks", "3"), "--weeks"),
        ((scenario, "--move", "2"), "--move"),
        ((scenario, "--since", "soon"), "must be a duration such as 90s, 5m or 1h30m"),
        ((scenario, "--picture", "plan.gif"), "must end in .svg or .png"),
        ((scenario, "--picture", str(tmp_path / "no" / "plan.svg")), "there is no folder"),
        (("--backtest", *place), "there is no history"),
        (("--backtest", "--prometheus", nobody, *place), "did not answer"),
    ):
        assert told in refused(arguments, capsys), arguments


def test_an_empty_ledger_says_what_to_give(
    place: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def made() -> None:
        (tmp_path / "state").mkdir()
        async with await open_store(tmp_path / "state" / "ledger.db", host="here", pid=1):
            pass

    asyncio.run(made())
    assert "holds no decision: give a scenario" in refused(place, capsys)
    assert "holds no meter readings; give --prometheus" in refused(("--backtest", *place), capsys)


def test_ctrl_c_shows_what_is_known_by_then(scenario: str) -> None:
    code = "import sys; from canary.cli.main import main; sys.exit(main())"
    command = (sys.executable, "-c", code, "plan", scenario, "--weeks", "4000", "--processes", "2")
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        until(lambda: len(children.read_text().split()) >= 2, "processes that simulate")
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "stopped" in err
    assert "Traceback" not in out + err


@pytest.fixture
def asked(tmp_path: Path) -> str:
    """A scenario that leaves to history what is asked, and a ledger of three weeks of which every fourth run was held."""
    now, work = datetime.now(UTC), []
    for number in range(64):
        at = now - timedelta(hours=8 * number)
        blank = Row(RowKind.PASS, at, level="medium", receipt=f"r-{number}")
        call = replace(blank, rung="fable", role="vote", billing="subscription", source="provider", micro_usd=60_000)
        held = number % 4 == 0
        rows = () if held else (replace(call, input_tokens=500), replace(call, rung="astra", source="", micro_usd=0))
        result = "held" if held else "agreed"
        work.append((number, (*rows, replace(blank, kind=RowKind.DECISION, result=result, duration_us=9_000_000))))

    async def made() -> None:
        (tmp_path / "state").mkdir()
        async with await open_store(tmp_path / "state" / "ledger.db", host="here", pid=1) as store:
            for number, rows in work:
                await store.claim(claiming(f"run-{number}", f"q-{number}"))
                await store.end(ending(f"run-{number}", key=f"q-{number}", rows=rows, receipt_id=f"r-{number}"))

    asyncio.run(made())
    path = tmp_path / "asked.toml"
    lines = (line for line in SCENARIO.splitlines() if not line.startswith("questions_per_hour"))
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def test_a_plan_from_a_ledger_says_what_an_answer_took_there(
    asked: str, scenario: str, place: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    title = "What an answer took in that history, runs without one counted in, by level"
    assert run(("plan", asked, *QUICK, *place)) == 0
    lines = capsys.readouterr().out.splitlines()
    heads, level = (re.split(" {2,}", line) for line in lines[lines.index(title) + 1 :][:2])
    assert heads == ["LEVEL", "RUNS", "ANSWERED", "USD METERED", "USD NOTIONAL", "TOKENS", "PASSES"]
    assert level == ["medium", "64", "48", "not known", "0.0600 or more", "500 or more", "2.0"]
    assert run(("plan", asked, *QUICK, *place, "--json")) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, PLAN_SCHEMA)
    (cost,) = document["history_levels"]
    assert (cost["level"], cost["runs"], cost["answered"], cost["held_or_walled"]) == ("medium", 64, 48, 16)
    assert cost["runs_without_known_cost"] == {"astra": 48}
    assert run(("plan", scenario, *QUICK, *place)) == 0
    assert title not in capsys.readouterr().out


def test_a_backtest_is_shown_beside_predict_linear(capsys: pytest.CaptureFixture[str]) -> None:
    samples: list[MeterSample] = list(incident(5))
    found = backtest(samples)
    assert found is not None
    show_backtest(found, Sheet(sys.stdout))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{len(samples)} meter readings from 2026-09-10T12:00:00Z to 2026-09-11T00:00:00Z"
    assert [line.split()[:2] for line in lines[-4:]] == [
        ["windows", "forecast"],
        ["windows", "predict_linear"],
        ["rungs", "forecast"],
        ["rungs", "predict_linear"],
    ]
    assert lines[-2].split()[2:4] == ["2", "100%"]


def test_a_backtest_of_what_the_daemon_kept(
    place: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples: list[MeterSample] = list(incident(5))

    async def made() -> None:
        (tmp_path / "state").mkdir()
        async with await open_store(tmp_path / "state" / "ledger.db", host="here", pid=1) as store:
            await store.meter(samples, samples[-1].at)

    asyncio.run(made())
    found = backtest(samples)
    assert found is not None
    assert run(("plan", "--backtest", "--since", "36500d", "--json", *place)) == 0
    assert json.loads(capsys.readouterr().out) == backtest_document(found)
