"""Moments and spans in words, always in UTC."""

from collections.abc import Callable, Mapping
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


def minute_words(moment: datetime, now: datetime) -> str:
    """The moment for a person where seconds would say too much: `12:00 UTC`, `Thu 2 Jul, 12:00 UTC`."""
    utc = moment.astimezone(UTC)
    return f"{utc:%H:%M} UTC" if utc.date() == now.astimezone(UTC).date() else clock_words(moment, now)


def expected_words(forecast: Mapping[str, str], clock: Callable[[str], str]) -> str:
    """A forecast of a report in one line: `expected to be spent about 14:20 UTC (13:50 to 15:30)`.

    `clock` tells a moment of the report, its zone last; the interval does not repeat the zone.
    """
    at = clock(forecast["at"])
    zone = f" {at.rpartition(' ')[2]}"
    earliest = clock(forecast["earliest"]).removesuffix(zone)
    latest = f"to {clock(forecast['latest']).removesuffix(zone)}" if "latest" in forecast else "at the earliest"
    return f"expected to be spent about {at} ({earliest} {latest})"


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
