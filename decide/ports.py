"""Ports: what a run needs of the world, each with the values that cross it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # the canary, which asks nobody, starts without what a run needs
    from decide.brief import Brief
    from decide.consultation import Ballot
    from decide.handoff.ports import Hold, Onward
    from decide.ledger import Row
    from decide.reply import Billing, Reply
    from decide.seat import Seat


@dataclass(frozen=True, slots=True)
class Access:
    """How a rung reaches its model through one seat.

    `secret` is an API key, None for a seat whose client has its own login; `effort` is the level's. `timeout_s` is
    the longest that the call may take.
    """

    seat: str
    model: str
    effort: str
    timeout_s: float
    config_dir: Path | None = None
    base_url: str = ""
    command: tuple[str, ...] = ()
    client: str = ""
    secret: str | None = field(default=None, repr=False)


class Ask(Protocol):
    """One model call; a failure is a value in the reply, and a cancellation leaves no process and no connection."""

    async def __call__(self, brief: "Brief", access: Access) -> "Reply":
        """The reply to one brief."""


@dataclass(frozen=True, slots=True)
class SeatAccess:
    """A seat as the canary knows it now, and how it is reached.

    `client_renews`: its vendor's client would renew a lapsing login. `credential` is an opaque mark of login and
    configuration, by which it is known that either changed.
    """

    seat: "Seat"
    access: Access
    billing: "Billing"
    client_renews: bool = False
    credential: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """One model call that a run may make, reserved before asking at the worst that it can cost."""

    call_id: str
    micro_usd: int


@dataclass(frozen=True, slots=True)
class Caps:
    """How much a day may hold, None for no cap; `zone` is where the day is (design 8)."""

    passes_per_day: int | None = None
    micro_usd_per_day: int | None = None
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class KeptPass:
    """A pass of an earlier attempt at a question that stands: `consultation` is one of slots.PARTS or
    slots.CROSS_CHECK; `record` is how the receipt tells it.
    """

    consultation: str
    ballot: "Ballot"
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Claim:
    """A run's claim on a question: nobody else works it until the lease ends, or until this process is gone.

    `first` is reserved in the same transaction where the question has no evidence yet: a commit less for every run
    that knows its evidence before it claims.
    """

    run_id: str
    question_key: str
    question_digest: str
    at: datetime
    lease: timedelta
    first: "Reservation | None" = None


@dataclass(frozen=True, slots=True)
class Ready:
    """The question is this run's to work; `snapshot` is its evidence as `snapshot.dump` gave it, None at first.

    `reserved`: what the claim brought was reserved with it. `spent` is the cap that had no room for it.
    """

    snapshot: str | None = None
    kept: tuple[KeptPass, ...] = ()
    attempts: int = 0
    reserved: bool = False
    spent: "CapSpent | None" = None


@dataclass(frozen=True, slots=True)
class Decided:
    """The question is decided or declined: its receipt stands."""

    receipt: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Busy:
    """Another run works the question: `run_id` on `host`."""

    run_id: str
    host: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """The id was used for another question before."""

    digest: str


Claimed = Ready | Decided | Busy | Conflict


@dataclass(frozen=True, slots=True)
class Reservation:
    """What a run reserves in one transaction, on one day, before it asks."""

    run_id: str
    question_key: str
    question: str
    snapshot: str
    day: str
    at: datetime
    slots: tuple[Slot, ...]
    caps: Caps
    rows: "tuple[Row, ...]" = ()


@dataclass(frozen=True, slots=True)
class CapSpent:
    """A cap that has no room for the worst case: "passes" or "usd", with what is used and what it allows."""

    cap: str
    used: int
    limit: int


@dataclass(frozen=True, slots=True)
class Settlement:
    """A pass that ended: what its slot is charged (micro-dollars), its row, and what a resumed run needs of it."""

    call_id: str
    micro_usd: int
    row: "Row"
    kept: KeptPass | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ends: its receipt, its last rows, and whether the question is closed by it.

    `question` and `snapshot` are kept as in a reservation, where the run never came to reserve.
    `settlements` are the last calls', made durable with the rest. Slots that were not settled are released. `onward`
    is what becomes of the question beyond its run.
    """

    run_id: str
    question_key: str
    question: str
    snapshot: str
    at: datetime
    rows: "tuple[Row, ...]"
    receipt_id: str
    receipt: Mapping[str, Any]
    closed: bool
    counts_as_attempt: bool
    settlements: tuple[Settlement, ...] = ()
    onward: "Onward | None" = None


class Store(Protocol):
    """What is durable; every method raises StoreError when nothing can be read or written any more."""

    async def claim(self, claim: Claim) -> Claimed:
        """The question for this run, or why it is not to be asked."""

    async def reserve(self, reservation: Reservation) -> CapSpent | None:
        """Reserve every slot or none."""

    async def settle(self, settlements: Sequence[Settlement]) -> None:
        """Charge slots with what their calls cost, each once, and append their rows."""

    async def end(self, ending: Ending) -> None:
        """Append the last rows, keep the receipt, give back unused slots and the question."""

    async def hold(self, hold: "Hold") -> None:
        """Let a question that a broken ledger held wait for a person, as far as the store still takes it."""

    async def release(self, run_id: str) -> None:
        """Give a claimed question back as if it had never been claimed; nothing may be reserved."""
