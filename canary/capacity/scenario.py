"""Scenario: who asks what and when, what it takes from which window, and which seats could answer it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from canary.capacity.hours import HOUR_S, HOURS, WEEK_S
from decide.quota import WindowKind
from decide.reply import Billing

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
"""Second 0 of every simulation, a Monday; no clock changes in a simulated week."""
POINTS = 100.0
"""What a window holds where nothing else is said, so that a point is a percent of it."""


class ScenarioError(Exception):
    """A plan that cannot be made of what was given; the text names the field and what is allowed."""


class Starts(StrEnum):
    """When a window begins anew: at the first use after it ended, at an anchor, or with the calendar's month."""

    FIRST_USE = "first_use"
    ANCHOR = "anchor"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class WindowRule:
    """One meter of a kind of seat.

    `holds` is in points, for a spend window in micro-dollars. `anchors` are seconds of the week at which the first,
    the second and so on of the seats begin anew; without any they are spread over the window's length.
    """

    kind: WindowKind
    holds: float = POINTS
    starts: Starts = Starts.FIRST_USE
    length_s: int = 5 * HOUR_S
    anchors: tuple[int, ...] = ()
    scope: str = ""

    def __post_init__(self) -> None:
        """Refuse what no window is."""
        if not (0 < self.holds < float("inf") and self.length_s > 0):
            raise ValueError(f"a window holds something for some time: {self!r}")
        if (self.kind is WindowKind.WEEKLY_MODEL) != bool(self.scope):
            raise ValueError(f"a scope belongs to weekly_model windows, and only to them: {self!r}")

    def next_reset(self, after: int, seat: int) -> int | None:
        """When the window of the seat of that number begins anew after a second; None: when it is used."""
        match self.starts:
            case Starts.FIRST_USE:
                return None
            case Starts.ANCHOR:
                anchor = self.anchors[seat % len(self.anchors)] if self.anchors else spread(seat, self.length_s)
                return after + self.length_s - (after - anchor) % self.length_s
            case Starts.MONTH:
                first = (EPOCH + timedelta(seconds=after)).replace(day=1, hour=0, minute=0, second=0)
                return int(((first + timedelta(days=32)).replace(day=1) - EPOCH).total_seconds())


def spread(seat: int, length_s: int) -> int:
    """An anchor for each of many seats, spread evenly, that stays where it is when further seats come."""
    golden = 0.6180339887498949
    return int(seat * golden % 1.0 * length_s)


@dataclass(frozen=True, slots=True)
class SeatKind:
    """Seats that can be had: whose they are, what they hold and cost.

    Without windows a seat is unmetered. `others` are the points that people take from each seat in a working hour
    beside the ladder's questions.
    """

    name: str
    rung: str
    windows: tuple[WindowRule, ...] = ()
    micro_usd_per_month: int | None = 0
    billing: Billing = Billing.SUBSCRIPTION
    others: Mapping[WindowKind, float] = field(default_factory=dict)

    @property
    def scopes(self) -> tuple[str, ...]:
        """The display names of its per-model windows."""
        return tuple(dict.fromkeys(window.scope for window in self.windows if window.scope))


@dataclass(frozen=True, slots=True)
class Take:
    """What one consultation of a rung takes: model calls, micro-dollars, and points of each kind of window."""

    passes: float = 0.0
    micro_usd: float = 0.0
    points: Mapping[WindowKind, float] = field(default_factory=dict)

    def share(self, window: WindowRule) -> float:
        """The part of a whole window that it takes."""
        taken = self.micro_usd if window.kind is WindowKind.SPEND else self.points.get(window.kind, 0.0)
        return taken / window.holds


@dataclass(frozen=True, slots=True)
class Draw:
    """One question as it may come: its level, what it takes by rung, and how often the primary reconsiders it."""

    level: str
    takes: Mapping[str, Take]
    reconsidered: float = 0.0


@dataclass(frozen=True, slots=True)
class Rates:
    """Questions that arrive by chance: per level, how many in each hour of the week on average; one draw each."""

    per_hour: Mapping[str, tuple[float, ...]]
    draws: tuple[Draw, ...]

    def __post_init__(self) -> None:
        """Refuse a level without a draw, and rates that are none."""
        levels = [draw.level for draw in self.draws]
        if sorted(levels) != sorted(self.per_hour):
            raise ValueError(f"each level has one draw: {levels} for {sorted(self.per_hour)}")
        if any(len(rates) != HOURS or min(rates) < 0 for rates in self.per_hour.values()):
            raise ValueError(f"a rate from 0 on for each of {HOURS} hours")


Block = tuple[tuple[int, int], ...]
"""The questions of one recorded hour: second of the hour, and index of the draw."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Questions drawn from history: for each hour of the week every recorded one, empty ones too."""

    blocks: tuple[tuple[Block, ...], ...]
    draws: tuple[Draw, ...]

    def __post_init__(self) -> None:
        """Refuse an hour of the week that was never recorded."""
        if len(self.blocks) != HOURS or not all(self.blocks):
            raise ValueError(f"each of {HOURS} hours was recorded at least once")


Demand = Rates | Recorded


@dataclass(frozen=True, slots=True)
class Scenario:
    """All that a plan is made of; `rungs` are the primary and then the second.

    `target` is the share of working time that a rung may be missing. `factor` multiplies the demand. `moved` is the
    share of the questions at `high` that are asked at `medium` instead.
    """

    rungs: tuple[str, ...]
    kinds: tuple[SeatKind, ...]
    demand: Demand
    have: Mapping[str, int] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)
    target: float = 0.01
    working: frozenset[int] = frozenset(range(HOURS))
    factor: float = 1.0
    moved: float = 0.0
    assumptions: tuple[str, ...] = ()

    def of_rung(self, rung: str) -> tuple[SeatKind, ...]:
        """The kinds of seats that reach a rung."""
        return tuple(kind for kind in self.kinds if kind.rung == rung)

    @property
    def warm_up_weeks(self) -> int:
        """How many weeks pass before counting begins: until every window has begun anew at least once."""
        longest = max((window.length_s for kind in self.kinds for window in kind.windows), default=0)
        return max(1, -(-longest // WEEK_S))
