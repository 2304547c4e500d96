"""LadderState: the two rungs as seen by one tick, and the tables that say what they make of the ladder."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from decide.pick import Pick
from decide.quota import CLOCK_TOLERANCE
from decide.reason import Reason
from decide.seat import STALE_AFTER, SeatState, SeatStatus, TokenState


class Role(StrEnum):
    """Which part a rung plays in a decision."""

    PRIMARY = "primary"
    SECOND = "second"


class RungState(StrEnum):
    """Whether quota and token permit a call on a rung."""

    REACHABLE = "reachable"
    UNKNOWN = "unknown"
    UNREACHABLE = "unreachable"


class LadderWord(StrEnum):
    """The ladder in one word."""

    OK = "ok"
    DEGRADED = "degraded"
    DOWN = "down"
    BLIND = "blind"


@dataclass(frozen=True, slots=True)
class RungStatus:
    """A rung as judged at a moment; `seats` in picking order, `configured` how many are configured or listed.

    `reasons` are why it is not reachable, most frequent first, empty when it is. `clears_at` is when the first
    capped seat clears. `since` is when the rung entered its state, None when this is the first tick.
    """

    name: str
    role: Role
    state: RungState
    seats: tuple[SeatStatus, ...] = ()
    picked: str | None = None
    reasons: tuple[Reason, ...] = ()
    clears_at: datetime | None = None
    configured: int = 0
    since: datetime | None = None
    last_reachable_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class LadderState:
    """What one tick found; immutable, replaced whole by the next one.

    `at` is when the tick ended, `duration_s` how many seconds it took. `skew_s` is by how many seconds this
    machine's clock is ahead of the hosts that were read, None when none said. `notes` are troubles of the
    observer itself.
    """

    at: datetime
    state: LadderWord
    rungs: tuple[RungStatus, ...]
    duration_s: float = 0.0
    skew_s: float | None = None
    since: datetime | None = None
    last_ok_at: datetime | None = None
    notes: tuple[Reason, ...] = ()
    demo: bool = False

    def rung(self, name: str) -> RungStatus | None:
        """The rung of that configured name, or None."""
        return next((rung for rung in self.rungs if rung.name == name), None)


@dataclass(frozen=True, slots=True)
class Transition:
    """A recorded change of state of the ladder (`subject` "ladder") or of the rung of that name."""

    at: datetime
    subject: str
    before: str
    after: str
    reasons: tuple[Reason, ...] = ()


def judge_rung(name: str, role: Role, pick: Pick) -> RungStatus:
    """The state of a rung whose seats were judged: reachable > unknown > unreachable (design 5)."""
    states = {status.state for status in pick.seats}
    if SeatState.AVAILABLE in states:
        state = RungState.REACHABLE
    elif SeatState.UNKNOWN in states:
        state = RungState.UNKNOWN
    else:
        state = RungState.UNREACHABLE
    blocked = () if state is RungState.REACHABLE else _reasons(pick.seats)
    return RungStatus(
        name=name,
        role=role,
        state=state,
        seats=pick.seats,
        picked=pick.picked.name if pick.picked else None,
        reasons=blocked or (() if pick.seats else (Reason.NO_SEAT,)),
        clears_at=pick.clears_at,
        configured=len(pick.seats),
    )


def unlisted(rung: RungStatus, reason: Reason) -> RungStatus:
    """A rung whose list of seats cannot be read: never unreachable, since a seat may be there unseen (design 5)."""
    if rung.state is RungState.REACHABLE:
        return rung
    others = tuple(known for known in rung.reasons if known not in (reason, Reason.NO_SEAT))
    return replace(rung, state=RungState.UNKNOWN, reasons=(reason, *others), clears_at=None)


def _reasons(seats: Iterable[SeatStatus]) -> tuple[Reason, ...]:
    counts: dict[Reason, int] = {}
    for status in seats:
        if status.reason is not None:
            counts[status.reason] = counts.get(status.reason, 0) + 1
    return tuple(sorted(counts, key=lambda reason: (-counts[reason], reason.value)))


def judge_ladder(rungs: Iterable[RungStatus]) -> LadderWord:
    """The ladder's word from its two rungs (design 5)."""
    states = [rung.state for rung in rungs]
    reachable = states.count(RungState.REACHABLE)
    if reachable == len(states) and states:
        return LadderWord.OK
    if reachable:
        return LadderWord.DEGRADED
    if states and all(state is RungState.UNREACHABLE for state in states):
        return LadderWord.DOWN
    return LadderWord.BLIND


