"""Samples: for each source, documents with which a seat is not available, and how that source reads them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from canary import feed
from canary.files import parse_object
from canary.sources import (
    ccswitch,
    claude_feed,
    claude_swap,
    claude_usage,
    clients,
    codex_auth,
    codex_sessions,
    codex_usage,
    litellm,
    openrouter,
    seats_file,
)
from decide.quota import Reading
from tests.canary.fakes import NOW, json_reply
from tests.canary.sources.mutations import text_of

Read = Callable[[bytes], Reading | None]

SOON, LATER = NOW + timedelta(hours=2), NOW + timedelta(days=3)
ISO, ISO_LATER = SOON.isoformat(), LATER.isoformat()
S, S_LATER = int(SOON.timestamp()), int(LATER.timestamp())
FRESH, OLD = NOW - timedelta(minutes=5), NOW - timedelta(hours=5)


def of_claude_usage(text: bytes) -> Reading | None:
    document = parse_object(text)
    return claude_usage.parse(document, NOW) if document is not None else None


def of_codex_usage(text: bytes) -> Reading | None:
    document = parse_object(text)
    return codex_usage.parse(document, NOW, model="gpt-6-astra") if document is not None else None


def of_seats_file(text: bytes) -> Reading | None:
    document = parse_object(text)
    seats = seats_file.parse(document, modified_at=FRESH, now=NOW, salt=b"") if document is not None else None
    seat = next((seat for seat in seats or () if seat.name == "desk"), None)
    return seat.reading if seat is not None and seat.failure is None else None


def of_report(text: bytes) -> Reading | None:
    """A status line's input, through the feed that it is kept in."""
    kept = feed.merge({}, feed.parse_at(text.decode("utf-8", "replace")), at=FRESH.timestamp())
    return of_feed(text_of(kept).encode()) if kept is not None else None


def of_second_report(text: bytes) -> Reading | None:
    """The same after an earlier report of windows that are open."""
    first: dict[str, Any] = {"session_id": "b", "rate_limits": {"five_hour": {"used_percentage": 1, "resets_at": S}}}
    kept = feed.merge({}, first, at=FRESH.timestamp())
    report = feed.parse_at(text.decode("utf-8", "replace"))
    after = feed.merge(kept or {}, report, at=FRESH.timestamp())
    return of_feed(text_of(after).encode()) if after is not None else None


def of_feed(text: bytes) -> Reading | None:
    document = parse_object(text)
    return claude_feed.parse(document, NOW) if document is not None else None


def of_session(text: bytes) -> Reading | None:
    return codex_sessions.parse([text], NOW)


def of_claude_swap(text: bytes) -> Reading | None:
    document = parse_object(text)
    return (
        claude_swap.parse(document, claude_swap.Identity("a@example.test", "org-1"), NOW).reading
        if document
        else None
    )


def of_ccswitch(text: bytes) -> Reading | None:
    document = parse_object(text)
    return ccswitch.parse(document, "work", NOW).reading if document is not None else None


def of_codex_auth(text: bytes) -> Reading | None:
    document = parse_object(text)
    return codex_auth.parse(document, codex_auth.Identity("acct-a", "user-a"), NOW).reading if document else None


def of_claude_client(text: bytes) -> Reading | None:
    document = parse_object(text)
    return clients.parse_claude(document, NOW) if document is not None else None


def of_codex_client(text: bytes) -> Reading | None:
    document = parse_object(text)
    return clients.parse_codex(document, NOW) if document is not None else None


def of_openrouter_key(text: bytes) -> Reading | None:
    return openrouter.interpret_key(json_reply(text)).reading


def of_openrouter_credits(text: bytes) -> Reading | None:
    return openrouter.interpret_credits(json_reply(text)).reading


def of_litellm(text: bytes) -> Reading | None:
    return litellm.interpret_key(json_reply(text)).reading


def usage(session: float = 9, weekly: float = 26, fable: float = 10, **changes: Any) -> dict[str, Any]:
    scope = {"model": {"id": None, "display_name": "Fable"}, "surface": None}
    return {
        "five_hour": {"utilization": session, "resets_at": ISO, "limit_dollars": None},
        "seven_day": {"utilization": weekly, "resets_at": ISO_LATER},
        "seven_day_opus": None,
        "nimbus_quill": {"utilization": 0.0, "resets_at": None},
        "limits": [
            {"kind": "session", "group": "session", "percent": session, "resets_at": ISO, "scope": None},
            {"kind": "weekly_all", "group": "weekly", "percent": weekly, "resets_at": ISO_LATER, "scope": None},
            {"kind": "weekly_scoped", "group": "weekly", "percent": fable, "resets_at": ISO_LATER, "scope": scope},
        ],
        **changes,
    }


