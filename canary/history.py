"""History: the recorded changes of state of ladder and rungs, as the log in the state folder has them."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from canary.folder import TRANSITIONS
from exporters.console.desk import Moved

LIMIT = 4 * 1024 * 1024
"""How much of the log is looked at, in bytes from its end: months of a lively ladder."""


def transitions(folder: Path, since: datetime) -> Sequence[Moved]:
    """Every change since then, the earliest first, behind the last one of each subject before then.

    A line that a crash cut is passed over; without a log there are none.
    """
    before: dict[str, Moved] = {}
    after = []
    for moved in _moves(folder / TRANSITIONS):
        if moved.at < since:
            before[moved.subject] = moved
        else:
            after.append(moved)
    return [*sorted(before.values(), key=lambda moved: moved.at), *after]


def _moves(log: Path) -> Iterator[Moved]:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - LIMIT))
            lines = file.read().splitlines()
    except OSError:
        return
    for line in lines:
        try:
            told = json.loads(line)
            at, reasons = datetime.fromisoformat(told["at"]), tuple(map(str, told["reasons"]))
            yield Moved(at, str(told["subject"]), str(told["before"]), str(told["after"]), reasons)
        except (ValueError, KeyError, TypeError):
            continue  # what a crash cut, and what begins before the part that is looked at
