"""Waiting: what a question has come to for whoever waits for it, and waiting until it has an answer (design 7)."""

from collections.abc import Awaitable, Callable
from enum import StrEnum

from decide.handoff.entry import EntryState
from decide.handoff.inbox import PENDING
from decide.handoff.ports import HandoffStore, Standing
from decide.ruling import ANSWERED

FIRST_POLL_S = 0.5
LONGEST_POLL_S = 5.0
_SLOWER = 1.5
NOTHING_YET = 2
"""The exit code while nothing has been ruled: as for a run that ended without an answer and may be tried again."""


class Answered(StrEnum):
    """Who ended the waiting: the ladder or a person with an answer, or a person who cancelled the question."""

    LADDER = "ladder"
    PERSON = "person"
    CANCELLED = "cancelled"


def answer_of(standing: Standing) -> Answered | None:
    """Who has ended the waiting, None while nobody has; an older entry says nothing of an item that is open again."""
    entry, item, receipt = standing.entry, standing.item, standing.receipt
    if receipt is not None and receipt["outcome"] in ANSWERED:
        return Answered.LADDER
    if entry is None or (item is not None and item.state in PENDING):
        return None
    match entry.state:
        case EntryState.ANSWERED:
            return Answered.PERSON
        case EntryState.CANCELLED:
            return Answered.CANCELLED
        case EntryState.RESOLVED:  # a person may have answered the question that stands for it
            return Answered.PERSON if receipt is not None and receipt["person"] is not None else None
        case EntryState.OPEN:
            return None


def exit_now(standing: Standing) -> int:
    """The exit code of a command that waits no longer: 0 with an answer, else its latest ruling's (design 7)."""
    if answer_of(standing) in (Answered.LADDER, Answered.PERSON):
        return 0
    return NOTHING_YET if standing.receipt is None else int(standing.receipt["exit_code"])


async def until_answered(
    any_id: str,
    *,
    store: HandoffStore,
    sleep: Callable[[float], Awaitable[None]],
    monotonic: Callable[[], float],
    timeout_s: float | None = None,
    ruling_is_enough: bool = False,
) -> Standing:
    """Wait until a question has an answer, or for `timeout_s` (None: for ever), and say where it stands then.

    With `ruling_is_enough` any ruling ends the waiting. Raises LookupError for an id that none or several have.
    """
    started, pause = monotonic(), FIRST_POLL_S
    while True:
        standing = await store.standing(any_id)
        if answer_of(standing) is not None or (ruling_is_enough and standing.receipt is not None):
            return standing
        left = None if timeout_s is None else timeout_s - (monotonic() - started)
        if left is not None and left <= 0:
            return standing
        await sleep(pause if left is None else min(pause, left))
        pause = min(pause * _SLOWER, LONGEST_POLL_S)
