"""Negotiation: which text format and which coding a scraper asked for, whatever its headers look like.

prometheus_client's own `choose_encoder` ignores weights, echoes any version, and raises on one that is no number.
"""

from collections.abc import Iterator
from enum import StrEnum


class Format(StrEnum):
    """The two text formats that are spoken, each with its content type."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def choose_format(accept: str) -> Format:
    """The format that an Accept header likes best; plain text for a blank, odd or unknown one (EXP-08)."""
    for item in _preferred(accept):
        kind = _name(item)
        if kind in ("text/plain", "text/*", "*/*"):
            return Format.TEXT
        if kind == "application/openmetrics-text" and _parameter(item, "version") in ("", "1.0.0"):
            return Format.OPENMETRICS
    return Format.TEXT


def accepts_gzip(accept_encoding: str) -> bool:
    """Whether an Accept-Encoding header allows gzip: named, or covered by `*`, with a weight above 0."""
    weights = {_name(item): _weight(item) for item in accept_encoding.split(",")}
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def media_types(accept: str) -> list[str]:
    """The media types that an Accept header names, the best liked first, without those that it rules out."""
    return [_name(item) for item in _preferred(accept)]


def _preferred(header: str) -> Iterator[str]:
    """The items of a header with a weight above 0, heaviest first, else in order."""
    weighed = [(item, _weight(item)) for item in header.split(",")]
    return (item for item, weight in sorted(weighed, key=lambda pair: -pair[1]) if weight > 0)


def _name(item: str) -> str:
    return item.partition(";")[0].strip().lower()


def _weight(item: str) -> float:
    try:
        return float(_parameter(item, "q") or 1)
    except ValueError:
        return 0.0


def _parameter(item: str, wanted: str) -> str:
    """The value of a parameter of an item, empty if it has none of that name."""
    for parameter in item.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == wanted:
            return value.strip().strip('"')
    return ""
