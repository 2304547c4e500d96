"""process: what a program says is bounded, and nothing of it is left however it ends."""

import asyncio
import errno
import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from decide.rungs.process import ERRORS_KEPT, Finished, run

ENVIRON = {"PATH": os.environ["PATH"]}
GRACE_S = 0.2


def python(code: str, *words: str) -> list[str]:
    return [sys.executable, "-c", code, *words]


async def finished(words: list[str], *, stdin: bytes | None = None, limit: int = 1000) -> Finished:
    return await run(words, environ=ENVIRON, stdin=stdin, limit=limit, grace_s=GRACE_S)


async def test_output_and_exit_status_come_back() -> None:
    code = "import sys; print('out'); sys.stderr.write('SECRET'); sys.exit(3)"
    done = await finished(python(code))
    assert done == Finished(3, b"out\n", b"SECRET", 6)
    assert "b'out" not in repr(done)
    assert "SECRET" not in repr(done)


async def test_it_reads_what_it_is_given_or_nothing() -> None:
    echo = python("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())")
    assert (await finished(echo, stdin=b"x" * 900)).stdout == b"x" * 900
    assert (await finished(echo)).stdout == b""
    assert (await finished(python("pass"), stdin=b"x" * 500_000)).code == 0


async def test_its_environment_is_what_is_given() -> None:
    done = await finished(
        python("import os; print(sorted(set(os.environ) - {'LC_CTYPE', 'PWD', 'SHLVL', '_', 'RUNGWATCH_CALL'}))")
    )
    assert done.stdout == b"['PATH']\n"


async def test_it_leads_a_session_of_its_own() -> None:
    done = await finished(python("import os; print(os.getsid(0) == os.getpid() == os.getpgid(0))"))
    assert done.stdout == b"True\n"


async def test_more_than_the_limit_ends_it() -> None:
    done = await finished(python("import sys\nwhile True: sys.stdout.write('x' * 4096)"), limit=10)
    assert (done.stdout, done.truncated, done.code) == (b"x" * 10, True, -15)
    exact = await finished(python("print('x' * 9)"), limit=10)
    assert (len(exact.stdout), exact.truncated, exact.code) == (10, False, 0)


async def test_more_than_the_limit_ends_no_program_whose_last_words_are_kept() -> None:
    words = python("print('x' * 300_000 + 'the end')")
    done = await run(words, environ=ENVIRON, stdin=None, limit=10, last=True, grace_s=GRACE_S)
    assert (done.stdout, done.truncated, done.code) == (b"xxthe end\n", False, 0)


async def test_a_flood_of_errors_is_counted_and_not_kept() -> None:
    done = await finished(python("import sys; sys.stderr.write('x' * 3_000_000)"))
    assert (done.stderr_length, done.stdout, done.code) == (3_000_000, b"", 0)


async def test_of_its_errors_the_end_is_kept() -> None:
    done = await finished(python("import sys; sys.stderr.write('x' * 200_000 + 'why it ended')"))
    assert (done.stderr[-12:], len(done.stderr)) == (b"why it ended", ERRORS_KEPT)


async def test_it_works_in_the_folder_that_it_is_given(tmp_path: Path) -> None:
    done = await run(python("import os; print(os.getcwd())"), environ=ENVIRON, stdin=None, limit=1000, cwd=tmp_path)
    assert done.stdout.decode() == f"{tmp_path}\n"


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (["/nowhere/program"], errno.ENOENT),
        (["/"], errno.EACCES),
        (["no-such-program-anywhere"], errno.ENOENT),
        (["a\0b"], -1),
        (["python", "x" * 4_000_000], errno.E2BIG),
    ],
)
async def test_what_cannot_be_started(words: list[str], number: int) -> None:
    assert await finished(words) == Finished(None, errno=number)


async def test_what_takes_too_long_is_ended_and_what_it_said_is_kept() -> None:
    words = ["/bin/sh", "-c", "echo first; exec sleep 600"]
    done = await run(words, environ=ENVIRON, stdin=None, limit=1000, within_s=2.0, grace_s=GRACE_S)
    assert (done.timed_out, done.stdout, done.code) == (True, b"first\n", -15)
    assert not (await finished(python("pass"))).timed_out


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


DESERTER = (
    "import os, subprocess, sys\n"
    "words = [sys.executable, '-c', 'import os, sys;' + sys.argv[2] + sys.argv[3], sys.argv[1]]\n"
    "subprocess.Popen(words, start_new_session=True)\n"
    "exec(sys.argv[4])\n"
)


@needs_proc
@pytest.mark.parametrize("nature", ["", STUBBORN], ids=["docile", "stubborn"])
async def test_a_child_in_a_session_of_its_own_is_ended_too(register: Register, nature: str) -> None:
    wait = "import time; time.sleep(600)"
    task = asyncio.ensure_future(finished(python(DESERTER, register[0], nature, STAY, wait)))
    found = await seen(register[1], 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [pid for pid in found if not gone(pid)] == []


@needs_proc
async def test_a_child_in_a_session_of_its_own_may_end_in_order(register: Register) -> None:
    ordered = f"import signal; signal.signal(signal.SIGTERM, lambda *_: ({WRITE_DOWN}, os._exit(0)));"
    words = python(DESERTER, register[0], ordered, STAY, "import time; time.sleep(600)")
    task = asyncio.ensure_future(run(words, environ=ENVIRON, stdin=None, limit=1000, grace_s=20.0))
    found = await seen(register[1], 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await seen(register[1], 1) == found


@needs_proc
async def test_a_child_that_left_its_session_does_not_outlive_a_good_end(tmp_path: Path) -> None:
    born = str(tmp_path / "born")
    os.mkfifo(born)
    done = await finished(python(DESERTER, born, STUBBORN, STAY, "print(open(sys.argv[1]).readline())"))
    assert done.code == 0
    assert gone(int(done.stdout))


@needs_proc
async def test_a_cancellation_before_it_has_begun_leaves_nothing(register: Register) -> None:
    task = asyncio.ensure_future(finished(python(FAMILY, register[0], "", STAY)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not running_with(register[0])


def running_with(word: str) -> list[str]:
    """The processes that have a word on their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found += [path.parent.name] if word.encode() in path.read_bytes() else []
    return found


async def test_its_own_process_is_reaped() -> None:
    (pid,) = [int(word) for word in (await finished(python("import os; print(os.getpid())"))).stdout.split()]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
