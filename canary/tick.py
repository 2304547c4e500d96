"""tick: every seat of every rung read at once, inside a deadline, and one immutable state made of it."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from canary.classify import ladder_of, rung_of, skew_of
from canary.login import Login
from canary.memory import Memory, SeatMemory, SourceMemory, counted
from canary.plan import Plan, RungPlan, expand
from canary.probe import probe
from canary.probed import Probed
from canary.sources.target import Target
from canary.world import World
from decide.ladder import LadderState, RungStatus, Transition, follow
from decide.quota import CLOCK_TOLERANCE, disagreements
from decide.reason import Reason
from decide.refusal import Refusal
from exporters.view import ProbeLog, TickResult

log = logging.getLogger("rungwatch")


@dataclass(frozen=True, slots=True)
class Ticked:
    """What a tick gave: the state to publish, what to keep, transitions, each rung's steps, every seat as read."""

    state: LadderState
    memory: Memory
    transitions: tuple[Transition, ...]
    probes: tuple[ProbeLog, ...]
    result: TickResult
    probed: tuple[Probed, ...]


async def tick(
    plan: Plan, memory: Memory, world: World, *, last: datetime | None = None, refusals: Sequence[Refusal] = ()
) -> Ticked:
    """One tick over all rungs; the memory goes in and comes out as a value.

    `refusals` are what decision runs met on seats, oldest first.

    `last` is when this schedule ticked before, from which ticks that were due and did not run are counted; None
    for a single run, which misses none.
    """
    begun, began = world.clock.monotonic(), world.clock.now()
    end = asyncio.get_running_loop().time() + plan.deadline.total_seconds()
    within = min(plan.limits.timeout, plan.deadline)
    rungs = await asyncio.gather(*(expand(rung, world, memory, within) for rung in plan.rungs))
    targets = [target for rung in rungs for target in rung.targets]
    found, late = await _probe_all(targets, plan, memory, world, end)
    late = late or any(rung.unlisted is Reason.TIMEOUT for rung in rungs)
    now = world.clock.now()
    stepped = memory.last_tick_at is not None and memory.last_tick_at - began > CLOCK_TOLERANCE
    memory = _with_skew(memory, found, now, plan.limits.stale_after)
    skew = timedelta(seconds=memory.skew_s) if memory.skew_s is not None else None
    statuses = [_status(rung, found, plan, now, skew, refusals, memory.salt) for rung in rungs]
    state, transitions = follow(
        memory.state,
        ladder_of(
            statuses,
            now=now,
            duration_s=world.clock.monotonic() - begun,
            skew=skew,
            stepped=stepped,
            demo=plan.demo,
        ),
        stale_after=plan.limits.stale_after,
    )
    result = TickResult.TIMEOUT if late or any(_timed_out(probed) for probed in found) else TickResult.OK
    kept = _remembered(memory, found, state, result, missed(last, began, plan.interval), clean=_clean(rungs, found))
    logs = tuple(_logs(rungs, found, state, plan.limits.stale_after))
    return Ticked(state, kept, transitions, logs, result, tuple(found))


def _with_skew(memory: Memory, found: Sequence[Probed], now: datetime, stale_after: timedelta) -> Memory:
    """The memory with the clock difference that hosts told, or without one that is too old to go by."""
    told = skew_of(found)
    if told is not None:
        return replace(memory, skew_s=told, skew_at=now)
    known = memory.skew_at is not None and timedelta() <= now - memory.skew_at <= stale_after
    return memory if known else replace(memory, skew_s=None, skew_at=None)


async def _probe_all(
    targets: Sequence[Target], plan: Plan, memory: Memory, world: World, end: float
) -> tuple[list[Probed], bool]:
    """Every seat as read by `end` (loop time), and whether that cut any off."""
    gate = asyncio.Semaphore(plan.concurrency)
    latest = {target.key: memory.seat(target.key) for target in targets}

    async def one(target: Target) -> Probed:
        def keep(kept: SeatMemory) -> None:
            latest[target.key] = kept

        async with gate:
            return await probe(target, latest[target.key], world, memory.salt, plan.limits, keep=keep)

    tasks = [asyncio.create_task(one(target)) for target in targets]
    if not tasks:
        return [], False
    _, pending = await asyncio.wait(tasks, timeout=max(0.0, end - asyncio.get_running_loop().time()))
    for task in pending:
        task.cancel()
    if pending:
        await asyncio.wait(pending)
    late = any(task.cancelled() for task in tasks)
    return [
        _cut_off(target, latest[target.key]) if task.cancelled() else task.result()
        for target, task in zip(targets, tasks, strict=True)
    ], late