def purse(**changes: Any) -> dict[str, Any]:
    return {"is_enabled": True, "monthly_limit": 2050, "used_credits": 325, "utilization": 15.85, **changes}


def codex_window(percent: float, seconds: int = 18000, reset: int = S) -> dict[str, Any]:
    return {"used_percent": percent, "limit_window_seconds": seconds, "reset_after_seconds": 7200, "reset_at": reset}


def codex(primary: float = 22, secondary: float = 43, **changes: Any) -> dict[str, Any]:
    return {
        "plan_type": "team",
        "rate_limit": {
            "allowed": True,
            "limit_reached": False,
            "primary_window": codex_window(primary),
            "secondary_window": codex_window(secondary, 604800, S_LATER),
        },
        **changes,
    }


REFUSED = {"allowed": False, "limit_reached": True, "primary_window": codex_window(40), "secondary_window": None}


def listed(session: float = 12, **changes: Any) -> dict[str, Any]:
    seat = {
        "name": "desk",
        "account": "acct-1",
        "token": {"kind": "oauth", "expires_at": ISO, "refreshable": True},
        "windows": [
            {"kind": "session", "used_percent": session, "resets_at": ISO},
            {"duration_s": 604800, "used_percent": 40.5, "resets_at": S_LATER},
        ],
        **changes,
    }
    return {"schema_version": 1, "fetched_at": FRESH.isoformat(), "seats": [{**seat, "name": "den"}, seat]}


def report(session: float = 23.5, weekly: float = 41.2, **changes: Any) -> dict[str, Any]:
    windows = {
        "five_hour": {"used_percentage": session, "resets_at": S},
        "seven_day": {"used_percentage": weekly, "resets_at": S_LATER},
        **changes,
    }
    return {
        "session_id": "a",
        "version": "2.1.90",
        "model": {"display_name": "Opus"},
        "cost": {"total_api_duration_ms": 10},
        "rate_limits": windows,
    }


def kept(at: datetime = FRESH, **changes: Any) -> dict[str, Any]:
    document = feed.merge({}, report(**changes), at=at.timestamp(), account="00")
    assert document is not None
    return document


def event(percent: float, at: datetime = FRESH, **changes: Any) -> dict[str, Any]:
    limits = {
        "limit_id": "codex",
        "limit_name": None,
        "primary": {"used_percent": percent, "window_minutes": 300, "resets_at": S},
        "secondary": {"used_percent": 20.0, "window_minutes": 10080, "resets_at": S_LATER},
        "credits": None,
        "rate_limit_reached_type": None,
        **changes,
    }
    payload = {"type": "token_count", "info": None, "rate_limits": limits}
    return {"timestamp": at.isoformat(), "type": "event_msg", "payload": payload}


def swapped(session: float = 22, at: datetime = FRESH, **changes: Any) -> dict[str, Any]:
    good = {
        "five_hour": {"pct": session, "resets_at": ISO, "countdown": "2h 4m", "clock": "14:30"},
        "seven_day": {"pct": 61.0, "resets_at": ISO_LATER},
        "scoped": [{"name": "Fable", "pct": 49.0, "resets_at": ISO_LATER}],
        **changes,
    }
    row = {"email": "a@example.test", "organizationUuid": "org-1", "lastGood": good, "fetchedAt": at.timestamp()}
    other = {**row, "email": "b@example.test", "lastGood": {"five_hour": {"pct": 0.0, "resets_at": ISO}}}
    return {"schemaVersion": 2, "accounts": {"1": other, "2": row}}


def switched(at: datetime = FRESH, **changes: Any) -> dict[str, Any]:
    result = {
        "five_hour_pct": 63,
        "five_hour_resets_at": ISO,
        "has_five_hour": True,
        "seven_day_pct": 100,
        "seven_day_resets_at": ISO_LATER,
        "has_seven_day": True,
        **changes,
    }
    return {"timestamp": at.isoformat(), "key_set_sha": "00", "rows": {"work": {"result": result}, "home": {}}}


