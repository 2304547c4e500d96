"""Growth: by how much a window filled between readings, over its resets."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from canary.capacity.history import MeterSample


def step(before: MeterSample, after: MeterSample) -> float:
    """By how much a window grew from one reading to the next: all that is used, once it began anew in between.

    A reading below the one before without a reset is a correction by the vendor, and no growth.
    """
    return after.used if renewed(before, after) else max(0.0, after.used - before.used)


def renewed(before: MeterSample, after: MeterSample) -> bool:
    """Whether the window began anew between two readings: the reset that the first one named has come."""
    return before.resets_at is not None and after.at >= before.resets_at


def grown(samples: Iterable[MeterSample]) -> Iterator[tuple[datetime, float]]:
    """The growth up to each sample but the first, in order."""
    before: MeterSample | None = None
    for sample in samples:
        if before is not None:
            yield sample.at, step(before, sample)
        before = sample
