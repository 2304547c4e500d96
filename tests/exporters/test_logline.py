"""The log line: one line, honest about each rung, whatever the names are."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.ladder import LadderState, LadderWord, RungState
from decide.reason import Reason
from exporters.logline import logline
from exporters.present import present
from tests.exporters.scenes import ASTRA as ASTRA_NAME
from tests.exporters.scenes import (
    HOSTILE,
    NOW,
    SCENES,
    SECRET,
    hostile_view,
    minutes,
    mixed_seat,
    ok_view,
    rung,
    state,
)


def tick(name: str) -> LadderState:
    """The state of a scene."""
    found = SCENES[name]().state
    assert found is not None
    return found


def test_golden_lines(golden: Callable[[str, str], None]) -> None:
    states = [tick(name) for name in SCENES if name != "start"]
    stale = present(ok_view(), NOW + minutes(40)).state
    assert stale is not None
    odd = replace(tick("ok"), notes=(Reason.CLOCK,)), replace(tick("down"), demo=True)
    golden("loglines.txt", "".join(f"{logline(found)}\n" for found in (*states, stale, *odd)))


def test_ok_is_said_only_while_both_rungs_are_reachable() -> None:
    assert logline(tick("ok")).startswith("2026-07-01T12:00:00Z ladder OK ")
    for name in ("degraded", "down", "blind", "hostile"):
        line = logline(tick(name))
        assert line.startswith(f"2026-07-01T12:00:00Z ladder {tick(name).state.upper()} ")
        assert "ladder OK" not in line


def test_a_state_that_contradicts_its_rungs_is_blind() -> None:
    rungs = tick("ok").rungs
    lie = replace(tick("ok"), rungs=(rungs[0], replace(rungs[1], state=RungState.UNKNOWN)))
    assert " ladder BLIND " in logline(lie)
    assert " ladder BLIND " in logline(replace(tick("ok"), rungs=()))


def test_each_rung_that_is_not_reachable_is_told_with_reasons_and_clear_time() -> None:
    line = logline(tick("down"))
    assert "fable=unreachable (expired, weekly_cap; clears 2026-07-01T14:30:00Z)" in line
    assert "astra=unreachable (weekly_cap; clears 2026-07-01T14:30:00Z)" in line
    assert "fable=unknown (malformed; no clear time known)" in logline(tick("blind"))


def test_the_time_is_the_ticks_own_in_utc() -> None:
    east = replace(tick("ok"), at=NOW.astimezone(timezone(timedelta(hours=5))))
    assert logline(east).startswith("2026-07-01T12:00:00Z ")


def test_notes_and_demo_are_named() -> None:
    line = logline(replace(tick("ok"), notes=(Reason.CLOCK,), demo=True))
    assert "ladder OK [demo] " in line
    assert line.endswith(" [notes: clock]")


NAMES = st.sampled_from(HOSTILE) | st.text()


@given(NAMES, NAMES, st.sampled_from(LadderWord), st.sampled_from(RungState))
def test_exp_04_any_name_leaves_one_honest_line(first: str, second: str, word: LadderWord, found: RungState) -> None:
    rungs = tick("ok").rungs
    named = replace(rungs[0], name=first, picked=second), replace(rungs[1], name=second, state=found)
    line = logline(replace(tick("ok"), state=word, rungs=named))
    assert len(line.splitlines()) == 1
    assert line.isprintable()
    assert ("ladder OK" in line) == (word is LadderWord.OK and found is RungState.REACHABLE)


@pytest.mark.parametrize("names", [("ladder OK", "OK"), ("ladder", "OK"), ("x ladder OK", "ladder\u00a0OK")])
def test_exp_03_a_seat_or_rung_named_like_the_good_news_is_no_good_news(names: tuple[str, str]) -> None:
    rungs = tick("degraded").rungs
    named = replace(rungs[0], name=names[0], picked=names[1]), replace(rungs[1], name=names[1])
    assert "ladder OK" not in logline(replace(tick("degraded"), rungs=named))


def test_a_name_cannot_pass_for_more_of_the_line() -> None:
    rungs = tick("down").rungs
    line = logline(replace(tick("down"), rungs=(replace(rungs[0], name="fable=reachable; x"), rungs[1])))
    assert "fable=reachable;_x=unreachable" in line


def test_a_secret_has_no_way_into_the_line() -> None:
    seat = mixed_seat(SECRET)
    (reading,) = seat.readings
    planted = replace(seat, readings=(replace(reading, source=SECRET),))
    assert SECRET not in logline(state(rung(ASTRA_NAME, planted)))
    assert SECRET not in logline(hostile_view().state or tick("ok"))
