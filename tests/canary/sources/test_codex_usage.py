"""Codex usage endpoint: the shapes of formats 4.2, the vendor's verdict, and its traps."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from canary.sources.codex_usage import ask, interpret, parse
from decide.quota import Measure, Window, WindowKind
from decide.reason import Reason
from tests.canary.fakes import NOW, json_reply
from tests.canary.sources.test_claude_usage import json_values, measured

S, W, MO, M, SP, X = (
    WindowKind.SESSION,
    WindowKind.WEEKLY,
    WindowKind.MONTHLY,
    WindowKind.WEEKLY_MODEL,
    WindowKind.SPEND,
    WindowKind.OTHER,
)
BAD, REFUSED, UNLIMITED = Measure.MALFORMED, Measure.REFUSED, Measure.UNLIMITED
SOON = 1792069200


def slot(percent: Any, seconds: Any = 18000, **more: Any) -> dict[str, Any]:
    return {"used_percent": percent, "limit_window_seconds": seconds, "reset_at": SOON} | more


def limits(primary: Any = None, secondary: Any = None, **more: Any) -> dict[str, Any]:
    return {"rate_limit": {"primary_window": primary, "secondary_window": secondary} | more}


SHAPES: list[tuple[str, dict[str, Any], list[tuple[WindowKind, str, float | Measure]]]] = [
    ("session and week", limits(slot(22), slot(43, 604800), allowed=True, limit_reached=False), [(S, "", 0.22), (W, "", 0.43)]),
    ("the week in the primary slot", limits(slot(100, 604800)), [(W, "", 1.0)]),
    ("a month", limits(slot(10, 2592000)), [(MO, "", 0.10)]),
    ("another duration", limits(slot(10, 172800)), [(X, "172800s", 0.10)]),
    ("nine hours", limits(slot(10, 32400)), [(S, "", 0.10)]),
    ("refused below 100", limits(slot(22), allowed=False), [(S, "", 0.22), (X, "refusal", REFUSED)]),
    ("limit reached below 100", limits(slot(22), limit_reached=True), [(S, "", 0.22), (X, "refusal", REFUSED)]),
    ("a refusal that a full window explains", limits(slot(100), allowed=False, limit_reached=True), [(S, "", 1.0)]),
    ("nothing said by the vendor", limits(slot(22), allowed=None), [(S, "", 0.22)]),
    ("another bucket", {"additional_rate_limits": [{"limit_name": "GPT-5.3-Codex-Spark", "rate_limit": limits(slot(100))["rate_limit"]}], **limits(slot(1))}, [(S, "", 0.01), (M, "GPT-5.3-Codex-Spark", 1.0)]),
    ("another bucket refused", {"additional_rate_limits": [{"limit_name": "Spark", "rate_limit": {"allowed": False}}]}, [(M, "Spark", REFUSED)]),
    ("a bucket that is text", {"additional_rate_limits": ["x"], **limits(slot(1))}, [(S, "", 0.01), (M, "", BAD)]),
    ("buckets that are text", {"additional_rate_limits": "x"}, [(M, "", BAD)]),
    ("the own model not available", {"model_usage": {"gpt-6-astra": {"available": False, "available_at": SOON}}, **limits(slot(1))}, [(S, "", 0.01), (X, "gpt-6-astra", REFUSED)]),
    ("the own model not available, which a full window explains", {"model_usage": {"gpt-6-astra": {"available": False, "available_at": None}}, **limits(slot(100))}, [(S, "", 1.0)]),
    ("another model not available", {"model_usage": {"gpt-5": {"available": False}}, **limits(slot(1))}, [(S, "", 0.01)]),
    ("the own model, text for a truth", {"model_usage": {"gpt-6-astra": {"available": "no"}}}, [(X, "gpt-6-astra", BAD)]),
    ("spend control", {"spend_control": {"reached": False, "individual_limit": {"limit": "1000", "used": "36.797", "used_percent": 4, "remaining_percent": 96, "reset_at": SOON}}, **limits(slot(1))}, [(S, "", 0.01), (SP, "", 0.04)]),
    ("only what remains", {"spend_control": {"individual_limit": {"limit": "10", "remaining_percent": 96}}}, [(SP, "", 0.04)]),
    ("spend reached", {"spend_control": {"reached": True, "individual_limit": None}, **limits(slot(1))}, [(S, "", 0.01), (SP, "", REFUSED)]),
    ("spend reached and told by its limit", {"spend_control": {"reached": True, "individual_limit": {"used_percent": 100, "reset_at": SOON}}}, [(SP, "", 1.0)]),
    ("business, spend decides", {"rate_limit": None, "spend_control": {"reached": False, "individual_limit": {"used_percent": 4}}}, [(SP, "", 0.04)]),
    ("business, credits decide", {"rate_limit": None, "credits": {"has_credits": True, "unlimited": False, "balance": "12.34"}}, [(SP, "", UNLIMITED)]),
    ("business, out of credits", {"rate_limit": None, "credits": {"has_credits": False, "unlimited": False, "balance": "0"}}, [(SP, "", REFUSED)]),
    ("business, nothing told", {"rate_limit": None}, []),
    ("a window without its duration", limits({"used_percent": 22, "reset_at": SOON}), [(X, "window", BAD)]),
    ("a window that is text", limits("22"), [(X, "window", BAD)]),
    ("a percentage that is text", limits(slot("22")), [(S, "", BAD)]),
    ("a verdict that is text", limits(slot(22), allowed="yes"), [(S, "", 0.22), (X, "refusal", BAD)]),
    ("rate_limit that is a list", {"rate_limit": []}, [(X, "rate_limit", BAD)]),
    ("spend control that is text", {"spend_control": "x"}, [(SP, "", BAD)]),
    ("credits that are a list, alone", {"credits": []}, [(SP, "", BAD)]),
]  # fmt: skip


@pytest.mark.parametrize(("document", "expected"), [row[1:] for row in SHAPES], ids=[row[0] for row in SHAPES])
def test_each_shape(document: dict[str, Any], expected: list[tuple[WindowKind, str, float | Measure]]) -> None:
    found = [(w.kind, w.scope, measured(w)) for w in parse(document, NOW, model="gpt-6-astra").windows]
    assert [(k, s, m if isinstance(m, Measure) else pytest.approx(m)) for k, s, m in expected] == found


def test_a_reset_is_its_time_or_what_the_wait_makes_of_it() -> None:
    stated, waited = parse(
        limits(slot(1), {"used_percent": 2, "limit_window_seconds": 604800, "reset_after_seconds": 3600}), NOW
    ).windows
    assert stated.resets_at == datetime.fromtimestamp(SOON, UTC)
    assert waited.resets_at == datetime.fromtimestamp(SOON, UTC)


@pytest.mark.parametrize(
    ("document", "permits"),
    [
        (limits(slot(100), allowed=True), True),
        (limits(slot(100), allowed=True, limit_reached=True), True),
        ({**limits(slot(100), limit_reached=True), "credits": {"has_credits": True, "balance": "1.00"}}, False),
        (limits(slot(100), allowed=None), False),
        ({**limits(slot(100), allowed=None), "credits": {"has_credits": True, "balance": "1.00"}}, True),
        ({**limits(slot(100), allowed=None), "credits": {"has_credits": True, "overage_limit_reached": True}}, False),
        ({**limits(slot(100), allowed=None), "credits": {"has_credits": True, "balance": "0"}}, False),
        ({**limits(slot(100), allowed=False), "credits": {"unlimited": True}}, False),
        ({"rate_limit": None, "credits": {"unlimited": True}}, False),
    ],
)
def test_overage_needs_the_vendors_permission_or_credits_and_no_refusal(document: Any, permits: bool) -> None:
    assert parse(document, NOW).permits_overage is permits


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://chatgpt.com/backend-api", "https://chatgpt.com/backend-api/wham/usage"),
        ("https://chatgpt.com/backend-api/", "https://chatgpt.com/backend-api/wham/usage"),
        ("https://codex.example", "https://codex.example/api/codex/usage"),
    ],
)
def test_the_request_is_that_of_formats_4_1(base: str, url: str) -> None:
    sent = ask(base, SecretStr("SECRET"), "acct-x")
    assert sent.url == url
    assert sent.headers["chatgpt-account-id"] == "acct-x"
    assert "chatgpt-account-id" not in ask(base, SecretStr("s"), "").headers
    assert "SECRET" not in repr(sent)


@pytest.mark.parametrize(
    ("status", "body", "reason", "rejected"),
    [
        (401, b"{}", Reason.REJECTED, True),
        (403, b'{"detail": "x"}', Reason.HTTP_403, False),
        (403, b"<html>", Reason.HTML, False),
        (429, b"{}", Reason.HTTP_429, False),
        (502, b"", Reason.HTTP_5XX, False),
        (200, b"null", Reason.MALFORMED, False),
    ],
)
def test_each_error(status: int, body: bytes, reason: Reason, rejected: bool) -> None:
    answer = interpret(json_reply(body, status=status), "gpt-6-astra")
    assert (answer.failure, answer.rejected) == (reason, rejected)


KEYS = st.sampled_from(["rate_limit", "additional_rate_limits", "model_usage", "credits", "spend_control", "x"])


@given(st.dictionaries(KEYS, json_values, max_size=5))
def test_no_document_raises(document: dict[str, Any]) -> None:
    assert all(isinstance(window, Window) for window in parse(document, NOW, model="gpt-6-astra").windows)
