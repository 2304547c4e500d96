"""Pass: one model call as it was made, what it cost, and how ledger, receipt and a later attempt tell of it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from decide.consultation import NOBODY, PASS_CANCELLED, UNKNOWN_MODEL, AnsweredBy, Ballot, ModelFrom, Order, PassRole
from decide.ledger import Row, RowKind
from decide.money import dollars
from decide.ports import KeptPass, Settlement, Slot
from decide.reply import Billing, Failure, Reply, Usage
from decide.verdict import Declined, NoVerdict, Resolved, Result

HIDDEN = "[secret]"
RAW_LIMIT = 16_000
"""How many characters of an answer a receipt keeps."""


class CostSource(StrEnum):
    """How a cost is known (design 6)."""

    PROVIDER = "provider"
    PRICE_TABLE = "price_table"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a call cost, in micro-dollars, and who says so."""

    micro_usd: int
    source: CostSource


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is out: on which slot, for what, through which seat, since when.

    `reread`: it is shown the options between which its order's votes are split.
    """

    slot: Slot
    part: str
    role: PassRole
    order: Order
    rung: str
    seat: str
    billing: Billing
    began: datetime
    credential: str = ""
    reread: bool = False


@dataclass(frozen=True, slots=True)
class Pass:
    """A call that has ended: `result` None when its run was cancelled while it was out, `cost` None when unknown."""

    call: Call
    duration_s: float
    reply: Reply
    result: Result | None
    answered_by: AnsweredBy = NOBODY
    cost: Cost | None = None

    @property
    def refused(self) -> bool:
        """Whether the vendor turned the call away before any model worked: then it is no pass (design 4.2)."""
        if not isinstance(self.result, NoVerdict) or self.result.trouble.billed:
            return False
        return self.result.failure.durable or self.result.failure is Failure.RATE_LIMITED

    @property
    def charged(self) -> int:
        """The micro-dollars that caps are charged: what it cost, the worst case where nobody knows."""
        if self.cost is not None:
            return self.cost.micro_usd
        unbilled = isinstance(self.result, NoVerdict) and not self.result.trouble.billed
        return 0 if unbilled else self.call.slot.micro_usd

    @property
    def word(self) -> str:
        """The result in one word: a label value."""
        match self.result:
            case Resolved():
                return "resolved"
            case Declined(kind=kind):
                return kind.value
            case NoVerdict() as none:
                return none.failure.value
            case None:
                return PASS_CANCELLED

    @property
    def ballot(self) -> Ballot:
        """The pass as it counts; raises ValueError for a cancelled one."""
        if self.result is None:
            raise ValueError("a cancelled pass does not count")
        return Ballot(self.call.order, self.result, self.answered_by, self.call.reread)


def cost_of(reply: Reply, model: str, price: Callable[[Usage, str], int | None]) -> Cost | None:
    """What a call cost: the client's own figure, else the table's for a usage; None when neither is known."""
    if reply.cost_micro_usd is not None:
        return Cost(reply.cost_micro_usd, CostSource.PROVIDER)
    priced = price(reply.usage, model) if reply.usage is not None else None
    return None if priced is None else Cost(priced, CostSource.PRICE_TABLE)


def answered_by(reply: Reply, model: str, *, pinned: bool) -> AnsweredBy:
    """The model that answered: named on the wire, else the one that was asked for where the call pins it."""
    named = [model for model in reply.models if model.strip() and model.casefold() != UNKNOWN_MODEL.casefold()]
    if named:
        return AnsweredBy(named[0], ModelFrom.REPORTED)
    return AnsweredBy(model, ModelFrom.REQUESTED) if pinned else NOBODY


def without(reply: Reply, secret: str | None) -> Reply:
    """The reply with its seat's key hidden, should the answer repeat it: receipts hold answers whole."""
    if not secret:
        return reply
    structured = reply.structured
    if structured is not None:
        structured = json.loads(json.dumps(structured).replace(json.dumps(secret)[1:-1], HIDDEN))
    elif secret not in reply.text:
        return reply
    return replace(reply, text=reply.text.replace(secret, HIDDEN), structured=structured)


