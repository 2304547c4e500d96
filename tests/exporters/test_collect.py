"""Collectors: what is on a page, and what is left off while it is not known."""

from collections import defaultdict
from dataclasses import replace

import pytest

from decide.ladder import RungState, RungStatus
from decide.quota import WindowKind
from decide.reason import Reason
from decide.seat import Quota, Seat, SeatState
from exporters.catalog import CATALOG, READ_RESULTS
from exporters.collect import COLLECTORS
from exporters.metric import OTHER
from exporters.present import present
from exporters.view import CanaryFacts, View
from tests.exporters.ledgers import PAGES
from tests.exporters.pages import page, series, value, values
from tests.exporters.scenes import (
    ASTRA,
    FABLE,
    HOSTILE,
    LIVE,
    NOW,
    SCENES,
    degraded_view,
    down_view,
    failed_seat,
    foreseen_view,
    full_seat,
    hostile_view,
    lapsed_seat,
    meter,
    minutes,
    mixed_seat,
    ok_view,
    open_seat,
    read,
    rung,
    state,
    view,
)

USED = "ladder_seat_quota_used_ratio"
RESET = "ladder_seat_quota_reset_timestamp_seconds"
STATE_SETS = ("ladder_state", "ladder_rung_state", "ladder_seat_state", "ladder_token_state")


def one(seat: Seat) -> str:
    """The page on which that seat is the first rung's only one."""
    return page(view(rung(FABLE, seat), rung(ASTRA, open_seat("other"))))


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("after", [0, 40])
def test_exp_02_every_state_set_is_one_hot(name: str, after: float) -> None:
    shown = SCENES[name]()
    if shown.state is not None:
        shown = replace(shown, state=replace(shown.state, at=NOW - minutes(after)))
    sums: dict[object, list[float]] = defaultdict(list)
    for (metric, labels), found in series(page(shown)).items():
        if metric in STATE_SETS:
            sums[metric, tuple(pair for pair in labels if pair[0] != "state")].append(found)
    assert sums
    assert all(sorted(found)[-2:] == [0.0, 1.0] and sum(found) == 1.0 for found in sums.values())


def test_exp_02_a_seat_that_fills_leaves_its_old_state() -> None:
    before, after = one(open_seat("s1", 0.4)), one(full_seat("s1", 1.01))
    assert value(before, "ladder_seat_state", seat="s1", state="available") == 1
    assert value(after, "ladder_seat_state", seat="s1", state="available") == 0
    assert value(after, "ladder_seat_state", seat="s1", state="capped") == 1
    assert value(after, USED, seat="s1", window="weekly") == 1.01


def test_exp_01_a_seat_that_is_gone_leaves_no_series() -> None:
    two = page(view(rung(FABLE, open_seat("s1", 0.2), open_seat("s2", 0.55)), rung(ASTRA, open_seat("x"))))
    one_left = one(open_seat("s1", 0.21))
    assert 'seat="s2"' in two
    assert 'seat="s2"' not in one_left
    assert [value(text, "ladder_seats_configured", rung="fable") for text in (two, one_left)] == [2, 1]
    assert value(one_left, USED, seat="s1", window="session") == 0.21


def test_exp_01_the_poll_budget_of_a_seat_that_is_gone_leaves_no_series() -> None:
    text = page(degraded_view())
    assert value(text, "ladder_canary_poll_budget_used_ratio", rung="fable", seat="desk") == 0.25
    assert 'seat="gone"' not in text


@pytest.mark.parametrize("reason", [Reason.MALFORMED, Reason.MISSING])
def test_exp_03_a_failed_read_shows_no_last_good_value(reason: Reason) -> None:
    text = one(failed_seat("s1", reason))
    for name in (USED, RESET, "ladder_seat_headroom_ratio"):
        assert values(text, name, seat="s1") == []
    assert value(text, "ladder_seat_state", seat="s1", state="unknown") == 1
    assert value(text, "ladder_rung_reachable", rung="fable") == 0
    assert value(text, "ladder_rung_blocked", rung="fable", reason=reason) == 1
    assert value(text, "ladder_seat_reading_timestamp_seconds", seat="s1") == (NOW - minutes(7)).timestamp()


def test_exp_03_the_last_success_stands_while_ticks_go_on() -> None:
    facts = CanaryFacts(last_tick_at=NOW, last_success_at=NOW - minutes(5))
    text = page(replace(ok_view(), canary=facts))
    assert value(text, "ladder_canary_last_success_timestamp_seconds") == (NOW - minutes(5)).timestamp()
    assert value(text, "ladder_canary_last_tick_timestamp_seconds") == NOW.timestamp()


