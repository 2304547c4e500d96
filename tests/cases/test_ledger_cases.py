"""Cases of the ledger: what a client streams of one reply is settled once, by its last row (LED-01)."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from decide.money import micro_usd
from decide.ports import Settlement
from decide.reply import Reply
from decide.rungs.claude_events import reply_of
from decide.rungs.process import Finished
from tests.cases.adapter import CASES
from tests.decide.store.work import NOW, claiming, opened, passed, reserving

CASE = CASES["LED-01"]


def streamed(rows: list[dict[str, Any]]) -> Reply:
    """The reply to one call as Claude Code prints it: a message for each row, the counts growing, the result last."""
    events: list[dict[str, Any]] = []
    for row in rows:
        usage = {"input_tokens": 0, "output_tokens": row.get("output_tokens", 0)}
        usage |= {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        events.append({"type": "assistant", "message": {"id": "m", "model": "claude-fable-5", "usage": usage}})
        result = {"type": "result", "is_error": False, "result": "{}", "usage": usage}
        events.append(result | {"total_cost_usd": float(Decimal(row["usd"]))})
    return reply_of(Finished(0, "\n".join(map(json.dumps, events)).encode()), NOW)


async def test_led_01_rows_of_one_streamed_reply_are_settled_once_by_the_last(tmp_path: Path) -> None:
    calls: dict[str, list[dict[str, Any]]] = {}
    for row in CASE["input"]["rows"]:
        calls.setdefault(row["call_id"], []).append(row)
    replies = {call: streamed(rows) for call, rows in calls.items()}
    assert [reply.usage and reply.usage.output for reply in replies.values()] == [384, 0]
    settlements = [passed(call, reply.cost_micro_usd or 0) for call, reply in replies.items()]
    async with await opened(str(tmp_path / "store.db")) as store:
        await store.claim(claiming("r"))
        await store.reserve(reserving("r", *calls))
        await store.settle(settlements)
        await store.settle([Settlement("c1", micro_usd("0.001"), settlements[0].row)])  # an earlier row, told late
        assert await store.day_usage("2026-10-15") == (2, micro_usd("0.048"))
        rows = await store.columns_after(0, 10, ("call_id", "micro_usd"))
    assert sorted(rows) == [("c1", micro_usd("0.038")), ("c2", micro_usd("0.010"))]
