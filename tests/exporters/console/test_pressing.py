"""How a press and what it set going are told: each in the one table's words, with the status that fits."""

from dataclasses import replace

import pytest

from decide.handoff.act import ActEnd, ActState
from decide.handoff.click import ClickState, Pressed
from decide.handoff.execution import Refusal
from exporters.console.frame import Clock
from exporters.console.pressing import outcome, status, words
from tests.exporters.console.receipts import RESTART, minutes
from tests.exporters.console.world import act, click
from tests.exporters.scenes import NOW

CLICK = click("c", RESTART, state=ClickState.CONSUMED, closed_at=minutes(-2))
TOLD: list[tuple[Pressed, ActState | None, str, int]] = [
    (Pressed(CLICK), None, "", 200),
    (Pressed(None, Refusal.UNKNOWN_CLICK), None, "there is no such click, or it is long gone; nothing was run", 404),
    (
        Pressed(CLICK, Refusal.OTHER_USER),
        None,
        "this click is ana's to press, not bo's; it stays as it is",
        403,
    ),
    (Pressed(CLICK, Refusal.EXPIRED), None, "this click expired at 12:10:00 UTC; nothing was run", 410),
    (
        Pressed(CLICK, Refusal.ALREADY_CONSUMED),
        ActState.RUNNING,
        "this click was pressed at 11:58:00 UTC; its command is running",
        200,
    ),
    (
        Pressed(CLICK, Refusal.ALREADY_CONSUMED),
        ActState.DONE,
        "this click was pressed at 11:58:00 UTC; its command is done",
        200,
    ),
    (
        Pressed(CLICK, Refusal.ALREADY_CONSUMED),
        None,
        "this click was pressed at 11:58:00 UTC; its command has not begun",
        200,
    ),
]


@pytest.mark.parametrize(("pressed", "state", "wanted", "code"), TOLD)
def test_a_press_is_told(pressed: Pressed, state: ActState | None, wanted: str, code: int) -> None:
    made = None if state is None else act("c", RESTART, state)
    assert (words(pressed, "bo", made, Clock(NOW)), status(pressed)) == (wanted, code)


def test_a_failure_is_told_with_its_exit_status_and_why() -> None:
    made = act("c", RESTART, ActState.FAILED, end=ActEnd(False, 3, why="it ran too long"))
    assert outcome(made) == ("failed", "its command failed (exit status 3; it ran too long)")
    assert outcome(replace(made, end=ActEnd(False, None)))[1] == "its command failed"


def test_a_lost_outcome_says_that_nothing_runs_it_again() -> None:
    word, clause = outcome(act("c", RESTART, ActState.UNKNOWN))
    assert word == "outcome unknown"
    assert "never run again" in clause
