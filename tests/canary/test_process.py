"""process: what a program says is bounded, and nothing of it is left however it ends."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from canary.process import Finished, run

ENVIRON = {"PATH": os.environ["PATH"]}
GRACE_S = 0.2


def python(code: str, *words: str) -> list[str]:
    return [sys.executable, "-c", code, *words]


async def finished(words: list[str], *, stdin: bytes | None = None, limit: int = 1000) -> Finished:
    return await run(words, environ=ENVIRON, stdin=stdin, limit=limit, grace_s=GRACE_S)


async def test_output_and_exit_status_come_back() -> None:
    code = "import sys; print('out'); sys.stderr.write('SECRET'); sys.exit(3)"
    done = await finished(python(code))
    assert done == Finished(3, b"out\n", 6)
    assert "out" not in repr(done)


async def test_it_reads_what_it_is_given_or_nothing() -> None:
    echo = python("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())")
    assert (await finished(echo, stdin=b"x" * 900)).stdout == b"x" * 900
    assert (await finished(echo)).stdout == b""
    assert (await finished(python("pass"), stdin=b"x" * 500_000)).code == 0


async def test_its_environment_is_what_is_given() -> None:
    done = await finished(python("import os; print(sorted(set(os.environ) - {'LC_CTYPE', 'PWD', 'SHLVL', '_'}))"))
    assert done.stdout == b"['PATH']\n"


async def test_it_leads_a_session_of_its_own() -> None:
    done = await finished(python("import os; print(os.getsid(0) == os.getpid() == os.getpgid(0))"))
    assert done.stdout == b"True\n"


async def test_more_than_the_limit_ends_it() -> None:
    done = await finished(python("import sys\nwhile True: sys.stdout.write('x' * 4096)"), limit=10)
    assert (done.stdout, done.truncated, done.code) == (b"x" * 10, True, -15)
    exact = await finished(python("print('x' * 9)"), limit=10)
    assert (len(exact.stdout), exact.truncated, exact.code) == (10, False, 0)


async def test_a_flood_of_errors_is_counted_and_not_kept() -> None:
    done = await finished(python("import sys; sys.stderr.write('x' * 3_000_000)"))
    assert (done.stderr_length, done.stdout, done.code) == (3_000_000, b"", 0)


@pytest.mark.parametrize("words", [["/nowhere/program"], ["/"], ["no-such-program-anywhere"], ["a\0b"]])
async def test_what_cannot_be_started(words: list[str]) -> None:
    assert (await finished(words)).code is None


STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
WRITE_DOWN = "open(sys.argv[1], 'w').write(str(os.getpid()) + chr(10))"
STAY = f"import time; {WRITE_DOWN}; time.sleep(600)"
FAMILY = (
    "import os, subprocess, sys\n"
    f"child = subprocess.Popen([sys.executable, '-c', 'import os, sys;' + sys.argv[2] + {STAY!r}, sys.argv[1]])\n"
    "exec('import os, sys;' + sys.argv[2] + sys.argv[3])\n"
)


@pytest.fixture
async def register(tmp_path: Path) -> AsyncIterator[tuple[str, asyncio.StreamReader]]:
    """A pipe in which processes write their ids down, and its reading end."""
    os.mkfifo(tmp_path / "ids")
    file = os.fdopen(os.open(tmp_path / "ids", os.O_RDWR | os.O_NONBLOCK), "rb", 0)
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, file)
    yield str(tmp_path / "ids"), reader
    transport.close()


async def seen(reader: asyncio.StreamReader, count: int) -> list[int]:
    """The ids of so many processes, once they have written them down."""
    async with asyncio.timeout(30):
        return [int(await reader.readline()) for _ in range(count)]


def gone(pid: int) -> bool:
    """Whether a process has ended; one that its new parent has not reaped yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
Register = tuple[str, asyncio.StreamReader]


@needs_proc
@pytest.mark.parametrize("nature", ["", STUBBORN], ids=["docile", "stubborn"])
async def test_nothing_of_it_is_left_after_a_cancellation(register: Register, nature: str) -> None:
    task = asyncio.ensure_future(finished(python(FAMILY, register[0], nature, STAY)))
    found = await seen(register[1], 2)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()  # a second one, while it is ending, changes nothing
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [pid for pid in found if not gone(pid)] == []


@needs_proc
async def test_nothing_of_it_is_left_after_a_timeout(register: Register) -> None:
    watcher = asyncio.ensure_future(seen(register[1], 2))

    async def until_seen() -> None:
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(None) as limit:
            watcher.add_done_callback(lambda _: limit.reschedule(loop.time()))
            await finished(python(FAMILY, register[0], STUBBORN, STAY))

    with pytest.raises(TimeoutError):
        await until_seen()
    assert [pid for pid in await watcher if not gone(pid)] == []


@needs_proc
async def test_a_child_that_outlives_it_is_ended_and_holds_nothing_up(register: Register) -> None:
    leave = "open(sys.argv[1], 'w').write(str(child.pid) + chr(10)); print('said')"
    done = await finished(python(FAMILY, register[0], "", leave))
    assert (done.code, done.stdout) == (0, b"said\n")
    assert [pid for pid in await seen(register[1], 1) if not gone(pid)] == []


async def test_its_own_process_is_reaped() -> None:
    (pid,) = [int(word) for word in (await finished(python("import os; print(os.getpid())"))).stdout.split()]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
