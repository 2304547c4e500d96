"""Run: one question taken through the ladder, from its frozen snapshot to its receipt (design 4.3)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from decide import snapshot
from decide.brief import Brief, compose
from decide.consultation import Order
from decide.consulting import Asking, Consulting, votes
from decide.day import day_of
from decide.ending import Ender
from decide.gate import Stage, fired
from decide.ports import Busy, Claim, Conflict, Decided, KeptPass, Ready, Reservation, Slot, StoreError
from decide.question import LevelName, Question, dump
from decide.receipt import Facts, Receipt
from decide.reply import Usage
from decide.ruling import Reconsider, Ruling, rule, rule_again
from decide.setup import Setup, TieBreak, UsageError
from decide.slots import PARTS, Slots, allot, every
from decide.snapshot import Snapshot, Source
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
    watch: Watch = unwatched,
) -> Receipt:
    """Take a question through the ladder and return its receipt (design 4).

    `level` overrides the question's own. A question that is decided or declined already is not asked again: its
    receipt comes back. Raises UsageError for what cannot be asked, with nothing spent. When the task is cancelled,
    the run ends with outcome `cancelled`, its receipt goes to `watch` as `Ended`, and CancelledError is raised.
    """
    refuse_unpriced(setup)
    chosen = setup.levels[level or question.level or setup.level]
    rungs = tuple((rung.name, rung.role.value, rung.model) for rung in (setup.primary, setup.second))
    facts = Facts(setup.fresh_id(), question, chosen, setup.clock(), rungs, question.key, setup.tie_break.value)
    ender = Ender(setup, facts)
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


async def _whole(ender: Ender, sources: Sequence[Source], watch: Watch) -> Receipt:
    """The run from its claim on the question to its receipt."""
    setup, facts = ender.setup, ender.facts
    claim = Claim(facts.id, facts.key, facts.question.digest, facts.began, setup.lease)
    ready = await _claimed(setup, claim, facts.question, watch)
    if isinstance(ready, Decided):
        return Receipt(ready.receipt)
    try:
        frozen = await _frozen(setup, ready, sources)
    except BaseException:
        await uninterrupted(setup.store.release(facts.id))
        raise
    cuts = snapshot.cut(frozen, facts.level.evidence_budget)[1]
    ender.facts = replace(facts, attempts=ready.attempts, snapshot=frozen, cuts=cuts)
    ender.first = ready.snapshot is None
    ender.kept = tuple(one for one in ready.kept if stands(one, setup))
    try:
        return await _asked(ender, watch)
    except asyncio.CancelledError:
        await uninterrupted(_stopped(ender, watch))
        raise


def stands(one: KeptPass, setup: Setup) -> bool:
    """Whether a pass of an earlier attempt still counts: its rung plays that part, and accepts the model it gave."""
    rung = setup.second if one.consultation == "second" else setup.primary
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


async def _frozen(setup: Setup, ready: Ready, sources: Sequence[Source]) -> Snapshot:
    """The evidence: that of the first attempt, else read now, once for both rungs."""
    return snapshot.load(ready.snapshot) if ready.snapshot is not None else await setup.freeze(sources)


async def _asked(ender: Ender, watch: Watch) -> Receipt:
    """Policy first, then caps, then both rungs."""
    setup, question = ender.setup, ender.facts.question
    options = [(option.id, f"{option.text}\n{option.action}", option.acts) for option in question.options]
    ender.fired = fired(setup.rows, question=question.text, options=options)
    authority = [one for one in ender.fired if one.row.stage is Stage.AUTHORITY]
    if authority:
        return await ender.by_authority(authority)
    slots = _allotted(ender)
    spent = await setup.store.reserve(_reservation(ender, every(slots)))
    if spent is not None:
        return await ender.by_cap(spent)
    ender.reserved()
    ender.asking = asking = _asking(ender, slots, watch)
    return await ender.ruled(await _ruled(ender, asking))


def _allotted(ender: Ender) -> Slots:
    """The calls that this attempt may make: those that earlier attempts made and that stand are not made again."""
    setup, facts = ender.setup, ender.facts
    missing = {part: sum(_missing(ender, part, order) for order in Order) for part in PARTS}
    each = len(Order) * facts.level.votes
    standing = sum(each - missing[part] for part in PARTS)
    worst = {
        "primary": setup.primary.max_micro_usd_per_pass,
        "second": setup.second.max_micro_usd_per_pass,
        "reconsideration": setup.primary.max_micro_usd_per_pass,
    }
    return allot([f"{facts.id}-{n}" for n in range(1, facts.level.max_passes - standing + 1)], missing, worst)


def _missing(ender: Ender, part: str, order: Order) -> int:
    return max(0, ender.facts.level.votes - votes([one.ballot for one in _standing(ender, part)], order))


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
        level=facts.level.name.value,
        effort=facts.level.effort,
        votes=facts.level.votes,
        receipt=facts.id,
        slots=slots,
        brief=lambda order, rationales: _brief(setup, facts, order, rationales),
        class_row=class_rows[0] if class_rows else "",
        watch=watch,
    )


def _brief(setup: Setup, facts: Facts, order: Order, rationales: Sequence[str]) -> Brief:
    return compose(
        facts.question,
        facts.frozen,
        order=order,
        nonce=setup.fresh_id(),
        level=facts.level,
        rows=setup.rows,
        rationales=rationales,
    )


async def _ruled(ender: Ender, asking: Asking) -> Ruling:
    """Both rungs at once, and at most one reconsideration of the primary."""
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
        return ruling
    await asking.settler.flush()
    shown = _rationales(ender, asking, ruling) if setup.tie_break is TieBreak.WITH_RATIONALES else ()
    again = await primary.consult("reconsideration", _standing(ender, "reconsideration"), shown)
    return rule_again(ruling.primary, ruling.second, again)


def _rationales(ender: Ender, asking: Asking, differing: Reconsider) -> tuple[str, ...]:
    """What each side said for its option, in the options' own order, so that nothing shows whose it is."""
    results = [one.ballot.result for one in ender.kept] + [made.result for made in asking.passes if made.result]
    said: dict[str, str] = {}
    for result in results:
        if isinstance(result, Resolved) and result.rationale:
            said.setdefault(result.option_id, f"for {result.option_id}: {result.rationale}")
    sides = {differing.primary.option_id, differing.second.option_id}
    return tuple(said[o.id] for o in ender.facts.question.options if o.id in sides and o.id in said)
