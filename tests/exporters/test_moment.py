"""Moments and spans in words."""

from datetime import datetime, timedelta, timezone

import pytest

from exporters.moment import clock_words, expected_words, iso, minute_words, span_words, until_words
from tests.exporters.scenes import NOW

EAST = timezone(timedelta(hours=9))


def test_iso_is_utc_to_the_second() -> None:
    assert iso(NOW.astimezone(EAST) + timedelta(microseconds=5)) == "2026-07-01T12:00:00Z"


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (NOW, "12:00:00 UTC"),
        (NOW.astimezone(EAST), "12:00:00 UTC"),
        (NOW + timedelta(hours=12), "Thu 2 Jul, 00:00 UTC"),
        (NOW + timedelta(days=365), "Thu 1 Jul 2027, 12:00 UTC"),
    ],
)
def test_the_day_is_told_where_it_is_not_today(moment: datetime, words: str) -> None:
    assert clock_words(moment, NOW) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 s"),
        (0, "0 s"),
        (12.9, "12 s"),
        (60, "1 min"),
        (420, "7 min"),
        (425, "7 min 5 s"),
        (7500, "2 h 5 min"),
        (7205, "2 h"),
        (190800, "2 d 5 h"),
    ],
)
def test_a_span_is_its_two_greatest_units(seconds: float, words: str) -> None:
    assert span_words(timedelta(seconds=seconds)) == words


def test_a_moment_that_has_come_is_due() -> None:
    assert until_words(NOW + timedelta(minutes=7), NOW) == "in 7 min"
    assert until_words(NOW, NOW) == until_words(NOW - timedelta(days=1), NOW) == "due now"


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (NOW + timedelta(seconds=59), "12:00 UTC"),
        (NOW.astimezone(EAST), "12:00 UTC"),
        (NOW + timedelta(hours=12), "Thu 2 Jul, 00:00 UTC"),
    ],
)
def test_where_seconds_say_too_much_the_minute_is_told(moment: datetime, words: str) -> None:
    assert minute_words(moment, NOW) == words


@pytest.mark.parametrize(
    ("latest", "words"),
    [
        ({"latest": "C Z"}, "expected to be spent about A Z (B to C)"),
        ({"latest": "C Y"}, "expected to be spent about A Z (B to C Y)"),
        ({}, "expected to be spent about A Z (B at the earliest)"),
    ],
)
def test_a_forecast_is_one_line_that_names_the_zone_once(latest: dict[str, str], words: str) -> None:
    assert expected_words({"at": "A Z", "earliest": "B Z", **latest}, lambda text: text) == words
