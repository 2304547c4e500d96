"""Races: no two processes get the last slot, and one that is killed anywhere leaves a ledger that verifies."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from decide.store.audit import Verified
from tests.decide.store.work import DAY, NOW, decided, opened, sql

PROCESSES = 8
ROUNDS = 1000
WITHIN_S = 170.0


@contextmanager
def racer(act: str, target: str, name: str, rounds: int) -> Iterator["subprocess.Popen[str]"]:
    """A process that is ready to begin."""
    command = [sys.executable, "-m", "tests.decide.store.racer", act, target, name, str(rounds)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def begin(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.mark.timeout(240)
def test_the_last_slot_goes_to_one(target: str) -> None:
    with ExitStack() as stack:
        racing = [stack.enter_context(racer("race", target, f"p{n}", ROUNDS)) for n in range(PROCESSES)]
        for process in racing:
            begin(process)
        won: Counter[int] = Counter()
        for process in racing:
            told, _ = process.communicate(timeout=WITHIN_S)
            won.update(map(int, told.strip(" []\n").split(",")) if told.strip() != "[]" else ())
            assert process.returncode == 0
    assert won == dict.fromkeys(range(ROUNDS), 1)
    assert sql(target, "SELECT count(*), sum(passes), sum(micro_usd) FROM days") == [
        (ROUNDS, ROUNDS, ROUNDS * 300_000)
    ]


@pytest.mark.parametrize("kills", [6])
async def test_a_killed_process_leaves_a_whole_ledger(target: str, kills: int) -> None:
    told: list[str] = []
    for number in range(kills):
        with racer("work", target, f"k{number}", 10_000) as process:
            begin(process)
            assert process.stdout is not None
            for _ in range(2 + 3 * number):
                told.append(process.stdout.readline().strip())
            process.kill()
    async with await opened(target) as store:
        assert isinstance(await store.verify(), Verified)
        for run in told:
            assert (await store.receipt(f"receipt-{run}"))["run"] == run
        ((count, micro),) = sql(target, "SELECT count(*), sum(micro_usd) FROM slots")
        assert await store.day_usage(DAY) == (count, micro)
        open_calls = sql(target, "SELECT call_id FROM slots WHERE state = 'open' ORDER BY at_us, call_id")
        assert [(one.call_id,) for one in await store.unsettled(NOW)] == open_calls
        await decided(store, "after")
