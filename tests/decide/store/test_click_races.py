"""Click races: of many processes that press one click one sets its effect going, and a killed one's is told unknown."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from decide.handoff.act import ActState
from decide.handoff.execution import Refusal
from decide.ledger import RowKind
from decide.store.audit import Verified
from tests.decide.store.handed import RULED, later, minted, told_of
from tests.decide.store.work import opened

PROCESSES = 8
PRESSES = 8
"""Of each process: 64 in all."""
WITHIN_S = 150.0


@contextmanager
def clicker(act: str, target: str, effects: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that is ready to press click c1."""
    command = [sys.executable, "-m", "tests.decide.store.clicker", act, target, "c1", str(PRESSES), str(effects)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def begin(process: "subprocess.Popen[str]") -> None:
    """Let it press."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.mark.timeout(240)
async def test_of_64_presses_by_8_processes_one_has_an_effect(target: str, tmp_path: Path) -> None:
    effects = tmp_path / "effects"
    async with await opened(target) as store:
        await minted(store, "c1")
        refusals: Counter[str | None] = Counter()
        with ExitStack() as stack:
            racing = [stack.enter_context(clicker("press", target, effects)) for _ in range(PROCESSES)]
            for process in racing:
                begin(process)
            for process in racing:
                told, _ = process.communicate(timeout=WITHIN_S)
                refusals.update(json.loads(told))
        assert refusals == {None: 1, Refusal.ALREADY_CONSUMED.value: PROCESSES * PRESSES - 1}
        assert effects.read_text(encoding="utf-8") == "c1\n"
        events = Counter(await told_of(store, RowKind.CLICK))
        assert events == {("minted", "none"): 1, ("consumed", "none"): 1, ("refused", "already_consumed"): 63}
        assert [result for result, _ in await told_of(store, RowKind.ACT)] == ["running", "done"]
        assert isinstance(await store.verify(), Verified)


async def test_an_effect_whose_process_is_killed_is_told_unknown_and_never_begun_again(
    target: str, tmp_path: Path
) -> None:
    effects = tmp_path / "effects"
    async with await opened(target) as store:
        await minted(store, "c1")
        with clicker("stick", target, effects) as process:
            begin(process)
            assert process.stdout is not None
            assert json.loads(process.stdout.readline()) == [None]
            assert await store.handoff.sweep(later(5)) == 0
            process.kill()
            process.wait(WITHIN_S)
        assert (await store.handoff.act("act-c1")).state is ActState.RUNNING
        assert await store.handoff.sweep(later(5)) == 1
        assert (await store.handoff.act("act-c1")).state is ActState.UNKNOWN
        assert await store.handoff.begin("act-c1", RULED, later(6)) is False
        assert (await store.handoff.press("c1", "ada", later(6))).refusal is Refusal.ALREADY_CONSUMED
        assert await store.handoff.due_acts() == ()
        assert [result for result, _ in await told_of(store, RowKind.ACT)] == ["running", "unknown"]
        assert isinstance(await store.verify(), Verified)
