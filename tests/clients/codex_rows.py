"""The scenarios of Codex: what is on disk, what the vendor does, and what the configuration says."""

from datetime import datetime, timedelta
from typing import Any

from canary.demo.codex_wire import credits_block, spend_control
from canary.demo.script import Fault, Json, Shape, Vendor
from decide.seat import Quota
from tests.clients.scenario import (
    CALLS,
    HEADROOM,
    MODEL,
    PAST,
    REFRESH,
    USAGE,
    Blind,
    Scenario,
    Setup,
    also,
    codex,
    half,
    model_week,
    month,
    no_file,
    session,
    week,
    without,
)

FILE = "auth.json"
SPARK = "GPT-5.3-Codex-Spark"
KEY_LOGIN = '{"OPENAI_API_KEY": "sk-FAKE-key", "tokens": null, "last_refresh": null}'


def _row(name: str, refers: str, setup: Setup, blind: Blind | None = None, **more: Any) -> Scenario:
    return Scenario(name, refers, Vendor.CODEX, setup, blind, **more)


def _spent(now: datetime) -> Json:
    return spend_control(limit=1000, used=1000, resets_at=now + timedelta(days=9), now=now)


def _unspent(now: datetime) -> Json:
    return spend_control(limit=1000, used=36.797, resets_at=now + timedelta(days=9), now=now)


def _zero(now: datetime) -> Json:
    """What a meter that lags behind shows: nothing used, everything allowed."""
    reset = int((now + timedelta(hours=3)).timestamp())
    window = {"used_percent": 0, "limit_window_seconds": 18000, "reset_at": reset}
    limit = {"allowed": True, "limit_reached": False, "primary_window": window, "secondary_window": None}
    return {"rate_limit": limit, "model_usage": None, "rate_limit_reached_type": None}


def _tokens(**values: Any) -> Any:
    return without(tokens=values)


def _without_token(name: str) -> Any:
    return lambda document: document | {"tokens": {k: v for k, v in document["tokens"].items() if k != name}}


QUOTA = (
    _row("headroom", "3.1", codex()),
    _row("headroom, built-in provider", "3.1", codex(), own_provider=False),
    _row("weekly window alone, in the primary slot", "3.3", codex(week(40), shape=Shape.WEEKLY_PRIMARY)),
    _row("week full, in the primary slot", "3.3", codex(week(100), shape=Shape.WEEKLY_PRIMARY)),
    _row("session full", "3.3", codex(session(100), week(31))),
    _row("week full, session free", "3.3", codex(session(1), week(100))),
    _row("week full, reset not told", "3.3", codex(session(1), week(100, None))),
    _row("month full, free plan", "3.3", codex(month(100), plan="free")),
    _row("plan without Codex", "3.3", codex(allowed=False, refusal="usage_not_included", plan="free")),
    _row("refused below 100 %", "3.3", codex(allowed=False)),
    _row("limit reached below 100 %", "3.3", codex(limit_reached=True)),
    _row("session full, credits left, overage allowed", "3.3", codex(session(100), credits=credits_block("12.34")), changes={"allow_overage": True}),
    _row("session full, credits used up", "3.3", codex(session(100), credits=credits_block("0")), changes={"allow_overage": True}),
    _row("workspace out of credits", "3.3", codex(shape=Shape.BUSINESS, credits=credits_block(None), allowed=False, reached_type="workspace_member_credits_depleted", plan="business")),
    _row("business seat with credits", "3.3", codex(shape=Shape.BUSINESS, credits=credits_block("12.34"), plan="business")),
    _row("business seat with a spend limit", "3.3", codex(shape=Shape.BUSINESS, spend_control=_unspent, plan="business")),
    _row("spend limit reached", "3.3", codex(spend_control=_spent, plan="business")),
    _row("business seat, spend limit reached", "3.3", codex(shape=Shape.BUSINESS, spend_control=_spent, plan="business")),
    _row("another model's bucket full, no scopes set", "3.3", codex(*HEADROOM, model_week(SPARK, 100))),
    _row("another model's bucket full, own scopes set", "3.3", codex(*HEADROOM, model_week(SPARK, 100)), changes={"scopes": ("GPT-6 Astra",)}),
    _row("own model's bucket full", "3.3", codex(*HEADROOM, model_week(SPARK, 100)), changes={"scopes": (SPARK,)}, model="gpt-5.3-codex-spark"),
    _row("meter shows 0 %, wall on the call", "3.3", codex(session(100), overlay=_zero), Blind.LAGGING),
    _row("API key login, unmetered", "3.5", also(codex(token="sk-FAKE-key"), FILE, KEY_LOGIN), changes={"quota": Quota.UNMETERED}, own_provider=False),
    _row("throttled calls, quota untouched", "3.3", codex(fault=Fault.THROTTLED, fault_on=MODEL), Blind.UNSHOWN),
)  # fmt: skip

