"""Demo clock: noon to midnight at many times the speed of the real one, day after day; the nights are skipped."""

from collections.abc import Callable
from datetime import datetime, timedelta

DAY = timedelta(hours=24)


class DemoClock:
    """Wall and monotonic time that both run `speed` times as fast as the given real seconds.

    The wall clock shows `length` from `start`, then the same part of the next day: to a watcher, the machine slept.
    """

    def __init__(self, start: datetime, length: timedelta, speed: float, real: Callable[[], float]) -> None:
        self._start, self._length, self._speed = start, length, speed
        self._real, self._zero = real, real()
        self._frozen: float | None = None

    def now(self) -> datetime:
        return self.day_start() + timedelta(seconds=self.monotonic()) % self._length

    def day_start(self) -> datetime:
        """When the day that is shown now began."""
        return self._start + (timedelta(seconds=self.monotonic()) // self._length) * DAY

    def monotonic(self) -> float:
        shown = self._real() if self._frozen is None else self._frozen
        return (shown - self._zero) * self._speed

    def freeze(self) -> None:
        """Stand still: while a tick reads, a tenth of a second must not look like a minute."""
        self._frozen = self._real()

    def thaw(self) -> None:
        """Go on, from where real time is by now."""
        self._frozen = None
