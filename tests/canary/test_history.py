"""History: what was recorded is told in order, and what stood before the time that is asked for."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from canary.folder import TRANSITIONS, blank, save
from canary.history import transitions
from decide.ladder import Transition
from decide.reason import Reason
from exporters.console.desk import Moved

NOON = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)


def hours(count: float) -> datetime:
    return NOON + timedelta(hours=count)


MOVES = [
    Transition(hours(-9), "ladder", "blind", "ok"),
    Transition(hours(-8), "fable", "unknown", "reachable"),
    Transition(hours(-3), "ladder", "ok", "degraded"),
    Transition(hours(-1), "fable", "reachable", "unreachable", (Reason.SESSION_CAP,)),
    Transition(hours(0), "ladder", "degraded", "ok"),
]


def moved(one: Transition) -> Moved:
    return Moved(one.at, one.subject, one.before, one.after, tuple(reason.value for reason in one.reasons))


def test_what_was_saved_is_told_from_a_time_on_behind_what_stood_before_it(tmp_path: Path) -> None:
    save(tmp_path, blank(), MOVES[:3])
    save(tmp_path, blank(), MOVES[3:])
    assert transitions(tmp_path, hours(-2)) == [moved(MOVES[1]), moved(MOVES[2]), moved(MOVES[3]), moved(MOVES[4])]
    assert transitions(tmp_path, hours(-24)) == [moved(one) for one in MOVES]
    assert transitions(tmp_path, hours(1)) == [moved(MOVES[3]), moved(MOVES[4])]


def test_without_a_log_there_is_none(tmp_path: Path) -> None:
    assert transitions(tmp_path, NOON) == []


@pytest.mark.parametrize(
    "torn", [b'{"at": "2026-10-15T1', b"[]\n", b'{"at": "yesterday", "subject": "x"}\n', b"\xff\n"]
)
def test_a_line_that_is_none_is_passed_over(tmp_path: Path, torn: bytes) -> None:
    save(tmp_path, blank(), MOVES[:1])
    with (tmp_path / TRANSITIONS).open("ab") as log:
        log.write(torn)
    save(tmp_path, blank(), MOVES[1:2])
    assert transitions(tmp_path, hours(-24)) == [moved(MOVES[0]), moved(MOVES[1])]
