"""clears: a reset is read as it is meant, and left unsaid where the words leave it open."""

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.rungs.clears import clears_at, span_s

NOW = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
KOLKATA = timedelta(hours=5, minutes=30)


def utc(*when: int) -> datetime:
    return datetime(*when, tzinfo=UTC)  # type: ignore[misc,arg-type]  # a date and a time


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("resets 12:37pm (UTC)", None, utc(2026, 10, 15, 12, 37)),
        ("resets 12pm (UTC)", None, utc(2026, 10, 16, 12)),
        ("resets 12:00am (UTC)", None, utc(2026, 10, 16)),
        ("resets 3:40pm (America/Chicago)", None, utc(2026, 10, 15, 20, 40)),
        ("resets at 5am (Asia/Calcutta)", None, utc(2026, 10, 16, 5) - KOLKATA),
        ("resets at 5am (Asia/Kolkata)", None, utc(2026, 10, 16, 5) - KOLKATA),
        ("resets Dec 4, 2:37pm (UTC)", None, utc(2026, 12, 4, 14, 37)),
        ("resets Jan 9, 2027, 11:45am (UTC)", None, utc(2027, 1, 9, 11, 45)),
        ("resets Jan 9, 11:45am (UTC)", None, utc(2027, 1, 9, 11, 45)),
        ("resets Feb 4, 9pm (Africa/Johannesburg)", None, utc(2027, 2, 4, 19)),
        ("resets Mon 12:00am (UTC)", None, utc(2026, 10, 19)),
        ("resets Thu 1pm (UTC)", None, utc(2026, 10, 15, 13)),
        ("resets Thu 11am (UTC)", None, utc(2026, 10, 22, 11)),
        ("resets Oct 25, 2:30am (Europe/Madrid)", None, utc(2026, 10, 25, 0, 30)),
        ("usage limit reached|1792080000", None, utc(2026, 10, 15, 16)),
        ("usage limit reached|1792080000000", None, utc(2026, 10, 15, 16)),
        ("try again at 7:58 PM.", UTC, utc(2026, 10, 15, 19, 58)),
        ("try again at 9:15 AM.", UTC, utc(2026, 10, 16, 9, 15)),
        ("try again at 19:58.", UTC, utc(2026, 10, 15, 19, 58)),
        ("try again at 7:58 PM.", ZoneInfo("America/Denver"), utc(2026, 10, 16, 1, 58)),
        ("try again at Dec 2nd, 2026 3:31 PM.", UTC, utc(2026, 12, 2, 15, 31)),
        ("try again in 5 days 22 hours 11 minutes.", None, NOW + timedelta(days=5, hours=22, minutes=11)),
        ("try again in 1 hour, 2 minutes and 3 seconds", None, NOW + timedelta(hours=1, minutes=2, seconds=3)),
        ("resets in 2h 5m", None, NOW + timedelta(hours=2, minutes=5)),
        # Left open: no zone, none that is known, no time, a time that has passed or that nobody would mean.
        ("resets 2am", None, None),
        ("resets Mon 12:00am", None, None),
        ("resets 5pm (Mars/Olympus)", None, None),
        ("resets 5pm (../../etc/passwd)", None, None),
        ("or try again later.", UTC, None),
        ("resets 5 (UTC)", None, None),
        ("resets 13pm (UTC)", None, None),
        ("resets 0am (UTC)", None, None),
        ("resets 25:10 (UTC)", None, None),
        ("resets Feb 30, 5pm (UTC)", None, None),
        ("resets Oct 14, 5pm (UTC)", None, None),
        ("resets Oct 14, 2026, 5pm (UTC)", None, None),
        ("resets Dec 4, 2028, 5pm (UTC)", None, None),
        ("limit reached|1792065600", None, None),
        ("limit reached|1992065600", None, None),
        ("limit reached|99999999999999", None, None),
        ("presets 5pm (UTC)", None, None),
    ],
)
def test_the_reset_that_a_text_names(text: str, zone: tzinfo | None, expected: datetime | None) -> None:
    assert clears_at(text, NOW, zone) == expected


def test_a_span_in_seconds() -> None:
    assert span_s("Please try again in 6.2s.") == pytest.approx(6.2)
    assert span_s("Please try again later") is None


PIECES = st.sampled_from(
    [" ", "resets", "try again", "in", "at", "Dec", "Mon", "4", "31st", "2026", "11:59", "pm", "(UTC)", "|", "5 days", "9" * 10]
)  # fmt: skip


@given(
    st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=12).map(" ".join)),
    st.integers(0, 250_000_000_000),
)
def test_a_reset_is_ahead_or_unsaid(text: str, epoch: int) -> None:
    now = datetime.fromtimestamp(epoch, UTC)
    at = clears_at(text, now, UTC)
    assert at is None or (at > now and at.tzinfo is not None)
