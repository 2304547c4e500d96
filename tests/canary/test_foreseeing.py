"""Foreseeing: which seats and rungs get a forecast, from what their meters did, and when there is none to be had."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canary.foreseeing import FURTHEST, Foreseeing, sooner
from canary.metering import samples_of
from decide.quota import Measure, WindowKind
from decide.reason import Reason
from decide.seat import Quota, Token, TokenState
from exporters.view import Forecast, Forecasts
from tests.canary.filling import MODEL, SESSION, WEEKLY, Fill, Ladder, Played, Seats, at, line

LOGIN = Token(TokenState.NEEDS_LOGIN, Reason.EXPIRED)
KEY = Played(quota=Quota.UNMETERED)
TENTH = Played((line(0.1),))


def watched(ladder: Ladder, hours: float, begin: float = 0.0) -> Forecasts:
    """What is expected once ticks have run up to an hour."""
    foreseeing = Foreseeing()
    for state in ladder.states(hours, begin):
        foreseeing.add(samples_of(state))
    return foreseeing.forecasts(ladder.state(hours), at(hours))


def near(moment: datetime, hours: float, minutes: float = 4) -> bool:
    return abs(moment - at(hours)) <= timedelta(minutes=minutes)


@dataclass(frozen=True, slots=True)
class Case:
    """One rung after four hours: by which hour it is expected to be spent, and each of its seats, None never."""

    name: str
    seats: Seats
    rung: float | None
    each: Mapping[str, float]


SLEEPY = Played((line(0.1),), fails_from=3.9)
REFUSED = Played((line(0.0, 0.9), Fill(lambda hour: 0.0, WEEKLY, (48,), measure=Measure.REFUSED)))
CASES = (
    Case("foreseen", {"desk": TENTH}, 10, {"desk": 10}),
    Case("the first of two windows", {"desk": Played((line(0.1), line(0.02, kind=WEEKLY)))}, 10, {"desk": 10}),
    Case("seats take over", {"a": TENTH, "b": Played((line(0.1, 0.5),))}, 7.5, {"a": 7.5, "b": 5}),
    Case("reset first", {"desk": Played((line(0.1, resets=(5, 10)),))}, None, {}),
    Case("stands still", {"desk": Played((line(0.0, 0.6),))}, None, {}),
    Case("spent", {"desk": Played((line(0.5),))}, None, {}),
    Case("one is spent", {"a": Played((line(0.5),)), "b": TENTH}, 4 + 0.6 / 0.35, {"b": 4 + 0.6 / 0.35}),
    Case("an unmetered seat", {"desk": TENTH, "key": KEY}, None, {"desk": 10}),
    Case(
        "a seat without a quota, whatever a source says of it",
        {"desk": TENTH, "key": Played((line(0.1),), quota=Quota.UNMETERED)},
        None,
        {"desk": 10},
    ),
    Case("no limit", {"desk": Played((Fill(lambda hour: 0.0, measure=Measure.UNLIMITED),))}, None, {}),
    Case("no token is left out", {"desk": TENTH, "out": replace(TENTH, token=LOGIN)}, 10, {"desk": 10}),
    Case("nobody has a token", {"out": replace(TENTH, token=LOGIN)}, None, {}),
    Case("a seat is unknown", {"desk": TENTH, "deaf": SLEEPY}, None, {"desk": 10}),
    Case("a refusal without a meter", {"desk": TENTH, "refused": REFUSED}, None, {"desk": 10}),
    Case("no seat", {}, None, {}),
    Case(
        "lifted",
        {"desk": Played((line(0.5), line(0.02, kind=WEEKLY, resets=(160,))), overage=True)},
        50,
        {"desk": 50},
    ),
    Case(
        "another model's window",
        {"desk": Played((line(0.1), Fill(lambda hour: hour / 5, MODEL, (48,), "Other")), scopes=("Fable",))},
        10,
        {"desk": 10},
    ),
    Case(
        "the fuller of two windows of a kind",
        {
            "desk": Played(
                (line(0.1, 0.3, MODEL), Fill(lambda hour: hour / 100, MODEL, (48,), "Max")), scopes=("Fable", "Max")
            )
        },
        7,
        {"desk": 7},
    ),
    Case(
        "the model's own window",
        {"desk": Played((line(0.1), Fill(lambda hour: hour / 5, MODEL, (48,), "Fable")), scopes=("Fable",))},
        5,
        {"desk": 5},
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_expected_after_four_hours(case: Case) -> None:
    """'one is spent': what the other has left goes at the pace at which both grew in these four hours."""
    found = watched(Ladder({"fable": case.seats}), 4)
    assert found.made_at == at(4)
    whole = found.rungs.get("fable")
    assert (whole is None) == (case.rung is None)
    assert set(found.seats["fable"]) == set(case.each)
    if whole is not None and case.rung is not None:
        assert near(whole.at, case.rung), whole
    for name, hour in case.each.items():
        assert near(found.seats["fable"][name].at, hour), (name, found.seats["fable"][name])


def test_rungs_are_kept_apart() -> None:
    found = watched(Ladder({"fable": {"desk": TENTH}, "astra": {"desk": Played((line(0.2),))}}), 4)
    assert near(found.rungs["fable"].at, 10)
    assert near(found.rungs["astra"].at, 5)
    assert found.seat("astra", "desk") == found.rungs["astra"]
    assert found.seat("astra", "other") is found.seat("other", "desk") is None


@pytest.mark.parametrize(("hours", "known"), [(0.0, False), (0.4, False), (0.5, True)])
def test_half_an_hour_of_readings_is_the_least(hours: float, *, known: bool) -> None:
    assert bool(watched(Ladder({"fable": {"desk": TENTH}}), hours).rungs) == known


def test_after_a_restart_the_past_is_seeded_in_any_order() -> None:
    ladder = Ladder({"fable": {"desk": TENTH}})
    past = [sample for state in ladder.states(3.9) for sample in samples_of(state)]
    seeded, anew = Foreseeing(), Foreseeing()
    seeded.add(reversed(past))
    for foreseeing in (seeded, anew):
        foreseeing.add(samples_of(ladder.state(4)))
    assert seeded.forecasts(ladder.state(4), at(4)) == watched(ladder, 4)
    assert anew.forecasts(ladder.state(4), at(4)).rungs == {}


def test_a_window_that_the_vendor_no_longer_tells_of_limits_nothing() -> None:
    both = Ladder({"fable": {"desk": Played((line(0.1), line(0.001, kind=WEEKLY)))}})
    left = Ladder({"fable": {"desk": Played((line(0.001, kind=WEEKLY),))}})
    foreseeing = Foreseeing()
    for state in both.states(4):
        foreseeing.add(samples_of(state))
    assert near(foreseeing.forecasts(both.state(4), at(4)).rungs["fable"].at, 10)
    assert foreseeing.forecasts(left.state(4), at(4)).rungs == {}


def test_a_window_that_has_reset_since_it_was_read_limits_nothing() -> None:
    """Before its reset the next window is foreseen to be spent at 4 + 1 / 0.24; after it nothing is known of that."""
    ladder = Ladder({"fable": {"desk": Played((line(0.24, resets=(4, 200)), line(0.1, kind=WEEKLY)))}})
    foreseeing, hour = Foreseeing(), 235 / 60
    for state in ladder.states(hour):
        foreseeing.add(samples_of(state))
    assert near(foreseeing.forecasts(ladder.state(hour), at(hour)).seats["fable"]["desk"].at, 4 + 1 / 0.24, 6)
    assert near(foreseeing.forecasts(ladder.state(hour, now=4.05), at(4.05)).seats["fable"]["desk"].at, 10)


def test_an_interval_does_not_begin_before_now() -> None:
    """It fills in steps, of which the next one would spend it: at the earliest right after the reading of 9 min ago."""
    ladder = Ladder({"fable": {"desk": Played((Fill(lambda hour: min(1.0, 0.12 * int(2 * hour)), resets=(48,)),))}})
    foreseeing = Foreseeing()
    for state in ladder.states(4):
        foreseeing.add(samples_of(state))
    found = [foreseeing.forecasts(ladder.state(4, now), at(now)) for now in (4, 4 + 9 / 60)]
    before, after = (each.seats["fable"]["desk"] for each in found)
    assert before.earliest < at(4 + 9 / 60) == after.earliest < after.at


@pytest.mark.parametrize(
    ("pace", "foreseen"), [(1 / (24 * 50), True), (1 / (24 * 80), False)], ids=["50 days", "80 days"]
)
def test_nothing_is_foreseen_beyond_two_of_the_longest_windows(pace: float, *, foreseen: bool) -> None:
    fill = Fill(lambda hour: pace * hour, WindowKind.SPEND)
    found = watched(Ladder({"fable": {"desk": Played((fill,))}}), 24)
    assert bool(found.seats["fable"]) == foreseen
    assert all(each.at <= at(24) + FURTHEST for each in found.seats["fable"].values())


def test_windows_that_are_gone_for_long_are_let_go_and_those_from_a_clock_ahead_at_once() -> None:
    old, ahead = Ladder({"fable": {"old": TENTH}}), Ladder({"fable": {"ahead": TENTH}})
    here = Ladder({"fable": {"desk": Played((line(2.0, resets=(500,)),))}})
    foreseeing = Foreseeing()
    for each in (old.state(0), here.state(1), ahead.state(73)):
        foreseeing.add(samples_of(each))
    names = [{window[1] for window in foreseeing._tracks}]
    for now in (72, 72.1, 80):
        foreseeing.forecasts(here.state(1), at(now))
        names.append({window[1] for window in foreseeing._tracks})
    assert names == [{"old", "desk", "ahead"}, {"old", "desk"}, {"desk"}, {"desk"}]


def forecast(at_: float, earliest: float, latest: float | None) -> Forecast:
    return Forecast(at(at_), at(earliest), None if latest is None else at(latest))


@pytest.mark.parametrize(
    ("own", "whole", "expected"),
    [
        (forecast(3, 2, 4), forecast(5, 3, 9), forecast(3, 2, 4)),
        (forecast(6, 4, None), forecast(5, 4.5, 9), forecast(5, 4, 9)),
        (forecast(6, 4, None), forecast(5, 2, None), forecast(5, 2, None)),
    ],
)
def test_a_seat_does_not_outlast_its_rung(own: Forecast, whole: Forecast, expected: Forecast) -> None:
    assert sooner(own, whole) == expected


PACES = st.lists(st.tuples(st.floats(0.0, 0.4), st.floats(0.0, 0.9), st.sampled_from([5.0, 8.0, 48.0])), min_size=1)


@settings(max_examples=60, deadline=None)
@given(PACES.filter(lambda found: len(found) <= 4), st.sampled_from([SESSION, WEEKLY]))
def test_a_rung_is_never_spent_before_the_first_of_its_seats_nor_after_which_one_of_them_is_left(
    paces: Sequence[tuple[float, float, float]], kind: WindowKind
) -> None:
    seats = {
        f"desk-{number}": Played((line(pace, start, kind, (reset,)),))
        for number, (pace, start, reset) in enumerate(paces)
    }
    found = watched(Ladder({"fable": seats}), 4)
    each = found.seats["fable"]
    for whole in found.rungs.values():
        assert whole.at >= min(one.at for one in each.values())
        assert whole.earliest >= min(one.earliest for one in each.values())
        assert all(one.at <= whole.at for one in each.values())
    for one in [*found.rungs.values(), *each.values()]:
        assert at(4) <= one.earliest <= one.at
        assert one.latest is None or one.at <= one.latest
