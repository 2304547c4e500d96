"""Moments and spans in words, always in UTC."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache


def iso(moment: datetime) -> str:
    """The moment as ISO 8601 in UTC, to the second: `2026-07-01T12:00:00Z`."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def clock_words(moment: datetime, now: datetime) -> str:
    """The moment for a person, with the day only where it is not today's: `12:00:00 UTC`, `Thu 2 Jul, 12:00 UTC`."""
    utc = moment.astimezone(UTC)
    if utc.date() == now.astimezone(UTC).date():
        return f"{utc.hour:02}:{utc.minute:02}:{utc.second:02} UTC"
    year = f" {utc.year}" if utc.year != now.astimezone(UTC).year else ""
    return f"{utc:%a} {utc.day} {utc:%b}{year}, {utc:%H:%M} UTC"


def span_words(span: timedelta) -> str:
    """A span's two greatest units: `2 d 5 h`, `7 min`, `12 s`; never negative."""
    return _seconds_words(max(0, span.days * 86400 + span.seconds))


@lru_cache(maxsize=4096)  # a page tells the same few spans of many seats
def _seconds_words(left: int) -> str:
    parts = []
    for unit, seconds in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, left = divmod(left, seconds)
        parts.append((count, unit))
    first = next((index for index, (count, _) in enumerate(parts) if count), len(parts) - 1)
    shown = [f"{count} {unit}" for count, unit in parts[first : first + 2] if count]
    return " ".join(shown) or "0 s"


def until_words(moment: datetime, now: datetime) -> str:
    """How far ahead a moment is: `in 2 h 5 min`, or `due now` once it has come."""
    return f"in {span_words(moment - now)}" if moment > now else "due now"
