"""Fakes of what a run needs: a store in memory, rungs that answer from a script, a clock that is told."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from decide.brief import Brief
from decide.fault import StoreError
from decide.handoff.ports import Hold
from decide.ladder import Role
from decide.ledger import Row
from decide.policy import default_rows
from decide.ports import (
    Access,
    Ask,
    Busy,
    Caps,
    CapSpent,
    Claim,
    Claimed,
    Conflict,
    Decided,
    Ending,
    KeptPass,
    Ready,
    Reservation,
    SeatAccess,
    Settlement,
)
from decide.question import Option, Question
from decide.reply import Billing, Failure, Reply, Trouble, Usage
from decide.seat import Quota, Seat, Token, TokenState
from decide.setup import RungSetup, Setup
from decide.snapshot import Evidence, Snapshot, Source, SourceKind

NOW = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
QUESTION = Question(
    "Which cache library do we keep?", (Option("opt_a", "Keep the first"), Option("opt_b", "Keep the other"))
)

Answer = Ask


@dataclass(slots=True)
class Known:
    """What the store keeps of a question."""

    digest: str
    snapshot: str | None = None
    kept: list[KeptPass] = field(default_factory=list)
    attempts: int = 0
    receipt: Mapping[str, Any] | None = None
    run: str | None = None


@dataclass(slots=True)
class MemoryStore:
    """A store that forgets when its process ends; `fault` makes every method raise it, from call `after` on."""

    questions: dict[str, Known] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    receipts: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    reserved: dict[str, int] = field(default_factory=dict)
    charged: dict[str, int] = field(default_factory=dict)
    fault: StoreError | None = None
    fault_in: frozenset[str] = frozenset({"claim", "reserve", "settle", "end", "hold"})

    def _check(self, method: str) -> None:
        if self.fault is not None and method in self.fault_in:
            raise self.fault

    async def claim(self, claim: Claim) -> Claimed:
        self._check("claim")
        known = self.questions.setdefault(claim.question_key, Known(claim.question_digest))
        if known.digest != claim.question_digest:
            return Conflict(known.digest)
        if known.receipt is not None:
            return Decided(known.receipt)
        if known.run not in (None, claim.run_id):
            return Busy(str(known.run), "elsewhere")
        known.run = claim.run_id
        ready = Ready(known.snapshot, tuple(known.kept), known.attempts)
        if claim.first is None or known.snapshot is not None:
            return ready
        spent = await self.reserve(claim.first)
        return replace(ready, reserved=spent is None, spent=spent)

    async def reserve(self, reservation: Reservation) -> CapSpent | None:
        self._check("reserve")
        caps, taken = reservation.caps, [*self.reserved.values(), *self.charged.values()]
        worst = sum(slot.micro_usd for slot in reservation.slots)
        if caps.passes_per_day is not None and len(taken) + len(reservation.slots) > caps.passes_per_day:
            return CapSpent("passes", len(taken), caps.passes_per_day)
        if caps.micro_usd_per_day is not None and sum(taken) + worst > caps.micro_usd_per_day:
            return CapSpent("usd", sum(taken), caps.micro_usd_per_day)
        self.reserved |= {slot.call_id: slot.micro_usd for slot in reservation.slots}
        self.questions[reservation.question_key].snapshot = reservation.snapshot
        self.rows += reservation.rows
        return None

    async def settle(self, settlements: Sequence[Settlement]) -> None:
        await self._charged(settlements)

    async def _charged(self, settlements: Sequence[Settlement]) -> None:
        self._check("settle")
        for one in settlements:
            if self.reserved.pop(one.call_id, None) is None:
                continue
            self.charged[one.call_id] = one.micro_usd
            self.rows.append(one.row)
            if one.kept is not None:
                self.questions[one.row.question].kept.append(one.kept)

    async def hold(self, hold: Hold) -> None:
        self._check("hold")
        self.receipts[hold.receipt_id] = json.loads(json.dumps(hold.receipt))

    async def end(self, ending: Ending) -> None:
        self._check("end")
        await self._charged(ending.settlements)
        known = self.questions[ending.question_key]
        known.snapshot = known.snapshot or ending.snapshot
        known.attempts += ending.counts_as_attempt
        known.receipt = ending.receipt if ending.closed else None
        known.run = None
        self.receipts[ending.receipt_id] = json.loads(json.dumps(ending.receipt))
        self.rows += ending.rows
        for call_id in [one for one in self.reserved if one.startswith(f"{ending.run_id}-")]:
            del self.reserved[call_id]

    async def release(self, run_id: str) -> None:
        for known in self.questions.values():
            known.run = None if known.run == run_id else known.run


@dataclass(slots=True)
class Clock:
    """A clock that moves when it is told to, and a little at every look, as real ones do."""

    now: datetime = NOW
    step: timedelta = timedelta(milliseconds=1)

    def __call__(self) -> datetime:
        self.now += self.step
        return self.now

    def monotonic(self) -> float:
        return (self.now - NOW).total_seconds()


def verdict_text(brief: Brief, **fields: Any) -> str:
    """A verdict as a model writes it, with the brief's nonce."""
    verdict = {"nonce": brief.nonce, "resolvable": True, "rec": "", "kind": "", "gap": "", "touches": []}
    return json.dumps(verdict | {"rationale": "it is simpler"} | fields)


