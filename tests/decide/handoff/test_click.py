"""Who may press a click, when, and how often."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.handoff.click import TTL, Click, ClickState, Pressed, judge
from decide.handoff.execution import Refusal
from tests.decide.fakes import NOW

CLICK = Click("c1", "thread-1", "ada", "unit restart worker", "unit-restart", "write", "act-1", NOW, NOW + TTL)
LAST = CLICK.expires_at - timedelta(microseconds=1)
OVER = CLICK.expires_at + timedelta(days=365)
BEFORE = NOW - timedelta(days=1)

PRESSES = [
    (ClickState.PENDING, "ada", NOW, None),
    (ClickState.PENDING, "ada", LAST, None),
    (ClickState.PENDING, "ada", CLICK.expires_at, Refusal.EXPIRED),
    (ClickState.PENDING, "ada", OVER, Refusal.EXPIRED),
    (ClickState.PENDING, "ada", BEFORE, None),
    (ClickState.PENDING, "bob", NOW, Refusal.OTHER_USER),
    (ClickState.PENDING, "bob", OVER, Refusal.OTHER_USER),
    (ClickState.PENDING, "ADA", NOW, Refusal.OTHER_USER),
    (ClickState.PENDING, "", NOW, Refusal.OTHER_USER),
    (ClickState.CONSUMED, "ada", NOW, Refusal.ALREADY_CONSUMED),
    (ClickState.CONSUMED, "ada", OVER, Refusal.ALREADY_CONSUMED),
    (ClickState.CONSUMED, "bob", NOW, Refusal.OTHER_USER),
    (ClickState.EXPIRED, "ada", NOW, Refusal.EXPIRED),
    (ClickState.EXPIRED, "ada", BEFORE, Refusal.EXPIRED),
    (ClickState.EXPIRED, "bob", OVER, Refusal.OTHER_USER),
]


@pytest.mark.parametrize(("state", "user", "now", "expected"), PRESSES)
def test_a_press(state: ClickState, user: str, now: datetime, expected: Refusal | None) -> None:
    assert judge(replace(CLICK, state=state), user, now) is expected


def test_a_click_that_nobody_knows() -> None:
    assert judge(None, "ada", NOW) is Refusal.UNKNOWN_CLICK


@given(st.datetimes(timezones=st.just(NOW.tzinfo)), st.sampled_from([ClickState.CONSUMED, ClickState.EXPIRED]))
def test_no_clock_revives_a_click(now: datetime, state: ClickState) -> None:
    assert judge(replace(CLICK, state=state), "ada", now) is not None


@pytest.mark.parametrize("lives", [timedelta(), timedelta(seconds=-1)])
def test_every_click_expires_after_it_was_minted(lives: timedelta) -> None:
    with pytest.raises(ValueError, match="expires after"):
        replace(CLICK, expires_at=NOW + lives)


def test_a_press_consumes_or_says_why_not() -> None:
    assert Pressed(CLICK).consumed
    assert not Pressed(CLICK, Refusal.EXPIRED).consumed
