"""Histories: decisions and meters with known answers."""

import random
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from canary.capacity.history import Decision, History, RungUse
from decide.meter import MeterSample
from decide.quota import WindowKind

MONDAY = datetime(2026, 6, 1, tzinfo=UTC)
USE = RungUse(2, 0, 1000, {("subscription", "provider"): 50_000})
HOUR = timedelta(hours=1)


def decision(at: datetime, level: str = "medium", outcome: str = "agreed", **uses: RungUse) -> Decision:
    """A decision that took the same from both rungs, where nothing else is said."""
    return Decision(at, level, outcome, uses or {"fable": USE, "astra": USE})


def office_hours(weeks: int, per_hour: int = 1) -> tuple[Decision, ...]:
    """So many decisions in each office hour, and one at each end."""
    found = [
        decision(MONDAY + timedelta(weeks=week, days=day, hours=hour, minutes=50 * turn // per_hour))
        for week in range(weeks)
        for day in range(5)
        for hour in range(9, 17)
        for turn in range(per_hour)
    ]
    return (decision(MONDAY), *found, decision(MONDAY + timedelta(weeks=weeks)))


def meter(
    used: Callable[[float], float],
    hours: float,
    *,
    step_minutes: int = 5,
    resets: Sequence[float] = (),
    kind: WindowKind = WindowKind.SESSION,
    seat: str = "desk",
    rung: str = "fable",
) -> Iterator[MeterSample]:
    """A meter whose used ratio is a function of the hour since Monday; it names the next of the resets' hours."""
    for minute in range(0, int(hours * 60) + 1, step_minutes):
        hour = minute / 60
        reset = next((MONDAY + each * HOUR for each in resets if each > hour), None)
        yield MeterSample(rung, seat, kind, "", MONDAY + timedelta(minutes=minute), used(hour), reset)


def busy_meters(seed: int, *, per_hour: float, seats: int = 2, days: int = 10) -> tuple[MeterSample, ...]:
    """Sessions that questions fill by chance, day and night, in whole percents; each goes to the emptiest seat."""
    rng = random.Random(seed)  # noqa: S311 - a history, not a secret
    used, ends = [0.0] * seats, [None] * seats  # type: list[float], list[datetime | None]
    found = []
    for minute in range(0, days * 1440, 5):
        now = MONDAY + timedelta(minutes=minute)
        for seat in range(seats):
            end = ends[seat]
            if end is not None and now >= end:
                used[seat], ends[seat] = 0.0, None
        for _ in range(sum(rng.random() < per_hour / 60 for _ in range(5))):
            seat = min(range(seats), key=used.__getitem__)
            if used[seat] >= 1:
                continue
            used[seat] += rng.uniform(0.02, 0.06)
            ends[seat] = ends[seat] or now + 5 * HOUR
        found += [
            MeterSample("fable", f"desk-{seat}", WindowKind.SESSION, "", now, int(used[seat] * 100) / 100, ends[seat])
            for seat in range(seats)
        ]
    return tuple(found)


def history(weeks: int = 3, samples: Sequence[MeterSample] = ()) -> History:
    """A history of office hours."""
    return History(office_hours(weeks), tuple(samples))
