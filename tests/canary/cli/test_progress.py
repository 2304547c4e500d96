"""A person who waits sees each call; whoever stops a run, however often, leaves no process and gets a receipt."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.canary.cli.ladders import QUESTION, Ladder, ladder, names

ROOT = Path(__file__).parents[3]


@pytest.fixture
def both(tmp_path: Path, home: Path) -> Ladder:
    """A ladder whose two rungs agree."""
    return ladder(tmp_path)


def started(made: Ladder, *words: str, **streams: Any) -> "subprocess.Popen[bytes]":
    """`ask` as a process of its own."""
    environ = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "100"}
    return subprocess.Popen(
        [sys.executable, "-m", "canary.start", "ask", *made.places, *QUESTION, *words], env=environ, **streams
    )


def alive(process: int) -> bool:
    """Whether a process still runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[:1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_stop_again_and_again_it_ends_its_calls_and_keeps_a_receipt(both: Ladder, number: int) -> None:
    both.answers({"hangs": True}, names("keep"))
    os.mkfifo(both.folder / "said")
    # open both ways, so that it does not end between two of those who write to it
    with (
        open(os.open(both.folder / "said", os.O_RDWR), encoding="utf-8") as said,
        started(both, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run,
    ):
        assert [said.readline() for _ in range(4)] == ["called\n"] * 4
        for _ in range(3):
            run.send_signal(number)
        out, err = run.communicate()
    assert run.returncode == 130, err
    assert out.startswith(b"CANCELLED: the run was told to stop\n")
    assert b"stopping: calls that are out are ended" in err
    assert b"Traceback" not in err
    assert not any(alive(int(call[2])) for call in both.calls())
    (kept,) = both.document("receipt", "list")
    assert (kept["outcome"], kept["exit_code"]) == ("cancelled", 130)
    assert kept["id"].encode() in out
    (both.folder / "said").unlink()
    both.answers(names("keep"), names("keep"))
    assert both.run("ask", *QUESTION).exit_code == 0


def on_terminal(made: Ladder, **environ: str) -> str:
    """What `ask` prints on a terminal while two of its calls are out, until it is told to stop."""
    ours, theirs = os.openpty()
    text, stopped = b"", False
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)
        with started(made, stdout=theirs, stderr=theirs) as run:
            os.close(theirs)
            while piece := _read(ours):
                text += piece
                if b"out for 1 s" in text and not stopped:
                    stopped = True
                    run.send_signal(signal.SIGINT)
    os.close(ours)
    assert run.returncode == 130, text.decode()
    return text.decode()


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 65536)
    except OSError:  # Linux says so when the far side is closed
        return b""


@pytest.mark.parametrize("environ", [{}, {"NO_COLOR": "1"}])
def test_a_person_who_waits_sees_each_call(both: Ladder, environ: dict[str, str]) -> None:
    both.answers({"hangs": True}, names("keep"))
    text = on_terminal(both, **environ)
    bare = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert "asking: Which cache do we keep?" in bare
    assert re.search(r"fable +desk +forward +vote +out for 1 s", bare)
    assert re.search(r"astra +codex-main +reversed +vote +resolved, \d s", bare)
    coloured = re.search(r"\x1b\[(?:[0-9]+;)*3[0-7]m", text)
    assert (coloured is None) == bool(environ)
