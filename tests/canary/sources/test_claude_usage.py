"""Claude usage endpoint: the shapes of formats 2.2, its errors, and its traps."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from canary.sources.claude_usage import ask, interpret, parse
from decide.quota import Measure, Window, WindowKind
from decide.reason import Reason
from tests.canary.fakes import NOW, json_reply

S, W, M, SP, X = (WindowKind.SESSION, WindowKind.WEEKLY, WindowKind.WEEKLY_MODEL, WindowKind.SPEND, WindowKind.OTHER)
RESET = "2026-10-16T09:00:00.282694+00:00"
BAD = Measure.MALFORMED


def limit(kind: Any, percent: Any = 9, scope: Any = None, resets_at: Any = None) -> dict[str, Any]:
    return {"kind": kind, "percent": percent, "scope": scope, "resets_at": resets_at, "is_active": False}


def fable(percent: Any, **changes: Any) -> dict[str, Any]:
    return limit(
        "weekly_scoped", percent, {"model": {"id": None, "display_name": "Fable"}, "surface": None} | changes
    )


SHAPES: list[tuple[str, dict[str, Any], list[tuple[WindowKind, str, float | Measure]]]] = [
    ("flat, 2025", {"five_hour": {"utilization": 12.5, "resets_at": RESET}, "seven_day": {"utilization": 30}, "seven_day_opus": None, "seven_day_sonnet": {"utilization": 5}, "extra_usage": {"is_enabled": True, "monthly_limit": 2050, "used_credits": 325, "utilization": 15.85}},
     [(S, "", 0.125), (W, "", 0.30), (M, "Sonnet", 0.05), (SP, "", 0.1585)]),
    ("limits, 2026", {"five_hour": {"utilization": 9.0}, "seven_day": {"utilization": 26.0}, "nimbus_quill": {"utilization": 0.0, "resets_at": None}, "tangelo": None, "extra_usage": {"is_enabled": False, "utilization": None}, "limits": [limit("session"), limit("weekly_all", 26), fable(100)], "spend": {"enabled": True, "limit": {"amount_minor": 30000, "exponent": 2}, "used": {"amount_minor": 1802}, "percent": 6}},
     [(S, "", 0.09), (W, "", 0.26), (X, "nimbus_quill", 0.0), (M, "Fable", 1.0), (SP, "", 0.06)]),
    ("spend only", {"five_hour": None, "seven_day": None, "extra_usage": {"is_enabled": True, "monthly_limit": 2000000, "used_credits": 1309.0, "utilization": 0.06545}}, [(SP, "", 0.0006545)]),
    ("unlimited spend", {"extra_usage": {"is_enabled": True, "monthly_limit": None, "used_credits": None, "utilization": None}}, [(SP, "", Measure.UNLIMITED)]),
    ("spend by amounts", {"spend": {"enabled": True, "percent": None, "limit": {"amount_minor": 300}, "used": {"amount_minor": 150}}}, [(SP, "", 0.5)]),
    ("spend limit reached", {"extra_usage": {"is_enabled": True, "spend_limit_reached": True, "utilization": 50}}, [(SP, "", Measure.REFUSED)]),
    ("money fields null", {"five_hour": {"utilization": 100.0}, "extra_usage": {"is_enabled": None}, "spend": None}, [(S, "", 1.0)]),
    ("over 100", {"five_hour": {"utilization": 101.0}}, [(S, "", 1.01)]),
    ("under 1", {"five_hour": {"utilization": 0.42}}, [(S, "", 0.0042)]),
    ("the fuller of two reports", {"five_hour": {"utilization": 9}, "limits": [limit("session", 12)]}, [(S, "", 0.12)]),
    ("a new kind of limit", {"limits": [limit("hourly_new", 100)]}, [(X, "hourly_new", 1.0)]),
    ("windows that never bind", {"seven_day_omelette": {"utilization": 100}, "cowork": {"utilization": 100}, "seven_day": {"utilization": 1}}, [(W, "", 0.01)]),
    ("a model by its id", {"limits": [fable(50, model={"id": "claude-fable-5", "display_name": None})]}, [(M, "claude-fable-5", 0.5)]),
    ("no document at all", {}, []),
    ("an unknown key of another shape", {"plan": "max", "notes": ["x"], "five_hour": {"utilization": 1}}, [(S, "", 0.01)]),
    # malformed, each of which keeps the seat from being called available
    ("a window that is text", {"five_hour": "9"}, [(S, "", BAD)]),
    ("a percentage that is text", {"five_hour": {"utilization": "9"}}, [(S, "", BAD)]),
    ("a percentage that is true", {"seven_day": {"utilization": True}}, [(W, "", BAD)]),
    ("limits that is an object", {"limits": {"session": 9}}, [(X, "limits", BAD)]),
    ("a limit that is text", {"limits": ["session"]}, [(X, "limits", BAD)]),
    ("a limit whose kind is a number", {"limits": [limit(5)]}, [(X, "limits", BAD)]),
    ("a scoped limit without a scope", {"limits": [limit("weekly_scoped", 100)]}, [(M, "", BAD)]),
    ("a scope that is a number", {"limits": [limit("weekly_scoped", 100, 7)]}, [(M, "", BAD)]),
    ("spend that is a list", {"spend": []}, [(SP, "", BAD)]),
    ("a switch that is text", {"extra_usage": {"is_enabled": "yes"}}, [(SP, "", BAD)]),
    ("a limit of nothing", {"spend": {"enabled": True, "limit": 0, "used": 0}}, [(SP, "", BAD)]),
    ("an unknown window that is text", {"nimbus_quill": {"utilization": "100"}}, [(X, "nimbus_quill", BAD)]),
]  # fmt: skip


def measured(window: Window) -> float | Measure:
    return window.used if window.measure is Measure.METERED else window.measure


@pytest.mark.parametrize(("document", "expected"), [row[1:] for row in SHAPES], ids=[row[0] for row in SHAPES])
def test_each_shape(document: dict[str, Any], expected: list[tuple[WindowKind, str, float | Measure]]) -> None:
    reading = parse(document, NOW)
    found = [(window.kind, window.scope, measured(window)) for window in reading.windows]
    assert [(k, s, m if isinstance(m, Measure) else pytest.approx(m)) for k, s, m in expected] == found
    assert (reading.source, reading.fetched_at) == ("claude-usage", NOW)


@pytest.mark.parametrize(
    ("extra", "permits"),
    [
        ({"is_enabled": True, "utilization": 15}, True),
        ({"is_enabled": True, "utilization": 100}, False),
        ({"is_enabled": True, "spend_limit_reached": True}, False),
        ({"is_enabled": False, "utilization": 15}, False),
        (None, False),
    ],
)
def test_overage_is_permitted_while_its_purse_has_something_left(extra: Any, permits: bool) -> None:
    assert parse({"five_hour": {"utilization": 100}, "extra_usage": extra}, NOW).permits_overage is permits


def test_microseconds_and_zones_of_a_reset_are_kept() -> None:
    (window,) = parse({"five_hour": {"utilization": 1, "resets_at": RESET}}, NOW).windows
    assert window.resets_at is not None
    assert window.resets_at.isoformat() == RESET


def test_the_request_is_that_of_formats_2_1_and_hides_its_token() -> None:
    sent = ask("https://api.anthropic.com/", SecretStr("sk-ant-oat01-SECRET"))
    assert sent.url == "https://api.anthropic.com/api/oauth/usage"
    assert sent.headers["authorization"] == "Bearer sk-ant-oat01-SECRET"
    assert sent.headers["anthropic-beta"] == "oauth-2025-04-20"
    assert "SECRET" not in repr(sent)


def error(kind: str, message: str) -> bytes:
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()


SCOPE = error("permission_error", "OAuth token does not meet scope requirement user:profile")
REPLIES = [
    (401, error("authentication_error", "OAuth token has expired"), Reason.REJECTED, True),
    (403, SCOPE, Reason.HTTP_403, False),
    (403, error("permission_error", "any_of(user:profile, user:office)"), Reason.HTTP_403, False),
    (403, error("permission_error", "OAuth token has been revoked"), Reason.REJECTED, True),
    (403, b"{}", Reason.HTTP_403, False),
    (429, error("rate_limit_error", "Rate limited."), Reason.HTTP_429, False),
    (404, b"{}", Reason.HTTP_4XX, False),
    (500, b"{}", Reason.HTTP_5XX, False),
    (529, error("overloaded_error", "Overloaded"), Reason.HTTP_5XX, False),
    (307, b"", Reason.REDIRECT, False),
    (200, b"", Reason.MALFORMED, False),
    (200, b'{"five_hour": {"utiliz', Reason.MALFORMED, False),
    (200, b"[]", Reason.MALFORMED, False),
    (200, b"<!DOCTYPE html><title>Just a moment...</title>", Reason.HTML, False),
    (401, b"<html>proxy login</html>", Reason.HTML, False),
    (403, b"<html>gateway</html>", Reason.HTML, False),
]


@pytest.mark.parametrize(("status", "body", "reason", "rejected"), REPLIES)
def test_each_error_of_formats_2_4(status: int, body: bytes, reason: Reason, rejected: bool) -> None:
    answer = interpret(json_reply(body, status=status))
    assert (answer.reading, answer.failure, answer.rejected) == (None, reason, rejected)
    assert "token" not in answer.step
    assert "moment" not in answer.step


json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["five_hour", "seven_day", "limits", "extra_usage", "spend", "seven_day_opus", "x"])


@given(st.dictionaries(KEYS, json_values, max_size=5))
def test_no_document_raises(document: dict[str, Any]) -> None:
    parse(document, NOW)


@pytest.mark.parametrize(
    ("status", "message", "reason", "rejected"),
    [
        (401, "OAuth token has expired.", Reason.REJECTED, True),
        (401, "OAuth authentication is currently not supported.", Reason.HTTP_4XX, False),
        (403, "OAuth token has been revoked.", Reason.REJECTED, True),
        (403, "OAuth authentication is currently not allowed for this organization.", Reason.REJECTED, True),
        (403, "OAuth token does not meet scope requirement user:profile", Reason.HTTP_403, False),
    ],
)
def test_what_an_error_says_decides_whether_the_login_is_gone(
    status: int, message: str, reason: Reason, rejected: bool
) -> None:
    body = json.dumps({"type": "error", "error": {"type": "x", "message": message}}).encode()
    answer = interpret(json_reply(body, status=status))
    assert (answer.failure, answer.rejected) == (reason, rejected)


def test_a_document_without_limits_names_opus_and_sonnet_only() -> None:
    assert parse({"five_hour": {"utilization": 1}}, NOW).models == frozenset({"opus", "sonnet"})
    assert parse({"limits": []}, NOW).models is None
    assert parse({"five_hour": None, "extra_usage": {"is_enabled": True}}, NOW).models is None
