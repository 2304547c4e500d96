"""An act's values: who carries it out, and what it starts as."""

from decide.handoff.act import ActEnd, ActState, Origin, Runner
from decide.handoff.execution import Surface


def test_what_is_asked_without_more_is_typed_and_carried_out_by_whoever_asked() -> None:
    assert Origin() == Origin(Surface.TYPED, "", Runner.ASK)


def test_an_end_says_nothing_that_was_not_told_to_it() -> None:
    assert ActEnd(True, 0) == ActEnd(True, 0, output="", why="")


def test_states_are_closed() -> None:
    assert [*ActState] == ["due", "clicked", "refused", "running", "done", "failed", "unknown"]
