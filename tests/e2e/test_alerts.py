"""A demo day on a real Prometheus and Alertmanager: panels have data, alerts fire, clear and reach whom they should."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.e2e.panels import every, has_data
from tests.e2e.watching import DAY_S, Told, Watched, watched

pytestmark = [pytest.mark.prometheus, pytest.mark.timeout(900)]
MINUTES, SCRAPE_S = 6.0, 1.0
NOON = 12 * 60
SLACK = 12
"""Minutes of the day by which an alert may be told later than it fires: scrapes, evaluations and a busy machine."""


def clock(text: str) -> float:
    """Minutes since the day began at noon."""
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes) - NOON


@dataclass(frozen=True, slots=True)
class Expected:
    """An alert of the day, in the order of the day: when it is told at the earliest, and when it has cleared."""

    alert: str
    fires: str
    clears: str
    receiver: str = "tickets"
    labels: tuple[tuple[str, str], ...] = ()


EXPECTED = (
    Expected("TokenNeedsLogin", "15:15", "16:00", labels=(("seat", "desk-5"),)),
    Expected("RungMissing", "19:36", "20:40", labels=(("rung", "fable"),)),
    Expected("LadderDown", "20:10", "20:25"),
    Expected("QueueWake", "21:50", "22:20", receiver="pager"),
    Expected("LadderBlind", "22:15", "22:30"),
    Expected("ClockSkewed", "23:05", "23:15"),
)
"""What the day must bring, and who is told of it."""
APART = 10.0
"""Minutes of the day from which on one thing comes before another: they are five seconds of the test's own time."""
PAGED = frozenset({"QueueWake"})
NEVER_SHOWN = frozenset({"rungwatch-oncall: Error budget burn C"})
"""Queries that the day gives no data: half of a window must have been seen, and this is that of a whole day."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the day brought: all that the webhook was told, and the queries that never had data."""

    told: tuple[Told, ...]
    empty: tuple[str, ...]
    start: float

    def minutes(self, one: Told) -> float:
        """When it was told, in minutes since the day began."""
        return (one.at - self.start) / 60


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    with watched(tmp_path_factory.mktemp("watched"), MINUTES, SCRAPE_S) as found:
        start = found.settings.scale.shown // 86_400 * 86_400 + 12 * 3600
        empty = _asked_all_day(found, start)
        yield Seen(tuple(found.told), tuple(empty), start)


def _asked_all_day(found: Watched, start: float) -> list[str]:
    """Ask what has had no data yet, again and again until the day ends."""
    left = list(every(found.settings))
    while found.shown(time.time()) < start + DAY_S - 60:
        left = [one for one in left if not has_data(found, one)]
        time.sleep(2)
    return [one.where for one in left]


def _told(day: Seen, one: Expected, *, firing: bool) -> list[Told]:
    """What was told of it at the time when it should have been."""
    begins, slack = (clock(one.fires), SLACK) if firing else (clock(one.clears), 2 * SLACK)
    return [
        told
        for told in day.told
        if (told.alert, told.firing) == (one.alert, firing)
        and set(one.labels) <= set(told.labels.items())
        and begins <= day.minutes(told) <= begins + slack
    ]


def test_every_query_of_every_panel_and_variable_returns_data(day: Seen) -> None:
    assert set(day.empty) == NEVER_SHOWN


@pytest.mark.parametrize("one", EXPECTED, ids=lambda one: one.alert)
def test_it_fires_at_its_time_and_clears(day: Seen, one: Expected) -> None:
    fired, cleared = _told(day, one, firing=True), _told(day, one, firing=False)
    assert fired
    assert cleared
    assert {told.receiver for told in fired} == {one.receiver}


def test_they_fire_and_clear_in_the_order_of_the_day(day: Seen) -> None:
    due = [(clock(one.fires), one, True) for one in EXPECTED] + [(clock(one.clears), one, False) for one in EXPECTED]
    came = [(at, one.alert, day.minutes(_told(day, one, firing=firing)[0])) for at, one, firing in due]
    apart = [(first, then) for first in came for then in came if then[0] - first[0] >= APART]
    assert [pair for pair in apart if pair[0][2] > pair[1][2]] == []
    assert len(apart) > 50


def test_the_pager_is_told_of_wakes_only(day: Seen) -> None:
    assert {told.alert for told in day.told if told.receiver == "pager"} <= PAGED
    tickets = {one.alert for one in EXPECTED if one.receiver == "tickets"}
    assert {told.alert for told in day.told if told.receiver == "tickets"} >= tickets


def test_the_dead_mans_switch_hears_the_watchdog_all_day(day: Seen) -> None:
    heard = [day.minutes(told) for told in day.told if told.receiver == "deadman"]
    assert {told.alert for told in day.told if told.receiver == "deadman"} == {"Watchdog"}
    assert len(heard) > 20
