"""Foreseeing: when seats and rungs are expected to be spent, from the meters that the daemon's ticks find."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from canary.capacity.forecast import LENGTHS, SAFE, UNKNOWN, Outlook, Prospect, Track, seat_outlook
from canary.capacity.forecast_rung import rung_outlook
from canary.capacity.pace import LOOK_BACK_S
from canary.metering import metered, sample_of
from decide.ladder import LadderState, RungStatus
from decide.meter import MeterSample, WindowName
from decide.quota import CLOCK_TOLERANCE, WindowState
from decide.seat import Quota, SeatState, SeatStatus
from exporters.view import Forecast, Forecasts

FURTHEST = 2 * max(LENGTHS.values())
"""What would come later than this is not foreseen: the longest window will have begun anew, and again."""


class _Without(StrEnum):
    """What a seat without meters to follow is to its rung: nobody can use it, it has no end, or it cannot be told."""

    OUT = "out"
    ENDLESS = "endless"
    UNTOLD = "untold"


_Part: TypeAlias = "tuple[Track, ...] | _Without"


class Foreseeing:
    """The tracks of all windows that were seen lately; one of them, for the life of a daemon."""

    def __init__(self) -> None:
        self._tracks: dict[WindowName, Track] = {}

    def add(self, samples: Iterable[MeterSample]) -> None:
        """Take note of readings, in any order; one that is no later than the last of its window is not new."""
        for sample in sorted(samples, key=lambda sample: sample.at):
            self._tracks.setdefault(sample.window, Track(sample.kind)).add(sample)

    def forecasts(self, state: LadderState, now: datetime) -> Forecasts:
        """What is to be expected of the rungs and seats of a state whose readings were added."""
        self._forget(state, now)
        rungs: dict[str, Forecast] = {}
        seats: dict[str, Mapping[str, Forecast]] = {}
        for rung in state.rungs:
            parts = {seat.name: self._part(rung.name, seat, now) for seat in rung.seats}
            whole = _foreseen(_of_rung(parts.values(), now), now)
            seats[rung.name] = dict(_of_seats(rung, parts, whole, now))
            if whole is not None:
                rungs[rung.name] = whole
        return Forecasts(now, rungs, seats)

    def _forget(self, state: LadderState, now: datetime) -> None:
        """Let go of windows that were not seen for as long as is looked back, and of those from a clock ahead."""
        kept = {window for rung in state.rungs for seat in rung.seats for window in _limits(rung.name, seat)}
        for window, track in list(self._tracks.items()):
            age = (now - track.last.at).total_seconds() if track.last is not None else 0.0
            if age < -CLOCK_TOLERANCE.total_seconds() or (age > LOOK_BACK_S[-1] and window not in kept):
                del self._tracks[window]

    def _part(self, rung: str, seat: SeatStatus, now: datetime) -> _Part:
        """The tracks of what can spend a seat, or what it is without any."""
        match seat.state:
            case SeatState.NO_TOKEN:
                return _Without.OUT
            case SeatState.UNKNOWN:
                return _Without.UNTOLD
            case SeatState.AVAILABLE:
                return self._followed(rung, seat) or _Without.ENDLESS
            case SeatState.CAPPED:
                tracks = self._followed(rung, seat)
                spent = seat_outlook(track.outlook(now) for track in tracks).prospect is Prospect.SPENT
                return tracks if spent else _Without.UNTOLD  # the vendor refused, and no meter says for how long

    def _followed(self, rung: str, seat: SeatStatus) -> tuple[Track, ...]:
        """The tracks of a seat's limits, the fullest of a kind last, for a rung's pool goes by that one."""
        tracks = [self._tracks.get(window, Track(window[2])) for window in _limits(rung, seat)]
        return tuple(sorted(tracks, key=lambda track: track.last.used if track.last is not None else 0.0))


def _limits(rung: str, seat: SeatStatus) -> Iterable[WindowName]:
    """The metered windows that bind; one that has reset since it was read, or is full and lifted, stops nobody."""
    for verdict in metered(seat.binding):
        lifted = verdict.window.full and verdict.state is WindowState.OPEN
        if seat.quota is Quota.METERED and not lifted and verdict.state is not WindowState.DROPPED:
            yield sample_of(rung, seat.name, verdict).window


def _of_rung(parts: Iterable[_Part], now: datetime) -> Outlook:
    """What a rung's seats make of it; seats that nobody can use are none of it."""
    given = [part for part in parts if part is not _Without.OUT]
    if _Without.ENDLESS in given:
        return SAFE
    tracks = [part for part in given if isinstance(part, tuple)]
    return rung_outlook(tracks, now) if len(tracks) == len(given) else UNKNOWN


def _of_seats(
    rung: RungStatus, parts: Mapping[str, _Part], whole: Forecast | None, now: datetime
) -> Iterable[tuple[str, Forecast]]:
    """What is to be expected of the available seats: none of them outlasts its rung."""
    for seat in rung.seats:
        part = parts[seat.name]
        if seat.state is SeatState.AVAILABLE and isinstance(part, tuple):
            own = _foreseen(seat_outlook(track.outlook(now) for track in part), now)
            found = sooner(own, whole) if own is not None and whole is not None else own or whole
            if found is not None:
                yield seat.name, found


def sooner(own: Forecast, whole: Forecast) -> Forecast:
    """A forecast that cannot come after another, moment by moment no later than that one."""
    latest = [each.latest for each in (own, whole) if each.latest is not None]
    return Forecast(min(own.at, whole.at), min(own.earliest, whole.earliest), min(latest, default=None))


def _foreseen(outlook: Outlook, now: datetime) -> Forecast | None:
    """An outlook as a forecast, where there is something ahead to be foreseen."""
    at, earliest = outlook.at, outlook.earliest
    if outlook.prospect is not Prospect.FORESEEN or at is None or earliest is None or not now < at <= now + FURTHEST:
        return None
    return Forecast(at, max(earliest, now), outlook.latest)