def settlement(made: Pass, *, at: datetime, level: str, question: str, receipt: str) -> Settlement:
    """How a pass is settled: its slot's charge, its row, and what stands of it for a later attempt."""
    stands = isinstance(made.result, Resolved | Declined)
    kept = KeptPass(made.call.part, made.ballot, record(made)) if stands else None
    return Settlement(
        made.call.slot.call_id, made.charged, row(made, at=at, level=level, question=question, receipt=receipt), kept
    )


def row(made: Pass, *, at: datetime, level: str, question: str, receipt: str) -> Row:
    """The ledger row of a pass."""
    call, usage = made.call, made.reply.usage or Usage()
    trouble = made.result.trouble if isinstance(made.result, NoVerdict) else None
    return Row(
        kind=RowKind.PASS,
        at=at,
        level=level,
        rung=call.rung,
        seat=call.seat,
        role=call.role.value,
        result=made.word,
        billing=call.billing.value,
        source=made.cost.source.value if made.cost else "",
        micro_usd=made.cost.micro_usd if made.cost else 0,
        input_tokens=usage.input,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        output_tokens=usage.output,
        reasoning_tokens=usage.reasoning,
        duration_us=max(0, round(made.duration_s * 1_000_000)),
        question=question,
        receipt=receipt,
        call_id=call.slot.call_id,
        clears_at=trouble.clears_at if trouble else None,
    )


def refusal(made: Pass, *, at: datetime, level: str, question: str, receipt: str) -> Row:
    """The row by which every reader knows that a seat is not to be used for a while, paid call or not."""
    trouble = made.result.trouble if isinstance(made.result, NoVerdict) else None
    return Row(
        kind=RowKind.REFUSED,
        at=at,
        level=level,
        rung=made.call.rung,
        seat=made.call.seat,
        role=made.call.role.value,
        result=made.word,
        question=question,
        receipt=receipt,
        call_id=made.call.slot.call_id,
        clears_at=trouble.clears_at if trouble else None,
        body=json.dumps({"credential": made.call.credential}),
    )


def record(made: Pass) -> dict[str, Any]:
    """A pass as its receipt tells it."""
    call, usage = made.call, made.reply.usage
    tokens = None if usage is None else {name: getattr(usage, name) for name in Usage.__slots__}
    cost = None if made.cost is None else {"usd": dollars(made.cost.micro_usd), "source": made.cost.source.value}
    return {
        "call_id": call.slot.call_id,
        "consultation": call.part,
        "role": call.role.value,
        "order": call.order.value,
        "rung": call.rung,
        "seat": call.seat,
        "billing": call.billing.value,
        "began_at": call.began.isoformat(),
        "duration_s": round(made.duration_s, 3),
        "answered_by": {"model": made.answered_by.model, "from": made.answered_by.source.value},
        "tokens": tokens,
        "cost": cost,
        "charged_usd": dollars(made.charged),
        "left_out": list(made.reply.left_out),
        "verdict": _raw(made.reply),
        "result": _told(made.result),
        "kept": False,
    }


def _raw(reply: Reply) -> str | Mapping[str, Any] | None:
    if reply.structured is not None:
        return dict(reply.structured)
    return reply.text[:RAW_LIMIT] or None


def _told(result: Result | None) -> dict[str, Any]:
    match result:
        case Resolved():
            told = {"state": "resolved", "option": result.option_id, "touches": list(result.touches)}
            return told | {"rationale": result.rationale}
        case Declined():
            told = {"state": "declined", "kind": result.kind.value, "touches": list(result.touches)}
            return told | {"rationale": result.rationale, "gap": result.gap}
        case NoVerdict():
            trouble = result.trouble
            clears = trouble.clears_at.isoformat() if trouble.clears_at else None
            window = trouble.window.value if trouble.window else None
            why = {"reason": result.failure.value, "durable": result.failure.durable, "detail": trouble.detail}
            return {"state": "no_verdict", **why, "window": window, "clears_at": clears}
        case None:
            return {"state": PASS_CANCELLED}