def test_before_the_first_tick_states_and_counters_exist_and_values_do_not() -> None:
    text = page(view())
    assert value(text, "ladder_state", state="blind") == 1
    assert [value(text, "ladder_rung_state", rung=name, state="unknown") for name in ("fable", "astra")] == [1, 1]
    assert values(text, "ladder_rung_reachable") == [0, 0]
    assert values(text, "ladder_rung_blocked") == [0] * 2 * len(Reason)
    assert values(text, "ladder_seats") == [0] * 2 * len(SeatState)
    assert values(text, "ladder_canary_ticks_total") == [0, 0, 0]
    assert values(text, "ladder_canary_missed_ticks_total") == [0]
    assert values(text, "ladder_canary_source_reads_total") == [0] * 2 * len(READ_RESULTS)
    for metric in CATALOG:
        if metric.unit:
            assert values(text, metric.name) == [], metric.name


def test_a_stale_tick_makes_everything_unknown() -> None:
    shown = replace(ok_view(), state=state(*_rungs(ok_view()), at=NOW - minutes(16)))
    text = page(shown)
    assert value(text, "ladder_state", state="blind") == 1
    assert values(text, "ladder_rung_state", state="unknown") == [1, 1]
    assert values(text, "ladder_rung_blocked", reason="stale") == [1, 1]
    assert values(text, "ladder_seat_state", state="unknown") == [1, 1, 1]
    assert values(text, "ladder_token_state", state="unknown") == [1, 1, 1]
    assert value(text, "ladder_seats", rung="fable", state="unknown") == 2
    for name in (USED, RESET, "ladder_seat_headroom_ratio"):
        assert values(text, name) == []
    assert value(text, "ladder_last_ok_timestamp_seconds") == (NOW - minutes(16)).timestamp()


def test_of_several_windows_of_a_kind_the_fullest_that_binds_is_shown() -> None:
    text = one(mixed_seat("m"))
    assert values(text, USED, seat="m", window="weekly_model") == [0.7]
    assert value(text, RESET, seat="m", window="weekly_model") == (NOW + minutes(600)).timestamp()


@pytest.mark.parametrize("window", ["monthly", "spend"])
def test_an_unlimited_or_refused_window_has_no_ratio(window: str) -> None:
    text = one(mixed_seat("m"))
    assert values(text, USED, window=window) == []
    assert values(text, RESET, window=window) == []


def test_a_window_that_has_reset_since_it_was_read_has_no_series() -> None:
    windows = meter(WindowKind.SESSION, 0.96, resets_in=-1), meter(WindowKind.WEEKLY, 0.5)
    text = one(Seat("s1", LIVE, readings=read(*windows, age=5)))
    assert value(text, "ladder_seat_state", seat="s1", state="available") == 1
    for name in (USED, RESET):
        assert values(text, name, seat="s1", window="session") == []
        assert len(values(text, name, seat="s1", window="weekly")) == 1


def test_a_window_without_a_reset_has_a_ratio_only() -> None:
    seat = open_seat("s1")
    (reading,) = seat.readings
    windows = tuple(replace(window, resets_at=None) for window in reading.windows)
    text = one(replace(seat, readings=(replace(reading, windows=windows),)))
    assert value(text, USED, seat="s1", window="session") == 0.25
    assert values(text, RESET, seat="s1") == []


def test_a_lapsed_login_shows_its_state_and_expiry() -> None:
    text = one(lapsed_seat("s1"))
    assert value(text, "ladder_token_state", seat="s1", state="needs_login") == 1
    assert value(text, "ladder_token_expiry_timestamp_seconds", seat="s1") == (NOW - minutes(20)).timestamp()


@pytest.mark.parametrize("renewable", [True, False])
def test_a_login_shows_whether_anything_renews_it(renewable: bool) -> None:
    text = one(Seat("s1", replace(LIVE, renewable=renewable), quota=Quota.UNMETERED))
    assert value(text, "ladder_token_renewable", seat="s1") == float(renewable)


def test_an_unmetered_seat_has_no_value_series() -> None:
    text = one(Seat("api", replace(LIVE, expires_at=None), quota=Quota.UNMETERED))
    names = {name for (name, labels) in series(text) if ("seat", "api") in labels}
    assert names == {"ladder_seat_state", "ladder_token_state", "ladder_token_renewable"}


def test_next_available_is_shown_only_while_not_reachable() -> None:
    text = page(degraded_view())
    name = "ladder_rung_next_available_timestamp_seconds"
    assert values(text, name, rung="fable") == []  # although some of its seats clear later
    assert value(text, name, rung="astra") == (NOW + minutes(150)).timestamp()


def test_reasons_block_only_a_rung_that_is_not_reachable() -> None:
    text = page(degraded_view())
    assert sum(values(text, "ladder_rung_blocked", rung="fable")) == 0
    assert value(text, "ladder_rung_blocked", rung="astra", reason="weekly_cap") == 1
    assert sum(values(text, "ladder_rung_blocked", rung="astra")) == 1
    reachable = replace(rung(FABLE, open_seat("x")), reasons=(Reason.WEEKLY_CAP,))
    assert sum(values(page(view(reachable, rung(ASTRA, open_seat("y")))), "ladder_rung_blocked")) == 0


