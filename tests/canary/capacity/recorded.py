"""Recorded: the incident day's meters as readings, and as the uses that filled them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from canary.capacity.learn import by_window
from canary.capacity.rung import Use
from canary.capacity.scenario import SeatKind, WindowRule
from canary.capacity.seats import SimSeat
from canary.demo.day import CODEX_SEAT, LENGTH, seats_at
from canary.demo.script import MeterKind
from decide.meter import MeterSample, step
from decide.quota import WindowKind

NOON = datetime(2026, 9, 10, 12, 0, tzinfo=UTC)
_KINDS = {kind: WindowKind(kind.value) for kind in MeterKind}


def incident(step_minutes: int = 1) -> Iterator[MeterSample]:
    """What the vendors' own meters said on the day, at every step."""
    for minute in range(0, int(LENGTH / timedelta(minutes=1)) + 1, step_minutes):
        now = NOON + timedelta(minutes=minute)
        for seat in seats_at(now, NOON):
            rung = "astra" if seat.script.name == CODEX_SEAT else "fable"
            for meter in seat.script.windows:
                kind, used = _KINDS[meter.kind], meter.percent / 100
                yield MeterSample(rung, seat.script.name, kind, meter.model or "", now, used, meter.resets_at)


def rung_day(samples: list[MeterSample], rung: str) -> tuple[list[SimSeat], list[Use], list[MeterSample]]:
    """A rung's seats as the first reading found them, what filled them from then on, and its readings."""
    own = [sample for sample in samples if sample.rung == rung]
    names = list(dict.fromkeys(sample.seat for sample in own))
    seats = [_seat(own, name, number) for number, name in enumerate(names)]
    uses = []
    for (_, name, kind, _scope), read in by_window(own).items():
        seat = seats[names.index(name)]
        place = [window.kind for window in seat.kind.windows].index(kind)
        for before, after in pairwise(read):
            grew = step(before, after)
            if grew:
                shares = tuple(grew if each == place else 0.0 for each in range(len(seat.kind.windows)))
                uses.append(Use(_second(after.at), (shares,) * len(seats), seat.number))
    return seats, sorted(uses, key=lambda use: use.second), own


def _seat(own: list[MeterSample], name: str, number: int) -> SimSeat:
    first = {sample.kind: sample for sample in reversed(own) if sample.seat == name}
    rules = tuple(WindowRule(kind, scope=sample.scope) for kind, sample in first.items())
    seat = SimSeat(SeatKind(name, "", rules), number)
    resets = [_second(sample.resets_at) if sample.resets_at else None for sample in first.values()]
    seat.start([sample.used for sample in first.values()], resets, 0)
    return seat


def _second(moment: datetime) -> int:
    return int((moment - NOON).total_seconds())