def follow(
    previous: LadderState | None, state: LadderState, *, stale_after: timedelta = STALE_AFTER
) -> tuple[LadderState, tuple[Transition, ...]]:
    """The state with its `since` and last-good times carried on, and the transitions it makes.

    What went before counts as it could be seen: after a gap in which nobody looked it was unknown, from when it
    was too old to trust, which is a transition too. A clock that stepped back never makes a `since` lie in the
    future.
    """
    before, previous = previous, None
    lapsed: tuple[Transition, ...] = ()
    if before is not None:
        previous = as_seen(before, now=state.at, stale_after=stale_after)
        lapse = replace(previous, at=min(before.at + stale_after, state.at))
        lapsed = tuple(_transitions(before, lapse))
    rungs = tuple(
        _follow_rung(previous.rung(rung.name) if previous else None, rung, state.at) for rung in state.rungs
    )
    same = previous is not None and previous.state is state.state
    since = _earlier(previous.since, state.at) if previous and same else state.at
    last_ok = state.at if state.state is LadderWord.OK else previous.last_ok_at if previous else None
    followed = replace(state, rungs=rungs, since=since, last_ok_at=last_ok)
    return followed, (*lapsed, *_transitions(previous, followed)) if previous else ()


def _follow_rung(previous: RungStatus | None, rung: RungStatus, at: datetime) -> RungStatus:
    same = previous is not None and previous.state is rung.state
    since = _earlier(previous.since, at) if previous and same else at
    seen = at if rung.state is RungState.REACHABLE else previous.last_reachable_at if previous else None
    return replace(rung, since=since, last_reachable_at=seen)


def _earlier(known: datetime | None, now: datetime) -> datetime:
    return min(known, now) if known else now


def _transitions(previous: LadderState, state: LadderState) -> Iterable[Transition]:
    for rung in state.rungs:
        before = previous.rung(rung.name)
        if before is not None and before.state is not rung.state:
            yield Transition(state.at, rung.name, before.state.value, rung.state.value, rung.reasons)
    if previous.state is not state.state:
        yield Transition(state.at, "ladder", previous.state.value, state.state.value)


def stale(state: LadderState, *, now: datetime, stale_after: timedelta) -> bool:
    """Whether a state is too old, or from too far ahead of `now`, to say anything of now."""
    age = now - state.at
    return age > stale_after or age < -CLOCK_TOLERANCE


def as_seen(state: LadderState, *, now: datetime, stale_after: timedelta) -> LadderState:
    """The state as it may be shown at `now`: itself while fresh, else everything unknown and the ladder blind."""
    if not stale(state, now=now, stale_after=stale_after):
        return state
    since = min(state.at + stale_after, now)
    rungs = tuple(
        replace(
            rung,
            state=RungState.UNKNOWN,
            since=rung.since if rung.state is RungState.UNKNOWN else since,
            reasons=(Reason.STALE,),
            picked=None,
            clears_at=None,
            seats=tuple(_forgotten(status) for status in rung.seats),
        )
        for rung in state.rungs
    )
    blind = state.since if state.state is LadderWord.BLIND else since
    return replace(state, state=LadderWord.BLIND, since=blind, rungs=rungs, notes=(*state.notes, Reason.STALE))


def _forgotten(status: SeatStatus) -> SeatStatus:
    token = replace(status.token, state=TokenState.UNKNOWN, reason=Reason.STALE)
    return replace(
        status,
        state=SeatState.UNKNOWN,
        reason=Reason.STALE,
        token=token,
        binding=(),
        headroom=None,
        clears_at=None,
    )
