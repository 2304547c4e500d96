"""Refusal: a seat that a decision run could not use, and how long every reader takes note of it (design 4.2, 5)."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from decide.reason import Reason
from decide.reply import Failure
from decide.seat import Seat, Token, TokenState, Wall

REFUSAL_LASTS = timedelta(hours=1)
"""How long a durable refusal that is no wall counts, unless the seat's credential or configuration changes before."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a call met on a seat: `credential` marks the login and configuration that it was made with."""

    rung: str
    seat: str
    failure: Failure
    at: datetime
    clears_at: datetime | None = None
    credential: str = ""


def marked(seat: Seat, refusal: Refusal, *, credential: str, now: datetime) -> Seat:
    """The seat as a refusal leaves it: walled, or without a usable login; unchanged where the refusal is neither."""
    if refusal.failure is Failure.SEAT_CAPPED:
        return replace(seat, wall=Wall(refusal.at, refusal.clears_at))
    same = refusal.credential == credential
    if refusal.failure.durable and same and now - refusal.at < REFUSAL_LASTS:
        lost = Token(TokenState.NEEDS_LOGIN, Reason.CALL_REFUSED, seat.token.expires_at, renewable=False)
        return replace(seat, token=lost)
    return seat
