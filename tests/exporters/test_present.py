"""The present: what may be said before the first tick, after it, and once it is too old."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from decide.ladder import LadderWord, Role, RungState, RungStatus
from decide.quota import WindowState
from decide.reason import Reason
from exporters.present import present, seats_configured
from exporters.view import Forecasts, RungName
from tests.exporters.scenes import (
    ASTRA,
    FABLE,
    NOW,
    ahead,
    blind_view,
    degraded_view,
    foreseen_view,
    full_seat,
    minutes,
    ok_view,
    rung,
    view,
)


def test_before_the_first_tick_every_configured_rung_is_unknown() -> None:
    seen = present(view(), NOW)
    assert seen.word is LadderWord.BLIND
    assert [(r.name, r.state) for r in seen.rungs] == [("fable", RungState.UNKNOWN), ("astra", RungState.UNKNOWN)]
    assert seen.state is None
    assert [seats_configured(r) for r in seen.rungs] == [None, None]


def test_a_fresh_tick_is_shown_as_it_is() -> None:
    shown = ok_view()
    seen = present(shown, NOW + minutes(14))
    assert seen.word is LadderWord.OK
    assert shown.state is not None
    assert seen.rungs == shown.state.rungs
    assert not seen.stale


@pytest.mark.parametrize("now", [NOW + minutes(15.1), NOW - minutes(5)])
def test_a_tick_too_old_or_from_ahead_says_nothing_of_now(now: datetime) -> None:
    seen = present(degraded_view(), now)
    assert seen.stale
    assert seen.word is LadderWord.BLIND
    verdicts = [verdict for r in seen.rungs for seat in r.seats for verdict in (*seat.windows, *seat.binding)]
    assert {(verdict.state, verdict.reason) for verdict in verdicts} == {(WindowState.UNKNOWN, Reason.STALE)}


def test_a_stale_ladder_is_blind_since_it_went_stale() -> None:
    seen = present(ok_view(), NOW + minutes(40))
    assert seen.since == NOW + minutes(15)
    assert [r.since for r in seen.rungs] == [NOW + minutes(15)] * 2


def test_a_ladder_that_was_blind_before_stays_blind_since_then() -> None:
    assert present(blind_view(), NOW + minutes(40)).since == NOW


def test_the_time_of_going_stale_is_unknown_when_the_clock_stepped_back() -> None:
    assert present(ok_view(), NOW - minutes(40)).since is None


def test_a_rung_that_is_configured_but_was_not_in_the_tick_is_unknown() -> None:
    shown = replace(ok_view(), rungs=(FABLE, RungName("nova", Role.SECOND)))
    seen = present(shown, NOW)
    assert [r.name for r in seen.rungs] == ["fable", "nova"]
    assert seen.word is LadderWord.DEGRADED
    assert seen.since is None


def test_stale_after_is_the_views_own() -> None:
    shown = replace(ok_view(), stale_after=timedelta(seconds=30))
    assert present(shown, NOW + minutes(1)).stale


def test_a_rung_without_a_seat_has_none_configured() -> None:
    assert [seats_configured(r) for r in present(view(rung(FABLE), rung(ASTRA, full_seat("a"))), NOW).rungs] == [0, 1]


def test_what_is_expected_is_shown_as_it_is_while_fresh() -> None:
    shown = foreseen_view()
    assert present(shown, NOW + minutes(14)).forecasts == shown.forecasts


@pytest.mark.parametrize("now", [NOW + minutes(15.1), NOW - minutes(5)])
def test_an_old_forecast_is_not_shown_even_beside_a_fresh_tick(now: datetime) -> None:
    shown = replace(foreseen_view(), state=view(*_rungs(), at=now).state)
    seen = present(shown, now)
    assert not seen.stale
    assert seen.forecasts == Forecasts()


def test_a_moment_that_has_passed_is_not_shown() -> None:
    shown = foreseen_view()
    found = {"fable": ahead(5, 1), "astra": ahead(6, 2)}
    shown = replace(
        shown, forecasts=Forecasts(NOW, found, {"fable": {"desk": found["fable"], "lab": found["astra"]}})
    )
    seen = present(shown, NOW + minutes(5))
    assert seen.forecasts.rungs == {"astra": found["astra"]}
    assert seen.forecasts.seats == {"fable": {"lab": found["astra"]}, "astra": {}}


def test_a_rung_or_seat_that_cannot_be_asked_now_has_no_forecast() -> None:
    """A single tick found one rung lost since the daemon, whose memory it shares, made its forecasts."""
    known = ahead(100, 50)
    seats = dict.fromkeys(("desk", "lab", "spare", "loan", "api", "codex-main"), known)
    forecasts = Forecasts(NOW, {"fable": known, "astra": known}, {"fable": seats, "astra": seats})
    seen = present(replace(degraded_view(), forecasts=forecasts), NOW)
    assert seen.forecasts.rungs == {"fable": known}
    assert seen.forecasts.seats == {"fable": {"desk": known, "api": known}}


def _rungs() -> tuple[RungStatus, ...]:
    return ok_view().state.rungs  # type: ignore[union-attr]  # the scene has one
