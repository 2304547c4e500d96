"""History: decisions that were made and meters that were read, as any store of them can tell."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from decide.consultation import PassRole
from decide.ledger import RowKind
from decide.meter import MeterSample
from decide.points import MILLION
from decide.quota import WindowKind
from decide.reply import Failure

PORTION = 10_000
"""How many ledger rows are read at a time."""
_TOKENS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")
_COLUMNS = (
    *("seq", "kind", "at_us", "level", "rung", "role", "result", "billing", "source", "micro_usd"),
    *_TOKENS,
    *("duration_us", "window_kind", "micro_ratio", "receipt"),
)
_NEVER_REACHED = frozenset(
    failure.value
    for failure in Failure
    if failure.durable
    or failure in (Failure.RATE_LIMITED, Failure.NETWORK, Failure.CLIENT_ERROR, Failure.SERVER_ERROR)
) - {Failure.SUBSTITUTED.value}
"""Results of passes whose call came to no model, so that one without a cost had none."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RungUse:
    """What one decision took from a rung: `passes`, those of the reconsideration among them apart, `tokens` in all.

    `micro_usd` is by billing and source; `points` are percents of each kind of window, empty where nobody knows.
    `unpriced` are passes in which a model may have worked, and nobody knows for how much.
    """

    passes: float = 0
    reconsidering: float = 0
    tokens: float = 0
    micro_usd: Mapping[tuple[str, str], float] = field(default_factory=dict)
    points: Mapping[WindowKind, float] = field(default_factory=dict)
    unpriced: float = 0

    @property
    def all_micro_usd(self) -> float:
        """Micro-dollars whoever pays them."""
        return sum(self.micro_usd.values())


@dataclass(frozen=True, slots=True)
class Decision:
    """One run of a question as it ended: `uses` by rung, only those that were called."""

    at: datetime
    level: str
    outcome: str
    uses: Mapping[str, RungUse] = field(default_factory=dict)
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class History:
    """What is known of the past, each in order of time; `source` says where it comes from, in words for a person.

    `even` says that decisions come from counts, so that their moments within an hour are made up.
    """

    decisions: tuple[Decision, ...]
    samples: tuple[MeterSample, ...] = ()
    source: str = "the ledger"
    even: bool = False

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """The first and the last decision's moment, None without one."""
        return (self.decisions[0].at, self.decisions[-1].at) if self.decisions else None


class Rows(Protocol):
    """The ledger as far as a history needs it; raises StoreError when it cannot be read."""

    async def columns_after(self, seq: int, limit: int, columns: Sequence[str]) -> Sequence[tuple[Any, ...]]:
        """Up to `limit` rows that follow `seq`, in order, each as a plain tuple of those columns."""


async def decisions(rows: Rows, *, since: datetime) -> tuple[Decision, ...]:
    """The decisions of a ledger that ended at `since` or later, in order of time.

    A run's passes carry its receipt's id and come before the row of its decision, what it took of quota comes after.
    Passes of a run that has not ended belong to no decision, and a run without a receipt (held, for one) had none.
    """
    uses: dict[str, dict[str, _Use]] = defaultdict(lambda: defaultdict(_Use))
    ended: list[dict[str, Any]] = []
    seq, begin_us = 0, (since - _EPOCH) // timedelta(microseconds=1)
    while portion := await rows.columns_after(seq, PORTION, _COLUMNS):
        for values in portion:
            row = dict(zip(_COLUMNS, values, strict=True))
            match row["kind"]:
                case RowKind.PASS.value if row["at_us"] >= begin_us - _LONGEST_US:
                    uses[row["receipt"]][row["rung"]].add(row)
                case RowKind.QUOTA.value if row["receipt"] in uses:
                    uses[row["receipt"]][row["rung"]].took(row)
                case RowKind.DECISION.value if row["at_us"] >= begin_us:
                    ended.append(row)
                case _:
                    pass
        seq = portion[-1][0]
    found = [_decision(row, uses[row["receipt"]] if row["receipt"] else {}) for row in ended]
    return tuple(sorted(found, key=lambda decision: decision.at))


_LONGEST_US = 24 * 3600 * 1_000_000
"""How long before its decision a pass of a run may lie."""


class _Use:
    """Passes of one run on one rung, as they are added up."""

    def __init__(self) -> None:
        self.passes = self.reconsidering = self.tokens = self.unpriced = 0
        self.micro_usd: dict[tuple[str, str], float] = defaultdict(float)
        self.points: dict[WindowKind, float] = defaultdict(float)

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the row of a pass."""
        self.passes += 1
        self.reconsidering += row["role"] == PassRole.RECONSIDERATION
        self.tokens += sum(row[name] for name in _TOKENS)
        if row["source"]:
            self.micro_usd[row["billing"], row["source"]] += row["micro_usd"]
        elif row["result"] not in _NEVER_REACHED:
            self.unpriced += 1

    def took(self, row: Mapping[str, Any]) -> None:
        """Add a row that says what was taken of a window."""
        self.points[WindowKind(row["window_kind"])] += row["micro_ratio"] * 100 / MILLION

    def use(self) -> RungUse:
        """The sum."""
        usd, points = dict(self.micro_usd), dict(self.points)
        return RungUse(self.passes, self.reconsidering, self.tokens, usd, points, self.unpriced)


def _decision(row: Mapping[str, Any], taken: Mapping[str, _Use]) -> Decision:
    at = _EPOCH + timedelta(microseconds=row["at_us"])
    uses = {rung: use.use() for rung, use in taken.items()}
    return Decision(at, row["level"], row["result"], uses, row["duration_us"] / 1_000_000)
