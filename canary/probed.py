"""Probed: what reading one seat gave, as a value."""

from dataclasses import dataclass

from canary.login import Login
from canary.memory import SeatMemory
from canary.sources.target import Target

HELD = "held"
OK = "ok"


@dataclass(frozen=True, slots=True)
class Probed:
    """What reading a seat gave: its login, whether the vendor rejects that, what to keep, and what was done.

    `reads` are (source, result) pairs, the result "ok", "held" or a reason; `skews_s` the clock differences that
    replies told; `steps` lines without secrets.
    """

    target: Target
    login: Login
    rejected: bool
    memory: SeatMemory
    reads: tuple[tuple[str, str], ...] = ()
    skews_s: tuple[float, ...] = ()
    steps: tuple[str, ...] = ()
