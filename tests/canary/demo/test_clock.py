"""Demo clock: faster than real time, nights skipped, and still while a tick reads."""

from datetime import datetime, timedelta

from canary.demo.clock import DemoClock
from canary.demo.show import LENGTH, START


class Seconds:
    """Real seconds that a test sets."""

    def __init__(self) -> None:
        self.value = 50.0

    def __call__(self) -> float:
        return self.value


def test_it_runs_as_many_times_as_fast() -> None:
    real = Seconds()
    clock = DemoClock(START, LENGTH, 120, real)
    assert (clock.now(), clock.monotonic()) == (START, 0.0)
    real.value += 10
    assert (clock.now(), clock.monotonic()) == (START + timedelta(minutes=20), 1200.0)


def test_after_midnight_comes_noon_of_the_next_day_and_time_never_runs_back() -> None:
    real, seen = Seconds(), list[datetime]()
    clock = DemoClock(START, LENGTH, 3600, real)
    for _ in range(30):
        seen.append(clock.now())
        real.value += 1
    assert seen == sorted(seen)
    assert seen[12] == START + timedelta(days=1)
    assert clock.day_start() == START + timedelta(days=2)


def test_it_stands_still_while_it_is_frozen_and_then_catches_up() -> None:
    real = Seconds()
    clock = DemoClock(START, LENGTH, 120, real)
    clock.freeze()
    real.value += 1
    assert clock.now() == START
    clock.thaw()
    assert clock.now() == START + timedelta(minutes=2)
