"""The table shows every state and reason to a person on a terminal, and to a pipe in rows; unknown is never 0."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from io import BytesIO, StringIO, TextIOWrapper
from itertools import cycle
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from rich.cells import cell_len
from rich.console import Console

from canary.cli.table import draw, plain, show
from canary.cli.wording import Reader, clock, distance
from decide.ladder import LadderState, LadderWord, RungState, RungStatus
from decide.quota import Measure, Window, WindowKind, WindowState, WindowVerdict
from decide.reason import WORDS, Reason
from decide.seat import Quota, SeatState, SeatStatus, Token, TokenState
from exporters.report import report
from exporters.view import View
from tests.exporters.scenes import (
    ASTRA,
    FABLE,
    HOSTILE,
    NOW,
    SCENES,
    degraded_view,
    failed_seat,
    hostile_view,
    minutes,
    open_seat,
    rung,
    view,
)

BERLIN = ZoneInfo("Europe/Berlin")
READER = Reader(NOW, BERLIN)
ROOT = Path(__file__).parents[3]
SEEN = {name: (make, NOW) for name, make in SCENES.items()} | {"stale": (degraded_view, NOW + minutes(30))}


def drawn(shown: View, width: int = 80, *, now: datetime = NOW) -> str:
    """A view as a terminal of that width shows it, without colours."""
    out = StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system=None, _environ={})
    draw(report(shown, now), console, reader=Reader(now, BERLIN), hint="a hint")
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def piped(shown: View, *, now: datetime = NOW) -> str:
    """A view as a pipe gets it."""
    out = StringIO()
    show(report(shown, now), out, hint="a hint", now=now, zone=BERLIN)
    return out.getvalue()


@pytest.mark.parametrize("name", SEEN)
def test_golden(name: str, golden: Callable[[str, str], None]) -> None:
    make, now = SEEN[name]
    golden(f"table-{name}-80.txt", drawn(make(), now=now))
    golden(f"table-{name}-pipe.txt", piped(make(), now=now))


@pytest.mark.parametrize("width", [60, 80, 140])
@pytest.mark.parametrize("name", SEEN)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    make, now = SEEN[name]
    assert max(cell_len(line) for line in drawn(make(), width, now=now).splitlines()) <= width


@pytest.mark.parametrize("width", [1, 20, 33])
def test_a_terminal_too_narrow_for_it_breaks_nothing(width: int) -> None:
    assert drawn(degraded_view(), width)


def test_a_wide_terminal_draws_twenty_cells_filled_only_when_full() -> None:
    text = drawn(view(rung(FABLE, open_seat("desk", 0.999), open_seat("lab", 1.006)), rung(ASTRA)), 140)
    assert f"{'█' * 19}░   99 %" in text
    assert f"{'█' * 20}  100 %" in text


def every_state() -> list[View]:
    """Views that together hold every state, measure and reason, in every combination with a reason."""
    measures, windows = cycle(Measure), cycle(WindowState)
    words, states = cycle(LadderWord), cycle(RungState)
    made = []
    for reason in Reason:
        seats = []
        for seat_state in SeatState:
            for token_state in TokenState:
                window = Window(WindowKind.WEEKLY, 1.01, NOW + minutes(5), measure=next(measures))
                verdict = WindowVerdict(window, "claude-usage", NOW - minutes(7), next(windows), reason)
                seats.append(
                    SeatStatus(
                        f"{seat_state}-{token_state}",
                        seat_state,
                        reason,
                        Token(token_state, reason, NOW - minutes(1)),
                        Quota.METERED,
                        windows=(verdict,),
                        binding=(verdict,),
                        reading_at=NOW - minutes(7),
                    )
                )
        rungs = tuple(
            RungStatus(name.name, name.role, next(states), tuple(seats), reasons=(reason,)) for name in (FABLE, ASTRA)
        )
        made.append(replace(view(), state=LadderState(NOW, next(words), rungs, notes=(reason,))))
    return made


@pytest.mark.parametrize("shown", every_state(), ids=[reason.value for reason in Reason])
def test_every_state_and_reason_is_told_in_its_words(shown: View) -> None:
    assert shown.state is not None
    (reason,) = shown.state.notes
    means, remedy = WORDS[reason]
    for text in (drawn(shown), drawn(shown, 60), piped(shown)):
        words = re.sub(r"\s+", " ", text)
        assert means in words
        assert remedy in words
        assert not re.search(r"\b(None|nan|null|0 %)", text)
        assert ("ladder OK" in text) is (shown.state.state is LadderWord.OK)
    rows = [re.split(r" {2,}", line) for line in piped(shown).split("\n\n")[1].splitlines()]
    assert rows[0] == ["RUNG", "SEAT", "STATE", "WINDOW", "USED", "RESETS", "NOTES"]
    assert {len(row) for row in rows} == {7}


def test_a_figure_of_an_unknown_seat_stands_beside_its_age_only() -> None:
    shown = view(rung(FABLE, failed_seat("loan")), rung(ASTRA))
    assert "12 %, read 7 min ago" in drawn(shown)
    assert "12 %, read 7 min ago" in piped(shown)
    assert "█" not in drawn(shown)


def test_what_was_never_read_is_unknown() -> None:
    seat = SeatStatus("desk", SeatState.UNKNOWN, Reason.NEVER_READ, Token(TokenState.LIVE), Quota.METERED)
    status = RungStatus("fable", FABLE.role, RungState.UNKNOWN, (seat,))
    shown = replace(view(), state=LadderState(NOW, LadderWord.BLIND, (status,)))
    assert re.search(r"quota +unknown", drawn(shown))
    assert re.search(r"fable  desk  unknown  quota   unknown  -", piped(shown))


@pytest.mark.parametrize("used", [0.0, 0.004, 0.25, 1.01, 9.0, 1e300])
def test_percentages_are_as_read(used: float) -> None:
    figure = {0.0: "0 %", 0.004: "<1 %", 0.25: "25 %", 1.01: "101 %", 9.0: "900 %", 1e300: ">9999 %"}[used]
    assert f" {figure}  " in drawn(view(rung(FABLE, open_seat("desk", used)), rung(ASTRA)))


def test_hostile_names_are_printed_as_they_are_and_steer_nothing() -> None:
    names = ("[red]alarm[/red]", ":smile:", "\x1b[2J\x1b]0;owned\x07", "a\nladder OK", "\u202eright to left")
    shown = view(rung(FABLE, *(open_seat(name) for name in names)), rung(ASTRA))
    for text in (drawn(shown, 140), piped(shown)):
        assert "[red]alarm[/red]" in text
        assert ":smile:" in text
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert "ladder OK" not in text
    assert len(piped(hostile_view()).split("\n\n")[1].splitlines()) == 2 * (len(HOSTILE) + 1) + 1


def test_an_output_without_these_signs_gets_ascii() -> None:
    raw = BytesIO()
    out = TextIOWrapper(raw, encoding="ascii")
    show(report(hostile_view(), NOW), out, now=NOW, zone=BERLIN)
    console = Console(file=out, width=80, force_terminal=True, color_system=None, _environ={})
    draw(report(hostile_view(), NOW), console, reader=READER)
    out.flush()
    assert b"* ladder DEGRADED" in raw.getvalue()
    assert b"#####...............   25 %" in raw.getvalue()


SHOW = (
    "import sys; from canary.cli.table import show; from exporters.report import report; "
    "from tests.exporters.scenes import NOW, degraded_view; show(report(degraded_view(), NOW), sys.stdout)"
)


def on_a_terminal(**environ: str) -> str:
    """What the process prints on a terminal of 80 columns."""
    ours, theirs = os.openpty()
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "TERM")}
    settings = kept | {"TERM": "xterm-256color", "COLUMNS": "80", "TZ": "UTC", "PYTHONIOENCODING": "utf-8"} | environ
    with subprocess.Popen([sys.executable, "-c", SHOW], cwd=ROOT, stdout=theirs, stderr=theirs, env=settings) as run:
        os.close(theirs)
        text = b""
        while piece := _read(ours):
            text += piece
    os.close(ours)
    assert run.returncode == 0, text.decode()
    return text.decode()


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 65536)
    except OSError:  # Linux says so when the far side is closed
        return b""


def test_a_terminal_gets_colours_unless_it_asks_for_none() -> None:
    coloured, bare = on_a_terminal(), on_a_terminal(NO_COLOR="1")
    assert re.search(r"\x1b\[[0-9;]*31m", coloured)
    assert not re.search(r"\x1b\[(?:[0-9]+;)*(?:3[0-7]|9[0-7]|38;)[0-9;]*m", bare)
    assert "14:30 UTC, in 2 h 30 min" in re.sub(r"\x1b\[[0-9;]*m", "", bare)


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        ("2026-07-01T13:30:00Z", "15:30 CEST, in 1 h 30 min"),
        ("2026-07-01T11:40:00Z", "13:40 CEST, 20 min ago"),
        ("2026-07-01T22:30:00Z", "Thu 00:30 CEST, in 10 h 30 min"),
        ("2026-07-07T21:00:00Z", "Tue 23:00 CEST, in 6 d 9 h"),
        ("2026-07-08T12:00:00Z", "8 Jul 14:00 CEST, in 7 d"),
        ("2026-12-01T12:00:00Z", "1 Dec 13:00 CET, in 153 d"),
        ("2027-01-01T12:00:00Z", "1 Jan 2027 13:00 CET, in 184 d"),
    ],
)
def test_moments_are_local_and_relative(moment: str, told: str) -> None:
    assert distance(moment, READER) == told


def test_without_a_zone_it_is_this_machines() -> None:
    local = NOW.astimezone()
    assert clock("2026-07-01T12:00:00Z", Reader(NOW)) == f"{local:%H:%M %Z}"
    assert local.utcoffset() is not None


def test_when_it_is_read_is_when_it_was_made_unless_told() -> None:
    out = StringIO()
    show(report(degraded_view(), NOW + timedelta(seconds=90)), out, zone=BERLIN)
    assert "read 1 min 30 s ago" in out.getvalue()
    assert plain(report(view(), NOW), reader=READER).startswith("ladder BLIND\nno tick has ended yet")
