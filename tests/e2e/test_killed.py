import asyncio
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from canary.deciding import ready
from decide.day import day_of
from decide.ledger import Row, RowKind
from decide.question import LevelName
from decide.ruling import Outcome
from decide.run import ask
from decide.store.audit import Verified
from tests.e2e.running import ROOT, until
from tests.e2e.victims import config_of, question

NURSERIES = 4
"""A quarter of the kills at a time: most of a round is waiting."""


@dataclass(frozen=True, slots=True)
class Kills:
    """How often runs of a level are killed, at which of their instants, and the passes that each rung makes of them.

    `ticks` are about as many as a whole run tells; at a later one it has ended by itself. `votes` are the fewest and
    the most of a rung: an order whose votes have a majority when a run comes back is not asked for the rest.
    """

    instants: int
    ticks: int
    votes: tuple[int, int]
    checks: int


KILLS = {LevelName.MEDIUM: Kills(25, 24, (2, 2), 0), LevelName.HIGH: Kills(8, 46, (4, 6), 1)}


@dataclass(slots=True)
class Nursery:
    """The process that forks victims, and what it has said so far."""

    process: subprocess.Popen[bytes]

    def _next(self) -> str:
        assert self.process.stdout is not None
        return os.read(self.process.stdout.fileno(), 1).decode()

    def upto(self, end: str) -> str:
        """What the nursery says before that sign."""
        said = ""
        while not said.endswith(end):
            said += self._next()
        return said[:-1]

    def run(self, name: str, ticks: int) -> int:
        """Fork a victim, kill it at its so many-th instant unless it ends before; how it ended."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{name}\n".encode())
        self.process.stdin.flush()
        self.upto("[")
        pid, seen = int(self.upto("]")), 0
        while (sign := self._next()) == ".":
            seen += 1
            if seen == ticks:
                os.kill(pid, signal.SIGKILL)
        assert sign == "<"
        return int(self.upto(">"))


@contextmanager
def nursery(folder: Path, level: LevelName) -> Iterator[Nursery]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.victims", str(folder), level.value],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    try:
        made = Nursery(process)
        made.upto("!")
        yield made
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.wait(timeout=60)
        process.stdout.close()


def left_of(folder: Path) -> list[str]:
    """Programs that a run started and that are still there."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environ = (entry / "environ").read_bytes()
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if b"RUNGWATCH_CALL=" in environ and str(folder).encode() in environ + words.encode():
                found.append(words)
    return found


@pytest.mark.timeout(600)
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for leftovers in /proc")
@pytest.mark.parametrize("level", KILLS)
def test_a_run_killed_at_any_instant_loses_and_doubles_nothing(
    level: LevelName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    folders = [tmp_path / f"nursery-{number}" for number in range(NURSERIES)]
    with ThreadPoolExecutor(NURSERIES) as at_once:
        killed = list(at_once.map(_killed, folders, range(NURSERIES), [level] * NURSERIES))
    assert sum(map(sum, killed)) > NURSERIES * KILLS[level].instants // 2
    for folder, ended in zip(folders, killed, strict=True):
        asyncio.run(_accounted(folder, ended, level))


def _killed(folder: Path, seed: int, level: LevelName) -> list[bool]:
    """Which of a nursery's victims were killed; after each no child of it is left."""
    folder.mkdir()
    dice = random.Random(20261130 + seed)  # noqa: S311 - instants, not secrets
    killed = []
    kills = KILLS[level]
    with nursery(folder, level) as victims:
        for number in range(kills.instants):
            ended = victims.run(f"q{number}", dice.randint(1, kills.ticks))
            assert ended in (0, -signal.SIGKILL)
            killed.append(ended != 0)
            until(lambda: not left_of(folder), "end of every child")
    return killed


async def _accounted(folder: Path, killed: list[bool], level: LevelName) -> None:
    """The chain verifies, no call is paid twice, and every retry goes on where its run was killed."""
    (fewest, most), checks = KILLS[level].votes, KILLS[level].checks
    async with ready(config_of(folder), folder / "state", environ=dict(os.environ)) as made:
        store, setup = await made.ledger.opened(), made.setup
        assert isinstance(await store.verify(), Verified)
        retries = [ask(question(f"q{number}", level), setup=setup) for number in range(len(killed))]
        for was_killed, done in zip(killed, await asyncio.gather(*retries), strict=True):
            assert done.outcome is Outcome.AGREED
            assert done.document["attempts"] == 1
            assert len(done.document["passes"]) == 2 * most + checks or was_killed
        assert isinstance(await store.verify(), Verified)
        rows = [entry.row for entry in await store.rows_after(0, 100_000)]
        passes = [row for row in rows if row.kind is RowKind.PASS]
        assert set(Counter(row.call_id for row in passes).values()) == {1}
        votes = Counter((row.question, row.rung) for row in passes if row.role == "vote")
        assert set(votes.values()) <= set(range(fewest, most + 1))
        looked = Counter(row.question for row in passes if row.role == "cross_check")
        assert set(looked.values()) == ({checks} if checks else set())
        assert sum(votes.values()) + sum(looked.values()) == len(passes)
        assert set(Counter(row.question for row in rows if row.kind is RowKind.DECISION).values()) == {1}
        assert set(Counter(row.question for row in rows if row.kind is RowKind.QUESTION).values()) == {1}
        await _charged(store, setup.clock, passes)


async def _charged(store, clock, passes: list[Row]) -> None:  # type: ignore[no-untyped-def]
    """Each day is charged what its passes cost, and the worst case for calls of which nobody knows."""
    unsettled = await store.unsettled(clock())
    days = {day_of(row.at, "UTC") for row in passes} | {one.day for one in unsettled}
    used = [await store.day_usage(day) for day in days]
    assert sum(count for count, _ in used) == len(passes) + len(unsettled)
    assert sum(micro for _, micro in used) == sum(r.micro_usd for r in passes) + sum(u.micro_usd for u in unsettled)
