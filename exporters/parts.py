"""Parts: the samples of a page, in portions that can be kept while what they were made from stays equal."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from exporters.histogram import Histogram

Sample = tuple[tuple[str, ...], float | Histogram]
"""Label values in the catalog's order, and the value: a histogram for a metric that is one."""
Samples = Mapping[str, list[Sample]]
"""Samples by the metric's full name."""


class Part(NamedTuple):
    """What one subject adds to the page: `make(*inputs)`, a pure function, so equal inputs mean equal samples.

    `key` is (collector, rung, subject), each empty when it does not apply, and unique on a page.
    """

    key: tuple[str, str, str]
    inputs: tuple[object, ...]
    make: Callable[..., Samples]


def timestamp(at: tuple[str, ...], moment: datetime | None) -> list[Sample]:
    """A moment as the only sample at these label values; none while there is no such moment."""
    return [] if moment is None else [(at, moment.timestamp())]