def says(rec: str, *, model: str | None = None, **fields: Any) -> Answer:
    """A model that names one option."""

    async def answer(brief: Brief, access: Access) -> Reply:
        text = verdict_text(brief, rec=rec, **fields)
        return Reply(text, models=(model or access.model,), usage=Usage(input=1_000, output=100))

    return answer


def declines(kind: str = "needs_human", **fields: Any) -> Answer:
    """A model that says why it does not decide."""

    async def answer(brief: Brief, access: Access) -> Reply:
        text = verdict_text(brief, resolvable=False, kind=kind, **fields)
        return Reply(text, models=(access.model,), usage=Usage(input=1_000, output=100))

    return answer


def fails(failure: Failure, *, billed: bool = False, **fields: Any) -> Answer:
    """A call that ends in trouble."""

    async def answer(brief: Brief, access: Access) -> Reply:
        return Reply(trouble=Trouble(failure, billed=billed, **fields))

    return answer


def by_place(place: int) -> Answer:
    """A model that names whatever stands at a place of its own brief."""

    async def answer(brief: Brief, access: Access) -> Reply:
        return await says(brief.options[place])(brief, access)

    return answer


class InTurn:
    """A model that answers each call in its own way, the last one ever after."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = answers
        self._left = list(answers)

    def fresh(self) -> "InTurn":
        """The same model before its first call."""
        return InTurn(*self._answers)

    async def __call__(self, brief: Brief, access: Access) -> Reply:
        answer = self._left.pop(0) if len(self._left) > 1 else self._left[0]
        return await answer(brief, access)


def in_turn(*answers: Answer) -> Answer:
    """A model that answers each call in its own way, the last one ever after; each ladder gets it anew."""
    return InTurn(*answers)


async def hangs(brief: Brief, access: Access) -> Reply:
    """A call that never ends."""
    await asyncio.Event().wait()
    raise AssertionError("nobody sets that event")


@dataclass(slots=True)
class Scripted:
    """A rung that answers from a script and keeps what it was asked."""

    answer: Answer
    briefs: list[Brief] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    out: int = 0
    most_out: int = 0

    async def __call__(self, brief: Brief, access: Access) -> Reply:
        self.briefs.append(brief)
        self.accesses.append(access)
        self.out += 1
        self.most_out = max(self.most_out, self.out)
        try:
            await asyncio.sleep(0)
            return await self.answer(brief, access)
        finally:
            self.out -= 1


def seat(name: str, **fields: Any) -> Seat:
    """A seat that can be used."""
    values: dict[str, Any] = {"token": Token(TokenState.LIVE), "quota": Quota.UNMETERED}
    return Seat(name, **(values | fields))


def access_of(one: Seat, *, renews: bool = False) -> SeatAccess:
    """How a fake seat is reached."""
    return SeatAccess(one, Access(one.name, "", "", 0.0), Billing.SUBSCRIPTION, client_renews=renews)


def rung(
    name: str, ask: Answer, *, role: Role, seats: Sequence[SeatAccess] | None = None, **fields: Any
) -> RungSetup:
    """A rung with one usable seat, unless others are given."""
    given = [access_of(seat(f"{name}-seat"))] if seats is None else list(seats)
    model = fields.pop("model", f"{name}-model")

    async def now_seats() -> Sequence[SeatAccess]:
        return given

    accepted = fields.pop("accepted", frozenset({model}))
    return RungSetup(name, role, model, accepted, ask, now_seats, **fields)


def setup_of(primary: Answer, second: Answer, store: Any = None, /, **fields: Any) -> Setup:
    """A whole ladder of fable and astra, on fakes."""
    clock, count = Clock(), iter(range(1, 100_000))
    primary, second = (one.fresh() if isinstance(one, InTurn) else one for one in (primary, second))

    async def freeze(sources: Sequence[Source]) -> Snapshot:
        return Snapshot(tuple(Evidence(SourceKind.TEXT, f"text {n}", s.place) for n, s in enumerate(sources, 1)))

    async def sleep(seconds: float) -> None:
        clock.now += timedelta(seconds=seconds)
        await asyncio.sleep(0)

    values: dict[str, Any] = {
        "primary": rung("fable", primary, role=Role.PRIMARY),
        "second": rung("astra", second, role=Role.SECOND),
        "store": store or MemoryStore(),
        "rows": default_rows(),
        "freeze": freeze,
        "price": lambda usage, model: usage.total,
        "clock": clock,
        "monotonic": clock.monotonic,
        "sleep": sleep,
        "fresh_id": lambda: f"id{next(count):05d}",
        "caps": Caps(),
    }
    return Setup(**(values | fields))