def _cut_off(target: Target, kept: SeatMemory) -> Probed:
    sources = {
        name: SourceMemory(kept.sources.get(name, SourceMemory()).readings, Reason.TIMEOUT) for name in target.sources
    }
    login = Login(fault=Reason.TIMEOUT, steps=("cut off at the deadline of the tick",))
    reads = tuple((name, Reason.TIMEOUT.value) for name in target.sources)
    return Probed(target, login, False, replace(kept, sources=sources), reads, steps=tuple(login.steps))


def _status(
    rung: RungPlan,
    found: Iterable[Probed],
    plan: Plan,
    now: datetime,
    skew: timedelta | None,
    refusals: Sequence[Refusal],
    salt: bytes,
) -> RungStatus:
    return rung_of(
        rung.name,
        rung.role,
        [probed for probed in found if probed.target.rung == rung.name],
        now=now,
        skew=skew,
        stale_after=plan.limits.stale_after,
        unlisted=rung.unlisted,
        refusals=refusals,
        salt=salt,
    )


def _clean(rungs: Iterable[RungPlan], found: Iterable[Probed]) -> bool:
    """Whether every list and every seat stands read, a read held back for its budget included."""
    return all(rung.unlisted is None for rung in rungs) and not any(_failed(probed) for probed in found)


def _remembered(
    memory: Memory, found: Sequence[Probed], state: LadderState, result: TickResult, missing: int, *, clean: bool
) -> Memory:
    reads: dict[str, int] = {}
    for probed in found:
        for source, outcome in probed.reads:
            reads[f"{source} {outcome}"] = reads.get(f"{source} {outcome}", 0) + 1
    return replace(
        memory,
        seats={probed.target.key: probed.memory for probed in found},
        state=state,
        counters=counted(memory.counters, result, reads, missing),
        last_tick_at=state.at,
        last_success_at=state.at if clean else memory.last_success_at,
    )


def missed(last: datetime | None, now: datetime, interval: timedelta) -> int:
    """How many ticks were due between the last one and `now` and did not run; a quarter interval late is in time."""
    if last is None or now <= last:
        return 0
    return max(0, int((now - last) / interval + 0.25) - 1)


def _told(probed: Probed, now: datetime, stale_after: timedelta) -> Iterable[str]:
    """What the sources of a seat say differently of one window, and which of them counts."""
    readings = [reading for kept in probed.memory.sources.values() for reading in kept.readings]
    for odd in disagreements(readings, now=now, stale_after=stale_after):
        name = f"{odd.kind} {odd.scope}".strip()
        yield f"{name}: {odd.spoke} says {odd.used:.0%} and counts, {odd.other} says {odd.other_used:.0%}"


def _logs(
    rungs: Iterable[RungPlan], found: Iterable[Probed], state: LadderState, stale_after: timedelta
) -> Iterable[ProbeLog]:
    by_rung = {rung.name: [probed for probed in found if probed.target.rung == rung.name] for rung in rungs}
    for rung in rungs:
        status = state.rung(rung.name)
        if status is None:
            continue
        states = {seat.name: seat for seat in status.seats}
        lines = [f"rung {rung.name}: {status.state}"]
        if rung.unlisted is not None:
            lines.append(f"  list of seats: {rung.unlisted}, {rung.note}")
        for probed in by_rung[rung.name]:
            seat = states[probed.target.seat]
            lines.extend(f"  {seat.name}: {step}" for step in probed.steps)
            lines.extend(f"  {seat.name}: {told}" for told in _told(probed, state.at, stale_after))
            why = f", {seat.reason}" if seat.reason else ""
            lines.append(f"  {seat.name}: {seat.state}{why}")
        yield ProbeLog(rung.name, state.at, tuple(lines), any(_failed(probed) for probed in by_rung[rung.name]))


def _timed_out(probed: Probed) -> bool:
    return probed.login.fault is Reason.TIMEOUT or any(outcome == Reason.TIMEOUT for _, outcome in probed.reads)


def _failed(probed: Probed) -> bool:
    """Whether a seat stands unread: its login could not be told, or all of its sources failed (design 5)."""
    failures = [kept.failure for kept in probed.memory.sources.values()]
    return probed.login.fault is not None or (bool(failures) and all(failures))
