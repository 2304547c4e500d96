import json
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from canary.demo.day import clock
from canary.demo.decisions import Decisions
from canary.demo.questions import CAPS, DAY, Asked, answer
from canary.demo.script import Vendor
from canary.demo.show import START, Demo
from canary.ledger import Ledger
from decide.gate import fired
from decide.ledger import RowKind
from decide.policy import default_rows
from decide.ruling import Outcome

OUTCOMES = {
    "12:05": "agreed",
    "12:20": "agreed",
    "12:50": "reconsidered",
    "13:10": "agreed",
    "13:40": "needs_human",
    "14:05": "agreed",
    "14:35": "needs_human",
    "15:10": "needs_human",
    "15:40": "needs_human",
    "16:10": "needs_human",
    "16:20": "agreed",
    "17:20": "reconsidered",
    "18:05": "agreed",
    "18:50": "agreed",
    "19:35": "single_rung",
    "19:55": "single_rung",
    "20:10": "walled",
    "20:45": "agreed",
    "21:15": "cancelled",
    "21:40": "single_rung",
    "22:10": "error",
    "22:45": "agreed",
    "23:40": "held",
}


class Hand:
    """Real seconds as a hand sets them."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


async def test_the_day_shows_every_outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hand = Hand()
    (tmp_path / "logins").mkdir()
    demo = Demo(tmp_path / "logins", speed=1.0, real=hand)
    state = tmp_path / "state"
    state.mkdir()
    async with demo.provided() as base_url:
        decisions = Decisions(demo.config(base_url, "127.0.0.1:0"), state, demo.clock)
        for one in DAY:
            hand.seconds = clock(one.at).total_seconds() + 30
            demo.set_stage()
            demo.clock.thaw()
            await decisions.due()
            await decisions.due()
    ledger = Ledger(state / "ledger.db")
    store = await ledger.opened()
    lines = await store.receipts(100)
    found = {
        json.loads(json.dumps(await store.receipt(line.receipt_id)))["question"]["id"][-4:]: line.outcome
        for line in lines
    }
    rows = Counter(entry.row.kind for entry in await store.rows_after(0, 10_000))
    await ledger.close()
    assert {f"{name[:2]}:{name[2:]}": outcome for name, outcome in found.items()} == OUTCOMES
    assert set(OUTCOMES.values()) == {outcome.value for outcome in Outcome}
    assert rows[RowKind.DECISION] == len(DAY)


@pytest.mark.parametrize("one", DAY, ids=lambda one: one.at)
def test_no_question_of_the_day_fires_by_its_text(one: Asked) -> None:
    question = one.question(START)
    options: Sequence[tuple[str, str, tuple[str, ...]]] = [(o.id, o.text, ()) for o in question.options]
    assert fired(default_rows(), question=question.text, options=options) == ()


def test_whatever_is_no_brief_is_answered_with_hello() -> None:
    assert "hello" in answer(Vendor.CLAUDE, "What is the weather?")
    assert timedelta() < clock(DAY[0].at) < clock(DAY[-1].at) < timedelta(hours=12)
    assert CAPS["passes_per_day"] > 0
