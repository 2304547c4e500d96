"""Forecast: when a window and a seat will be spent, as far as readings tell, over the windows' resets."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from canary.capacity.pace import LOOK_BACK_S, PARTS, Pace, pace_of
from decide.meter import MeterSample, renewed, step
from decide.quota import WindowKind

LENGTHS: Mapping[WindowKind, timedelta] = MappingProxyType(
    {
        WindowKind.SESSION: timedelta(hours=5),
        WindowKind.WEEKLY: timedelta(weeks=1),
        WindowKind.WEEKLY_MODEL: timedelta(weeks=1),
        WindowKind.MONTHLY: timedelta(days=30),
        WindowKind.SPEND: timedelta(days=30),
    }
)
"""How long a window runs once it has begun anew (formats 0.2); of others that is not known."""


class Prospect(StrEnum):
    """What is to be expected of a window, a seat or a rung."""

    UNKNOWN = "unknown"
    SAFE = "safe"
    FORESEEN = "foreseen"
    SPENT = "spent"


@dataclass(frozen=True, slots=True)
class Outlook:
    """When something will be spent: `at` only while that is FORESEEN or, then in the past, SPENT.

    `earliest` and `latest` are the ends of an interval that holds the true moment 90 times in 100; `latest` None says
    that it may not come before the reset. `until` is the reset after which it is there again. UNKNOWN says that there
    were too few readings, SAFE that at this rate it does not come before the windows begin anew.
    """

    prospect: Prospect
    at: datetime | None = None
    earliest: datetime | None = None
    latest: datetime | None = None
    until: datetime | None = None


UNKNOWN, SAFE = Outlook(Prospect.UNKNOWN), Outlook(Prospect.SAFE)


@dataclass(slots=True)
class Track:
    """The readings of one window, in order, with what it grew in all; older ones than are looked back at go.

    They are kept as bare numbers, for a daemon holds days of them for every window.
    """

    kind: WindowKind
    last: MeterSample | None = None
    spent_since: datetime | None = None
    _at: "array[float]" = field(default_factory=lambda: array("d"))
    _grew: "array[float]" = field(default_factory=lambda: array("d"))

    def add(self, sample: MeterSample) -> None:
        """Take note of a reading; one that is no later than the last is not new."""
        before = self.last
        if before is not None and sample.at <= before.at:
            return
        grew = self._grew[-1] + step(before, sample) if before is not None else 0.0
        if sample.used < 1.0:
            self.spent_since = None
        elif self.spent_since is None or (before is not None and renewed(before, sample)):
            self.spent_since = sample.at
        self._at.append(sample.at.timestamp())
        self._grew.append(grew)
        self.last = sample
        self._forget()

    def _forget(self) -> None:
        """Let go of old readings, many at a time, so that it costs next to nothing a reading."""
        old = bisect_right(self._at, self._at[-1] - 2 * LOOK_BACK_S[-1])
        if old > 1000:
            del self._at[: old - 1], self._grew[: old - 1]

    def outlook(self, now: datetime) -> Outlook:
        """What is to be expected of the window at a moment; a reset that has passed since begins it anew."""
        last = self.last
        if last is None:
            return UNKNOWN
        reset = last.resets_at
        over = reset is not None and reset <= now
        if last.used >= 1.0 and not over:
            return Outlook(Prospect.SPENT, self.spent_since, until=reset)
        used = 0.0 if over else last.used
        pace = pace_of(self.grown_at, last.at.timestamp(), 1.0 - used, self.looks())
        if pace is None:
            return UNKNOWN
        begun = max(last.at, reset) if over and reset is not None else last.at
        return _ahead(pace, 1.0 - used, begun, None if over else reset, self.kind)

    def looks(self) -> list[float]:
        """The looks back that readings reach, with more of them than a look has parts: else growth cannot be told."""
        if self.last is None:
            return []
        now, count = self.last.at.timestamp(), len(self._at)
        firsts = ((over, bisect_right(self._at, now - over) - 1) for over in LOOK_BACK_S)
        return [over for over, first in firsts if first >= 0 and count - first > PARTS]

    def grown_at(self, moment: float) -> float:
        """What had grown by a moment, on a straight line between the readings round it."""
        after = bisect_right(self._at, moment)
        if after == len(self._at):
            return self._grew[-1]
        if after == 0:
            return self._grew[0]
        part = (moment - self._at[after - 1]) / (self._at[after] - self._at[after - 1])
        return self._grew[after - 1] + part * (self._grew[after] - self._grew[after - 1])


def _ahead(pace: Pace, left: float, begun: datetime, reset: datetime | None, kind: WindowKind) -> Outlook:
    """What a pace makes of what is left of a window, and of the whole of it after its reset."""
    found = _within(pace, left, begun, reset)
    if found is not None:
        return found
    length = LENGTHS.get(kind)
    if reset is None or length is None:
        return SAFE
    return _within(pace, 1.0, reset, reset + length) or SAFE


def _within(pace: Pace, left: float, begun: datetime, reset: datetime | None) -> Outlook | None:
    """The outlook where a window is expected to be spent before its reset, else None."""
    expected, earliest, latest = pace.reaches(left)
    at = _later(begun, expected)
    if at is None or (reset is not None and at >= reset):
        return None
    last = None if latest is None else _later(begun, latest)
    if last is not None and reset is not None and last >= reset:
        last = None
    return Outlook(Prospect.FORESEEN, at, _later(begun, earliest), last, reset)


def _later(moment: datetime, seconds: float) -> datetime | None:
    """The moment so many seconds on; None where no calendar reaches."""
    return moment + timedelta(seconds=seconds) if seconds < _CENTURY_S else None


_CENTURY_S = 3.2e9


def seat_outlook(windows: Iterable[Outlook]) -> Outlook:
    """A seat is spent with the first of its windows, and there again when the last spent one has begun anew."""
    found = tuple(windows)
    spent = [each for each in found if each.prospect is Prospect.SPENT]
    if spent:
        since = [each.at for each in spent if each.at is not None]
        return Outlook(Prospect.SPENT, min(since, default=None), until=_last_reset(spent))
    if any(each.prospect is Prospect.UNKNOWN for each in found) or not found:
        return UNKNOWN
    foreseen = [each for each in found if each.at is not None]
    return min(foreseen, key=lambda each: each.at or _FAR, default=SAFE)


def _last_reset(spent: Sequence[Outlook]) -> datetime | None:
    resets = [each.until for each in spent]
    known = [reset for reset in resets if reset is not None]
    return max(known) if len(known) == len(resets) else None


_FAR = datetime.max.replace(tzinfo=UTC)
