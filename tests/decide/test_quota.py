"""Windows: each row of the freshness table of design 5, what binds, and how reports are merged."""

from datetime import UTC, datetime, timedelta

import pytest

from decide.quota import (
    Measure,
    Reading,
    Window,
    WindowKind,
    WindowState,
    disagreements,
    fuller,
    judge_window,
    newest,
    succeed,
)
from decide.reason import Reason
from decide.seat import STALE_AFTER

NOW = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SESSION, SPEND, OTHER = WindowKind.SESSION, WindowKind.SPEND, WindowKind.OTHER
OPEN, FULL, UNKNOWN, DROPPED = WindowState

ROWS = [
    # used, reset (minutes from now), read (minutes ago), state, reason
    (0.99, 60, 0, OPEN, None),
    (0.0, None, 0, OPEN, None),
    (0.5, None, 15, OPEN, None),
    (0.5, None, 16, UNKNOWN, Reason.STALE),
    (0.5, 60, 16, UNKNOWN, Reason.STALE),
    (0.99, -1, 5, DROPPED, None),
    (0.99, -1, 0, DROPPED, None),
    (1.0, 60, 0, FULL, Reason.SESSION_CAP),
    (1.01, 60, 600, FULL, Reason.SESSION_CAP),
    (1.0, -1, 5, UNKNOWN, Reason.STALE),
    (1.0, 0, 5, UNKNOWN, Reason.STALE),
    (1.0, -5, 1, FULL, Reason.RESET_OVERDUE),
    (1.0, -5, 5, FULL, Reason.RESET_OVERDUE),
    (1.0, -60, 16, UNKNOWN, Reason.STALE),
    (1.0, None, 15, FULL, Reason.SESSION_CAP),
    (1.0, None, 16, UNKNOWN, Reason.STALE),
    (0.5, 60, -2, UNKNOWN, Reason.CLOCK),
]


@pytest.mark.parametrize(("used", "reset", "ago", "state", "reason"), ROWS)
def test_each_row_of_the_freshness_table(
    used: float, reset: int | None, ago: int, state: WindowState, reason: Reason | None
) -> None:
    window = Window(SESSION, used, None if reset is None else NOW + reset * MINUTE)
    verdict = judge_window(
        window, Reading("s", NOW - ago * MINUTE, (window,)), now=NOW, stale_after=STALE_AFTER, overage=False
    )
    assert (verdict.state, verdict.reason) == (state, reason)
    assert (verdict.source, verdict.fetched_at) == ("s", NOW - ago * MINUTE)


SPECIAL = [
    (Window(SESSION, measure=Measure.MALFORMED), 0, UNKNOWN, Reason.MALFORMED),
    (Window(SESSION, measure=Measure.MALFORMED, fault=Reason.IMPLAUSIBLE_TIME), 0, UNKNOWN, Reason.IMPLAUSIBLE_TIME),
    (Window(OTHER, 1.0, scope="nimbus_quill"), 0, UNKNOWN, Reason.UNKNOWN_WINDOW),
    (Window(OTHER, 0.99, scope="nimbus_quill"), 0, OPEN, None),
    (Window(OTHER, scope="refusal", measure=Measure.REFUSED), 0, FULL, Reason.REFUSED),
    (Window(OTHER, scope="refusal", measure=Measure.REFUSED), 16, UNKNOWN, Reason.STALE),
    (Window(SPEND, measure=Measure.REFUSED), 0, FULL, Reason.SPEND_CAP),
    (Window(SPEND, measure=Measure.UNLIMITED), 0, OPEN, None),
    (Window(SPEND, measure=Measure.UNLIMITED), 16, UNKNOWN, Reason.STALE),
    (Window(SPEND, 1.0), 0, FULL, Reason.SPEND_CAP),
    (Window(WindowKind.MONTHLY, 1.0), 0, FULL, Reason.MONTHLY_CAP),
    (Window(WindowKind.WEEKLY, 1.0), 0, FULL, Reason.WEEKLY_CAP),
    (Window(WindowKind.WEEKLY_MODEL, 1.0, scope="Fable"), 0, FULL, Reason.WEEKLY_MODEL_CAP),
]


@pytest.mark.parametrize(("window", "ago", "state", "reason"), SPECIAL)
def test_what_is_no_plain_meter(window: Window, ago: int, state: WindowState, reason: Reason | None) -> None:
    reading = Reading("s", NOW - ago * MINUTE, (window,))
    verdict = judge_window(window, reading, now=NOW, stale_after=STALE_AFTER, overage=False)
    assert (verdict.state, verdict.reason) == (state, reason)


@pytest.mark.parametrize(
    ("permits", "overage", "measure", "state"),
    [
        (True, True, Measure.METERED, OPEN),
        (True, False, Measure.METERED, FULL),
        (False, True, Measure.METERED, FULL),
        (True, True, Measure.REFUSED, FULL),
    ],
)
def test_a_full_window_is_lifted_only_by_the_vendor_and_the_configuration_together(
    permits: bool, overage: bool, measure: Measure, state: WindowState
) -> None:
    window = Window(SESSION, 1.0, NOW + MINUTE, measure=measure)
    reading = Reading("s", NOW, (window,), permits_overage=permits)
    assert judge_window(window, reading, now=NOW, stale_after=STALE_AFTER, overage=overage).state is state


