"""Public cases of kind 4: logins and their expiry."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from canary.login import Login, judge_token
from canary.sources import claude_login, codex_login
from canary.sources.keychain import choose
from decide.reason import Reason
from decide.seat import Token, TokenState
from tests.canary.fakes import NOW
from tests.cases.adapter import given, when

LIVE, REFRESHABLE, NEEDS_LOGIN, UNKNOWN = TokenState


def of_jwt(text: str, *, refresh: str = "", now: datetime = NOW) -> Token:
    """The token state of a Codex login with this access token and no renewal unless told."""
    login = codex_login.parse({"tokens": {"access_token": text, "refresh_token": refresh}}, now)
    return judge_token(login, now=now, rejected=False, skew=None)


def of_claude(document: dict[str, Any], now: datetime = NOW) -> Token:
    """The token state of a Claude login."""
    return judge_token(claude_login.parse(document, now), now=now, rejected=False, skew=None)


def test_tok_01_a_fraction_of_a_second_counts() -> None:
    """TOK-01."""
    token = of_jwt(given("TOK-01")["jwt"], now=when(given("TOK-01")["now"]))
    assert token.state is NEEDS_LOGIN
    assert token.expires_at is not None
    assert token.expires_at.timestamp() == 1792065599.5


def test_tok_02_an_expiry_that_is_text_is_no_expiry() -> None:
    """TOK-02."""
    assert of_jwt(given("TOK-02")["jwt"]) == Token(UNKNOWN, Reason.EXP_NOT_NUMERIC)


@pytest.mark.parametrize("number", range(6))
def test_tok_04_an_opaque_token_is_never_live_on_its_own(number: int) -> None:
    """TOK-04."""
    text = given("TOK-04")["tokens"][number]
    assert of_jwt(text) == Token(UNKNOWN, Reason.NO_EXPIRY)
    ahead = (NOW + timedelta(hours=1)).timestamp() * 1000
    sidecar = {"claudeAiOauth": {"accessToken": text, "expiresAt": ahead}}
    assert of_claude(sidecar).state is LIVE


@pytest.mark.parametrize("number", range(4))
def test_tok_05_padding_and_alphabet(number: int) -> None:
    """TOK-05."""
    token = of_jwt(given("TOK-05")["jwts"][number])
    assert (token.state, token.expires_at) == (LIVE, when(1792069200))


def test_tok_06_a_lapsed_login_that_its_client_renews_is_refreshable() -> None:
    """TOK-06; that no request is sent with it is in test_nevers."""
    token = of_claude({"claudeAiOauth": given("TOK-06")["claudeAiOauth"]})
    assert (token.state, token.reason) == (REFRESHABLE, Reason.EXPIRED)


def test_tok_08_seconds_are_no_milliseconds() -> None:
    """TOK-08."""
    case = given("TOK-08")
    assert of_jwt(case["jwt_exp_in_ms"]) == Token(UNKNOWN, Reason.IMPLAUSIBLE_TIME)
    block = {"accessToken": "tok-a"}
    first = {"claudeAiOauth": block | {"expiresAt": case["sidecar"]["expiresAt_ms"]}}
    assert of_claude(first).state is NEEDS_LOGIN
    renewed = {"claudeAiOauth": first["claudeAiOauth"] | {"refreshToken": "tok-r"}}
    assert of_claude(renewed).state is REFRESHABLE
    mistaken = {"claudeAiOauth": block | {"expiresAt": case["sidecar"]["expiresAt_s_by_mistake"]}}
    assert of_claude(mistaken) == Token(UNKNOWN, Reason.IMPLAUSIBLE_TIME)


def test_tok_10_a_token_shows_in_no_representation() -> None:
    """TOK-10; faults, logs and files are in test_nevers, the page in tests/exporters."""
    secret = given("TOK-10")["token"]
    login = codex_login.parse({"tokens": {"access_token": secret, "refresh_token": secret}}, NOW)
    assert login.secret == SecretStr(secret)
    shown = repr((login, judge_token(login, now=NOW, rejected=True, skew=None)))
    for part in secret.split("."):
        assert not any(part[at : at + 12] in shown for at in range(max(1, len(part) - 12)))


def test_tok_13_the_item_of_the_configured_account_is_used() -> None:
    """TOK-13."""
    case = given("TOK-13")
    items = [(item["account"], claude_login.parse(json.loads(item["value"]), NOW)) for item in case["items"]]
    used = judge_token(choose(items, case["configured_account"]), now=NOW, rejected=False, skew=None)
    assert used == Token(LIVE, None, when(1792069200), renewable=False)
    two: list[tuple[str, Login]] = [items[1], ("al", items[1][1])]
    several = judge_token(choose(two, None), now=NOW, rejected=False, skew=None)
    assert several == Token(UNKNOWN, Reason.AMBIGUOUS)
