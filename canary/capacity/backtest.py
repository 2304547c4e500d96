"""Backtest: how well forecasts would have done on meters that were read, beside Prometheus' own predict_linear."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby

from canary.capacity.forecast import Outlook, Prospect, Track
from canary.capacity.forecast_rung import rung_outlook
from canary.capacity.naive import predict_linear
from decide.meter import MeterSample, renewed

LEAD = timedelta(hours=1)
"""How long before a window is spent that is to be foreseen."""
WITHIN = timedelta(hours=2)
"""A forecast is an alarm when the moment that it names is no further away than this."""
RANGE = timedelta(hours=1)
"""Over which range predict_linear looks back."""
TICK = timedelta(minutes=1)
"""Readings of one rung this close together are of one tick."""
_OLD = timedelta(minutes=30)
"""How old the forecast may be that stood an hour before: no reading, no judgement."""

Window = tuple[str, str, object, str]


@dataclass(frozen=True, slots=True)
class Score:
    """How one way of forecasting did; shares are None where there was nothing to judge.

    `spent` are the exhaustions with a reading an hour before, `foreseen` the share of them for which an alarm stood
    then. `false` is the share of alarms after which nothing was spent in time. `covered` is the share of intervals
    that held what came, None for a way that gives none.
    """

    spent: int
    foreseen: float | None
    alarms: int
    false: float | None
    intervals: int = 0
    covered: float | None = None


@dataclass(frozen=True, slots=True)
class Backtest:
    """Both ways on the same readings, of windows and of whole rungs; `span` is what was read."""

    windows: Score
    windows_naive: Score
    rungs: Score
    rungs_naive: Score
    samples: int
    span: tuple[datetime, datetime]


@dataclass(slots=True)
class _Line:
    """What was forecast of one thing, reading by reading, and when it was spent."""

    at: list[datetime] = field(default_factory=list)
    outlooks: list[Outlook] = field(default_factory=list)
    naive: list[bool] = field(default_factory=list)
    spent: list[datetime] = field(default_factory=list)
    renewed: list[datetime] = field(default_factory=list)


class _Meter:
    """One window as it is followed."""

    def __init__(self, first: MeterSample) -> None:
        self.track, self.line = Track(first.kind), _Line()
        self.naive = False
        self._seconds: list[float] = []
        self._used: list[float] = []

    def add(self, sample: MeterSample) -> None:
        """Take a reading and note what both ways make of it."""
        before, line = self.track.last, self.line
        if before is not None and renewed(before, sample):
            line.renewed.append(sample.at)
        since = self.track.spent_since
        self.track.add(sample)
        if self.track.spent_since is not None and self.track.spent_since != since:
            line.spent.append(sample.at)
        self._seconds.append(sample.at.timestamp())
        self._used.append(sample.used)
        ahead = WITHIN.total_seconds()
        value = predict_linear(self._seconds, self._used, self._seconds[-1], RANGE.total_seconds(), ahead)
        self.naive = value >= 1.0
        self._note(sample.at)

    def _note(self, now: datetime) -> None:
        self.line.at.append(now)
        self.line.outlooks.append(self.track.outlook(now))
        self.line.naive.append(self.naive)


def backtest(samples: Iterable[MeterSample]) -> Backtest | None:
    """The score over readings; None without any."""
    ordered = sorted(samples, key=lambda sample: (sample.at, sample.rung, sample.seat, sample.kind, sample.scope))
    if not ordered:
        return None
    meters: dict[Window, _Meter] = {}
    rungs: dict[str, _Line] = defaultdict(_Line)
    for _, tick in groupby(ordered, key=lambda sample: sample.at.timestamp() // TICK.total_seconds()):
        read = list(tick)
        for sample in read:
            meters.setdefault(sample.window, _Meter(sample)).add(sample)
        for rung in sorted({sample.rung for sample in read}):
            _note_rung(rungs[rung], {w: m for w, m in meters.items() if w[0] == rung}, read[-1].at)
    windows = [meter.line for meter in meters.values()]
    return Backtest(
        _score(windows, _foreseen, intervals=True),
        _score(windows, _drawn, intervals=False),
        _score(rungs.values(), _foreseen, intervals=True),
        _score(rungs.values(), _drawn, intervals=False),
        len(ordered),
        (ordered[0].at, ordered[-1].at),
    )


def _note_rung(line: _Line, meters: dict[Window, _Meter], now: datetime) -> None:
    seats: dict[str, list[_Meter]] = defaultdict(list)
    for window, meter in meters.items():
        seats[window[1]].append(meter)
    outlook = rung_outlook([[each.track for each in seat] for seat in seats.values()], now)
    before = line.outlooks[-1].prospect if line.outlooks else Prospect.UNKNOWN
    if outlook.prospect is Prospect.SPENT and before is not Prospect.SPENT:
        line.spent.append(now)
    elif before is Prospect.SPENT and outlook.prospect is not Prospect.SPENT:
        line.renewed.append(now)
    line.at.append(now)
    line.outlooks.append(outlook)
    line.naive.append(all(any(each.naive for each in seat) for seat in seats.values()))


def _foreseen(line: _Line, place: int) -> bool:
    """Whether our forecast is an alarm."""
    outlook = line.outlooks[place]
    return outlook.prospect is Prospect.FORESEEN and outlook.at is not None and outlook.at <= line.at[place] + WITHIN


def _drawn(line: _Line, place: int) -> bool:
    """Whether predict_linear is an alarm."""
    return line.naive[place]


def _score(lines: Iterable[_Line], alarms: Callable[[_Line, int], bool], *, intervals: bool) -> Score:
    told = list(lines)
    ahead = [alarms(line, place) for line in told for place in _an_hour_before(line)]
    raised = [_comes(line, place) for line in told for place in _standing(line) if alarms(line, place)]
    held = [covered for line in told for covered in _covered(line)] if intervals else []
    return Score(
        len(ahead),
        _share(ahead),
        len(raised),
        _share([not comes for comes in raised]),
        len(held),
        _share(held),
    )


def _share(found: Sequence[bool]) -> float | None:
    return sum(found) / len(found) if found else None


def _an_hour_before(line: _Line) -> Iterator[int]:
    """For each exhaustion the place of the forecast that stood an hour before, where the thing was not spent then."""
    for spent in line.spent:
        place = bisect_right(line.at, spent - LEAD) - 1
        if place >= 0 and spent - LEAD - line.at[place] <= _OLD and _open(line, place):
            yield place


def _standing(line: _Line) -> Iterator[int]:
    """Places at which the thing was not spent, and what came after is known."""
    return (place for place, at in enumerate(line.at) if _open(line, place) and at + WITHIN <= line.at[-1])


def _open(line: _Line, place: int) -> bool:
    return line.outlooks[place].prospect is not Prospect.SPENT


def _comes(line: _Line, place: int) -> bool:
    """Whether it was spent within the time that an alarm speaks of."""
    spent = _next(line.spent, line.at[place])
    return spent is not None and spent <= line.at[place] + WITHIN


def _next(moments: Sequence[datetime], after: datetime) -> datetime | None:
    place = bisect_left(moments, after)
    return moments[place] if place < len(moments) else None


def _covered(line: _Line) -> Iterator[bool]:
    """For each interval whose end is known, whether it held what came; none is expected to be held for certain."""
    for at, outlook in zip(line.at, line.outlooks, strict=True):
        if outlook.prospect is not Prospect.FORESEEN or outlook.earliest is None:
            continue
        spent = _next(line.spent, at)
        if spent is not None and (outlook.until is None or spent < outlook.until):
            yield outlook.earliest <= spent and (outlook.latest is None or spent <= outlook.latest)
        elif outlook.until is not None and outlook.until <= line.at[-1]:
            yield outlook.latest is None
