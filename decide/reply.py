"""Reply: what one call of a rung brought back, as values that no vendor's wire format shows through."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from decide.quota import WindowKind


class Failure(StrEnum):
    """Why a pass has no verdict (design 4.1, the table of reasons)."""

    SEAT_CAPPED = "seat_capped"
    NEEDS_LOGIN = "needs_login"
    NOT_INSTALLED = "not_installed"
    MODEL_UNAVAILABLE = "model_unavailable"
    SUBSTITUTED = "substituted"
    RATE_LIMITED = "rate_limited"
    CLIENT_ERROR = "client_error"
    TIMEOUT = "timeout"
    NETWORK = "network"
    SERVER_ERROR = "server_error"
    NO_JSON = "no_json"
    MALFORMED = "malformed"
    TRUNCATED = "truncated"
    EMPTY = "empty"

    @property
    def durable(self) -> bool:
        """Whether asking again soon cannot help."""
        return self in _DURABLE


_DURABLE = frozenset(
    {
        Failure.SEAT_CAPPED,
        Failure.NEEDS_LOGIN,
        Failure.NOT_INSTALLED,
        Failure.MODEL_UNAVAILABLE,
        Failure.SUBSTITUTED,
    }
)


class Finish(StrEnum):
    """How the wire says that the model stopped."""

    COMPLETE = "complete"
    LENGTH = "length"
    REFUSAL = "refusal"


class Billing(StrEnum):
    """Who pays: the seat's subscription (any figure is notional) or an account that is billed by use."""

    SUBSCRIPTION = "subscription"
    METERED = "metered"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, each counted in exactly one field, whatever the vendor's own sums hold."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    def __post_init__(self) -> None:
        """Refuse a negative count."""
        if min(self.input, self.cache_read, self.cache_write, self.output, self.reasoning) < 0:
            raise ValueError(f"tokens must not be negative: {self!r}")

    @property
    def total(self) -> int:
        """All tokens."""
        return self.input + self.cache_read + self.cache_write + self.output + self.reasoning


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a call gave no answer, in the client's or server's own channel for errors.

    `window` is the meter that is full and `clears_at` its reset, where the refusal names them; `retry_after_s` is
    the server's own word. `detail` is one short line without any secret. `billed` False: it was refused before any
    model worked, so that nothing is to pay.
    """

    failure: Failure
    window: WindowKind | None = None
    clears_at: datetime | None = None
    retry_after_s: float | None = None
    detail: str = ""
    billed: bool = True


@dataclass(frozen=True, slots=True)
class Reply:
    """One call's outcome: the answer channel's `text`, or the `structured` object that the client took from it.

    `models` are those that the wire names as having answered, empty when it names none. `cost_micro_usd` is the
    client's own figure, in micro-dollars. With `trouble` the text holds only what a cut-off answer left. `left_out`
    names what the server said it does not take, such as "effort", so that the answer came without it.
    """

    text: str = field(default="", repr=False)
    structured: Mapping[str, Any] | None = field(default=None, repr=False)
    finish: Finish = Finish.COMPLETE
    models: tuple[str, ...] = ()
    usage: Usage | None = None
    cost_micro_usd: int | None = None
    trouble: Trouble | None = None
    left_out: tuple[str, ...] = ()
