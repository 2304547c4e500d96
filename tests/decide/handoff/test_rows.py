"""Every row of the handoff says what happened, why or of which kind, and how long it took."""

import json
from datetime import timedelta
from typing import Any

import pytest

from decide.handoff.act import ActEnd, ActState
from decide.handoff.click import ClickEvent
from decide.handoff.entry import Why
from decide.handoff.execution import Refusal
from decide.handoff.ports import Delivery
from decide.handoff.rows import QueueEvent, act_row, click_row, queue_row, raised_row, webhook_row
from decide.ledger import Row, RowKind
from tests.decide.fakes import NOW

AT = NOW + timedelta(seconds=2)
ENTRY: dict[str, Any] = {"entry_id": "e1", "question": "q", "why": Why.WALLED, "since": NOW}
ACT: dict[str, Any] = {"act_id": "a1", "question": "q", "kind": "write", "line": "unit restart worker"}
CLICK: dict[str, Any] = {"click_id": "c1", "question": "q"}
BAD_END = ActEnd(False, 3, output="long", why="exit status 3")


@pytest.mark.parametrize(
    ("row", "kind", "result", "stage", "lasted_us", "body"),
    [
        (queue_row(QueueEvent.ENTERED, at=NOW, **ENTRY), RowKind.QUEUE, "entered", "walled", 0, {}),
        (
            queue_row(QueueEvent.ANSWERED, at=AT, person="ada", **ENTRY),
            RowKind.QUEUE,
            "answered",
            "walled",
            2_000_000,
            {"person": "ada"},
        ),
        (
            raised_row(at=NOW, item_id="i1", question="q", surface="typed"),
            RowKind.INBOX,
            "raised",
            "typed",
            0,
            {},
        ),
        (
            act_row(ActState.RUNNING, at=NOW, **ACT),
            RowKind.ACT,
            "running",
            "write",
            0,
            {"line": "unit restart worker"},
        ),
        (
            act_row(ActState.FAILED, at=AT, since=NOW, end=BAD_END, **ACT),
            RowKind.ACT,
            "failed",
            "write",
            2_000_000,
            {"line": "unit restart worker", "code": 3, "why": "exit status 3"},
        ),
        (click_row(ClickEvent.MINTED, at=NOW, user="", **CLICK), RowKind.CLICK, "minted", "none", 0, {}),
        (
            click_row(ClickEvent.CONSUMED, at=AT, user="ada", since=NOW, **CLICK),
            RowKind.CLICK,
            "consumed",
            "none",
            2_000_000,
            {"user": "ada"},
        ),
        (
            click_row(ClickEvent.REFUSED, at=AT, user="bob", refusal=Refusal.OTHER_USER, **CLICK),
            RowKind.CLICK,
            "refused",
            "other_user",
            0,
            {"user": "bob"},
        ),
        (
            webhook_row(Delivery.FAILED, at=NOW, item_id="i1", question="q", mark="m1"),
            RowKind.WEBHOOK,
            "failed",
            "",
            0,
            {"mark": "m1"},
        ),
    ],
)
def test_a_row(row: Row, kind: RowKind, result: str, stage: str, lasted_us: int, body: dict[str, object]) -> None:
    assert (row.kind, row.result, row.stage, row.duration_us, row.question) == (kind, result, stage, lasted_us, "q")
    assert json.loads(row.body) == body


def test_a_clock_that_stepped_back_took_no_time() -> None:
    row = queue_row(QueueEvent.ANSWERED, at=NOW, **(ENTRY | {"since": AT}))
    assert row.duration_us == 0


def test_what_a_command_said_is_in_no_row() -> None:
    assert "long" not in act_row(ActState.FAILED, at=AT, end=BAD_END, **ACT).body