def registry(percent: float = 42, at: datetime = FRESH, **changes: Any) -> dict[str, Any]:
    snapshot = {
        "primary": {"used_percent": percent, "window_minutes": 300, "resets_at": S},
        "secondary": {"used_percent": 9.0, "window_minutes": 10080, "resets_at": S_LATER},
        "credits": None,
        **changes,
    }
    account = {"chatgpt_account_id": "acct-a", "chatgpt_user_id": "user-a", "email": "a@example.test"}
    row = {**account, "last_usage_at": int(at.timestamp()), "last_usage": snapshot}
    other = {
        **row,
        "chatgpt_user_id": "user-b",
        "last_usage": {"primary": {"used_percent": 1, "window_minutes": 300}},
    }
    return {"schema_version": 3, "active_account_key": "user-a::acct-a", "accounts": [other, row]}


def told(primary: float = 22, **changes: Any) -> dict[str, Any]:
    limits = {
        "limitId": "codex",
        "limitName": None,
        "primary": {"usedPercent": primary, "windowDurationMins": 300, "resetsAt": S},
        "secondary": {"usedPercent": 43, "windowDurationMins": 10080, "resetsAt": S_LATER},
        "credits": {"hasCredits": False, "unlimited": False, "balance": "0"},
        "individualLimit": None,
        "spendControlReached": None,
        "rateLimitReachedType": None,
        **changes,
    }
    return {"rateLimits": limits, "ordinaryUsageAllowed": True, "accountId": "acct-x"}


def key(**changes: Any) -> dict[str, Any]:
    return {"data": {"limit": 10.0, "limit_remaining": 0.0, "limit_reset": "daily", "usage": 25.5, "is_management_key": False, **changes}}  # fmt: skip


