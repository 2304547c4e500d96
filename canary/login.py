"""Login: what a credential store says of a seat, and the table that turns it into a token state."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import SecretStr

from decide.reason import Reason
from decide.seat import Auth, Token, TokenState

SKEW_LIMIT = timedelta(seconds=60)
"""Beyond this clock skew no expiry is judged (formats 7, point 59)."""


class Renewal(StrEnum):
    """Whether the seat's own client would renew a lapsed login."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Login:
    """A login as its store has it. The secret is masked in every representation.

    `absent` says why there is none to use (missing, unusable), `fault` why that cannot be told (unreadable,
    malformed, no expiry, ...), `doubt` why its client may leave it unused although it has not lapsed. `expires_at`
    None with neither of the first two means that it does not expire. `identity` is account and organisation, never
    exported. `steps` tell how it was read, without secrets.
    """

    secret: SecretStr | None = None
    auth: Auth = Auth.OAUTH
    expires_at: datetime | None = None
    renewal: Renewal = Renewal.NO
    absent: Reason | None = None
    fault: Reason | None = None
    doubt: Reason | None = None
    account: str = field(default="", repr=False)
    organization: str = field(default="", repr=False)
    steps: Sequence[str] = ()


def sendable(token: str) -> bool:
    """Whether a token can stand in a header: printable ASCII without a space."""
    return token.isascii() and token.isprintable() and " " not in token


def lapsed(login: Login, now: datetime) -> bool:
    """Whether the login's own expiry has come."""
    return login.expires_at is not None and login.expires_at <= now


def judge_token(
    login: Login, *, now: datetime, rejected: bool, skew: timedelta | None, client_renews: bool = True
) -> Token:
    """The token state of a login: the first row that holds (design 5, "Token").

    `rejected`: the vendor refused it when it was last sent. `client_renews` is False for a rung that itself sends
    the token, for which refreshable is needs_login.
    """
    if login.absent is not None:
        return Token(TokenState.NEEDS_LOGIN, login.absent, renewable=False)
    if login.secret is None and login.fault is not None:
        return Token(TokenState.UNKNOWN, login.fault)
    if rejected:
        return _renewable(login, Reason.REJECTED, client_renews)
    if login.fault is not None:
        return Token(TokenState.UNKNOWN, login.fault)
    if login.expires_at is not None and skew is not None and abs(skew) > SKEW_LIMIT:
        return Token(TokenState.UNKNOWN, Reason.CLOCK, login.expires_at)
    if lapsed(login, now):
        return _renewable(login, Reason.EXPIRED, client_renews)
    if login.doubt is not None:
        return Token(TokenState.UNKNOWN, login.doubt, login.expires_at)
    return Token(TokenState.LIVE, None, login.expires_at, renewable=not _final(login, client_renews))


def _final(login: Login, client_renews: bool) -> bool:
    return not client_renews or login.renewal is Renewal.NO


def _renewable(login: Login, reason: Reason, client_renews: bool) -> Token:
    if _final(login, client_renews):
        return Token(TokenState.NEEDS_LOGIN, reason, login.expires_at, renewable=False)
    if login.renewal is Renewal.UNKNOWN:
        return Token(TokenState.UNKNOWN, Reason.IMPLAUSIBLE_TIME, login.expires_at)
    return Token(TokenState.REFRESHABLE, reason, login.expires_at)