@pytest.mark.parametrize(
    ("kind", "ago", "state"),
    [
        (WindowKind.WEEKLY, 0, OPEN),
        (WindowKind.MONTHLY, 0, OPEN),
        (WindowKind.WEEKLY_MODEL, 0, OPEN),
        (WindowKind.SPEND, 0, FULL),
        (WindowKind.OTHER, 0, UNKNOWN),
        (WindowKind.WEEKLY, 16, FULL),
    ],
)
def test_overage_goes_past_plan_windows_while_its_permission_is_fresh(
    kind: WindowKind, ago: int, state: WindowState
) -> None:
    window = Window(kind, 1.0, NOW + 60 * MINUTE, "x")
    reading = Reading("s", NOW - ago * MINUTE, (window,), permits_overage=True)
    assert judge_window(window, reading, now=NOW, stale_after=STALE_AFTER, overage=True).state is state


def test_of_two_reports_of_one_window_in_a_reading_the_fuller_stands() -> None:
    low, high = Window(SESSION, 0.2), Window(SESSION, 0.9)
    assert Reading("s", NOW, (low, high)).windows == (high,)
    assert fuller(high, Window(SESSION, measure=Measure.MALFORMED)).measure is Measure.MALFORMED
    assert fuller(Window(SESSION, 1.0), Window(SESSION, measure=Measure.MALFORMED)).used == 1.0
    assert fuller(Window(SPEND, measure=Measure.UNLIMITED), Window(SPEND, 0.1)).used == 0.1


def test_scopes_are_one_window_whatever_their_case() -> None:
    reading = Reading(
        "s",
        NOW,
        (Window(WindowKind.WEEKLY_MODEL, 0.2, scope="FABLE"), Window(WindowKind.WEEKLY_MODEL, 1, scope="fable")),
    )
    assert [window.used for window in reading.windows] == [1]


def test_the_newest_report_of_each_window_counts_across_sources() -> None:
    old = Reading("a", NOW - 5 * MINUTE, (Window(SESSION, 1.0, NOW + MINUTE), Window(WindowKind.WEEKLY, 0.3)))
    new = Reading("b", NOW, (Window(SESSION, 0.1),))
    assert {(window.kind, window.used, reading.source) for window, reading in newest([old, new])} == {
        (SESSION, 0.1, "b"),
        (WindowKind.WEEKLY, 0.3, "a"),
    }
    same = Reading("c", NOW, (Window(SESSION, 0.4),))
    assert [window.used for window, _ in newest([new, same])] == [0.4]


def test_a_full_window_with_its_reset_ahead_outlives_a_reading_that_leaves_it_out() -> None:
    full = Window(WindowKind.WEEKLY_MODEL, 1.0, NOW + 60 * MINUTE, "Fable")
    past = Window(WindowKind.MONTHLY, 1.0, NOW - MINUTE)
    open_ = Window(WindowKind.WEEKLY, 0.5, NOW + 60 * MINUTE)
    before = Reading("s", NOW - 5 * MINUTE, (full, past, open_))
    new = Reading("s", NOW, (Window(SESSION, 0.1),))
    assert succeed([before], new) == (new, Reading("s", NOW - 5 * MINUTE, (full,)))
    assert succeed(succeed([before], new), new) == (new, Reading("s", NOW - 5 * MINUTE, (full,)))
    named = Reading("s", NOW, (Window(WindowKind.WEEKLY_MODEL, 0.1, scope="fable"),))
    assert succeed([before], named) == (named,)


def test_what_outlives_a_reading_keeps_its_age_and_yields_to_a_newer_report() -> None:
    """A source that left a full window out says nothing of it; one that reported it later does."""
    full = Reading("a", NOW - 20 * MINUTE, (Window(WindowKind.WEEKLY, 1.0, NOW + 60 * MINUTE),))
    other = Reading("b", NOW - 5 * MINUTE, (Window(WindowKind.WEEKLY, 0.2, NOW + 60 * MINUTE),))
    kept = succeed([full], Reading("a", NOW, (Window(SESSION, 0.1),), permits_overage=True))
    assert {(w.kind, w.used, r.source) for w, r in newest([*kept, other])} == {
        (SESSION, 0.1, "a"),
        (WindowKind.WEEKLY, 0.2, "b"),
    }
    assert [reading.permits_overage for reading in kept] == [True, False]


@pytest.mark.parametrize("used", [-0.01, float("nan"), float("inf")])
def test_a_ratio_is_finite_and_from_zero(used: float) -> None:
    with pytest.raises(ValueError, match="used must be a finite ratio"):
        Window(SESSION, used)


def test_times_are_aware() -> None:
    naive = datetime(2026, 1, 1)  # noqa: DTZ001 - the fault under test
    with pytest.raises(ValueError, match="resets_at must be aware"):
        Window(SESSION, 0.1, naive)
    with pytest.raises(ValueError, match="fetched_at must be aware"):
        Reading("s", naive)


def test_fresh_sources_that_disagree_are_told_and_the_newer_counts() -> None:
    def reading(source: str, used: float, ago: int, kind: WindowKind = SESSION) -> Reading:
        return Reading(source, NOW - ago * MINUTE, (Window(kind, used),))

    def told(*readings: Reading) -> list[tuple[str, float, str, float]]:
        found = disagreements(readings, now=NOW, stale_after=STALE_AFTER)
        return [(odd.spoke, odd.used, odd.other, odd.other_used) for odd in found]

    assert told(reading("old", 0.2, 5), reading("new", 0.5, 1)) == [("new", 0.5, "old", 0.2)]
    assert told(reading("old", 0.4, 5), reading("new", 0.5, 1)) == []
    assert told(reading("old", 0.2, 16), reading("new", 0.5, 1)) == []
    assert told(reading("old", 0.2, 5), reading("new", 0.5, 1, WindowKind.WEEKLY)) == []
    assert told(reading("old", 0.2, 5)) == []
