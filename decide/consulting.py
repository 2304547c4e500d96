"""Consulting: one rung asked on one snapshot, both orders at once, seat after seat where one refuses (design 4.2)."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from types import MappingProxyType

from decide import verdict
from decide.brief import Brief
from decide.consultation import (
    AskAgain,
    Ballot,
    Order,
    PassRole,
    State,
    Unreachable,
    consult,
    disagreed,
    wanting,
)
from decide.cross_check import NO_PASS, Check, Skipped
from decide.level import Level
from decide.passes import Call, Pass, answered_by, cost_of, settlement, without
from decide.pick import Pick, pick_seat
from decide.ports import KeptPass, SeatAccess
from decide.question import Question
from decide.refusal import Refusal, marked
from decide.reply import Failure, Reply, Trouble
from decide.seat import SeatState, TokenState
from decide.settler import Settler
from decide.setup import RungSetup, Setup
from decide.shown import Shown, split
from decide.slots import CROSS_CHECK, Slots
from decide.tasks import gathered
from decide.verdict import NoVerdict
from decide.watch import PassIn, PassOut, Watch

log = logging.getLogger("rungwatch")

RENEWS_WITHIN = timedelta(minutes=6)
"""How near its lapse a login is renewed by its client, with a minute to spare (design 4.2)."""
GRACE_S = 15.0
"""How much longer than its own time-out a call is waited for before it is given up, in seconds."""
STARVED: Mapping[SeatState, Failure] = MappingProxyType(
    {SeatState.CAPPED: Failure.SEAT_CAPPED, SeatState.NO_TOKEN: Failure.NEEDS_LOGIN}
)
"""Why a rung none of whose seats can be called was not reached."""


@dataclass(slots=True)
class Asking:
    """What the passes of one run share; `out` are the calls that have not been settled yet.

    `skipped` are checks of the level that were due and were not made.
    """

    setup: Setup
    question: Question
    key: str
    level: Level
    receipt: str
    slots: Slots
    brief: Callable[[Order, Sequence[Shown]], Brief]
    class_row: str
    watch: Watch
    passes: list[Pass] = field(default_factory=list)
    refused: list[Pass] = field(default_factory=list)
    out: dict[str, Call] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    settler: Settler = field(init=False)

    def __post_init__(self) -> None:
        """Settle as long as calls are out."""
        self.settler = Settler(self.setup.store, lambda: bool(self.out))


@dataclass(frozen=True, slots=True)
class _Errand:
    """What passes are made for. `once`: after a call that was paid no further seat is tried."""

    part: str
    role: PassRole
    reread: bool = False
    once: bool = False


class Consulting:
    """One rung's part in a run: its seats as they stand, and the passes that are made through them."""

    def __init__(self, asking: Asking, rung: RungSetup, seats: Sequence[SeatAccess]) -> None:
        self.asking = asking
        self.rung = rung
        self._seats = {one.seat.name: one for one in seats}
        self._leads: dict[str, asyncio.Event] = {}
        self._met: dict[str, Failure] = {}

    async def consult(self, part: str, kept: Sequence[KeptPass], shown: Sequence[Shown] = ()) -> State:
        """The state of a whole consultation; `part` is one of slots.PARTS, `kept` what stands of earlier attempts."""
        ballots = [one.ballot for one in kept]
        if not ballots and self._pick().picked is None:
            return self._starved()
        missing = [one for one in Order for _ in range(wanting(ballots, one, self.asking.level.votes))]
        ballots += await self._passes(_errand(part, PassRole.VOTE), missing, shown)
        state = self._state(ballots, may_repeat=True)
        if isinstance(state, AskAgain):
            ballots += await self._again(part, state, ballots, shown)
            state = self._state(ballots, may_repeat=False)
        if isinstance(state, AskAgain):
            raise TypeError("a consultation that may not be repeated asks for more")
        return self._dated(state)

    async def look(self, shown: Sequence[Shown]) -> Ballot | Skipped:
        """The one pass that looks for faults in an agreed answer, or why there is none (design 4.3)."""
        if self._pick().picked is None:
            return Skipped(Check.CROSS_CHECK, self._starved().failures[0].value)
        if not self.asking.slots.allow(CROSS_CHECK, 1):
            return Skipped(Check.CROSS_CHECK, NO_PASS)
        errand = _Errand(CROSS_CHECK, PassRole.CROSS_CHECK, once=True)
        return (await self._passes(errand, (Order.FORWARD,), shown))[0]

    async def _again(
        self, part: str, due: AskAgain, ballots: Sequence[Ballot], shown: Sequence[Shown]
    ) -> list[Ballot]:
        """One more pass for each order that needs it, as far as calls are left (design 4.2, rules 4 and 5)."""
        if self._pick().picked is None:
            missed = NoVerdict(Trouble(self._starved().failures[0]))
            return [Ballot(order, missed, reread=True) for order in due.split]
        paid = self.asking.slots.allow(part, len(due.orders) + len(due.split))
        rereads = due.split[: max(0, paid - len(due.orders))]
        unpaid = [f"{NO_PASS} for {self.rung.name}, {order} order" for order in due.split[len(rereads) :]]
        self.asking.skipped += [Skipped(Check.SPLIT_REREAD, why) for why in unpaid]
        errand = _errand(part, PassRole.REREAD, reread=True)
        made = await gathered(
            [
                self._passes(_errand(part, PassRole.REPEAT), due.orders[:paid], shown),
                *(self._passes(errand, (one,), (*shown, split(disagreed(ballots, one)))) for one in rereads),
            ]
        )
        return [ballot for several in made for ballot in several]

    def _state(self, ballots: Sequence[Ballot], *, may_repeat: bool) -> State | AskAgain:
        asking, level = self.asking, self.asking.level
        return consult(
            ballots,
            rows=asking.setup.rows,
            class_row=asking.class_row,
            votes=level.votes,
            may_repeat=may_repeat,
            split_reread=level.split_reread,
        )

    def _dated(self, state: State) -> State:
        """The state; a capped rung clears when the first of all its seats does, not only of those that were tried."""
        if not isinstance(state, Unreachable) or Failure.SEAT_CAPPED not in state.failures:
            return state
        return replace(state, clears_at=self._pick().clears_at or state.clears_at)

    def _pick(self) -> Pick:
        return pick_seat([one.seat for one in self._seats.values()], now=self.asking.setup.clock())

    def _starved(self) -> Unreachable:
        pick = self._pick()
        failures = dict.fromkeys(self._met.get(one.name) or STARVED[one.state] for one in pick.seats)
        return Unreachable(tuple(failures) or (Failure.NOT_INSTALLED,), pick.clears_at)

    async def _passes(self, errand: _Errand, orders: Sequence[Order], shown: Sequence[Shown]) -> list[Ballot]:
        briefs = [self.asking.brief(order, shown) for order in orders]
        seen = {order: brief.options for order, brief in zip(orders, briefs, strict=True)}
        if len(set(seen.values())) < len(seen):
            raise ValueError("both orders of the options are the same: a model that picks by place would go unseen")
        return await gathered([self._pass(errand, brief) for brief in briefs])

    async def _pass(self, errand: _Errand, brief: Brief) -> Ballot:
        """One pass through the best seat; where that one turns out to be durably unusable, through the next."""
        last: Ballot | None = None
        while True:
            status = self._pick().picked
            if status is None:
                return last or _unasked(errand, brief, Trouble(self._starved().failures[0]))
            chosen = self._seats[status.name]
            lead = await self._lead(chosen)
            if lead is None:
                continue
            try:
                made = await self._call(errand, brief, chosen)
            finally:
                lead.set()
            if made is None:
                return last or _unasked(errand, brief, Trouble(Failure.CLIENT_ERROR, detail=NO_PASS))
            last = made.ballot
            if not isinstance(made.result, NoVerdict) or not made.result.failure.durable:
                return last
            self._mark(chosen, made.result.trouble)
            if errand.once and not made.refused:
                return last

    async def _lead(self, chosen: SeatAccess) -> asyncio.Event | None:
        """The right to call through a seat, to be set once it has spoken; None when somebody else has just done so.

        Where a seat's client is about to renew its login, one goes first and the others follow (design 4.2).
        """
        if not self._renews(chosen):
            return asyncio.Event()
        lead = self._leads.get(chosen.seat.name)
        if lead is None:
            return self._leads.setdefault(chosen.seat.name, asyncio.Event())
        if lead.is_set():
            return lead
        await lead.wait()
        return None

    def _renews(self, chosen: SeatAccess) -> bool:
        token = chosen.seat.token
        soon = token.expires_at is not None and token.expires_at <= self.asking.setup.clock() + RENEWS_WITHIN
        return chosen.client_renews and (soon or token.state is TokenState.REFRESHABLE)

    def _mark(self, chosen: SeatAccess, trouble: Trouble) -> None:
        """What a durable refusal makes of a seat for the rest of the run (design 4.2)."""
        self._met[chosen.seat.name] = trouble.failure
        now, mark, name = self.asking.setup.clock(), chosen.credential, chosen.seat.name
        refusal = Refusal(self.rung.name, name, trouble.failure, now, trouble.clears_at, mark)
        self._seats[name] = replace(chosen, seat=marked(chosen.seat, refusal, credential=mark, now=now))

    async def _call(self, errand: _Errand, brief: Brief, chosen: SeatAccess) -> Pass | None:
        """One call through one seat, settled; None when no reserved call is left for it."""
        asking = self.asking
        slot = asking.slots.take(errand.part)
        if slot is None:
            return None
        began, started = asking.setup.clock(), asking.setup.monotonic()
        name, billing, mark = chosen.seat.name, chosen.billing, chosen.credential
        part, role, rung = errand.part, errand.role, self.rung.name
        call = Call(slot, part, role, brief.order, rung, name, billing, began, mark, errand.reread)
        asking.out[slot.call_id] = call
        asking.watch(PassOut(slot.call_id, call.rung, call.seat, call.order, role))
        reply = await self._reply(brief, chosen)
        made = self._judged(call, reply, brief, asking.setup.monotonic() - started)
        del asking.out[slot.call_id]
        if made.refused:
            asking.refused.append(made)
            asking.slots.give_back(errand.part, slot)
        else:
            asking.passes.append(made)
            at, level = asking.setup.clock(), asking.level.name.value
            asking.settler.add(settlement(made, at=at, level=level, question=asking.key, receipt=asking.receipt))
        asking.watch(PassIn(slot.call_id, made.word, made.duration_s))
        return made

    async def _reply(self, brief: Brief, chosen: SeatAccess) -> Reply:
        rung = self.rung
        access = replace(chosen.access, effort=self.asking.level.effort, model=rung.model, timeout_s=rung.timeout_s)
        try:
            async with asyncio.timeout(rung.timeout_s + GRACE_S):
                return without(await rung.ask(brief, access), access.secret)
        except TimeoutError:
            return Reply(trouble=Trouble(Failure.TIMEOUT, detail=f"no end after {rung.timeout_s + GRACE_S:.0f} s"))
        except Exception:
            log.exception("rung %s failed; this is a fault of rungwatch, not of its model", rung.name)
            return Reply(trouble=Trouble(Failure.CLIENT_ERROR, detail="rungwatch failed; the log has the traceback"))

    def _judged(self, call: Call, reply: Reply, brief: Brief, duration_s: float) -> Pass:
        rung, asking = self.rung, self.asking
        result = verdict.judge(reply, asking.question, nonce=brief.nonce, accepted=rung.accepted)
        spoke = not isinstance(result, NoVerdict)
        by = answered_by(reply, rung.model, pinned=rung.pins_model and spoke)
        cost = cost_of(reply, by.model if by.known else rung.model, asking.setup.price)
        return Pass(call, duration_s, reply, result, by, cost)


def _errand(part: str, role: PassRole, *, reread: bool = False) -> _Errand:
    """What a consultation's passes are made for; whatever those of the reconsideration are, they are its part."""
    return _Errand(part, PassRole.RECONSIDERATION if part == "reconsideration" else role, reread)


def _unasked(errand: _Errand, brief: Brief, trouble: Trouble) -> Ballot:
    """A pass that was never made, and why."""
    return Ballot(brief.order, NoVerdict(trouble), reread=errand.reread)
