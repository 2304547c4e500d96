"""The scenarios of Claude Code: what is on disk, what the vendor does, and what the configuration says."""

from datetime import datetime, timedelta
from types import MappingProxyType

from canary.demo.claude_wire import extra_usage
from canary.demo.logins import SCOPES
from canary.demo.script import Fault, Shape, Vendor
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
    claude,
    half,
    model_week,
    no_file,
    session,
    week,
    without,
)

FILE = ".credentials.json"
FABLE = MappingProxyType({"scopes": ("Fable",)})
OVERAGE = MappingProxyType({"scopes": ("Fable",), "allow_overage": True})
SETUP_SCOPES = ("user:inference", "user:ccr_inference", "user:file_upload")
MCP_ONLY = '{"mcpOAuth": {"srv|abcd": {"accessToken": "x", "expiresAt": 9999999999999, "refreshToken": "y"}}}'


def _row(name: str, refers: str, setup: Setup, blind: Blind | None = None, **more: object) -> Scenario:
    return Scenario(name, refers, Vendor.CLAUDE, setup, blind, **({"changes": FABLE} | more))  # type: ignore[arg-type]


def _years(now: datetime) -> datetime:
    return now + timedelta(days=3650)


QUOTA = (
    _row("headroom", "2.1", claude()),
    _row("headroom, every window told", "2.1", claude(*HEADROOM, model_week("Fable", 48))),
    _row("session full", "2.3, cs0", claude(session(100), week(31))),
    _row("week full", "2.3", claude(session(12), week(100))),
    _row("week full, reset not told", "2.3", claude(session(12), week(100, None))),
    _row("more than full", "2.3", claude(session(101.5), week(31))),
    _row("Fable's week full, asking Fable", "2.3, cf18", claude(*HEADROOM, model_week("Fable", 100))),
    _row("Fable's week full, reset not told", "2.3", claude(*HEADROOM, model_week("Fable", 100, None))),
    _row("Opus' week full, asking Fable", "2.3, cf19", claude(*HEADROOM, model_week("Opus", 100))),
    _row(
        "Opus' week full, asking Opus",
        "2.3",
        claude(*HEADROOM, model_week("Opus", 100)),
        changes={"scopes": ("Opus",)},
        model="claude-opus-4-8",
    ),
    _row("Opus' week full, no scopes set", "2.3", claude(*HEADROOM, model_week("Opus", 100)), changes={}),
    _row("flat document of 2025", "2.3", claude(*HEADROOM, shape=Shape.FLAT)),
    _row("Opus' week full in a flat document", "2.3", claude(*HEADROOM, model_week("Opus", 100), shape=Shape.FLAT), changes={"scopes": ("Opus",)}, model="claude-opus-4-8"),
    _row("Fable's week full, flat document", "2.3", claude(*HEADROOM, model_week("Fable", 100), shape=Shape.FLAT)),
    _row("session full, overage allowed by both", "2.2", claude(session(100), extra_usage=extra_usage(2050, 325)), changes=OVERAGE),
    _row("session full, overage spent", "2.2", claude(session(100), extra_usage=extra_usage(2050, 2050)), changes=OVERAGE),
    _row("spend only, money left", "2.3", claude(shape=Shape.SPEND_ONLY, extra_usage=extra_usage(2000000, 1309))),
    _row("spend only, nothing left", "2.3", claude(shape=Shape.SPEND_ONLY, extra_usage=extra_usage(2050, 2050))),
    _row("enterprise seat, session full", "1.9, cb18", claude(session(100), plan="enterprise")),
    _row("unknown window full", "2.3", claude(overlay={"amber_ladder": {"utilization": 100.0, "resets_at": None}})),
    _row("meter shows 0 %, wall on the call", "2.3", claude(session(0, None), week(0, None), allowed=False), Blind.LAGGING),
    _row("a claim no window shows", "2.3", claude(limit_reached=True), Blind.UNSHOWN),
    _row("throttled calls, quota untouched", "2.3", claude(fault=Fault.THROTTLED, fault_on=MODEL), Blind.UNSHOWN),
    _row("no window in the document", "2.3", claude(overlay={"five_hour": None, "seven_day": None, "limits": []})),
)  # fmt: skip