def test_seats_are_counted_by_state() -> None:
    text = page(degraded_view())
    counted = {s: value(text, "ladder_seats", rung="fable", state=s) for s in SeatState}
    assert counted == {"available": 2, "unknown": 1, "capped": 2, "no_token": 1}
    assert value(text, "ladder_seats_configured", rung="fable") == 6


def test_a_rung_whose_seats_cannot_be_listed_has_no_number_of_seats() -> None:
    hidden = RungStatus("fable", FABLE.role, RungState.UNKNOWN, reasons=(Reason.UNREADABLE,))
    text = page(view(hidden, rung(ASTRA, open_seat("x"))))
    assert values(text, "ladder_seats_configured", rung="fable") == []
    assert value(text, "ladder_rung_blocked", rung="fable", reason="unreadable") == 1


def test_moments_of_the_ladder_are_absent_until_they_happened() -> None:
    text = page(down_view())
    assert values(text, "ladder_last_ok_timestamp_seconds") == []
    assert values(text, "ladder_rung_last_reachable_timestamp_seconds") == []
    later = page(degraded_view())
    assert value(later, "ladder_last_ok_timestamp_seconds") == (NOW - minutes(60)).timestamp()
    assert (
        value(later, "ladder_rung_last_reachable_timestamp_seconds", rung="astra") == (NOW - minutes(60)).timestamp()
    )


def test_a_read_result_outside_the_closed_set_counts_as_an_error() -> None:
    facts = CanaryFacts(reads={("claude-usage", "odd"): 2, ("claude-usage", "error"): 1, ("extra", "ok"): 4})
    text = page(replace(ok_view(), canary=facts))
    assert value(text, "ladder_canary_source_reads_total", source="claude-usage", result="error") == 3
    assert value(text, "ladder_canary_source_reads_total", source="extra", result="ok") == 4
    assert values(text, "ladder_canary_source_reads_total", result="odd") == []


def test_the_canary_tells_of_itself() -> None:
    text = page(ok_view())
    expected = {
        "ladder_canary_tick_duration_seconds": 1.25,
        "ladder_canary_clock_skew_seconds": 0.5,
        "ladder_config_reload_success": 1,
        "ladder_build_info": 1,
    }
    assert {name: value(text, name) for name in expected} == expected
    refused = page(replace(ok_view(), canary=CanaryFacts(reload_ok=False)))
    assert value(refused, "ladder_config_reload_success") == 0
    assert value(page(View((), ())), "ladder_build_info", version="unknown") == 1


def test_exp_04_no_seat_is_lost_to_its_name() -> None:
    text = page(hostile_view())
    shown = {dict(labels)["seat"] for (name, labels) in series(text) if name == "ladder_seat_state"}
    assert shown == {*(name or "seat_1" for name in HOSTILE)} - {"\ud800 half"} | {"\\ud800 half"}


@pytest.mark.parametrize("name", PAGES)
def test_every_sample_fits_the_catalog(name: str) -> None:
    known = {metric.name: metric for metric in CATALOG}
    shown = PAGES[name]()
    for owner, collector in COLLECTORS.items():
        for part in collector(shown, present(shown, NOW)):
            for metric_name, samples in part.make(*part.inputs).items():
                metric = known[metric_name]
                assert metric.collector == owner
                for labels, _ in samples:
                    for kind, found in zip(metric.labels, labels, strict=True):
                        assert not kind.values or found in kind.values or (kind.open and found == OTHER)


@pytest.mark.parametrize("name", PAGES)
def test_the_keys_of_parts_are_unique(name: str) -> None:
    shown = PAGES[name]()
    keys = [part.key for collector in COLLECTORS.values() for part in collector(shown, present(shown, NOW))]
    assert len(keys) == len(set(keys))


def _rungs(shown: View) -> tuple[RungStatus, ...]:
    assert shown.state is not None
    return shown.state.rungs


def test_the_expected_end_of_a_rung_is_shown_while_there_is_one() -> None:
    name, shown = "ladder_rung_exhaustion_timestamp_seconds", foreseen_view()
    text = page(shown)
    assert value(text, name, rung="astra") == (NOW + minutes(140)).timestamp()
    assert value(text, name, rung="fable") == (NOW + minutes(1500)).timestamp()
    old = replace(shown, state=state(*_rungs(shown), at=NOW - minutes(16)))
    lost = replace(degraded_view(), forecasts=shown.forecasts)
    assert [values(page(each), name, rung="astra") for each in (ok_view(), old, lost)] == [[], [], []]
    assert values(page(lost), name, rung="fable") != []
