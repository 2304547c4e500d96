"""Rung forecast: when the last seat of a rung will be spent, its seats taking over from one another."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from canary.capacity.forecast import LENGTHS, SAFE, UNKNOWN, Outlook, Prospect, Track, seat_outlook
from canary.capacity.pace import Pace, pace_of
from decide.quota import WindowKind

Tracks = Sequence[Track]
Gain = tuple[float, float]
"""The second from now at which a window begins anew, and what it holds again then."""
Reach = Callable[[float], float | None]


@dataclass(frozen=True, slots=True)
class _Pool:
    """What the open seats of a rung have left of one kind of window, and what comes back when."""

    pace: Pace
    left: float
    gains: tuple[Gain, ...]
    horizon_s: float

    def spent_in(self, reach: Reach) -> float | None:
        """Seconds until nothing is left by one way of reckoning; None: not before the horizon."""
        left, spent = self.left, reach(self.left)
        for back, gain in self.gains:
            if spent is not None and spent < back:
                break
            left += gain
            spent = reach(left)
        return spent if spent is not None and spent < self.horizon_s else None

    def outlook(self, now: datetime) -> Outlook | None:
        """When it will be spent, None where that is not expected."""
        at, earliest, latest = (self.spent_in(self._way(number)) for number in range(3))
        if at is None:
            return None
        back = next((now + timedelta(seconds=back) for back, _ in self.gains if back > at), None)
        moments = [None if each is None else now + timedelta(seconds=each) for each in (at, earliest, latest)]
        return Outlook(Prospect.FORESEEN, moments[0], moments[1], moments[2], back)

    def _way(self, number: int) -> Reach:
        return lambda left: self.pace.reaches(left)[number]


def rung_outlook(seats: Iterable[Tracks], now: datetime) -> Outlook:
    """A rung is spent at the first moment at which all of its seats are.

    A seat that is spent leaves its questions to the others, so what is left is what all open seats hold together, and
    it goes at the pace at which all seats filled. That is reckoned for each kind of window that all of them have,
    with what begins anew meanwhile, and the earliest counts. Seats may also be spent by windows of different kinds:
    at the latest the rung is spent once each of them is by its own.
    """
    given = [tuple(tracks) for tracks in seats]
    each = [seat_outlook(track.outlook(now) for track in tracks) for tracks in given]
    if not each or any(one.prospect is Prospect.UNKNOWN for one in each):
        return UNKNOWN
    if all(one.prospect is Prospect.SPENT for one in each):
        since = [one.at for one in each if one.at is not None]
        return Outlook(Prospect.SPENT, max(since, default=None), until=_first(one.until for one in each))
    by_kind = [{track.kind: track for track in tracks} for tracks in given]
    pools = (_pool(kind, by_kind, each, now) for kind in dict.fromkeys(kind for one in by_kind for kind in one))
    pooled = (pool.outlook(now) for pool in pools if pool is not None)
    found = [outlook for outlook in (*pooled, _each_by_its_own(each)) if outlook is not None]
    return min(found, key=lambda outlook: outlook.at or now, default=SAFE)


def _each_by_its_own(seats: Sequence[Outlook]) -> Outlook | None:
    """When the last open seat is spent at its own pace; None where one is not, or one is there again before."""
    left = [one for one in seats if one.prospect is not Prospect.SPENT]
    ends = [one.at for one in left if one.at is not None]
    back = _first(one.until for one in seats)
    if len(ends) < len(left) or (back is not None and back <= max(ends)):
        return None
    earliest = max(one.earliest for one in left if one.earliest is not None)
    latest = [one.latest for one in left if one.latest is not None]
    return Outlook(Prospect.FORESEEN, max(ends), earliest, max(latest) if len(latest) == len(left) else None, back)


def _pool(
    kind: WindowKind, seats: Sequence[Mapping[WindowKind, Track]], each: Sequence[Outlook], now: datetime
) -> _Pool | None:
    """The pool of a kind of window; None where a seat lacks it, or too little is known."""
    tracks = [seat[kind] for seat in seats if kind in seat]
    length = LENGTHS.get(kind)
    if len(tracks) < len(seats) or length is None:
        return None
    open_seats = [one.prospect is not Prospect.SPENT for one in each]
    left = sum(1.0 - _used(track, now) for track, free in zip(tracks, open_seats, strict=True) if free)
    looks = [set(track.looks()) for track in tracks]
    common = sorted(set.intersection(*looks))
    pace = pace_of(
        lambda second: sum(track.grown_at(second) for track in tracks), _latest(tracks, now), max(left, 1e-9), common
    )
    if pace is None:
        return None
    horizon = 2 * length.total_seconds()
    share = pace.rate / len(tracks)
    gains = sorted(
        gain
        for track, outlook in zip(tracks, each, strict=True)
        for gain in _gains(track, outlook, now, share, horizon)
    )
    return _Pool(pace, left, tuple(gains), horizon)


def _used(track: Track, now: datetime) -> float:
    last = track.last
    if last is None or (last.resets_at is not None and last.resets_at <= now):
        return 0.0
    return min(1.0, last.used)


def _latest(tracks: Tracks, now: datetime) -> float:
    return max((track.last.at for track in tracks if track.last is not None), default=now).timestamp()


def _gains(track: Track, outlook: Outlook, now: datetime, share: float, horizon: float) -> Iterable[Gain]:
    """When and by how much a seat's window holds more again: by what is used now, and by what grows until then.

    `share` is what a seat grows a second. A spent seat comes back whole or as it is.
    """
    reset = track.last.resets_at if track.last is not None else None
    back = outlook.until if outlook.prospect is Prospect.SPENT else None
    first = back or reset
    if first is None or first <= now:
        return
    renews = reset is not None and reset <= first
    used, wait = _used(track, now), (first - now).total_seconds()
    yield wait, (1.0 if renews else 1.0 - used) if back is not None else min(1.0, used + share * wait)
    length = LENGTHS[track.kind].total_seconds()
    begin = ((reset if reset is not None and reset > first else first) - now).total_seconds()
    later = (begin + length * number for number in range(0 if begin > wait else 1, 99))
    usual = min(1.0, share * length)
    yield from ((moment, usual) for moment in takewhile(lambda moment: moment < horizon, later))


def _first(moments: Iterable[datetime | None]) -> datetime | None:
    return min((moment for moment in moments if moment is not None), default=None)
