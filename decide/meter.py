"""Meter: how full a window of a seat was when it was read, and by how much it filled from one reading to the next."""

from dataclasses import dataclass
from datetime import datetime

from decide.quota import WindowKind

WindowName = tuple[str, str, WindowKind, str]
"""Which window is meant: its rung, seat, kind and scope, the scope in lower case."""


@dataclass(frozen=True, slots=True)
class MeterSample:
    """One window of one seat as read at a moment: `used` as a ratio, `resets_at` None where it was not told."""

    rung: str
    seat: str
    kind: WindowKind
    scope: str
    at: datetime
    used: float
    resets_at: datetime | None = None

    @property
    def window(self) -> WindowName:
        """Which window it is a sample of."""
        return self.rung, self.seat, self.kind, self.scope.casefold()


def step(before: MeterSample, after: MeterSample) -> float:
    """By how much a window grew from one reading to the next: all that is used, once it began anew in between.

    A reading below the one before without a reset is a correction by the vendor, and no growth.
    """
    return after.used if renewed(before, after) else max(0.0, after.used - before.used)


def renewed(before: MeterSample, after: MeterSample) -> bool:
    """Whether the window began anew between two readings: the reset that the first one named has come."""
    return before.resets_at is not None and after.at >= before.resets_at
