"""Command source: a program's seats.json, and each way in which there is none."""

import asyncio
import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from canary.files import LIMIT
from canary.login import Login
from canary.sources.answer import Answer
from canary.sources.command import allowed, list_seats, read_command
from canary.sources.seats_file import ListedSeat
from decide.quota import WindowKind
from decide.reason import Reason
from tests.canary.fakes import NOW, FakeClock, target, world

SEAT = {"name": "desk", "token": {"kind": "none"}, "windows": [{"kind": "session", "used_percent": 12}]}
FILE: dict[str, Any] = {"schema_version": 1, "fetched_at": "2026-10-15T11:58:00Z", "seats": [SEAT]}
NAME = Path(sys.executable).name


def prints(document: Any) -> tuple[str, ...]:
    return says(json.dumps(document).encode())


def says(content: bytes, code: int = 0) -> tuple[str, ...]:
    body = f"import sys; sys.stdout.buffer.write({content!r}); sys.stderr.write('eyJ-SECRET'); sys.exit({code})"
    return sys.executable, "-c", body, "sk-ant-SECRET"


async def answer(command: tuple[str, ...]) -> Answer:
    seat = target(Path("/nowhere"), command=command, sources=("command",))
    return await read_command(seat, Login(), world(FakeClock(), environ={"PATH": "/usr/bin:/bin"}))


async def test_the_seat_of_its_name_is_read() -> None:
    found = await answer(prints(FILE))
    assert found.reading is not None
    assert (found.reading.source, found.reading.fetched_at) == ("command", NOW - timedelta(minutes=2))
    assert [(window.kind, window.used) for window in found.reading.windows] == [(WindowKind.SESSION, 0.12)]
    assert found.step == f"ran {NAME}"


FAULTS = [
    ((), Reason.SOURCE_MISSING),
    (("/nowhere/program", "sk-ant-SECRET"), Reason.UNREADABLE),
    (says(json.dumps(FILE).encode(), code=3), Reason.SOURCE_FAILED),
    (says(b""), Reason.MALFORMED),
    (says(b"eyJ-SECRET"), Reason.MALFORMED),
    (says(json.dumps(FILE).encode()[:-1]), Reason.MALFORMED),
    (prints([FILE]), Reason.MALFORMED),
    (prints({**FILE, "schema_version": 9}), Reason.MALFORMED),
    (prints({**FILE, "seats": [{**SEAT, "name": "den"}]}), Reason.SOURCE_MISSING),
    (prints({**FILE, "seats": [{**SEAT, "windows": "x"}]}), Reason.MALFORMED),
    (prints({**FILE, "seats": [{**SEAT, "last_error": "eyJ-SECRET"}]}), Reason.SOURCE_FAILED),
    ((sys.executable, "-c", f"print('x' * {LIMIT + 1})"), Reason.TOO_LARGE),
]


@pytest.mark.parametrize(("command", "reason"), FAULTS)
async def test_each_way_in_which_there_is_none(command: tuple[str, ...], reason: Reason) -> None:
    found = await answer(command)
    assert (found.reading, found.failure) == (None, reason)
    assert found.step
    assert "SECRET" not in found.step


async def test_bytes_that_are_no_text_cost_their_field_only() -> None:
    document = json.dumps({**FILE, "note": "X"}).encode().replace(b'"X"', b'"\xff\xfe"')
    assert (await answer(says(document))).reading is not None


async def test_without_an_age_the_start_of_the_command_stands_in() -> None:
    words = prints({"schema_version": 1, "seats": [SEAT]})
    seats = await list_seats(words, world(FakeClock(), environ={"PATH": "/usr/bin:/bin"}), salt=b"")
    assert isinstance(seats, list)
    (seat,) = seats
    assert isinstance(seat, ListedSeat)
    assert seat.reading is not None
    assert (seat.reading.fetched_at, seat.note) == (NOW, "no fetched_at: the start of the command stands in")


def test_the_environment_it_gets_holds_no_secret_and_replaces_no_login() -> None:
    passed = {"PATH": "/bin", "HOME": "/h", "LANG": "C", "LC_ALL": "C", "TZ": "UTC", "XDG_STATE_HOME": "/s"}
    kept_back = {"ANTHROPIC_API_KEY": "x", "CODEX_HOME": "x", "LD_PRELOAD": "x", "PYTHONPATH": "x", "path": "x"}
    assert allowed(passed | kept_back) == passed


async def test_words_are_never_read_by_a_shell(tmp_path: Path) -> None:
    words = (sys.executable, "-c", "import sys; print(sys.argv[1:])", f"; touch {tmp_path}/made", "$(id)", "*")
    assert (await answer(words)).failure is Reason.MALFORMED
    assert list(await asyncio.to_thread(lambda: list(tmp_path.iterdir()))) == []
