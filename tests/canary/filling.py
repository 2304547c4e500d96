"""Filling: rungs whose seats' meters follow functions of the hour, judged by decide's own rules tick by tick."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from decide.ladder import LadderState, Role, RungStatus, judge_ladder, judge_rung
from decide.pick import pick_seat
from decide.quota import Measure, Reading, Window, WindowKind
from decide.reason import Reason
from decide.seat import Quota, Seat, Token, TokenState
from tests.canary.fakes import NOW

SESSION, WEEKLY, MODEL = WindowKind.SESSION, WindowKind.WEEKLY, WindowKind.WEEKLY_MODEL
TICK_MINUTES = 5
LIVE = Token(TokenState.LIVE)


def at(hours: float) -> datetime:
    """So many hours into the test."""
    return NOW + timedelta(hours=hours)


@dataclass(frozen=True, slots=True)
class Fill:
    """A window: what is used at an hour, and the hours of its resets."""

    used: Callable[[float], float]
    kind: WindowKind = SESSION
    resets: Sequence[float] = ()
    scope: str = ""
    measure: Measure = Measure.METERED

    def window(self, hour: float) -> Window:
        """The window as the vendor tells it."""
        reset = next((at(each) for each in self.resets if each > hour), None)
        return Window(self.kind, self.used(hour), reset, self.scope, self.measure)


@dataclass(frozen=True, slots=True)
class Played:
    """A seat of a test: its windows, and what else is true of it from an hour on."""

    fills: Sequence[Fill] = ()
    token: Token = LIVE
    quota: Quota = Quota.METERED
    scopes: tuple[str, ...] = ()
    fails_from: float = 1e9
    overage: bool = False

    def seat(self, name: str, hour: float) -> Seat:
        """The seat as it is read."""
        windows = tuple(fill.window(hour) for fill in self.fills)
        return Seat(
            name,
            self.token,
            self.quota,
            (Reading("test", at(hour), windows, permits_overage=self.overage),),
            Reason.NETWORK if hour >= self.fails_from else None,
            self.scopes,
            allow_overage=self.overage,
        )


Seats = Mapping[str, Played]


@dataclass(frozen=True, slots=True)
class Ladder:
    """Rungs by name, each with its seats by name; the first is the primary."""

    rungs: Mapping[str, Seats] = field(default_factory=dict)

    def state(self, hour: float, now: float | None = None) -> LadderState:
        """What a tick finds that reads at an hour, and ends then or at `now`."""
        ends = hour if now is None else now
        rungs = tuple(self._rung(name, hour, ends) for name in self.rungs)
        return LadderState(at(ends), judge_ladder(rungs), rungs)

    def _rung(self, name: str, hour: float, now: float) -> RungStatus:
        role = Role.PRIMARY if name == next(iter(self.rungs)) else Role.SECOND
        found = [played.seat(seat, hour) for seat, played in self.rungs[name].items()]
        return judge_rung(name, role, pick_seat(found, now=at(now)))

    def states(self, hours: float, begin: float = 0.0) -> Iterator[LadderState]:
        """What the ticks find up to an hour, it included."""
        for minute in range(round(begin * 60), round(hours * 60) + 1, TICK_MINUTES):
            yield self.state(minute / 60)


def line(pace: float, start: float = 0.0, kind: WindowKind = SESSION, resets: Sequence[float] = (48.0,)) -> Fill:
    """A window that fills evenly, so much an hour, until it is full; one of a model is Fable's."""
    return Fill(lambda hour: min(1.0, start + pace * hour), kind, resets, "Fable" if kind is MODEL else "")
