"""The day of the incident comes out as a rung missing, in the simulator and in the replay minute by minute."""

import pytest

from canary.capacity.rung import RungLog, run_rung
from canary.capacity.seats import SimSeat
from canary.demo.day import clock
from decide.meter import MeterSample
from decide.quota import WindowKind
from tests.canary.capacity.recorded import NOON, incident, rung_day

DAY_S = 12 * 3600
MISSING = {"fable": ("19:26", "20:40"), "astra": ("20:05", "20:25")}


@pytest.fixture(scope="module")
def samples() -> list[MeterSample]:
    return list(incident())


def day(samples: list[MeterSample], rung: str) -> tuple[list[SimSeat], RungLog]:
    seats, uses, _ = rung_day(samples, rung)
    return seats, run_rung(seats, list(range(len(seats))), uses, DAY_S)


@pytest.mark.parametrize("rung", MISSING)
def test_the_rung_is_missing_when_it_was(samples: list[MeterSample], rung: str) -> None:
    _, log = day(samples, rung)
    assert log.missing == [tuple(int(clock(text).total_seconds()) for text in MISSING[rung])]


def test_six_seats_are_out_of_their_fable_week_and_the_seventh_of_its_session(samples: list[MeterSample]) -> None:
    seats, uses, _ = rung_day(samples, "fable")
    until = int(clock("20:00").total_seconds())
    run_rung(seats, list(range(len(seats))), [use for use in uses if use.second <= until], until)
    spent = {
        seat.kind.name: {rule.kind for rule, used in zip(seat.kind.windows, seat.used, strict=True) if used >= 1}
        for seat in seats
    }
    weeks = {WindowKind.WEEKLY_MODEL, WindowKind.WEEKLY}  # desk-3 spent its whole week before the model's
    assert {name: bool(kinds & weeks) for name, kinds in spent.items()} == {
        f"desk-{number}": number < 7 for number in range(1, 8)
    }
    assert spent["desk-7"] == {WindowKind.SESSION}


@pytest.mark.parametrize("rung", MISSING)
def test_meters_looked_at_minute_by_minute_say_the_same(samples: list[MeterSample], rung: str) -> None:
    """Independent of the simulator: a minute is missing when every seat has a meter at 100 % (a spent week stays)."""
    _, _, own = rung_day(samples, rung)
    spent_until: dict[tuple[str, str], float] = {}
    missing = set()
    names = {sample.seat for sample in own}
    for minute in range(DAY_S // 60):
        for sample in own:
            if (
                (sample.at - NOON).total_seconds() == minute * 60
                and sample.used >= 1
                and sample.resets_at is not None
            ):
                spent_until[sample.seat, sample.kind] = (sample.resets_at - NOON).total_seconds()
        out = {seat for (seat, _), until in spent_until.items() if until > minute * 60}
        if out == names:
            missing.add(minute)
    _, log = day(samples, rung)
    assert missing == {minute for begin, end in log.missing for minute in range(begin // 60, end // 60)}
