"""Token states: each row of design 5."""

from datetime import timedelta

import pytest
from pydantic import SecretStr

from canary.login import Login, Renewal, judge_token
from decide.reason import Reason
from decide.seat import Auth, Token, TokenState
from tests.canary.fakes import NOW

KEY = SecretStr("SENTINEL-SECRET")
HOUR = timedelta(hours=1)
AHEAD, PAST = NOW + HOUR, NOW - HOUR
LIVE, REFRESHABLE, NEEDS_LOGIN, UNKNOWN = TokenState

ROWS: list[tuple[str, Login, bool, float | None, bool, TokenState, Reason | None]] = [
    # login, rejected, skew in seconds, client renews, state, reason
    ("not lapsed", Login(KEY, expires_at=AHEAD), False, None, True, LIVE, None),
    ("an API key", Login(KEY, Auth.API_KEY), False, 9999, True, LIVE, None),
    ("none needed", Login(auth=Auth.NONE), False, None, True, LIVE, None),
    ("lapsed, renewed by its client", Login(KEY, expires_at=PAST, renewal=Renewal.YES), False, None, True, REFRESHABLE, Reason.EXPIRED),
    ("lapsed this instant", Login(KEY, expires_at=NOW, renewal=Renewal.YES), False, None, True, REFRESHABLE, Reason.EXPIRED),
    ("lapsed, nothing renews it", Login(KEY, expires_at=PAST), False, None, True, NEEDS_LOGIN, Reason.EXPIRED),
    ("lapsed, the rung sends it itself", Login(KEY, expires_at=PAST, renewal=Renewal.YES), False, None, False, NEEDS_LOGIN, Reason.EXPIRED),
    ("lapsed, renewal not tellable", Login(KEY, expires_at=PAST, renewal=Renewal.UNKNOWN), False, None, True, UNKNOWN, Reason.IMPLAUSIBLE_TIME),
    ("rejected, renewed by its client", Login(KEY, expires_at=AHEAD, renewal=Renewal.YES), True, None, True, REFRESHABLE, Reason.REJECTED),
    ("rejected, nothing renews it", Login(KEY, expires_at=AHEAD), True, None, True, NEEDS_LOGIN, Reason.REJECTED),
    ("missing", Login(absent=Reason.MISSING), False, None, True, NEEDS_LOGIN, Reason.MISSING),
    ("not usable by its client", Login(KEY, expires_at=AHEAD, absent=Reason.UNUSABLE), False, None, True, NEEDS_LOGIN, Reason.UNUSABLE),
    ("store unreadable", Login(fault=Reason.UNREADABLE), False, None, True, UNKNOWN, Reason.UNREADABLE),
    ("several items", Login(fault=Reason.AMBIGUOUS), False, None, True, UNKNOWN, Reason.AMBIGUOUS),
    ("no expiry", Login(KEY, fault=Reason.NO_EXPIRY), False, None, True, UNKNOWN, Reason.NO_EXPIRY),
    ("no expiry, rejected", Login(KEY, fault=Reason.NO_EXPIRY), True, None, True, NEEDS_LOGIN, Reason.REJECTED),
    ("skew of a minute", Login(KEY, expires_at=AHEAD), False, 60, True, LIVE, None),
    ("skew over a minute", Login(KEY, expires_at=AHEAD), False, 61, True, UNKNOWN, Reason.CLOCK),
    ("skew the other way", Login(KEY, expires_at=PAST), False, -61, True, UNKNOWN, Reason.CLOCK),
]  # fmt: skip


@pytest.mark.parametrize(
    ("login", "rejected", "skew", "renews", "state", "reason"),
    [row[1:] for row in ROWS],
    ids=[row[0] for row in ROWS],
)
def test_each_row_of_the_token_table(
    login: Login, rejected: bool, skew: float | None, renews: bool, state: TokenState, reason: Reason | None
) -> None:
    told = timedelta(seconds=skew) if skew is not None else None
    token = judge_token(login, now=NOW, rejected=rejected, skew=told, client_renews=renews)
    assert (token.state, token.reason) == (state, reason)
    assert "SENTINEL" not in repr((login, token))


@pytest.mark.parametrize(
    ("renewal", "client_renews", "renewable"),
    [
        (Renewal.YES, True, True),
        (Renewal.UNKNOWN, True, True),
        (Renewal.NO, True, False),
        (Renewal.YES, False, False),
    ],
)
def test_a_live_login_says_whether_anything_renews_it(renewal: Renewal, client_renews: bool, renewable: bool) -> None:
    login = Login(KEY, expires_at=AHEAD, renewal=renewal)
    token = judge_token(login, now=NOW, rejected=False, skew=None, client_renews=client_renews)
    assert (token.state, token.renewable) == (LIVE, renewable)


def test_the_expiry_is_told_where_it_is_known() -> None:
    login = Login(KEY, expires_at=AHEAD)
    assert judge_token(login, now=NOW, rejected=False, skew=None) == Token(LIVE, None, AHEAD, False)
    assert judge_token(login, now=NOW, rejected=True, skew=None).expires_at == AHEAD
