"""Hours: the 168 hours of a week, counted from Monday 00:00, as people write stretches of them."""

import re
from collections.abc import Iterable

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOURS = 168
HOUR_S = 3600
WEEK_S = HOURS * HOUR_S

_DAY = "(" + "|".join(DAYS) + ")"
_SPAN = re.compile(rf"{_DAY}(?:-{_DAY})? +(\d\d):00-(\d\d):00")
_MOMENT = re.compile(rf"{_DAY} +(\d\d):(\d\d)")


def span(text: str) -> frozenset[int]:
    """The hours of a stretch such as `Mon-Fri 08:00-18:00`; raises ValueError naming the form."""
    found = _SPAN.fullmatch(text.strip())
    if found:
        first, last = DAYS.index(found[1]), DAYS.index(found[2] or found[1])
        begins, ends = int(found[3]), int(found[4])
        if first <= last and begins < ends <= 24:
            return frozenset(day * 24 + hour for day in range(first, last + 1) for hour in range(begins, ends))
    raise ValueError('must be whole hours of days in the order of the week, such as "Mon-Fri 08:00-18:00"')


def spans(texts: Iterable[str]) -> frozenset[int]:
    """The hours of all the stretches; raises ValueError naming the form."""
    return frozenset(hour for text in texts for hour in span(text))


def moment(text: str) -> int:
    """The second of the week of a moment such as `Mon 09:00`; raises ValueError naming the form."""
    found = _MOMENT.fullmatch(text.strip())
    if found and int(found[2]) < 24 and int(found[3]) < 60:
        return DAYS.index(found[1]) * 86_400 + int(found[2]) * HOUR_S + int(found[3]) * 60
    raise ValueError('must be a day and a time, such as "Mon 09:00"')


def hour_words(hour: int) -> str:
    """An hour of the week as a person writes it: `Tue 14:00`."""
    return f"{DAYS[hour // 24]} {hour % 24:02}:00"
