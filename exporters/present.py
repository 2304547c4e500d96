"""Present: what may be said at a moment, for every configured rung, from the very start."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from decide.ladder import LadderState, LadderWord, RungState, RungStatus, as_seen, judge_ladder
from decide.quota import CLOCK_TOLERANCE, WindowState, WindowVerdict
from decide.reason import Reason
from decide.seat import SeatState, SeatStatus
from exporters.view import Forecast, Forecasts, View


@dataclass(frozen=True, slots=True)
class Present:
    """A view at `now`: the ladder's word, one status for each configured rung in order, and since when.

    `state` is the last tick's as it may be shown, None before the first; `stale` says that it is too old to trust.
    `forecasts` hold what still lies ahead of rungs that are reachable and seats that are available.
    """

    now: datetime
    word: LadderWord
    rungs: tuple[RungStatus, ...]
    state: LadderState | None = None
    since: datetime | None = None
    stale: bool = False
    forecasts: Forecasts = field(default_factory=Forecasts)


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
    since = state.since if word is state.state else None
    return Present(now, word, rungs, state, since, stale, _expected(view, rungs, now))


def _expected(view: View, rungs: Iterable[RungStatus], now: datetime) -> Forecasts:
    """What was expected of rungs and seats that can be asked now, as far as it is neither old nor past."""
    made = view.forecasts.made_at
    if made is None or not -CLOCK_TOLERANCE <= now - made <= view.stale_after:
        return Forecasts()
    asked = [rung for rung in rungs if rung.state is RungState.REACHABLE]
    return Forecasts(
        made,
        _ahead({rung.name: view.forecasts.rungs.get(rung.name) for rung in asked}, now),
        {rung.name: _ahead(_of_seats(rung, view.forecasts), now) for rung in asked},
    )


def _of_seats(rung: RungStatus, forecasts: Forecasts) -> Mapping[str, Forecast | None]:
    free = (seat.name for seat in rung.seats if seat.state is SeatState.AVAILABLE)
    return {name: forecasts.seat(rung.name, name) for name in free}


def _ahead(found: Mapping[str, Forecast | None], now: datetime) -> Mapping[str, Forecast]:
    return {name: forecast for name, forecast in found.items() if forecast is not None and forecast.at > now}


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
