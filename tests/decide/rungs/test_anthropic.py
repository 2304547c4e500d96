"""The Messages API: what is asked, and what its messages, refusals and meters mean."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from canary.demo.provider import Provider
from canary.demo.script import Fault, Meter, MeterKind, SeatScript, Vendor
from canary.demo.server import serve
from decide.quota import WindowKind
from decide.reply import Failure, Finish, Reply, Trouble, Usage
from decide.rungs import anthropic
from decide.rungs.fault import failed
from decide.rungs.http import Http
from tests.decide.rungs.far import BRIEF, KEY, NOW, SCHEMA, access, failure, response

RESET = datetime(2026, 10, 19, 9, 0, tzinfo=UTC)


def test_the_request() -> None:
    assert anthropic.body(BRIEF, access("", effort="high")) == {
        "model": "claude-fable-5",
        "max_tokens": anthropic.OUTPUT_LIMIT,
        "system": "You review.",
        "messages": [{"role": "user", "content": BRIEF.text}],
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}},
    }
    assert "effort" not in anthropic.body(BRIEF, access("", effort=""))["output_config"]


def read(**changes: Any) -> Reply:
    """The reply in a message."""
    message = {"model": "claude-fable-5", "content": [{"type": "text", "text": "yes"}], "stop_reason": "end_turn"}
    document = message | changes
    return anthropic.read(response(document), document)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", Finish.COMPLETE),
        ("stop_sequence", Finish.COMPLETE),
        (None, Finish.COMPLETE),
        ("max_tokens", Finish.LENGTH),
        ("model_context_window_exceeded", Finish.LENGTH),
        ("refusal", Finish.REFUSAL),
    ],
)
def test_how_the_model_stopped(reason: str | None, finish: Finish) -> None:
    assert read(stop_reason=reason).finish is finish


def test_the_answer_is_its_text_blocks_alone() -> None:
    blocks = [
        {"type": "thinking", "thinking": "no", "text": "no"},
        {"type": "text", "text": "one"},
        {"type": "tool_use", "input": {"text": "no"}},
        "no",
        {"type": "text", "text": "two"},
    ]
    assert read(content=blocks).text == "one\ntwo"
    assert read(content=[]).text == ""


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 7, "output_tokens": 5}, Usage(7, 0, 0, 5)),
        (
            {
                "input_tokens": 7,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 30,
                "output_tokens": 5,
            },
            Usage(7, 100, 30, 5),
        ),
        ({"input_tokens": 7, "cache_read_input_tokens": None, "output_tokens": 5}, Usage(7, 0, 0, 5)),
        (
            {"input_tokens": 7, "output_tokens": 9, "output_tokens_details": {"thinking_tokens": 6}},
            Usage(7, 0, 0, 3, 6),
        ),
        ({"input_tokens": 7, "output_tokens": 5, "output_tokens_details": {"thinking_tokens": 6}}, None),
        ({"input_tokens": -7, "output_tokens": 5}, None),
        ({"input_tokens": 7.5, "output_tokens": 5}, None),
        ({"input_tokens": True, "output_tokens": 5}, None),
        ({"input_tokens": 7}, None),
        ({}, None),
        ("many", None),
    ],
)
def test_each_token_once(usage: Any, expected: Usage | None) -> None:
    assert read(usage=usage).usage == expected


@pytest.mark.parametrize(("model", "models"), [("claude-opus-5", ("claude-opus-5",)), ("", ()), (None, ())])
def test_the_model_that_the_wire_names(model: str | None, models: tuple[str, ...]) -> None:
    assert read(model=model).models == models


@pytest.mark.parametrize(
    ("claim", "window"),
    [
        ("five_hour", WindowKind.SESSION),
        ("seven_day", WindowKind.WEEKLY),
        ("seven_day_opus", WindowKind.WEEKLY_MODEL),
        ("seven_day_overage_included", WindowKind.WEEKLY_MODEL),
        ("overage", WindowKind.SPEND),
        ("thirty_day", WindowKind.OTHER),
        ("", WindowKind.OTHER),
    ],
)
def test_a_window_that_the_headers_name(claim: str, window: WindowKind) -> None:
    headers = {
        "anthropic_ratelimit_unified_status": "rejected",
        "anthropic_ratelimit_unified_representative_claim": claim,
        "anthropic_ratelimit_unified_reset": str(int(RESET.timestamp())),
        "retry_after": "334800",
    }
    error = {"error": {"type": "rate_limit_error", "message": "This would exceed your account's rate limit."}}
    reply = failed(response(error, 429, **headers), KEY)
    assert reply is not None
    assert reply.trouble is not None
    assert (reply.trouble.failure, reply.trouble.window) == (Failure.SEAT_CAPPED, window)
    assert (reply.trouble.clears_at, reply.trouble.billed) == (RESET, False)


@pytest.mark.parametrize(
    "reset", ["", "soon", "0", "99999999999999999", "-1", str(int((NOW - timedelta(days=9)).timestamp()))]
)
def test_a_reset_that_is_none(reset: str) -> None:
    headers = {"anthropic_ratelimit_unified_status": "rejected", "anthropic_ratelimit_unified_reset": reset}
    reply = failed(response({"error": {"type": "rate_limit_error"}}, 429, **headers), KEY)
    assert reply is not None
    assert reply.trouble is not None
    assert reply.trouble.clears_at is None


def test_a_throttle_is_no_quota() -> None:
    error = {"error": {"type": "rate_limit_error", "message": "Number of requests has exceeded your rate limit"}}
    headers = {"retry_after": "12", "anthropic_ratelimit_unified_status": "allowed"}
    reply = failed(response(error, 429, **headers), KEY)
    assert reply is not None
    assert reply.trouble is not None
    assert (reply.trouble.failure, reply.trouble.retry_after_s) == (Failure.RATE_LIMITED, 12.0)


@pytest.mark.parametrize(("status", "expected"), [(400, Failure.CLIENT_ERROR), (500, Failure.SERVER_ERROR)])
def test_a_full_window_that_did_not_refuse_is_no_wall(status: int, expected: Failure) -> None:
    """Overage lets calls go on past a window that the headers call rejected."""
    answer = response({"error": {"type": "an_error"}}, status, anthropic_ratelimit_unified_status="rejected")
    reply = failed(answer, KEY)
    assert reply is not None
    assert failure(reply) is expected


class Seat:
    """A Claude seat on the loopback provider, asked by its key."""

    def __init__(self, provider: Provider, base_url: str, http: Http) -> None:
        self.script = SeatScript("desk", Vendor.CLAUDE, answer="yes")
        provider.seats[KEY] = self.script
        self.base_url, self.http = base_url, http

    async def ask(self) -> Reply:
        return await anthropic.rung(self.http.fetch)(BRIEF, access(self.base_url, timeout_s=1))


@pytest.fixture
async def seat() -> AsyncIterator[Seat]:
    provider = Provider({}, lambda: NOW)
    async with serve(provider) as base_url:
        http = Http(lambda: NOW, timeout_s=5, version="test", purpose="tries itself")
        yield Seat(provider, base_url, http)
        await http.aclose()


async def test_the_provider_answers(seat: Seat) -> None:
    seat.script.answers_as = "claude-opus-5"
    reply = await seat.ask()
    assert (reply.text, reply.models, reply.trouble) == ("yes", ("claude-opus-5",), None)
    assert reply.usage is not None
    assert reply.usage.input > 0


async def test_the_provider_refuses(seat: Seat) -> None:
    seat.script.stop_reason = "refusal"
    assert (await seat.ask()).finish is Finish.REFUSAL


async def test_the_credit_is_spent(seat: Seat) -> None:
    seat.script.allowed = False
    trouble = (await seat.ask()).trouble
    assert isinstance(trouble, Trouble)
    assert (trouble.failure, trouble.window, trouble.billed) == (Failure.SEAT_CAPPED, WindowKind.SPEND, False)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault.UNAUTHORIZED, Failure.NEEDS_LOGIN),
        (Fault.REVOKED, Failure.NEEDS_LOGIN),
        (Fault.ORG_REFUSED, Failure.NEEDS_LOGIN),
        (Fault.THROTTLED, Failure.RATE_LIMITED),
        (Fault.SERVER_ERROR, Failure.SERVER_ERROR),
        (Fault.OVERLOADED, Failure.SERVER_ERROR),
        (Fault.HTML, Failure.SERVER_ERROR),
        (Fault.HTML_403, Failure.SERVER_ERROR),
        (Fault.EMPTY, Failure.SERVER_ERROR),
        (Fault.TRUNCATED_JSON, Failure.SERVER_ERROR),
        (Fault.REDIRECT, Failure.SERVER_ERROR),
        (Fault.HUGE, Failure.SERVER_ERROR),
        (Fault.HANG, Failure.TIMEOUT),
        (Fault.DROP, Failure.NETWORK),
    ],
)
async def test_every_fault_of_the_provider(seat: Seat, fault: Fault, expected: Failure) -> None:
    seat.script.fault, seat.script.huge_mb = fault, 9
    reply = await seat.ask()
    assert failure(reply) is expected
    assert reply.text == ""


async def test_a_full_session_does_not_bind_a_key(seat: Seat) -> None:
    seat.script.windows = [Meter(MeterKind.SESSION, 100, NOW + timedelta(hours=1))]
    assert (await seat.ask()).text == "yes"
