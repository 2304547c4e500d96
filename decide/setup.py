"""Setup: a ladder as a run needs it, both rungs with their ports, and everything that the configuration decides."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType

from decide.gate import GateRow
from decide.handoff.execution import Rules
from decide.ladder import Role
from decide.level import LEVELS, Level, TieBreak, model_faults
from decide.ports import Ask, Caps, SeatAccess, Store
from decide.question import LEAD, MAX_ATTEMPTS, LevelName, UsageError
from decide.reply import Usage
from decide.snapshot import Snapshot, Source
from decide.verdict import accepts


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
    """A whole ladder; raises UsageError when one model could answer as both rungs, or a level asks a rung for a model
    that it does not accept.

    `price` gives the micro-dollars of a usage by a model, None when the table does not know it. `lead` before its
    deadline a waiting question becomes pressing; after `max_attempts` that failed it waits for a person (design 4.5).
    `rules` say what becomes of a command that an answer stands for (design 4.8).
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
    lead: timedelta = LEAD
    max_attempts: int = MAX_ATTEMPTS
    rules: Rules = field(default_factory=Rules)

    def __post_init__(self) -> None:
        """Refuse two rungs that one model could answer (design 4.2)."""
        for one, other in ((self.primary, self.second), (self.second, self.primary)):
            shared = sorted(model for model in one.accepted if accepts(other.accepted, model))
            if shared:
                raise UsageError(f"rungs {one.name!r} and {other.name!r} both accept {shared[0]!r}")
        accepted = {rung.name: rung.accepted for rung in (self.primary, self.second)}
        for fault in (one for level in self.levels.values() for one in model_faults(level, accepted)):
            raise UsageError(fault)

    def at(self, level: Level) -> "Setup":
        """The ladder as a question of a level finds it: its rungs with the models that the level asks them for."""
        if not level.models:
            return self
        models = dict(level.models)
        primary, second = (
            replace(rung, model=models.get(rung.name, rung.model)) for rung in (self.primary, self.second)
        )
        return replace(self, primary=primary, second=second)
