"""Carry: the one way from an act to what becomes of it: run, offered as a click, or refused (design 4.8)."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from decide.fault import StoreError
from decide.handoff.act import Act, ActEnd
from decide.handoff.click import TTL, Click
from decide.handoff.command import bound
from decide.handoff.effect import Effect
from decide.handoff.entry import HandoffError
from decide.handoff.execution import Fate, Refusal, Rules, Sentence, refused, sentence, shown, withdrawn
from decide.handoff.ports import HandoffStore, NewClick, ThreadBusy
from decide.tasks import uninterrupted, whole

STOPPED = ActEnd(False, None, why="stopped: this process was told to end")
"""How an act ends whose command was cut off, or not started any more."""

log = logging.getLogger("rungwatch")


@dataclass(frozen=True, slots=True)
class Carried:
    """What became of an act: `ruled` is the table's word, `click` the one that is offered, `end` how it ran here.

    `elsewhere`: it was begun or refused before, and nothing was done now.
    """

    ruled: Sentence
    click: Click | None = None
    end: ActEnd | None = None
    elsewhere: bool = False


async def carry(
    act: Act,
    *,
    store: HandoffStore,
    rules: Rules,
    run: Effect,
    clock: Callable[[], datetime],
    fresh_id: Callable[[], str],
    ttl: timedelta = TTL,
) -> Carried:
    """Do with a due act what the table says: run it, offer it as a click for `ttl`, or refuse it.

    It is recorded before it starts and after it ends, and never runs twice. Raises StoreError where that cannot be
    recorded; before it started nothing was run then, after it the act stays `running` until it is told unknown.
    """
    ruled = sentence(act.line, act.surface, rules)
    match ruled.fate:
        case Fate.RUN:
            return await _run(act, ruled, store, rules, run, clock)
        case Fate.CLICK:
            return await _offer(act, ruled, store, NewClick(fresh_id(), clock(), ttl))
        case Fate.REFUSE:
            await store.refuse(act.id, ruled, clock())
            return Carried(ruled)


async def effect_of(
    click: Click, *, store: HandoffStore, rules: Rules, run: Effect, clock: Callable[[], datetime]
) -> ActEnd:
    """Run what a press has consumed and recorded as running, and record how it ended; to be called once for it.

    What left the allow-list since the click was minted does not run. Raises StoreError when the end, which is then
    known to nobody else, cannot be recorded.
    """
    return await _through(click.act_id, click.line, store, rules, run, clock)


async def _run(
    act: Act, ruled: Sentence, store: HandoffStore, rules: Rules, run: Effect, clock: Callable[[], datetime]
) -> Carried:
    began, cancelled = await whole(store.begin(act.id, ruled, clock()))
    if cancelled:
        if began:
            await _stopped(act.id, store, clock)
        raise asyncio.CancelledError
    if not began:
        return Carried(ruled, elsewhere=True)
    return Carried(ruled, end=await _through(act.id, act.line, store, rules, run, clock))


async def _offer(act: Act, ruled: Sentence, store: HandoffStore, new: NewClick) -> Carried:
    """The click of an act, or why none is offered; the store itself records a busy thread's refusal."""
    try:
        minted = await store.mint(act.id, ruled, new)
    except StoreError as error:
        return Carried(withdrawn(ruled, Refusal.STORE, why=str(error)))
    except HandoffError:
        # begun or refused meanwhile
        return Carried(ruled, elsewhere=True)
    if isinstance(minted, ThreadBusy):
        return Carried(withdrawn(ruled, Refusal.THREAD_BUSY, first=minted.first.line))
    return Carried(ruled, click=minted)


async def _through(
    act_id: str, line: str, store: HandoffStore, rules: Rules, run: Effect, clock: Callable[[], datetime]
) -> ActEnd:
    """Run an act that is recorded as running, and record how it ended."""
    found = bound(line, rules.commands)
    try:
        if found is None:
            end = ActEnd(False, None, why=refused(Refusal.NOT_LISTED, line=shown(line)))
        else:
            end = await run(found.words, found.command.timeout_s)
    except asyncio.CancelledError:
        await _stopped(act_id, store, clock)
        raise
    await uninterrupted(store.finish(act_id, end, clock()))
    return end


async def _stopped(act_id: str, store: HandoffStore, clock: Callable[[], datetime]) -> None:
    """Record that a running act was cut off; where that fails it stays `running`, until it is told unknown."""
    try:
        await whole(store.finish(act_id, STOPPED, clock()))
    except StoreError as error:
        log.warning("act %s was stopped, and that could not be recorded: %s", act_id, error.fault)
