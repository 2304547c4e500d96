"""Durations as people write them: `90s`, `5m`, `1h30m`."""

import re
from contextlib import suppress
from datetime import timedelta
from typing import Any

_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[dhms])")


def parse_duration(value: Any) -> timedelta:
    """A duration from text such as `1h30m`; raises ValueError naming the form."""
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str) and re.fullmatch(f"(?:{_PART.pattern})+", value):
        with suppress(OverflowError):
            return timedelta(seconds=sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(value)))
    raise ValueError("must be a duration such as 90s, 5m or 1h30m")


def brief(duration: timedelta) -> str:
    """A duration in its two largest units, without a sign: `1h 35m`, `42s`."""
    left = int(abs(duration.total_seconds()))
    parts: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2]) or "0s"
