"""Growth: by how much a window filled between readings, over its resets."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from decide.meter import MeterSample, step


def grown(samples: Iterable[MeterSample]) -> Iterator[tuple[datetime, float]]:
    """The growth up to each sample but the first, in order."""
    before: MeterSample | None = None
    for sample in samples:
        if before is not None:
            yield sample.at, step(before, sample)
        before = sample
