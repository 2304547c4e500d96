"""A track tells each moment of its span once, by what was recorded, and never more than is known."""

from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.ladder import LadderWord
from exporters.console.desk import LADDER, Moved
from exporters.console.history import scale
from exporters.console.timeline import MOST, NO_RECORD, Track, legible, tracks
from exporters.present import Present
from tests.exporters.scenes import NOW

DAY = timedelta(days=1)


def hours(count: float) -> datetime:
    """The moment that many hours before now."""
    return NOW - timedelta(hours=count)


def track(moved: list[Moved], word: str = "ok", since: datetime | None = None) -> Track:
    """The ladder's track over a day."""
    (found,) = tracks(moved, Present(NOW, LadderWord(word), (), since=since), NOW - DAY)
    return found


def told(moved: list[Moved], word: str = "ok", since: datetime | None = None) -> list[tuple[str, float]]:
    """Each segment's state and hours."""
    return [(one.state, one.lasted / timedelta(hours=1)) for one in track(moved, word, since).segments]


def move(ago: float, before: str, after: str) -> Moved:
    """A change of the ladder."""
    return Moved(hours(ago), LADDER, before, after)


CASES: dict[str, tuple[list[Moved], str, datetime | None, list[tuple[str, float]]]] = {
    "nothing is known": ([], "blind", None, [(NO_RECORD, 24)]),
    "it began within the span": ([], "ok", hours(5), [(NO_RECORD, 19), ("ok", 5)]),
    "it began before": ([], "ok", hours(50), [("ok", 24)]),
    "one change": ([move(4, "ok", "down")], "down", hours(4), [("ok", 20), ("down", 4)]),
    "the last one before the span": ([move(90, "down", "ok")], "ok", hours(90), [("ok", 24)]),
    "two that do not meet": (
        [move(10, "down", "ok"), move(2, "blind", "ok")],
        "ok",
        hours(2),
        [("down", 14), (NO_RECORD, 8), ("ok", 2)],
    ),
    "it went stale since": ([move(10, "down", "ok")], "blind", hours(1), [("down", 14), ("ok", 9), ("blind", 1)]),
    "a change from ahead of a clock that stepped back": ([move(-2, "ok", "down")], "ok", hours(30), [("ok", 24)]),
    "a since from before the last change": (
        [move(3, "ok", "down")],
        "blind",
        hours(9),
        [("ok", 21), ("blind", 3)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_drawn(name: str) -> None:
    moved, word, since, wanted = CASES[name]
    assert told(moved, word, since) == wanted


WORDS = st.sampled_from([word.value for word in LadderWord])
MOVES = st.lists(st.builds(move, st.floats(-30, 200), WORDS, WORDS), max_size=8)


@given(MOVES, WORDS, st.none() | st.floats(-30, 200).map(hours))
def test_a_track_fills_its_span_without_gap_or_overlap(moved: list[Moved], word: str, since: datetime | None) -> None:
    found = track(moved, word, since)
    assert (found.segments[0].start, found.segments[-1].end) == (NOW - DAY, NOW)
    assert all(this.end == following.start for this, following in pairwise(found.segments))
    assert all(one.lasted > timedelta() for one in found.segments)
    assert sum(share for _, share in found.shares()) == pytest.approx(1)


@given(st.lists(st.floats(0, 24), min_size=MOST + 5, max_size=300), st.data())
def test_a_track_that_changes_too_often_shows_the_worst_of_each_while(ages: list[float], data: st.DataObject) -> None:
    words = data.draw(st.lists(WORDS, min_size=len(ages) + 1, max_size=len(ages) + 1))
    steps = zip(sorted(ages, reverse=True), words, words[1:], strict=False)
    whole = track([move(*step) for step in steps], words[len(ages)], hours(0))
    drawn = legible(whole)
    assert len(drawn.segments) <= MOST
    assert (drawn.segments[0].start, drawn.segments[-1].end) == (NOW - DAY, NOW)
    assert all(one.lasted > timedelta() for one in drawn.segments)
    down = [one for one in whole.segments if one.state == "down" and one.lasted > DAY / MOST]
    for one in down:
        middle = one.start + one.lasted / 2
        assert [seen.state for seen in drawn.segments if seen.start <= middle < seen.end] == ["down"]


def test_a_track_that_can_be_read_stays_as_it_is() -> None:
    whole = track([move(4, "ok", "down")], "down", hours(4))
    assert legible(whole) is whole


def test_a_scale_ends_now() -> None:
    assert scale(NOW, DAY, 4) == ["12:00", "18:00", "00:00", "06:00", "now"]
    assert scale(NOW, 7 * DAY, 7)[0] == "Wed 24"
