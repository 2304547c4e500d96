"""guardian: when this process is killed, nothing of what it had started lives on, and the guardian goes with it."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from decide.rungs.guardian import NAME, POLL_S, carries, marked
from decide.rungs.warden import Warden

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks processes up in /proc")
BOUND_S = 30.0
ROOT = Path(__file__).parents[3]

PASS = """
import asyncio, os, sys
from decide.rungs.process import run
from decide.rungs.warden import WARDEN

CHILD = '''
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
stay = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
far = subprocess.Popen([sys.executable, "-c", stay], start_new_session=True)
near = subprocess.Popen([sys.executable, "-c", stay])
print(os.getpid(), near.pid, far.pid, os.environ["RUNGWATCH_CALL"], file=open(sys.argv[1], "w"), flush=True)
time.sleep(600)
'''

async def main():
    task = asyncio.ensure_future(
        run([sys.executable, "-c", CHILD, sys.argv[1]], environ=dict(os.environ), stdin=None, limit=100)
    )
    await asyncio.sleep(0)
    print(WARDEN.pid, flush=True)
    await task

asyncio.run(main())
"""


def ended(pid: int) -> bool:
    """Whether a process has ended; one that its new parent has not reaped has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, a generous while."""
    for _ in range(int(BOUND_S / POLL_S)):
        if holds():
            return
        await asyncio.sleep(POLL_S)
    raise AssertionError(f"not within {BOUND_S:g} s")


async def test_a_kill_of_ours_ends_the_whole_pass(tmp_path: Path) -> None:
    script, told = tmp_path / "pass.py", tmp_path / "told"
    script.write_text(PASS)
    ours = await asyncio.create_subprocess_exec(
        *(sys.executable, str(script), str(told)),
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
    )
    assert ours.stdout is not None
    guardian = int(await ours.stdout.readline())
    await until(lambda: told.exists() and told.read_text().endswith("\n"))
    *pids, mark = told.read_text().split()
    found = [int(pid) for pid in pids]
    assert len(marked([mark])) == len(found) == 3
    assert [pid for pid in [*found, guardian] if ended(pid)] == []
    os.kill(ours.pid, signal.SIGKILL)
    assert await ours.stdout.read() == b"", "the guardian holds our output open"
    await ours.wait()
    await until(lambda: not marked([mark]) and all(ended(pid) for pid in [*found, guardian]))


@pytest.fixture
async def warden() -> AsyncIterator[Warden]:
    """A guardian of this test's own."""
    one = Warden()
    yield one
    one.close()


def stay(mark: str) -> "subprocess.Popen[bytes]":
    """A process that carries a mark."""
    words = [sys.executable, "-c", "import time; time.sleep(600)"]
    return subprocess.Popen(words, env={NAME: mark}, start_new_session=True)


async def test_what_has_ended_is_left_alone(warden: Warden) -> None:
    kept, left = stay("kept"), stay("left")
    try:
        for mark, process in (("kept", kept), ("left", left)):
            warden.begins(mark)
            warden.leads(mark, process.pid)
        warden.ends("kept")
        pid = warden.pid
        warden.close()
        assert pid is not None
        assert ended(pid)
        assert (kept.poll(), left.wait(BOUND_S)) == (None, -signal.SIGTERM)
    finally:
        kept.kill()
        kept.wait()


async def test_a_guardian_that_somebody_ended_is_replaced_and_knows_what_runs(warden: Warden) -> None:
    process = stay("running")
    warden.begins("running")
    warden.leads("running", process.pid)
    first = warden.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await until(lambda: ended(first))
    warden.begins("another")
    assert warden.pid not in (None, first)
    warden.ends("another")
    warden.close()
    assert process.wait(BOUND_S) == -signal.SIGTERM


async def test_a_key_press_at_the_terminal_does_not_end_it(warden: Warden) -> None:
    warden.begins("any")
    pid = warden.pid
    assert pid is not None
    assert os.getsid(pid) == pid
    await until(lambda: int(status(pid)["SigIgn"], 16) & 1 << signal.SIGINT - 1 != 0)
    assert [os.readlink(f"/proc/{pid}/fd/{number}") for number in (1, 2)] == ["/dev/null"] * 2
    assert len(os.listdir(f"/proc/{pid}/fd")) == 3
    warden.ends("any")


def status(pid: int) -> dict[str, str]:
    """What the system says of a process."""
    rows = (line.partition(":") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {name: value.strip() for name, _, value in rows}


async def test_a_mark_is_told_from_a_longer_one() -> None:
    process = stay("abc")
    try:
        await until(lambda: carries(process.pid, ["abc"]))
        assert marked(["abc"]) == [process.pid]
        assert not carries(process.pid, ["ab", "abcd"])
        assert marked([]) == []
    finally:
        process.kill()
        process.wait()
