"""What a seat of the loopback vendor is told to be: its meters, its money blocks and the fault it shows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

Json = dict[str, Any]
Answer = str | Callable[[str], str]
"""The text a model gives, or a function from the prompt's whole text to it (a verdict repeats a nonce)."""


class Vendor(StrEnum):
    """Whose far side a seat belongs to."""

    CLAUDE = "claude"
    CODEX = "codex"


class Kind(StrEnum):
    """What a request was for."""

    USAGE = "usage"
    MODEL = "model"
    REFRESH = "refresh"
    PROFILE = "profile"
    OTHER = "other"


class MeterKind(StrEnum):
    """The span a meter covers; its length tells the windows apart (formats 0.2)."""

    SESSION = "session"
    WEEKLY = "weekly"
    WEEKLY_MODEL = "weekly_model"
    MONTHLY = "monthly"


class Shape(StrEnum):
    """The form a usage document takes: the first three are Claude's (formats 2.2), the others Codex's (4.2)."""

    FLAT = "flat"
    LIMITS = "limits"
    SPEND_ONLY = "spend_only"
    STANDARD = "standard"
    WEEKLY_PRIMARY = "weekly_primary"
    BUSINESS = "business"


class Fault(StrEnum):
    """How the far side misbehaves towards one seat."""

    UNAUTHORIZED = "unauthorized"
    UNSUPPORTED = "unsupported"
    FORBIDDEN_SCOPE = "forbidden_scope"
    REVOKED = "revoked"
    ORG_REFUSED = "org_refused"
    THROTTLED = "throttled"
    SERVER_ERROR = "server_error"
    OVERLOADED = "overloaded"
    HTML = "html"
    HTML_403 = "html_403"
    EMPTY = "empty"
    TRUNCATED_JSON = "truncated_json"
    REDIRECT = "redirect"
    HANG = "hang"
    HUGE = "huge"
    SLOW = "slow"
    DROP = "drop"


FULL = 100.0
SHAPES: Mapping[Vendor, tuple[Shape, ...]] = {
    Vendor.CLAUDE: (Shape.LIMITS, Shape.FLAT, Shape.SPEND_ONLY),
    Vendor.CODEX: (Shape.STANDARD, Shape.WEEKLY_PRIMARY, Shape.BUSINESS),
}


@dataclass(frozen=True, slots=True)
class Meter:
    """One quota meter: percent used (0-100, above 100 possible) and its reset, if the vendor names one."""

    kind: MeterKind
    percent: float
    resets_at: datetime | None = None
    model: str | None = None

    def __post_init__(self) -> None:
        if (self.kind is MeterKind.WEEKLY_MODEL) != (self.model is not None):
            raise ValueError(f"a model belongs to weekly_model meters, and only to them: {self!r}")

    def full(self) -> bool:
        """A meter is full at 100 % and above."""
        return self.percent >= FULL

    def covers(self, model: str) -> bool:
        """A per-model meter covers the models whose id holds its display name; every other meter covers all."""
        return self.model is None or self.model.casefold().replace(" ", "-") in model.casefold()


@dataclass(slots=True)
class SeatScript:
    """Everything the far side knows about one seat; tests and the demo change it while the provider runs.

    `overlay` replaces top-level keys of the usage document: unknown windows, malformed values. A fault shows in
    requests of the kinds in `fault_on`. `refusal` is the error type of a Codex wall, `reached_type` what it blames.
    """

    name: str
    vendor: Vendor
    account_id: str = "acct-00000000-0000-0000-0000-000000000000"
    organization_id: str = "org-00000000-0000-0000-0000-000000000000"
    email: str = "seat@example.invalid"
    plan: str = "max"
    windows: list[Meter] = field(default_factory=list)
    shape: Shape | None = None
    extra_usage: Json | None = None
    spend: Json | None = None
    credits: Json | None = None
    spend_control: Json | None = None
    overlay: Json | None = None
    allowed: bool | None = None
    limit_reached: bool | None = None
    refusal: str = "usage_limit_reached"
    reached_type: str | None = None
    expires_at: datetime | None = None
    refresh_token: str | None = None
    renewals: int = 0
    fault: Fault | None = None
    fault_on: frozenset[Kind] = frozenset({Kind.USAGE, Kind.MODEL, Kind.PROFILE})
    retry_after: str | None = None
    redirect_to: str = "/elsewhere"
    huge_mb: int = 64
    slow_s: float = 0.0
    delay_s: float = 0.0
    date_offset_s: float = 0.0
    answer: Answer = "The loopback provider says hello."
    answers_as: str | None = None
    stop_reason: str | None = None

    def __post_init__(self) -> None:
        self.shape = self.shape or SHAPES[self.vendor][0]
        if self.shape not in SHAPES[self.vendor]:
            raise ValueError(f"{self.shape} is no shape of {self.vendor}")

    def meter(self, kind: MeterKind) -> Meter | None:
        """The seat's meter of a kind, None where it has none."""
        return next((meter for meter in self.windows if meter.kind is kind), None)

    def models(self) -> list[Meter]:
        """The seat's per-model weekly meters."""
        return [meter for meter in self.windows if meter.kind is MeterKind.WEEKLY_MODEL]

    def full_meters(self, model: str = "") -> list[Meter]:
        """The full meters that gate a model; without a model only those that gate every one."""
        return [meter for meter in self.windows if meter.full() and meter.covers(model)]

    def says(self, prompt: str) -> str:
        """The answer to a prompt."""
        return self.answer if isinstance(self.answer, str) else self.answer(prompt)
