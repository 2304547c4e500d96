"""Voters: a model that says one thing to votes, another to a re-read, to a cross-check and to a fault it is shown."""

from collections.abc import Sequence
from enum import StrEnum

from decide.brief import Brief
from decide.consultation import Order
from decide.ports import Access, Ask
from decide.reply import Reply
from tests.decide.fakes import Scripted


class Task(StrEnum):
    """What a brief asks for beside a plain vote, by what it shows."""

    REREAD = "# What votes are split between"
    CHECK = "# A proposed answer"
    FAULT = "# A fault that was found"
    REASONS = "# Reasons that two reviewers gave"


def tasks(brief: Brief) -> set[Task]:
    """What a brief asks for, empty for a plain vote."""
    return {task for task in Task if f"\n{task}" in brief.text}


class Voter:
    """A model with an answer for each order's votes in turn, the last for all that follow, and for each other task."""

    def __init__(
        self,
        forward: Sequence[Ask],
        backward: Sequence[Ask] = (),
        *,
        reread: Ask | None = None,
        check: Ask | None = None,
        again: Ask | None = None,
    ) -> None:
        self._left = {Order.FORWARD: list(forward), Order.REVERSED: list(backward or forward)}
        self._others = {Task.REREAD: reread, Task.CHECK: check, Task.FAULT: again}

    async def __call__(self, brief: Brief, access: Access) -> Reply:
        """What it says to this brief."""
        asked = tasks(brief)
        other = next((answer for task, answer in self._others.items() if task in asked and answer), None)
        left = self._left[brief.order]
        answer = other or (left.pop(0) if len(left) > 1 else left[0])
        return await answer(brief, access)


def voter(*forward: Ask, backward: Sequence[Ask] = (), **others: Ask) -> Scripted:
    """Such a model, which keeps what it was asked."""
    return Scripted(Voter(forward, backward, **others))