LOGIN = (
    _row("lapsed, renewable", "2.4, c02", claude(lapses=PAST)),
    _row("lapses in two minutes, renewable", "2.4, c04", claude(lapses=timedelta(minutes=2))),
    _row("lapsed, nothing to renew it", "2.4, c09", claude(lapses=PAST, refresh=False)),
    _row("lapsed, empty refresh token", "2.4, c09", claude(lapses=PAST, edit=without(refreshToken=""))),
    _row("lapsed, renewal refused (invalid_grant)", "2.4, c05", claude(lapses=PAST, renewable=False)),
    _row("lapsed, token endpoint broken", "2.4, c06", claude(lapses=PAST, fault=Fault.SERVER_ERROR, fault_on=REFRESH)),
    _row("lapsed on disk only, token endpoint broken", "2.4, c10", claude(lapses=PAST, expires_at=None, fault=Fault.SERVER_ERROR, fault_on=REFRESH)),
    _row("rejected in mid-life, no retry", "2.4, c80b", claude(known=False)),
    _row("rejected in mid-life, one retry", "2.4, c80c", claude(known=False), environ={"CLAUDE_CODE_MAX_RETRIES": "1"}),
    _row("rejected in mid-life, nothing to renew it", "2.3", claude(known=False, refresh=False)),
    _row("rejected, renewal refused too", "2.4, c44", claude(known=False, renewable=False)),
    _row("403 revoked", "2.3, l-claude-revoked-403", claude(fault=Fault.REVOKED, fault_on=CALLS)),
    _row("403 organisation refuses", "2.3", claude(fault=Fault.ORG_REFUSED, fault_on=CALLS)),
    _row("403 organisation refuses, no refresh token", "2.3", claude(refresh=False, fault=Fault.ORG_REFUSED, fault_on=CALLS)),
    _row("revoked for calls only", "2.3", claude(fault=Fault.REVOKED, fault_on=MODEL), Blind.REVOKED),
    _row("401 for calls only", "2.3, l-claude-401", claude(fault=Fault.UNAUTHORIZED, fault_on=MODEL), Blind.REVOKED),
    _row("no login", "2.3", no_file(claude(), FILE)),
    _row("blanked login", "2.4, c45", claude(edit=without(accessToken="", refreshToken="", expiresAt=0))),
    _row("only logins of MCP servers", "2.3", claude(text=lambda _: MCP_ONLY)),
    _row("half-written file", "2.3", claude(text=half)),
    _row("empty file", "2.3", claude(text=lambda _: "")),
    _row("file with a byte-order mark", "2.3", claude(text=lambda text: "\ufeff" + text)),
    _row("file with a NaN, as Python writes it", "2.3", claude(text=lambda text: text.replace('"scopes"', '"x": NaN, "scopes"'))),
    _row("login under the old key", "2.3", claude(text=lambda text: text.replace("claudeAiOauth", "claude.ai_oauth"))),
    _row("scopes without inference", "2.3", claude(scopes=("user:profile",))),
    _row("scopes empty", "2.3", claude(scopes=())),
    _row("scopes null", "2.3", claude(scopes=None)),
    _row("scopes missing", "2.3", claude(edit=without("scopes"))),
    _row("scopes as one text", "2.3", claude(edit=without(scopes=" ".join(SCOPES)))),
    _row("scopes as one text without inference", "2.3", claude(edit=without(scopes="user:profile"))),
    _row("access token empty, refresh token left", "2.4", claude(edit=without(accessToken=""))),
    _row("setup-token scopes, 403 from usage", "2.4, c17", claude(refresh=False, lapses=timedelta(days=300), scopes=SETUP_SCOPES, fault=Fault.FORBIDDEN_SCOPE, fault_on=USAGE)),
    _row("expiresAt missing", "2.4, c22", claude(lapses=None, expires_at=None)),
    _row("expiresAt in seconds", "2.4", claude(edit=lambda block: block | {"expiresAt": block["expiresAt"] // 1000})),
    _row("expiresAt as text", "2.4", claude(edit=lambda block: block | {"expiresAt": str(block["expiresAt"])})),
    _row("expiresAt ten years ahead", "2.4", claude(lapses=timedelta(days=3650))),
    _row("subscription null", "2.4", claude(edit=without(subscriptionType=None, rateLimitTier=None))),
    _row("refreshTokenExpiresAt past, still live", "2.4", claude(edit=without(refreshTokenExpiresAt=1700000000000))),
    _row("lapsed, refreshTokenExpiresAt past", "2.4", claude(lapses=PAST, renewable=False, edit=without(refreshTokenExpiresAt=1700000000000))),
    _row("API key of the console in .claude.json", "2.5", also(claude(), ".claude.json", '{"primaryApiKey": "sk-ant-api03-FAKE"}')),
    _row("API key in the seat's settings", "2.5", also(claude(), "settings.json", '{"env": {"ANTHROPIC_API_KEY": "sk-ant-api03-FAKE"}}')),
    _row(".claude.json half-written", "2.6", also(claude(), ".claude.json", '{"oauthAccount": {"accountU')),
)  # fmt: skip

TROUBLE = (
    _row("500 from everything", "2.3", claude(fault=Fault.SERVER_ERROR, fault_on=CALLS)),
    _row("529 from everything", "2.3", claude(fault=Fault.OVERLOADED, fault_on=CALLS)),
    _row("500 for calls only", "2.3", claude(fault=Fault.SERVER_ERROR, fault_on=MODEL), Blind.OUTAGE),
    _row("529 for calls only", "2.3", claude(fault=Fault.OVERLOADED, fault_on=MODEL), Blind.OUTAGE),
    _row("captive portal", "2.3", claude(fault=Fault.HTML, fault_on=CALLS)),
    _row("403 page of a gateway", "2.3", claude(fault=Fault.HTML_403, fault_on=CALLS)),
    _row("empty answers", "2.3, c70", claude(fault=Fault.EMPTY, fault_on=CALLS)),
    _row("cut answers", "2.3, c66", claude(fault=Fault.TRUNCATED_JSON, fault_on=CALLS)),
    _row("connection dropped half-way", "2.3", claude(fault=Fault.DROP, fault_on=CALLS)),
    _row("silent server", "1.1", claude(fault=Fault.HANG, fault_on=CALLS)),
    _row("silent for calls only", "1.1", claude(fault=Fault.HANG, fault_on=MODEL), Blind.OUTAGE),
    _row("nothing listens", "2.3", claude(), offline=True),
    _row("throttled everywhere", "2.3", claude(fault=Fault.THROTTLED, fault_on=CALLS, retry_after="3037")),
    _row("usage endpoint 500, model answers", "4", claude(fault=Fault.SERVER_ERROR, fault_on=USAGE)),
    _row("usage endpoint 429, model answers", "4", claude(fault=Fault.THROTTLED, fault_on=USAGE, retry_after="0")),
    _row("usage endpoint 401, model answers", "4", claude(fault=Fault.UNAUTHORIZED, fault_on=USAGE)),
    _row("usage endpoint takes no OAuth like this, model answers", "4", claude(refresh=False, fault=Fault.UNSUPPORTED, fault_on=USAGE)),
    _row("usage endpoint silent, model answers", "4", claude(fault=Fault.HANG, fault_on=USAGE)),
    _row("usage endpoint redirects, model answers", "1.10", claude(fault=Fault.REDIRECT, fault_on=USAGE)),
    _row("usage document too large, model answers", "4", claude(fault=Fault.HUGE, fault_on=USAGE, huge_mb=2)),
    _row("usage document of text, model answers", "4", claude(overlay={"five_hour": "12", "limits": "x"})),
)  # fmt: skip

CLAUDE_ROWS = QUOTA + LOGIN + TROUBLE
