"""History: the states of the ladder and of its rungs over a day and a week, from recorded changes."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import pairwise
from types import MappingProxyType

from starlette.responses import Response

from decide.ladder import LadderWord, RungState
from decide.reason import WORDS
from exporters.console.desk import LADDER, Moved
from exporters.console.frame import Clock
from exporters.console.site import Asked
from exporters.console.timeline import (
    LOW,
    MIDDLE,
    NO_RECORD,
    NOTHING,
    SHAPES,
    STRIPES,
    TALL,
    Track,
    legible,
    tracks,
)
from exporters.moment import span_words
from exporters.present import present

WIDTH = 1000
"""How wide a track is drawn, in its own units."""
SPANS: Mapping[str, tuple[timedelta, int]] = MappingProxyType(
    {"24 hours": (timedelta(hours=24), 4), "7 days": (timedelta(days=7), 7)}
)
"""What is shown: each span with the number of parts that its scale has."""
LINES = 60
"""How many changes are listed, the latest."""

HEIGHT = 24
"""How high a track is drawn."""
_BANDS: Mapping[str, tuple[tuple[str, tuple[tuple[int, int], ...]], ...]] = MappingProxyType(
    {
        TALL: (("tall", ((0, HEIGHT),)),),
        MIDDLE: (("middle", ((10, 14),)),),
        LOW: (("under", ((0, HEIGHT),)), ("low", ((17, 7),))),
        STRIPES: (("stripes", ((1, 3), (7, 3), (13, 3), (19, 3))),),
        NOTHING: (("nothing", ((11, 2),)),),
    }
)
"""By shape: each of its looks with y and height of its bands."""
_MEANS: Mapping[str, str] = MappingProxyType({reason.value: words.means for reason, words in WORDS.items()})
_LEGEND = (*LadderWord, *RungState, NO_RECORD)


async def history_page(asked: Asked) -> Response:
    """Both spans as drawings, and the changes as a table."""
    seen = present(asked.view, asked.now)
    moved = asked.desk.transitions(asked.now - SPANS["7 days"][0])
    recent = [one for one in moved if one.at > asked.now - SPANS["7 days"][0]]
    return asked.show(
        "history.html",
        here="/history",
        charts=[
            (
                name,
                scale(asked.now, *span),
                [drawn(one, asked.clock) for one in tracks(moved, seen, asked.now - span[0])],
            )
            for name, span in SPANS.items()
        ],
        legend=[(state, paths(SHAPES[state], 0, HEIGHT)) for state in _LEGEND],
        moved=[_line(one, asked.clock) for one in recent[::-1][:LINES]],
        left_out=max(0, len(recent) - LINES),
        width=WIDTH,
        height=HEIGHT,
    )


def scale(now: datetime, span: timedelta, parts: int) -> list[str]:
    """The words under a track, from its beginning to now, at equal distances."""
    step = span / parts
    begin = now - span
    words = "%H:%M" if span <= timedelta(days=1) else "%a %d"
    return [*(f"{begin + step * place:{words}}" for place in range(parts)), "now"]


def drawn(track: Track, clock: Clock) -> Mapping[str, object]:
    """A track as its drawing needs it: paths in units of `WIDTH`, and what it shows in words."""
    begin, end = track.segments[0].start, track.segments[-1].end
    unit = WIDTH / (end - begin).total_seconds()
    segments = legible(track).segments
    edges = pairwise([*(clock.when(one.start) for one in segments), clock.when(end)])
    return {
        "name": track.subject,
        "minor": track.subject != LADDER,
        "now": track.segments[-1].state,
        "words": ", ".join(f"{state} {_percent(share)}" for state, share in track.shares()),
        "parts": [
            (
                f"{one.state} for {span_words(one.lasted)}, from {start} to {stop}",
                paths(one.shape, (one.start - begin).total_seconds() * unit, one.lasted.total_seconds() * unit),
            )
            for one, (start, stop) in zip(segments, edges, strict=True)
        ],
    }


def paths(shape: str, x: float, width: float) -> list[tuple[str, str]]:
    """What draws a shape: each of its looks with its path; none is too narrow to be seen."""
    wide = max(width, 1.0)
    return [
        (look, "".join(f"M{x:.1f} {y}h{wide:.1f}v{height}h-{wide:.1f}z" for y, height in bands))
        for look, bands in _BANDS[shape]
    ]


def _percent(share: float) -> str:
    """A share without any that is not whole looking so."""
    percent = share * 100
    return "<1 %" if 0 < percent < 1 else ">99 %" if 99 < percent < 100 else f"{percent:.0f} %"


def _line(one: Moved, clock: Clock) -> Mapping[str, str]:
    return {
        "iso": clock.iso(one.at),
        "when": clock.when(one.at),
        "ago": clock.ago(one.at),
        "subject": one.subject,
        "before": one.before,
        "after": one.after,
        "why": "; ".join(_MEANS.get(name, name) for name in one.reasons),
    }