CREDITS = {"has_credits": True, "unlimited": False, "overage_limit_reached": False, "balance": "0"}
SAMPLES: dict[str, tuple[Read, dict[str, Any]]] = {
    "claude-usage session full": (of_claude_usage, usage(session=100)),
    "claude-usage weekly full, no purse": (of_claude_usage, usage(weekly=100, extra_usage={"is_enabled": False})),
    "claude-usage Fable full": (of_claude_usage, usage(fable=100)),
    "claude-usage spend reached": (of_claude_usage, usage(extra_usage=purse(spend_limit_reached=True))),
    "claude-usage spend full": (of_claude_usage, usage(extra_usage=purse(utilization=100))),
    "claude-usage spend by amounts": (of_claude_usage, usage(spend={"enabled": True, "percent": None, "limit": {"amount_minor": 300}, "used": {"amount_minor": 300}})),
    "claude-usage a model by its id": (of_claude_usage, usage(limits=[{"kind": "weekly_scoped", "percent": 100, "resets_at": ISO, "scope": {"model": {"id": "claude-fable-5", "display_name": "Fable"}}}])),
    "codex-usage session full": (of_codex_usage, codex(primary=100, rate_limit={"allowed": None, "limit_reached": None, "primary_window": codex_window(100), "secondary_window": codex_window(1, 604800, S_LATER)})),
    "codex-usage weekly full, no credits left": (of_codex_usage, codex(rate_limit={"primary_window": codex_window(1), "secondary_window": codex_window(100, 604800, S_LATER)}, credits=CREDITS)),
    "codex-usage credits at their limit": (of_codex_usage, codex(rate_limit={"primary_window": codex_window(100)}, credits={**CREDITS, "balance": "5", "overage_limit_reached": True})),
    "codex-usage refused": (of_codex_usage, codex(rate_limit=REFUSED)),
    "codex-usage model not available": (of_codex_usage, codex(model_usage={"gpt-6-astra": {"available": False, "available_at": None}})),
    "codex-usage spend reached": (of_codex_usage, codex(spend_control={"reached": True, "individual_limit": {"used_percent": 4, "remaining_percent": 96}})),
    "codex-usage spend full": (of_codex_usage, codex(spend_control={"reached": False, "individual_limit": {"used_percent": 100, "reset_at": S}})),
    "codex-usage a model's bucket full": (of_codex_usage, codex(additional_rate_limits=[{"limit_name": "Fable", "rate_limit": {"allowed": True, "limit_reached": False, "primary_window": codex_window(100)}}])),
    "codex-usage credits only, none": (of_codex_usage, {"rate_limit": None, "credits": {**CREDITS, "has_credits": False}}),
    "seats-file session full": (of_seats_file, listed(session=100)),
    "seats-file refused": (of_seats_file, listed(refused=True)),
    "seats-file failing": (of_seats_file, listed(last_error="boom", last_error_at=NOW.isoformat())),
    "seats-file old": (of_seats_file, listed(fetched_at=OLD.isoformat())),
    "claude-feed report, session full": (of_report, report(session=100)),
    "claude-feed report, weekly full": (of_report, report(weekly=100)),
    "claude-feed report, spend reached": (of_report, report(extra_usage=purse(spend_limit_reached=True))),
    "claude-feed report, spend full": (of_report, report(extra_usage={"used_percentage": 100.0, "resets_at": None})),
    "claude-feed report after another": (of_second_report, report(session=100)),
    "claude-feed kept, session full": (of_feed, kept(session=100)),
    "claude-feed kept, weekly full": (of_feed, kept(weekly=100, extra_usage=purse(utilization=100))),
    "claude-feed kept, old": (of_feed, kept(at=OLD)),
    "codex-sessions session full": (of_session, event(100)),
    "codex-sessions weekly only, full": (of_session, event(100, primary={"used_percent": 100.0, "window_minutes": 10080, "resets_at": S_LATER}, secondary=None)),
    "codex-sessions refused": (of_session, event(3, rate_limit_reached_type="rate_limit_reached")),
    "codex-sessions credits spent": (of_session, event(100, credits=CREDITS)),
    "codex-sessions credits at their limit": (of_session, event(100, credits={**CREDITS, "balance": "5", "overage_limit_reached": True})),
    "codex-sessions old": (of_session, event(3, at=OLD)),
    "codex-sessions seconds to go": (of_session, event(100, primary={"used_percent": 100.0, "window_minutes": 300, "resets_in_seconds": 3600})),
    "claude-swap session full": (of_claude_swap, swapped(session=100)),
    "claude-swap Fable full": (of_claude_swap, swapped(scoped=[{"name": "Fable", "pct": 100.0, "resets_at": ISO_LATER}])),
    "claude-swap spend full": (of_claude_swap, swapped(spend={"used": 20.5, "limit": 20.5, "pct": None, "currency": "USD"})),
    "claude-swap old": (of_claude_swap, swapped(at=OLD)),
    "ccswitch weekly full": (of_ccswitch, switched()),
    "ccswitch old": (of_ccswitch, switched(at=OLD, seven_day_pct=5)),
    "codex-auth session full": (of_codex_auth, registry(100)),
    "codex-auth what is left": (of_codex_auth, registry(primary={"remaining_percent": 0.0, "window_minutes": 300, "reset_at": S})),
    "codex-auth refused": (of_codex_auth, registry(rate_limit_reached_type="rate_limit_reached")),
    "codex-auth old": (of_codex_auth, registry(at=OLD)),
    "claude-client session full": (of_claude_client, usage(session=100)),
    "claude-client Fable full by model_scoped": (of_claude_client, usage(limits=None, model_scoped=[{"display_name": "Fable", "utilization": 100, "resets_at": ISO_LATER}])),
    "codex-client session full": (of_codex_client, {**told(100), "ordinaryUsageAllowed": None}),
    "codex-client refused": (of_codex_client, {**told(40), "ordinaryUsageAllowed": False}),
    "codex-client limit reached": (of_codex_client, {**told(40, rateLimitReachedType="rate_limit_reached"), "ordinaryUsageAllowed": None}),
    "codex-client spend reached": (of_codex_client, told(spendControlReached=True)),
    "openrouter-key spent": (of_openrouter_key, key()),
    "openrouter-key expired": (of_openrouter_key, key(limit_remaining=5.0, expires_at=OLD.isoformat())),
    "openrouter-key manages": (of_openrouter_key, key(limit_remaining=5.0, is_management_key=True)),
    "openrouter-credits spent": (of_openrouter_credits, {"data": {"total_credits": 10.0, "total_usage": 10.0}}),
    "litellm spent": (of_litellm, {"info": {"spend": 11.0, "max_budget": 10.0, "budget_reset_at": ISO, "blocked": False}}),
    "litellm blocked": (of_litellm, {"info": {"spend": 1.0, "max_budget": 10.0, "blocked": True}}),
    "litellm expired": (of_litellm, {"info": {"spend": 1.0, "max_budget": 10.0, "expires": OLD.isoformat()}}),
}  # fmt: skip
