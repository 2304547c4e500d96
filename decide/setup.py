"""Setup: a ladder as a run needs it, both rungs with their ports, and everything that the configuration decides."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from decide.gate import GateRow
from decide.ladder import Role
from decide.level import LEVELS, Level
from decide.ports import Ask, Caps, SeatAccess, Store
from decide.question import LevelName
from decide.reply import Usage
from decide.snapshot import Snapshot, Source
from decide.verdict import accepts


class TieBreak(StrEnum):
    """What the reconsideration is shown: nothing new, or both rationales unattributed (design 4.3)."""

    FRESH = "fresh"
    WITH_RATIONALES = "with_rationales"


class UsageError(ValueError):
    """A question or a setup that cannot be asked (exit 64): nothing is spent, no row written, no counter moved."""


@dataclass(frozen=True, slots=True)
class RungSetup:
    """One rung: `seats` gives its seats as they are now, `ask` calls its model through one of them.

    `pins_model` says that the call itself fixes the model, so that a reply which names none was given by the one
    asked for. `own_price` says that its client states what a call cost. Amounts are micro-dollars, `timeout_s` is
    the longest that one call may take.
    """

    name: str
    role: Role
    model: str
    accepted: frozenset[str]
    ask: Ask
    seats: Callable[[], Awaitable[Sequence[SeatAccess]]]
    pins_model: bool = True
    own_price: bool = False
    max_micro_usd_per_pass: int = 500_000
    timeout_s: float = 300.0


@dataclass(frozen=True, slots=True)
class Setup:
    """A whole ladder; raises UsageError when one model could answer as both rungs.

    `price` gives the micro-dollars of a usage by a model, None when the table does not know it.
    """

    primary: RungSetup
    second: RungSetup
    store: Store
    rows: tuple[GateRow, ...]
    freeze: Callable[[Sequence[Source]], Awaitable[Snapshot]]
    price: Callable[[Usage, str], int | None]
    clock: Callable[[], datetime]
    monotonic: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    fresh_id: Callable[[], str]
    caps: Caps = field(default_factory=Caps)
    level: LevelName = LevelName.MEDIUM
    levels: Mapping[LevelName, Level] = field(default_factory=lambda: MappingProxyType(dict(LEVELS)))
    tie_break: TieBreak = TieBreak.FRESH
    lease: timedelta = timedelta(minutes=30)

    def __post_init__(self) -> None:
        """Refuse two rungs that one model could answer (design 4.2)."""
        for one, other in ((self.primary, self.second), (self.second, self.primary)):
            shared = sorted(model for model in one.accepted if accepts(other.accepted, model))
            if shared:
                raise UsageError(f"rungs {one.name!r} and {other.name!r} both accept {shared[0]!r}")
