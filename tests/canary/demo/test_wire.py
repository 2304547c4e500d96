"""The vendors' documents carry a seat's state in the vendors' own units and forms (formats 0.2, 2.2, 4.2)."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from canary.demo import claude_model, claude_wire, codex_wire, openai_model
from canary.demo.reply import Ask, Reply
from canary.demo.script import Meter, MeterKind, SeatScript, Shape, Vendor

NOW = datetime(2026, 9, 10, 19, 26, tzinfo=UTC)
RESET = NOW + timedelta(hours=1, minutes=14)
WEEK = datetime(2026, 9, 14, 9, tzinfo=UTC)
SESSION = Meter(MeterKind.SESSION, 9.4, RESET)
WEEKLY = Meter(MeterKind.WEEKLY, 26.0, WEEK)
FABLE = Meter(MeterKind.WEEKLY_MODEL, 100.0, None, "Fable")
OPUS = Meter(MeterKind.WEEKLY_MODEL, 55.0, WEEK, "Opus")


def claude(*windows: Meter, **fields: Any) -> SeatScript:
    return SeatScript("desk", Vendor.CLAUDE, windows=list(windows), **fields)


def codex(*windows: Meter, **fields: Any) -> SeatScript:
    return SeatScript("astra", Vendor.CODEX, plan="pro", windows=list(windows), **fields)


def document(reply: Reply) -> Any:
    return json.loads(b"".join(reply.parts))


def ask(seat: SeatScript, body: dict[str, Any] | None = None, *, api_key: bool = False) -> Ask:
    return Ask(seat, NOW, body or {}, api_key)


def test_flat_shape_is_the_2025_document() -> None:
    found = claude_wire.usage_document(claude(SESSION, WEEKLY, OPUS, FABLE, shape=Shape.FLAT))
    assert found["five_hour"] == {"utilization": 9.4, "resets_at": "2026-09-10T20:40:00.000Z"}
    assert found["seven_day_opus"] == {"utilization": 55.0, "resets_at": "2026-09-14T09:00:00.000Z"}
    assert found["seven_day_sonnet"] is None
    assert "limits" not in found
    assert "Fable" not in json.dumps(found)


def test_limits_shape_lists_every_limit_and_keeps_per_model_keys_null() -> None:
    found = claude_wire.usage_document(claude(SESSION, WEEKLY, FABLE))
    assert found["five_hour"]["utilization"] == 9.4
    assert found["five_hour"]["resets_at"] == "2026-09-10T20:40:00.000000+00:00"
    assert found["seven_day_opus"] is None
    assert [row["kind"] for row in found["limits"]] == ["session", "weekly_all", "weekly_scoped"]
    assert [row["percent"] for row in found["limits"]] == [9, 26, 100]
    assert [row["is_active"] for row in found["limits"]] == [False, True, False]
    assert found["limits"][2]["scope"] == {"model": {"id": None, "display_name": "Fable"}, "surface": None}
    assert found["limits"][2] | {"scope": None} == {
        "kind": "weekly_scoped",
        "group": "weekly",
        "percent": 100,
        "severity": "critical",
        "resets_at": None,
        "scope": None,
        "is_active": False,
    }


def test_spend_only_shape_has_null_windows_and_money_in_minor_units() -> None:
    seat = claude(shape=Shape.SPEND_ONLY, extra_usage=claude_wire.extra_usage(2_000_000, 1309.0))
    found = claude_wire.usage_document(seat)
    assert found["five_hour"] is None
    assert found["extra_usage"]["utilization"] == pytest.approx(0.06545)
    assert found["extra_usage"]["monthly_limit"] == 2_000_000
    assert claude_wire.spend(30000, 1802)["percent"] == 6


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        (claude_wire.usage(ask(claude(SESSION, overlay={"limits": "x", "tangelo": 1}))), "five_hour"),
        (codex_wire.usage(ask(codex(SESSION, overlay={"limits": "x"}))), "rate_limit"),
    ],
)
def test_an_overlay_replaces_top_level_keys(reply: Reply, kept: str) -> None:
    assert document(reply)["limits"] == "x"
    assert document(reply)[kept]


def test_misuse_raises() -> None:
    with pytest.raises(ValueError, match="no monthly window"):
        claude_wire.usage_document(claude(Meter(MeterKind.MONTHLY, 3.0)))
    with pytest.raises(ValueError, match="no shape of codex"):
        codex(shape=Shape.FLAT)
    with pytest.raises(ValueError, match="weekly_model"):
        Meter(MeterKind.SESSION, 1.0, None, "Fable")


FULL_SESSION = Meter(MeterKind.SESSION, 101.0, RESET)
FULL_WEEK = Meter(MeterKind.WEEKLY, 100.0, WEEK)
OVERAGE = claude_wire.extra_usage(2050, 325)
SPENT = claude_wire.extra_usage(2050, 2050)


@pytest.mark.parametrize(
    ("windows", "fields", "model", "claim"),
    [
        pytest.param([SESSION, WEEKLY], {}, "claude-fable-5", None, id="headroom"),
        pytest.param([FULL_SESSION, WEEKLY], {}, "claude-fable-5", "five_hour", id="session"),
        pytest.param([FULL_SESSION, FULL_WEEK], {}, "claude-fable-5", "seven_day", id="last to clear"),
        pytest.param([SESSION, FABLE], {}, "claude-fable-5", "seven_day_overage_included", id="fable"),
        pytest.param([SESSION, FABLE], {}, "claude-opus-4-8", None, id="another model's week"),
        pytest.param([FULL_SESSION], {"extra_usage": OVERAGE}, "claude-fable-5", None, id="overage lifts"),
        pytest.param([FULL_SESSION], {"extra_usage": SPENT}, "claude-fable-5", "five_hour", id="overage spent"),
        pytest.param([SESSION], {"allowed": False}, "claude-fable-5", "five_hour", id="wall no meter shows"),
        pytest.param([FULL_SESSION], {"allowed": True}, "claude-fable-5", None, id="lagging meter"),
    ],
)
def test_claude_wall_names_its_claim(
    windows: list[Meter], fields: dict[str, Any], model: str, claim: str | None
) -> None:
    reply = claude_model.messages(ask(claude(*windows, **fields), {"model": model, "messages": []}))
    assert reply.status == (200 if claim is None else 429)
    headers = dict(reply.headers)
    if claim is not None:
        assert headers["anthropic-ratelimit-unified-status"] == "rejected"
        assert headers["anthropic-ratelimit-unified-representative-claim"] == claim
        assert headers["x-should-retry"] == "false"
        assert document(reply)["error"]["type"] == "rate_limit_error"


def test_claude_headers_are_fractions_and_epoch_seconds() -> None:
    headers = dict(claude_model.unified_headers(claude(FULL_SESSION, WEEKLY), "claude-fable-5"))
    assert headers["anthropic-ratelimit-unified-5h-utilization"] == "1.01"
    assert headers["anthropic-ratelimit-unified-7d-utilization"] == "0.26"
    assert headers["anthropic-ratelimit-unified-reset"] == str(int(RESET.timestamp()))


def test_enterprise_wall_does_not_say_do_not_retry() -> None:
    reply = claude_model.messages(ask(claude(FULL_SESSION, plan="enterprise"), {"model": "claude-fable-5"}))
    assert reply.status == 429
    assert "x-should-retry" not in dict(reply.headers)


def test_key_without_credit_is_a_400() -> None:
    reply = claude_model.messages(ask(claude(allowed=False), {"model": "claude-fable-5"}, api_key=True))
    assert (reply.status, document(reply)["error"]["type"]) == (400, "invalid_request_error")


def test_claude_answer_is_a_message_or_its_stream() -> None:
    seat = claude(SESSION, answer=lambda prompt: prompt[::-1], answers_as="claude-opus-4-8")
    content = [{"type": "text", "text": "bc"}]
    body = {"model": "claude-fable-5", "system": "a", "messages": [{"role": "user", "content": content}]}
    whole = document(claude_model.messages(ask(seat, body)))
    assert whole["content"] == [{"type": "text", "text": "cb\na"}]
    assert whole["model"] == "claude-opus-4-8"
    assert whole["stop_reason"] == "end_turn"
    events = events_of(claude_model.messages(ask(seat, body | {"stream": True})))
    assert [event["type"] for event in events] == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert events[3]["delta"]["text"] == "cb\na"


def test_claude_answers_through_the_structured_output_tool_where_it_is_offered() -> None:
    seat = claude(SESSION, answer='{"verdict": "yes"}')
    body = {"model": "claude-fable-5", "messages": [], "tools": [{"name": "StructuredOutput"}]}
    whole = document(claude_model.messages(ask(seat, body)))
    called = {"type": "tool_use", "id": "toolu_FAKE", "name": "StructuredOutput", "input": {"verdict": "yes"}}
    assert (whole["content"], whole["stop_reason"]) == ([called], "tool_use")
    events = events_of(claude_model.messages(ask(seat, body | {"stream": True})))
    assert events[1]["content_block"] == called | {"input": {}}
    assert json.loads(events[3]["delta"]["partial_json"]) == {"verdict": "yes"}
    prose = claude(SESSION, answer="yes")
    assert document(claude_model.messages(ask(prose, body)))["content"] == [{"type": "text", "text": "yes"}]


def test_a_codex_wall_says_what_the_script_blames() -> None:
    seat = codex(
        SESSION, allowed=False, refusal="usage_not_included", reached_type="workspace_member_credits_depleted"
    )
    reply = openai_model.codex_responses(ask(seat, {"model": "gpt-6-astra"}))
    assert document(reply)["error"]["type"] == "usage_not_included"
    assert dict(reply.headers)["x-codex-rate-limit-reached-type"] == "workspace_member_credits_depleted"
    told = document(codex_wire.usage(ask(seat)))
    assert told["rate_limit_reached_type"] == {"type": "workspace_member_credits_depleted"}


def events_of(reply: Reply) -> list[Any]:
    blocks = b"".join(reply.parts).decode().strip().split("\n\n")
    return [json.loads(block.split("data: ", 1)[1]) for block in blocks]


@pytest.mark.parametrize(
    ("seat", "primary_length", "secondary_length"),
    [
        pytest.param(codex(SESSION, WEEKLY), 18000, 604800, id="standard"),
        pytest.param(codex(WEEKLY), 604800, None, id="weekly only"),
        pytest.param(codex(SESSION, WEEKLY, shape=Shape.WEEKLY_PRIMARY), 604800, None, id="weekly_primary"),
        pytest.param(codex(Meter(MeterKind.MONTHLY, 3.0, WEEK)), 2592000, None, id="free plan"),
    ],
)
def test_codex_windows_are_told_by_length(
    seat: SeatScript, primary_length: int, secondary_length: int | None
) -> None:
    limit = codex_wire.usage_document(seat, NOW)["rate_limit"]
    assert limit["primary_window"]["limit_window_seconds"] == primary_length
    second = limit["secondary_window"]
    assert (second and second["limit_window_seconds"]) == secondary_length
    assert (limit["allowed"], limit["limit_reached"]) == (True, False)


def test_codex_window_is_integers_and_epoch_seconds() -> None:
    window = codex_wire.usage_document(codex(SESSION), NOW)["rate_limit"]["primary_window"]
    assert window == {
        "used_percent": 9,
        "limit_window_seconds": 18000,
        "reset_after_seconds": 74 * 60,
        "reset_at": int(RESET.timestamp()),
    }


def _spend(used: float) -> dict[str, Any]:
    return codex_wire.spend_control(limit=1000, used=used, resets_at=WEEK, now=NOW)


@pytest.mark.parametrize(
    ("seat", "allowed", "reached"),
    [
        pytest.param(codex(FULL_SESSION, WEEKLY), False, True, id="full"),
        pytest.param(codex(FULL_SESSION, credits=codex_wire.credits_block("12.34")), True, True, id="credits"),
        pytest.param(codex(FULL_SESSION, credits=codex_wire.credits_block("0")), False, True, id="no balance"),
        pytest.param(
            codex(FULL_SESSION, credits=codex_wire.credits_block(None, unlimited=True)), True, True, id="unlimited"
        ),
        pytest.param(codex(SESSION, allowed=False), False, False, id="the vendor's word"),
        pytest.param(codex(SESSION, spend_control=_spend(1000)), False, False, id="spend reached"),
    ],
)
def test_codex_verdict(seat: SeatScript, allowed: bool, reached: bool) -> None:
    limit = codex_wire.usage_document(seat, NOW)["rate_limit"]
    assert (limit["allowed"], limit["limit_reached"]) == (allowed, reached)
    reply = openai_model.codex_responses(ask(seat, {"model": "gpt-6-astra"}))
    assert reply.status == (200 if allowed else 429)


def test_business_has_no_rate_limit_and_decides_by_spend() -> None:
    found = codex_wire.usage_document(codex(shape=Shape.BUSINESS, spend_control=_spend(36.797)), NOW)
    assert found["rate_limit"] is None
    assert found["spend_control"]["individual_limit"]["used"] == "36.797"
    assert found["spend_control"]["individual_limit"]["used_percent"] == 3
    assert found["spend_control"]["reached"] is False


def test_codex_models_week_is_an_additional_bucket_and_walls_only_that_model() -> None:
    seat = codex(SESSION, Meter(MeterKind.WEEKLY_MODEL, 100.0, WEEK, "Spark"))
    found = codex_wire.usage_document(seat, NOW)
    assert found["rate_limit"]["allowed"] is True
    assert found["additional_rate_limits"][0]["limit_name"] == "Spark"
    assert found["additional_rate_limits"][0]["rate_limit"]["allowed"] is False
    assert openai_model.codex_responses(ask(seat, {"model": "gpt-5.3-codex-spark"})).status == 429
    assert openai_model.codex_responses(ask(seat, {"model": "gpt-6-astra"})).status == 200


def test_codex_wall_body_and_headers() -> None:
    reply = openai_model.codex_responses(ask(codex(FULL_SESSION, WEEKLY), {"model": "gpt-6-astra"}))
    error = document(reply)["error"]
    assert (error["type"], error["plan_type"]) == ("usage_limit_reached", "pro")
    assert error["resets_at"] == int(RESET.timestamp())
    headers = dict(reply.headers)
    assert headers["x-codex-primary-used-percent"] == "101"
    assert headers["x-codex-secondary-window-minutes"] == "10080"


def test_openai_answers() -> None:
    seat = codex(answer="yes")
    body = {"model": "gpt-6-astra", "input": [{"role": "user", "content": [{"text": "q"}]}]}
    events = events_of(openai_model.codex_responses(ask(seat, body | {"stream": True})))
    assert [event["type"] for event in events][-1] == "response.completed"
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "yes"
    assert events_of(openai_model.codex_responses(ask(seat, {})))[-1]["type"] == "response.completed"
    assert document(openai_model.responses(ask(seat, body)))["model"] == "gpt-6-astra"
    chat = {"model": "gpt-6-astra", "messages": [{"role": "user", "content": "q"}]}
    whole = document(openai_model.chat_completions(ask(seat, chat)))
    assert whole["choices"][0]["message"]["content"] == "yes"
    stream = b"".join(openai_model.chat_completions(ask(seat, chat | {"stream": True})).parts)
    assert stream.endswith(b"data: [DONE]\n\n")
    seat.allowed = False
    assert document(openai_model.chat_completions(ask(seat, chat)))["error"]["type"] == "insufficient_quota"


@pytest.mark.parametrize("reason", ["max_output_tokens", "content_filter"])
def test_a_cut_answer_is_incomplete(reason: str) -> None:
    seat = codex(answer="ye", stop_reason=reason)
    events = events_of(
        openai_model.codex_responses(ask(seat, {"model": "gpt-6-astra", "input": "q", "stream": True}))
    )
    assert events[-1]["type"] == "response.incomplete"
    assert events[-1]["response"]["incomplete_details"] == {"reason": reason}


def test_a_refusal_is_a_part_of_its_own() -> None:
    seat = codex(answer="no", stop_reason="refusal")
    whole = document(openai_model.responses(ask(seat, {"model": "gpt-6-astra", "input": "q"})))
    assert (whole["status"], whole["output"][0]["content"]) == ("completed", [{"type": "refusal", "refusal": "no"}])
