"""Click: a pending confirmation, and the pure rule of who may press it, when, and how often (design 4.8)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from decide.handoff.execution import Refusal

TTL = timedelta(minutes=10)
"""How long a click can be pressed, where the configuration says nothing."""


class ClickState(StrEnum):
    """Where a click stands; every way out of `pending` is final."""

    PENDING = "pending"
    CONSUMED = "consumed"
    EXPIRED = "expired"


class ClickEvent(StrEnum):
    """What happens to clicks, as it is counted."""

    MINTED = "minted"
    CONSUMED = "consumed"
    EXPIRED = "expired"
    REFUSED = "refused"


NO_REASON = "none"
"""The reason of an event that is no refusal, as a label value."""


@dataclass(frozen=True, slots=True)
class Click:
    """A click; `line` is on its button in full. `act_id` is the act that it sets going.

    Raises ValueError for one that would never expire.
    """

    id: str
    thread: str
    requester: str
    line: str
    command: str
    kind: str
    act_id: str
    minted_at: datetime
    expires_at: datetime
    state: ClickState = ClickState.PENDING
    closed_at: datetime | None = None

    def __post_init__(self) -> None:
        """Refuse a click that was expired when it was made."""
        if self.expires_at <= self.minted_at:
            raise ValueError(f"a click expires after it was minted: {self.minted_at!r}, {self.expires_at!r}")


@dataclass(frozen=True, slots=True)
class Pressed:
    """What a press came to: `refusal` is None for the one press that consumed the click."""

    click: Click | None
    refusal: Refusal | None = None

    @property
    def consumed(self) -> bool:
        """Whether this press set the act going."""
        return self.refusal is None


def judge(click: Click | None, user: str, now: datetime) -> Refusal | None:
    """Why a press is refused, None when it consumes the click.

    Another user learns nothing but that it is not theirs; an expired click stays so, whatever the clock says.
    """
    if click is None:
        return Refusal.UNKNOWN_CLICK
    if user != click.requester:
        return Refusal.OTHER_USER
    match click.state:
        case ClickState.CONSUMED:
            return Refusal.ALREADY_CONSUMED
        case ClickState.EXPIRED:
            return Refusal.EXPIRED
        case ClickState.PENDING:
            return Refusal.EXPIRED if now >= click.expires_at else None
