"""Present: what may be said at a moment, for every configured rung, from the very start."""

from dataclasses import dataclass, replace
from datetime import datetime

from decide.ladder import LadderState, LadderWord, RungState, RungStatus, as_seen, judge_ladder
from decide.quota import WindowState, WindowVerdict
from decide.reason import Reason
from decide.seat import SeatStatus
from exporters.view import View


@dataclass(frozen=True, slots=True)
class Present:
    """A view at `now`: the ladder's word, one status for each configured rung in order, and since when.

    `state` is the last tick's as it may be shown, None before the first; `stale` says that it is too old to trust.
    """

    now: datetime
    word: LadderWord
    rungs: tuple[RungStatus, ...]
    state: LadderState | None = None
    since: datetime | None = None
    stale: bool = False


def present(view: View, now: datetime) -> Present:
    """What a view says at `now`: blind and unknown before the first tick and when the last one is too old."""
    if view.state is None:
        return Present(now, LadderWord.BLIND, tuple(_unseen(view)))
    state = as_seen(view.state, now=now, stale_after=view.stale_after)
    stale = state is not view.state
    if stale:
        state = _aged(view.state, state, now, view)
    known = {rung.name: rung for rung in state.rungs}
    rungs = tuple(known.get(rung.name, rung) for rung in _unseen(view))
    whole = len(known) == len(rungs) and all(rung.name in known for rung in rungs)
    word = state.state if whole else judge_ladder(rungs)
    return Present(now, word, rungs, state, state.since if word is state.state else None, stale)


def seats_configured(rung: RungStatus) -> int | None:
    """How many seats a rung has; None while its list has not been or cannot be read."""
    return None if rung.state is RungState.UNKNOWN and not rung.configured else rung.configured


def _unseen(view: View) -> tuple[RungStatus, ...]:
    return tuple(RungStatus(rung.name, rung.role, RungState.UNKNOWN) for rung in view.rungs)


def _aged(last: LadderState, state: LadderState, now: datetime, view: View) -> LadderState:
    """A stale state whose windows are unknown too, and whose `since` is when it went stale."""
    went = last.at + view.stale_after
    since = went if went <= now else None
    rungs = tuple(
        replace(
            after,
            since=before.since if before.state is RungState.UNKNOWN else since,
            seats=tuple(_aged_seat(*pair) for pair in zip(before.seats, after.seats, strict=True)),
        )
        for before, after in zip(last.rungs, state.rungs, strict=True)
    )
    return replace(state, rungs=rungs, since=last.since if last.state is LadderWord.BLIND else since)


def _aged_seat(before: SeatStatus, after: SeatStatus) -> SeatStatus:
    return replace(after, windows=_aged_windows(before.windows), binding=_aged_windows(before.binding))


def _aged_windows(verdicts: tuple[WindowVerdict, ...]) -> tuple[WindowVerdict, ...]:
    return tuple(replace(verdict, state=WindowState.UNKNOWN, reason=Reason.STALE) for verdict in verdicts)
