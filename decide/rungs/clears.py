"""Clears: when a wall clears, read from a client's words; what they leave open stays unsaid."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

AHEAD = timedelta(days=400)
"""How far ahead a reset is believed."""
UNDATED_AHEAD = timedelta(days=200)
"""How far ahead a date without a year may lie: one that is further ahead has just passed."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}

_EPOCH = re.compile(r"\|\s*(\d{10}|\d{13})(?!\d)")
_SPAN = re.compile(
    r"\b(?:again|reset|resets) in ((?:(?:\d{1,4}(?:\.\d{1,6})?) ?(?:d|h|m|s|days?|hours?|min(?:ute)?s?|sec(?:ond)?s?)"
    r"\b,? ?(?:and )?)+)",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d{1,4}(?:\.\d{1,6})?) ?([dhms])", re.IGNORECASE)
_CLOCK = re.compile(
    r"""\b(?:resets?|try\ again)\ (?:at\ |on\ )*
        (?:(?P<day>mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\ (?:at\ )?)?
        (?:(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\ (?P<dom>\d{1,2})(?:st|nd|rd|th)?
           (?:,?\ (?P<year>\d{4}))?,?\ (?:at\ )?)?
        (?:(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\ ?(?P<half>am|pm)|(?P<hour24>\d{1,2}):(?P<minute24>\d\d))
        (?!\w)(?:\ \((?P<zone>[\w+/-]{1,64})\))?""",
    re.IGNORECASE | re.VERBOSE,
)


def clears_at(text: str, now: datetime, zone: tzinfo | None = None) -> datetime | None:
    """The reset that a text of one line names, if it is ahead of `now`; `zone` is that of a time without one."""
    try:
        at = _epoch(text) or _after(text, now) or _at_clock(text, now, zone)
    except (ValueError, OverflowError, OSError):
        return None
    return at if at is not None and now < at <= now + AHEAD else None


def span_s(text: str) -> float | None:
    """The seconds of a "try again in …"; None where there is none."""
    found = _SPAN.search(text)
    if found is None:
        return None
    parts = {_UNITS[unit.lower()]: float(count) for count, unit in _PART.findall(found[1])}
    return timedelta(**parts).total_seconds()


def _epoch(text: str) -> datetime | None:
    found = _EPOCH.search(text)
    return datetime.fromtimestamp(int(found[1][:10]), UTC) if found else None


def _after(text: str, now: datetime) -> datetime | None:
    seconds = span_s(text)
    return None if seconds is None else now + timedelta(seconds=seconds)


def _at_clock(text: str, now: datetime, zone: tzinfo | None) -> datetime | None:
    """The next such time, on the date or weekday where one is given; None without a zone: nobody could tell."""
    found = _CLOCK.search(text)
    if found is None:
        return None
    place = _zone(found["zone"]) if found["zone"] else zone
    if place is None:
        return None
    clock, here = _time(found), now.astimezone(place)
    candidates = (datetime.combine(day, clock, place).astimezone(UTC) for day in _dates(found, here.date()))
    at = next((one for one in candidates if one > now), None)
    if at is not None and found["month"] and not found["year"] and at > now + UNDATED_AHEAD:
        return None
    return at


def _dates(found: re.Match[str], today: date) -> Iterator[date]:
    """The days on which it may be, in order."""
    if found["month"]:
        month, dom = _MONTHS.index(found["month"].lower()) + 1, int(found["dom"])
        years = [int(found["year"])] if found["year"] else [today.year, today.year + 1]
        yield from (date(year, month, dom) for year in years)
        return
    week = (today + timedelta(days=ahead) for ahead in range(8))
    wanted = found["day"]
    yield from (day for day in week if not wanted or day.weekday() == _DAYS.index(wanted.lower()))


def _time(found: re.Match[str]) -> time:
    if found["half"] is None:
        return time(int(found["hour24"]), int(found["minute24"]))
    hour = int(found["hour"])
    if not 1 <= hour <= 12:
        raise ValueError(f"no hour of half a day: {hour}")
    return time(hour % 12 + 12 * (found["half"].lower() == "pm"), int(found["minute"] or 0))


def _zone(name: str) -> tzinfo | None:
    if name.upper() in ("UTC", "GMT"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