LOGIN = (
    _row("lapsed, renewable", "3.4, x02", codex(lapses=PAST)),
    _row("lapses in two minutes, renewable", "3.4, x04", codex(lapses=timedelta(minutes=2))),
    _row("lapsed, refresh token empty", "3.4", codex(lapses=PAST, refresh=False)),
    _row("lapsed, refresh token revoked", "3.3, x05", codex(lapses=PAST, renewable=False)),
    _row("lapsed, refresh token reused", "3.3, x05", codex(lapses=PAST, renewable=False, spent=True)),
    _row("lapsed, token endpoint broken", "3.3, x06", codex(lapses=PAST, fault=Fault.SERVER_ERROR, fault_on=REFRESH)),
    _row("lapsed on disk only, token endpoint broken", "3.4, x10", codex(lapses=PAST, expires_at=None, fault=Fault.SERVER_ERROR, fault_on=REFRESH)),
    _row("refresh token missing", "3.4, x09", codex(edit=_without_token("refresh_token"))),
    _row("refresh token null", "3.4, x09", codex(edit=_tokens(refresh_token=None))),
    _row("refresh token empty, still live", "3.4", codex(refresh=False)),
    _row("no auth.json", "1.6, x11", no_file(codex(), FILE)),
    _row("cut auth.json", "1.6, x12", codex(text=half)),
    _row("auth.json with a byte-order mark", "1.6", codex(text=lambda text: "\ufeff" + text)),
    _row("access token not a JWT", "3.4, x16", codex(edit=_tokens(access_token="opaque"), token="opaque")),
    _row("account_id missing", "3.4, x17", codex(edit=_without_token("account_id"))),
    _row("file with a NaN, as Python writes it", "1.6", codex(text=lambda text: text.replace('"tokens"', '"x": NaN, "tokens"'))),
    _row("id_token missing", "3.4", codex(edit=_without_token("id_token"))),
    _row("id_token not a JWT", "3.4", codex(edit=_tokens(id_token="not-a-jwt"))),
    _row("id_token empty", "3.4", codex(edit=_tokens(id_token=""))),
    _row("last_refresh not a time", "3.4", codex(edit=without(last_refresh="yesterday"))),
    _row("last_refresh missing", "3.4", codex(edit=without("last_refresh"))),
    _row("auth_mode unknown", "3.4", codex(edit=without(auth_mode="other"))),
    _row("auth_mode missing", "3.4", codex(edit=without("auth_mode"))),
    _row("access token empty, renewable", "3.4", codex(edit=_tokens(access_token=""))),
    _row("account_id a number", "3.4", codex(edit=_tokens(account_id=5))),
    _row("OPENAI_API_KEY a number", "3.4", codex(edit=without(OPENAI_API_KEY=5))),
    _row("OPENAI_API_KEY empty, auth_mode missing", "3.4", codex(edit=without("auth_mode", OPENAI_API_KEY=""))),
    _row("auth_mode agentIdentity, tokens only", "3.4", codex(edit=without(auth_mode="agentIdentity"))),
    _row("auth_mode chatgptAuthTokens", "3.4", codex(edit=without(auth_mode="chatgptAuthTokens"))),
    _row("last_refresh without a zone", "3.4", codex(edit=without(last_refresh="2026-10-15T12:00:00"))),
    _row("tokens null", "3.4", codex(edit=without(tokens=None))),
    _row("OPENAI_API_KEY beside the tokens", "3.4", codex(edit=without(OPENAI_API_KEY="sk-FAKE-other"))),
    _row("auth_mode apikey beside the tokens", "3.4", codex(edit=without(auth_mode="apikey"))),
    _row("auth.json, but logins kept in a key ring", "3.4", also(codex(), "config.toml", 'cli_auth_credentials_store = "keyring"\n')),
    _row("auth.json, logins kept in memory", "3.4", also(codex(), "config.toml", 'cli_auth_credentials_store = "ephemeral"\n')),
    _row("config.toml broken", "3.4", also(codex(), "config.toml", "cli_auth = [\n")),
    _row("401 from everything, renewable", "3.4, xh-401", codex(known=False)),
    _row("401 from everything, for every token", "3.3, xw-401-expired", codex(fault=Fault.UNAUTHORIZED, fault_on=CALLS)),
    _row("401 from everything, refresh reused", "3.3", codex(known=False, renewable=False)),
    _row("401 for calls only", "3.3", codex(fault=Fault.UNAUTHORIZED, fault_on=MODEL), Blind.REVOKED),
    _row("403 from everything", "3.3", codex(fault=Fault.REVOKED, fault_on=CALLS)),
)  # fmt: skip

TROUBLE = (
    _row("500 from everything", "3.3", codex(fault=Fault.SERVER_ERROR, fault_on=CALLS)),
    _row("500 for calls only", "3.3", codex(fault=Fault.SERVER_ERROR, fault_on=MODEL), Blind.OUTAGE),
    _row("no capacity for calls", "3.3", codex(fault=Fault.OVERLOADED, fault_on=MODEL), Blind.OUTAGE),
    _row("captive portal", "3.3", codex(fault=Fault.HTML, fault_on=CALLS)),
    _row("403 page of a gateway", "3.3", codex(fault=Fault.HTML_403, fault_on=CALLS)),
    _row("cut answers", "3.3", codex(fault=Fault.TRUNCATED_JSON, fault_on=CALLS)),
    _row("silent server", "1.1", codex(fault=Fault.HANG, fault_on=CALLS)),
    _row("nothing listens", "3.3", codex(), offline=True),
    _row("usage 429, model answers", "4", codex(fault=Fault.THROTTLED, fault_on=USAGE)),
    _row("usage 500, model answers", "4", codex(fault=Fault.SERVER_ERROR, fault_on=USAGE)),
    _row("usage 401, model answers", "4", codex(fault=Fault.UNAUTHORIZED, fault_on=USAGE)),
    _row("usage document cut, model answers", "4", codex(fault=Fault.TRUNCATED_JSON, fault_on=USAGE)),
)  # fmt: skip

CODEX_ROWS = QUOTA + LOGIN + TROUBLE
