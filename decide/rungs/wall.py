"""Wall: which quota an HTTP refusal says is spent, and when it clears, by the vendors' own codes and words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from decide.quota import WindowKind
from decide.rungs import wire
from decide.rungs.http import Response

UNIFIED = "anthropic-ratelimit-unified-"
CLAIMS: Mapping[str, WindowKind] = {
    "five_hour": WindowKind.SESSION,
    "seven_day": WindowKind.WEEKLY,
    "overage": WindowKind.SPEND,
}
"""What Anthropic's headers call a window; any other of seven days is a model's own (formats 2.6)."""
SPENT_CODES = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "billing_error",
        "budget_exceeded",
        "insufficient_credits",
        "insufficient_balance",
    }
)
"""Codes for money that is spent: OpenAI, Anthropic, LiteLLM and those who speak like them."""
LIMIT_CODES = frozenset({"usage_limit_reached", "usage_not_included"})
"""OpenAI's codes for a plan's window, which they do not name (formats 4.5)."""

_SPENT = re.compile(
    r"credit balance is too low"
    r"|reached your specified (?:\w+ )?api usage limits"
    r"|key limit exceeded"
    r"|budget has been exceeded|exceededbudget|exceeded budget"
    r"|insufficient (?:credits|balance|funds)|requires more credits",
    re.IGNORECASE,
)
_REGAIN = re.compile(r"regain access on (\d{4}-\d{2}-\d{2}) at (\d{2}:\d{2}) UTC")


@dataclass(frozen=True, slots=True)
class Fault:
    """An error as a host tells it, whichever of the vendors' forms it has; `codes` are case-folded."""

    status: int
    codes: frozenset[str] = frozenset()
    message: str = field(default="", repr=False)
    fields: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Wall:
    """The window that is full, and its reset where the refusal names one."""

    window: WindowKind
    clears_at: datetime | None = None


def wall(fault: Fault, response: Response) -> Wall | None:
    """The quota that a refusal names as spent; None for any other refusal, a throttle among them."""
    now = response.received_at
    if fault.status == 429 and response.headers.get(f"{UNIFIED}status") == "rejected":
        claim = response.headers.get(f"{UNIFIED}representative-claim", "")
        return Wall(_claimed(claim), wire.moment(response.headers.get(f"{UNIFIED}reset"), now))
    if LIMIT_CODES & fault.codes:
        return Wall(WindowKind.OTHER, wire.moment(fault.fields.get("resets_at"), now))
    if fault.status == 402 or SPENT_CODES & fault.codes:
        return Wall(WindowKind.SPEND, _regained(fault.message))
    if 400 <= fault.status < 500 and _SPENT.search(fault.message):
        return Wall(WindowKind.SPEND, _regained(fault.message))
    return None


def _claimed(claim: str) -> WindowKind:
    model_own = WindowKind.WEEKLY_MODEL if claim.startswith("seven_day_") else WindowKind.OTHER
    return CLAIMS.get(claim, model_own)


def _regained(message: str) -> datetime | None:
    found = _REGAIN.search(message)
    try:
        return datetime.fromisoformat(f"{found[1]}T{found[2]}").replace(tzinfo=UTC) if found else None
    except ValueError:
        return None
