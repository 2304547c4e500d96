"""Durations are read as people write them, and written so that they are read the same."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canary.duration import brief, parse_duration

SIZES = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("5m", 300), ("1h30m", 5400), ("2d", 172_800), ("1.5h", 5400), ("250ms", 0.25), ("0s", 0)],
)
def test_parse(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("value", ["", "5", "5 m", "m5", "-5m", "5M", "1h30", "5m ", "ten", 300, 5.0, None, True, []])
def test_what_is_no_duration(value: object) -> None:
    with pytest.raises(ValueError, match="must be a duration such as 90s, 5m or 1h30m"):
        parse_duration(value)


def test_a_duration_stays_one() -> None:
    assert parse_duration(timedelta(minutes=5)) == timedelta(minutes=5)


@given(st.dictionaries(st.sampled_from(sorted(SIZES)), st.integers(0, 10_000), min_size=1))
def test_parts_add_up(parts: dict[str, int]) -> None:
    text = "".join(f"{count}{unit}" for unit, count in parts.items())
    assert parse_duration(text) == timedelta(seconds=sum(count * SIZES[unit] for unit, count in parts.items()))


@given(st.integers(0, 10**9))
def test_what_is_written_is_read_the_same_to_its_second_unit(seconds: int) -> None:
    text = brief(timedelta(seconds=seconds))
    read = int(parse_duration(text.replace(" ", "")).total_seconds())
    finest = SIZES[text[-1]]
    assert read == seconds - seconds % finest
    assert len(text.split()) <= 2


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (42, "42s"), (5700, "1h 35m"), (-60, "1m 0s"), (90_061, "1d 1h"), (0.9, "0s")]
)
def test_brief(seconds: float, text: str) -> None:
    assert brief(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize("text", ["99999999999999999d", f"{'9' * 400}s"])
def test_what_no_clock_can_hold(text: str) -> None:
    with pytest.raises(ValueError, match="must be a duration"):
        parse_duration(text)
