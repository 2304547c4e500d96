"""Real programs run as an effect: bounded, without a shell or a secret, and gone when they are over."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from decide.handoff.act import ActEnd
from decide.handoff.effect import OUTPUT_KEPT, SAID_LIMIT, end_of, runner, said
from decide.rungs.process import Finished
from tests.decide.rungs.test_guardian import until
from tests.decide.rungs.test_process import gone, needs_proc

KEY = "sk-ant-api03-SENTINELSENTINEL"
RUN = runner({"PATH": os.environ["PATH"], "HOME": "/h", "ANTHROPIC_API_KEY": KEY, "OTHER": "x"}, grace_s=0.2)


def python(code: str, *words: str) -> list[str]:
    return [sys.executable, "-c", code, *words]


async def test_a_command_that_does_its_work() -> None:
    assert await RUN(python("print('done')"), 30.0) == ActEnd(True, 0, "done")


async def test_its_errors_stand_behind_what_it_said() -> None:
    end = await RUN(python("import sys; print('half'); print('why', file=sys.stderr); sys.exit(3)"), 30.0)
    assert end == ActEnd(False, 3, "half\nwhy", "exit status 3")


async def test_no_shell_reads_its_words() -> None:
    words = ["$HOME", ";reboot", "*", "`id`", "a b", ""]
    end = await RUN(python("import sys; print(sys.argv[1:])", *words), 30.0)
    assert end.output == repr(words)


async def test_it_gets_what_every_client_gets_and_nothing_to_read(tmp_path: Path) -> None:
    run = runner({"PATH": os.environ["PATH"], "HOME": "/h", "ANTHROPIC_API_KEY": KEY, "OTHER": "x"}, cwd=tmp_path)
    code = "import os, sys; print(sorted({'HOME', 'OTHER', 'ANTHROPIC_API_KEY'} & {*os.environ})); print(os.getcwd())"
    end = await run(python(code + "; print(repr(sys.stdin.read()))"), 30.0)
    assert end.output.splitlines() == ["['HOME']", str(tmp_path), "''"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["no-such-program-anywhere", "x"], "not found: no-such-program-anywhere"),
        (["/nowhere/program"], "not found: /nowhere/program"),
        (["/"], "not started: /: Permission denied"),
        (["a\0b"], "not started: a\0b"),
    ],
)
async def test_a_program_that_does_not_start(words: list[str], why: str) -> None:
    assert await RUN(words, 30.0) == ActEnd(False, None, "", why)


@pytest.mark.parametrize(
    ("timeout_s", "why"),
    [
        (0.3, "timed out after 0.3 s"),
        (60.0, "timed out after 1 m"),
        (90.0, "timed out after 90 s"),
        (300.0, "timed out after 5 m"),
    ],
)
def test_a_time_out_names_the_time(timeout_s: float, why: str) -> None:
    assert end_of(Finished(-15, b"so far", timed_out=True), "x", timeout_s) == ActEnd(False, None, "so far", why)


@needs_proc
async def test_at_its_time_out_it_and_its_grandchildren_are_gone(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    child = (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}} '); time.sleep(600)"
    )
    code = f"import subprocess, sys; print('begun', flush=True); subprocess.run([sys.executable, '-c', {child!r}])"
    end = await RUN(["sh", "-c", 'echo shell; exec "$0" -c "$1"', sys.executable, code], 3.0)
    assert (end.done, end.code, end.why) == (False, None, "timed out after 3 s")
    assert end.output.startswith("shell\nbegun")
    assert pids.exists()
    assert all(gone(int(pid)) for pid in pids.read_text().split())


@needs_proc
async def test_given_up_it_is_gone_before_the_caller_is_told(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    running = asyncio.create_task(RUN(python(code), 600.0))
    await until(lambda: pid.exists() and pid.read_text() != "")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert gone(int(pid.read_text()))


async def test_one_that_says_much_goes_on_and_its_last_words_are_kept() -> None:
    code = "import sys\nfor n in range(100_000): print(f'line {n}')\nsys.exit(4)"
    end = await RUN(python(code), 60.0)
    assert (end.code, len(end.output)) == (4, OUTPUT_KEPT)
    assert end.output.endswith("line 99998\nline 99999")


async def test_bytes_of_every_kind_become_plain_text() -> None:
    code = "import sys; sys.stdout.buffer.write(bytes(range(256)) + b'\\x1b[31mred\\r\\n\\tend \\xe2\\x80\\xae')"
    end = await RUN(python(code), 30.0)
    assert end.done
    assert all(one.isprintable() or one in "\n\t" for one in end.output)
    assert end.output.endswith("[31mred\n\tend")
    assert end.output.encode()


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_a_secret_that_it_says_is_hidden(stream: str) -> None:
    end = await RUN(python(f"import sys; print('login {KEY} ok', file=sys.{stream})"), 30.0)
    assert end.output == "login […] ok"


def test_a_secret_that_the_bound_cuts_in_two_is_hidden() -> None:
    rest = b"L" * 30 + b" end " + b"\n" + (b"sk-ant-" + b"x" * 600 + b" ") * 100
    content = rest + b"sk-" + b"." * (SAID_LIMIT - len(rest) - 3)
    assert "LLL" in said(Finished(0, content[:-1], b""))
    assert len(content) == SAID_LIMIT
    assert "LLL" not in said(Finished(0, content, b""))
    assert said(Finished(0, b"." * SAID_LIMIT, b"")) == "." * OUTPUT_KEPT


@pytest.mark.parametrize(
    ("done", "end"),
    [
        (Finished(-signal.SIGKILL), ActEnd(False, None, "", "ended by SIGKILL")),
        (Finished(-200), ActEnd(False, None, "", "ended by signal 200")),
        (Finished(None), ActEnd(False, None, "", "could not be ended")),
        (Finished(None, timed_out=True), ActEnd(False, None, "", "timed out after 5 s")),
        (Finished(0, b"  \n"), ActEnd(True, 0)),
    ],
)
def test_how_it_ended(done: Finished, end: ActEnd) -> None:
    assert end_of(done, "program", 5.0) == end
