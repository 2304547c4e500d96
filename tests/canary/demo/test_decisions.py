import os
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from canary.demo.day import clock
from canary.demo.decisions import KINDS, Decisions
from canary.demo.people import DEEDS
from canary.demo.questions import CAPS, DAY, Asked, answer
from canary.demo.script import Vendor
from canary.demo.show import START, Demo
from canary.ledger import Ledger
from canary.reaching import Means, Reaching
from decide.gate import fired
from decide.handoff.effect import runner
from decide.ledger import RowKind
from decide.policy import default_rows
from decide.ruling import Outcome
from decide.rungs.http import Request, Response

OUTCOMES = {
    "12:05": "agreed",
    "12:20": "agreed",
    "12:35": "agreed",
    "12:50": "reconsidered",
    "13:10": "agreed",
    "13:25": "agreed",
    "13:40": "needs_human",
    "14:05": "agreed",
    "14:35": "needs_human",
    "15:10": "needs_human",
    "15:25": "agreed",
    "15:40": "needs_human",
    "16:10": "needs_human",
    "16:15": "needs_human",
    "16:20": "agreed",
    "17:20": "reconsidered",
    "18:05": "agreed",
    "18:50": "agreed",
    "19:35": "single_rung",
    "19:55": "single_rung",
    "20:10": "walled",
    "20:45": "agreed",
    "21:05": "agreed",
    "21:15": "cancelled",
    "21:40": "single_rung",
    "21:50": "needs_human",
    "22:10": "error",
    "22:45": "agreed",
    "23:05": "needs_human",
    "23:20": "agreed",
    "23:40": "held",
}
LEFT_WAITING = {"1340", "1615", "2305"}
ACTS = {"1235": "done", "1525": "clicked", "2105": "failed", "2320": "clicked"}
CLICKS = {"minted": 4, "consumed": 2, "refused": 2, "expired": 1}
QUEUE = {"entered": 9, "answered": 4, "cancelled": 1, "resolved": 1}
VIEWER = "vera"


class Hand:
    """Real seconds as a hand sets them."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def at(hand: Hand, demo: Demo, time: str) -> None:
    """Let the day reach half a minute past a clock time."""
    hand.seconds = clock(time).total_seconds() + 30
    demo.set_stage()
    demo.clock.thaw()


async def no_hook(request: Request) -> Response:
    """The demo tells no raiser anything."""
    raise AssertionError(request)


async def test_the_day_shows_every_outcome_and_what_people_do(tmp_path: Path) -> None:
    hand = Hand()
    (tmp_path / "logins").mkdir()
    demo = Demo(tmp_path / "logins", speed=1.0, real=hand)
    state = tmp_path / "state"
    state.mkdir()
    ledger = Ledger(state / "ledger.db")
    async with demo.provided() as base_url:
        config = demo.config(base_url, "127.0.0.1:0")
        decisions = Decisions(config, state, demo.clock, VIEWER)
        means = Means(demo.clock, {}, runner(os.environ), no_hook, KINDS)
        reaching = Reaching(config, state, ledger, means, lambda: True)
        for time in sorted({one.at for one in (*DAY, *DEEDS)} | {"23:50"}):
            at(hand, demo, time)
            await decisions.due()
            await reaching.pull()
            await reaching.carry_soon()
        await reaching.stop()
    store = await ledger.opened()
    receipts = [await store.receipt(line.receipt_id) for line in await store.receipts(100)]
    rows = Counter((entry.row.kind, entry.row.result) for entry in await store.rows_after(0, 10_000))
    waiting = {one.question_key[-4:] for one in await store.handoff.waiting()}
    acts = {
        one.thread[-4:]: (await store.handoff.act(one.act_id)).state.value for one in await store.handoff.clicks(9)
    }
    await ledger.close()
    found: dict[str, list[str]] = {}
    for receipt in reversed(receipts):
        name = receipt["question"]["id"][-4:]
        found.setdefault(f"{name[:2]}:{name[2:]}", []).append(receipt["outcome"])
    assert {time: outcomes[0] for time, outcomes in found.items()} == OUTCOMES
    assert {time: outcomes[1:] for time, outcomes in found.items() if outcomes[1:]} == {"20:10": ["agreed"]}
    assert set(OUTCOMES.values()) == {outcome.value for outcome in Outcome}
    assert waiting == LEFT_WAITING
    assert acts == ACTS
    assert {result: n for (kind, result), n in rows.items() if kind is RowKind.CLICK} == CLICKS
    assert {result: n for (kind, result), n in rows.items() if kind is RowKind.QUEUE} == QUEUE


@pytest.mark.parametrize("one", DAY, ids=lambda one: one.at)
def test_no_question_of_the_day_fires_by_its_text(one: Asked) -> None:
    question = one.question(START)
    options: Sequence[tuple[str, str, tuple[str, ...]]] = [(o.id, o.text, ()) for o in question.options]
    assert fired(default_rows(), question=question.text, options=options) == ()


def test_whatever_is_no_brief_is_answered_with_hello() -> None:
    assert "hello" in answer(Vendor.CLAUDE, "What is the weather?")
    assert timedelta() < clock(DAY[0].at) < clock(DAY[-1].at) < timedelta(hours=12)
    assert CAPS["passes_per_day"] > 0
