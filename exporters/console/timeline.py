"""Timeline: which state the ladder or a rung was in when, from recorded changes (pure)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from types import MappingProxyType

from decide.ladder import LadderWord, RungState
from exporters.console.desk import LADDER, Moved
from exporters.present import Present

MOST = 96
"""How many segments a track is drawn with, at most: what changes more often is told by the worst of each while."""
NO_RECORD = "no record"
"""Where nobody knows what the state was: before the first record, and where two changes do not meet."""

TALL, MIDDLE, LOW, STRIPES, NOTHING = "tall", "middle", "low", "stripes", "nothing"
SHAPES: Mapping[str, str] = MappingProxyType(
    {
        LadderWord.OK: TALL,
        LadderWord.DEGRADED: MIDDLE,
        LadderWord.DOWN: LOW,
        LadderWord.BLIND: STRIPES,
        RungState.REACHABLE: TALL,
        RungState.UNREACHABLE: LOW,
        RungState.UNKNOWN: STRIPES,
        NO_RECORD: NOTHING,
    }
)
"""How a state is drawn beside its colour, so that no reader needs the colour."""


_GRAVE = (LOW, STRIPES, MIDDLE, NOTHING, TALL)
"""The shapes, what a reader must not miss first."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A state from one moment to the next."""

    state: str
    start: datetime
    end: datetime

    @property
    def lasted(self) -> timedelta:
        """How long it lasted."""
        return self.end - self.start

    @property
    def shape(self) -> str:
        """How it is drawn."""
        return SHAPES.get(self.state, STRIPES)


@dataclass(frozen=True, slots=True)
class Track:
    """What a subject went through within a span, the earliest first, without gaps."""

    subject: str
    segments: tuple[Segment, ...]

    def shares(self) -> list[tuple[str, float]]:
        """How large a part (0-1) each state had, the largest first."""
        lasted: dict[str, timedelta] = defaultdict(timedelta)
        for one in self.segments:
            lasted[one.state] += one.lasted
        whole = sum(lasted.values(), timedelta())
        return sorted(((state, time / whole) for state, time in lasted.items()), key=lambda pair: -pair[1])


def legible(track: Track) -> Track:
    """The track as it can be drawn: where it has too many segments, each while shows the worst that it held."""
    if len(track.segments) <= MOST:
        return track
    begin, end = track.segments[0].start, track.segments[-1].end
    step = (end - begin) / MOST
    worst: dict[int, str] = {}
    for one in track.segments:
        first, last = (min(int((moment - begin) / step), MOST - 1) for moment in (one.start, one.end))
        for place in range(first, last + 1):
            worst[place] = min(worst.get(place, one.state), one.state, key=_gravity)
    starts = [place for place in range(MOST) if place == 0 or worst[place] != worst[place - 1]]
    edges = [begin + step * place for place in starts] + [end]
    segments = (Segment(worst[place], *pair) for place, pair in zip(starts, pairwise(edges), strict=True))
    return Track(track.subject, tuple(segments))


def _gravity(state: str) -> int:
    return _GRAVE.index(SHAPES.get(state, STRIPES))


def tracks(moved: Sequence[Moved], seen: Present, start: datetime) -> tuple[Track, ...]:
    """The ladder's track and each rung's from `start` until now; a rung that is no longer configured has none."""
    by_subject: dict[str, list[Moved]] = defaultdict(list)
    for one in sorted(moved, key=lambda one: one.at):
        if one.at <= seen.now:
            by_subject[one.subject].append(one)
    present = [(LADDER, seen.word.value, seen.since), *((r.name, r.state.value, r.since) for r in seen.rungs)]
    return tuple(
        Track(subject, tuple(_segments(by_subject[subject], state, since, start, seen.now)))
        for subject, state, since in present
    )


def _segments(
    moved: Sequence[Moved], state: str, since: datetime | None, start: datetime, now: datetime
) -> Iterable[Segment]:
    """The segments of one subject that is in `state` since `since`."""
    edges = [_Edge(one.at, one.before, one.after) for one in moved]
    if since is not None and (not edges or edges[-1].after != state):
        before = edges[-1] if edges else _Edge(since, "", NO_RECORD)
        edges.append(_Edge(min(max(since, before.at), now), before.after, state))
    if not edges or edges[0].at > start:
        # what a first change tells of the time before it holds as far back as is drawn
        edges.insert(0, _Edge(start, "", edges[0].before if edges else NO_RECORD))
    edges.append(_Edge(now, state, ""))
    for this, following in pairwise(edges):
        begin, end = max(this.at, start), min(following.at, now)
        if begin < end:
            yield Segment(this.after if this.after == following.before else NO_RECORD, begin, end)


@dataclass(frozen=True, slots=True)
class _Edge:
    at: datetime
    before: str
    after: str
