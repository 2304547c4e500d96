"""Run: one question taken through the ladder, from its frozen snapshot to its receipt (design 4.3)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from decide import snapshot
from decide.brief import Brief, compose
from decide.checking import checked
from decide.consultation import Order, wanting
from decide.consulting import Asking, Consulting
from decide.day import day_of
from decide.ending import Ender
from decide.fault import StoreError
from decide.gate import Fired, Stage, fired
from decide.handoff.act import Origin
from decide.level import TieBreak
from decide.ports import (
    Busy,
    Claim,
    Conflict,
    Decided,
    KeptPass,
    Ready,
    Reservation,
    Slot,
)
from decide.question import LevelName, Question, UsageError, dump
from decide.receipt import Facts, Receipt
from decide.reply import Usage
from decide.ruling import Outcome, Reconsider, Ruling, rule, rule_again
from decide.setup import Setup
from decide.shown import Shown, differing
from decide.slots import CROSS_CHECK, PARTS, Slots, allot, every
from decide.snapshot import Snapshot, Source, SourceKind
from decide.tasks import gathered, uninterrupted
from decide.verdict import Resolved, accepts
from decide.watch import Ended, Waiting, Watch, unwatched

POLL_S = 0.5
"""How often a question that another run works is looked at again, in seconds."""


async def ask(
    question: Question,
    *,
    setup: Setup,
    sources: Sequence[Source] = (),
    level: LevelName | None = None,
    origin: Origin | None = None,
    watch: Watch = unwatched,
) -> Receipt:
    """Take a question through the ladder and return its receipt (design 4).

    `level` overrides the question's own; `origin` says who asks, None that somebody typed it. A question that is
    decided or declined already is not asked again: its receipt comes back. Raises UsageError for what cannot be
    asked, with nothing spent. When the task is cancelled, the run ends with outcome `cancelled`, its receipt goes to
    `watch` as `Ended`, and CancelledError is raised.
    """
    chosen = setup.levels[level or question.level or setup.level]
    setup = setup.at(chosen)
    refuse_unpriced(setup)
    rungs = tuple((rung.name, rung.role.value, rung.model) for rung in (setup.primary, setup.second))
    facts = Facts(setup.fresh_id(), question, chosen, setup.clock(), rungs, question.key, setup.tie_break.value)
    ender = Ender(setup, facts, origin=origin or Origin())
    try:
        done = await _whole(ender, sources, watch)
    except StoreError as error:
        done = await ender.by_ledger(error)
    watch(Ended(done))
    return done


def briefs(question: Question, frozen: Snapshot, setup: Setup, level: LevelName | None = None) -> tuple[Brief, Brief]:
    """Both briefs of a question, forward and reversed, as either rung would be sent them; nothing is reserved."""
    facts = Facts("", question, setup.levels[level or question.level or setup.level], setup.clock(), (), question.key)
    forward, backward = (_brief(setup, replace(facts, snapshot=frozen), order, ()) for order in Order)
    return forward, backward


def refuse_unpriced(setup: Setup) -> None:
    """Refuse a ladder under a USD cap whose model has no price: its spend could not be held to the cap (design 8).

    Raises UsageError.
    """
    if setup.caps.micro_usd_per_day is None:
        return
    for rung in (setup.primary, setup.second):
        if not rung.own_price and setup.price(Usage(), rung.model) is None:
            raise UsageError(
                f"unpriced_model: a cap in USD is set, and model {rung.model!r} of rung {rung.name!r} has no price; "
                "give it one in the price file, or remove usd_per_day"
            )


@dataclass(frozen=True, slots=True)
class _Early:
    """What a run whose evidence is known reserves with its claim."""

    frozen: Snapshot
    slots: Slots
    reservation: Reservation


async def _whole(ender: Ender, sources: Sequence[Source], watch: Watch) -> Receipt:
    """The run from its claim on the question to its receipt."""
    setup, facts = ender.setup, ender.facts
    ender.fired = _fired(setup, facts.question)
    early = await _early(ender, sources)
    first = None if early is None else early.reservation
    claim = Claim(facts.id, facts.key, facts.question.digest, facts.began, setup.lease, first)
    ready = await _claimed(setup, claim, facts.question, watch)
    if isinstance(ready, Decided):
        return Receipt(ready.receipt)
    try:
        frozen = await _frozen(setup, ready, sources, early)
    except BaseException:
        await uninterrupted(setup.store.release(facts.id))
        raise
    cuts = snapshot.cut(frozen, facts.level.evidence_budget)[1]
    ender.facts = replace(facts, attempts=ready.attempts, snapshot=frozen, cuts=cuts)
    ender.first = ready.snapshot is None
    ender.kept = tuple(one for one in ready.kept if stands(one, setup))
    try:
        return await _asked(ender, watch, ready, early)
    except asyncio.CancelledError:
        await uninterrupted(_stopped(ender, watch))
        raise


def stands(one: KeptPass, setup: Setup) -> bool:
    """Whether a pass of an earlier attempt still counts: its rung plays that part, and accepts the model it gave."""
    rung = setup.second if one.consultation in ("second", CROSS_CHECK) else setup.primary
    answered = one.ballot.answered_by
    return one.record["rung"] == rung.name and (not answered.known or accepts(rung.accepted, answered.model))


async def _stopped(ender: Ender, watch: Watch) -> None:
    watch(Ended(await ender.cancelled()))


async def _claimed(setup: Setup, claim: Claim, question: Question, watch: Watch) -> Ready | Decided:
    """The question for this run alone, or its receipt; while another run works it, what that one finds."""
    while True:
        claimed = await setup.store.claim(replace(claim, at=setup.clock()))
        match claimed:
            case Ready() | Decided():
                return claimed
            case Conflict():
                known = f"id {question.id!r} was used for another question ({claimed.digest})"
                raise UsageError(f"{known}; give this one an id of its own")
            case Busy():
                watch(Waiting(claimed.run_id, claimed.host))
                await setup.sleep(POLL_S)
                claim = replace(claim, first=None)  # the day may have rolled while it waited


async def _early(ender: Ender, sources: Sequence[Source]) -> _Early | None:
    """What can be reserved with the claim: all calls, where policy lets the question be asked and nothing has to be
    read for its evidence, so that a question that turns out to be decided cost nothing.
    """
    if _authority(ender) or any(source.kind is not SourceKind.TEXT for source in sources):
        return None
    frozen = await ender.setup.freeze(sources)
    new = replace(ender, facts=replace(ender.facts, snapshot=frozen), first=True)
    slots = _allotted(new)
    return _Early(frozen, slots, _reservation(new, every(slots)))


async def _frozen(setup: Setup, ready: Ready, sources: Sequence[Source], early: _Early | None) -> Snapshot:
    """The evidence: that of the first attempt, else read now, once for both rungs."""
    if ready.snapshot is not None:
        return snapshot.load(ready.snapshot)
    return await setup.freeze(sources) if early is None else early.frozen


def _fired(setup: Setup, question: Question) -> tuple[Fired, ...]:
    options = [(option.id, f"{option.text}\n{option.action}", option.acts) for option in question.options]
    return fired(setup.rows, question=question.text, options=options)


def _authority(ender: Ender) -> list[Fired]:
    return [one for one in ender.fired if one.row.stage is Stage.AUTHORITY]


async def _asked(ender: Ender, watch: Watch, ready: Ready, early: _Early | None) -> Receipt:
    """Policy first, then caps, then both rungs."""
    if authority := _authority(ender):
        return await ender.by_authority(authority)
    if early is not None and (ready.reserved or ready.spent is not None):
        slots, spent = early.slots, ready.spent
    else:
        slots = _allotted(ender)
        spent = await ender.setup.store.reserve(_reservation(ender, every(slots)))
    if spent is not None:
        return await ender.by_cap(spent)
    ender.reserved()
    ender.asking = asking = _asking(ender, slots, watch)
    return await ender.ruled(await _ruled(ender, asking))


def _allotted(ender: Ender) -> Slots:
    """The calls that this attempt may make: those that earlier attempts made and that stand are not made again."""
    setup, facts = ender.setup, ender.facts
    missing = {part: sum(_missing(ender, part, order) for order in Order) for part in PARTS}
    calls = max(sum(missing.values()), facts.level.max_passes - len(ender.kept))
    worst = {
        "primary": setup.primary.max_micro_usd_per_pass,
        "second": setup.second.max_micro_usd_per_pass,
        "reconsideration": setup.primary.max_micro_usd_per_pass,
    }
    return allot([f"{facts.id}-{n}" for n in range(1, calls + 1)], missing, worst)


def _missing(ender: Ender, part: str, order: Order) -> int:
    return wanting([one.ballot for one in _standing(ender, part)], order, ender.facts.level.votes)


def _standing(ender: Ender, part: str) -> list[KeptPass]:
    return [one for one in ender.kept if one.consultation == part]


def _reservation(ender: Ender, slots: tuple[Slot, ...]) -> Reservation:
    setup, facts, now = ender.setup, ender.facts, ender.setup.clock()
    return Reservation(
        run_id=facts.id,
        question_key=facts.key,
        question=dump(facts.question),
        snapshot=snapshot.dump(facts.frozen),
        day=day_of(now, setup.caps.zone),
        at=now,
        slots=slots,
        caps=setup.caps,
        rows=ender.opening(now),
    )


def _asking(ender: Ender, slots: Slots, watch: Watch) -> Asking:
    setup, facts = ender.setup, ender.facts
    class_rows = [one.row.id for one in ender.fired if one.row.stage is Stage.CLASS]
    return Asking(
        setup=setup,
        question=facts.question,
        key=facts.key,
        level=facts.level,
        receipt=facts.id,
        slots=slots,
        brief=lambda order, shown: _brief(setup, facts, order, shown),
        class_row=class_rows[0] if class_rows else "",
        watch=watch,
    )


def _brief(setup: Setup, facts: Facts, order: Order, shown: Sequence[Shown]) -> Brief:
    return compose(
        facts.question,
        facts.frozen,
        order=order,
        nonce=setup.fresh_id(),
        level=facts.level,
        rows=setup.rows,
        shown=shown,
    )


async def _ruled(ender: Ender, asking: Asking) -> Ruling:
    """Both rungs at once, a look for faults where they agree and the level has one, at most one reconsideration."""
    setup = ender.setup
    seats = await asyncio.gather(setup.primary.seats(), setup.second.seats())
    primary, second = Consulting(asking, setup.primary, seats[0]), Consulting(asking, setup.second, seats[1])
    first, other = await gathered(
        [
            primary.consult("primary", _standing(ender, "primary")),
            second.consult("second", _standing(ender, "second")),
        ]
    )
    ruling = rule(first, other)
    if isinstance(ruling, Ruling):
        due = asking.level.cross_check or _standing(ender, CROSS_CHECK)
        if ruling.outcome is not Outcome.AGREED or not due:
            return ruling
        return await checked(ruling, primary, second, lambda part: _standing(ender, part))
    await asking.settler.flush()
    told = _rationales(ender, asking, ruling) if setup.tie_break is TieBreak.WITH_RATIONALES else ()
    again = await primary.consult("reconsideration", _standing(ender, "reconsideration"), differing(told))
    return rule_again(ruling.primary, ruling.second, again)


def _rationales(ender: Ender, asking: Asking, sides: Reconsider) -> tuple[str, ...]:
    """What each side said for its option, in the options' own order, so that nothing shows whose it is."""
    results = [one.ballot.result for one in ender.kept] + [made.result for made in asking.passes if made.result]
    said: dict[str, str] = {}
    for result in results:
        if isinstance(result, Resolved) and result.rationale:
            said.setdefault(result.option_id, f"for {result.option_id}: {result.rationale}")
    named = {sides.primary.option_id, sides.second.option_id}
    return tuple(said[o.id] for o in ender.facts.question.options if o.id in named and o.id in said)
