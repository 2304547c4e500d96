"""Watch: what a run tells whoever looks on while it works."""

from collections.abc import Callable
from dataclasses import dataclass

from decide.consultation import Order, PassRole
from decide.receipt import Receipt


@dataclass(frozen=True, slots=True)
class Waiting:
    """Another run works this question; this one waits for what it finds."""

    run_id: str
    host: str


@dataclass(frozen=True, slots=True)
class PassOut:
    """A call has gone out."""

    call_id: str
    rung: str
    seat: str
    order: Order
    role: PassRole


@dataclass(frozen=True, slots=True)
class PassIn:
    """That call has come back with this result after so many seconds."""

    call_id: str
    result: str
    duration_s: float


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over, cancelled or not."""

    receipt: Receipt


Event = Waiting | PassOut | PassIn | Ended
Watch = Callable[[Event], None]


def unwatched(event: Event) -> None:
    """The watch of a run at which nobody looks."""
