"""Errors over HTTP: what each vendor and server says when it does not answer, as rows, and what no text holds."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.quota import WindowKind
from decide.reason import Reason
from decide.reply import Failure, Finish, Reply
from decide.rungs.fault import failed
from decide.rungs.http import Response
from decide.rungs.redact import LENGTH, one_line
from tests.decide.rungs.far import KEY, NOW, response

LOGIN, GONE, MODEL = Failure.NEEDS_LOGIN, Failure.NOT_INSTALLED, Failure.MODEL_UNAVAILABLE
CAPPED, LIMITED, CLIENT, SERVER = (
    Failure.SEAT_CAPPED,
    Failure.RATE_LIMITED,
    Failure.CLIENT_ERROR,
    Failure.SERVER_ERROR,
)
SPEND, OTHER = WindowKind.SPEND, WindowKind.OTHER


def said(message: str = "", **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message} | fields}


ROWS: list[tuple[int, Any, Failure, WindowKind | None]] = [
    # Anthropic
    (401, said("invalid x-api-key", type="authentication_error"), LOGIN, None),
    (403, said("Your API key does not have permission", type="permission_error"), LOGIN, None),
    (404, said("model: claude-fable-9", type="not_found_error"), MODEL, None),
    (404, said("Not Found", type="not_found_error"), GONE, None),
    (400, said("Your credit balance is too low to access the Anthropic API.", type="invalid_request_error"), CAPPED, SPEND),
    (400, said("You have reached your specified workspace API usage limits.", type="invalid_request_error"), CAPPED, SPEND),
    (402, said("Your organization has no credit", type="billing_error"), CAPPED, SPEND),
    (402, said("Payment required"), CAPPED, SPEND),
    (413, said("Request exceeds the maximum size", type="request_too_large"), CLIENT, None),
    (429, said("Number of request tokens has exceeded your per-minute rate limit", type="rate_limit_error"), LIMITED, None),
    (500, said("Internal server error", type="api_error"), SERVER, None),
    (529, said("Overloaded", type="overloaded_error"), SERVER, None),
    # OpenAI
    (401, said("Incorrect API key provided", type="invalid_request_error", code="invalid_api_key"), LOGIN, None),
    (403, said("Country, region, or territory not supported", code="unsupported_country_region_territory"), LOGIN, None),
    (404, said("The model `gpt-7` does not exist or you do not have access to it.", code="model_not_found"), MODEL, None),
    (403, said("Project `p` does not have access to model `gpt-7`", code="model_not_found"), MODEL, None),
    (429, said("You exceeded your current quota", type="insufficient_quota", code="insufficient_quota"), CAPPED, SPEND),
    (429, said("Billing hard limit has been reached", code="billing_hard_limit_reached"), CAPPED, SPEND),
    (429, said("The usage limit has been reached", type="usage_limit_reached"), CAPPED, OTHER),
    (429, said("Rate limit reached for gpt-6 on tokens per min", code="rate_limit_exceeded"), LIMITED, None),
    (400, said("This model's maximum context length is 8192 tokens", code="context_length_exceeded"), CLIENT, None),
    (503, said("The engine is currently overloaded", type="server_error"), SERVER, None),
    # OpenRouter
    (402, said("This request requires more credits, or fewer max_tokens.", code=402), CAPPED, SPEND),
    (403, said("Key limit exceeded (monthly limit). Manage it at a page", code=403), CAPPED, SPEND),
    (400, said("acme/fable is not a valid model ID", code=400), MODEL, None),
    (200, said("Provider returned error", code=429), LIMITED, None),
    (200, said("Insufficient credits", code=402), CAPPED, SPEND),
    (200, said("No provider", code=502), SERVER, None),
    (200, said("odd", code="odd"), SERVER, None),
    # LiteLLM
    (400, said("Budget has been exceeded! Current cost: 10.5, Max budget: 10.0", type="budget_exceeded", code="400"), CAPPED, SPEND),
    (429, said("A text of the administrator's own", type="budget_exceeded", code="429"), CAPPED, SPEND),
    (400, said("litellm.BadRequestError: OpenAIException - Budget has been exceeded! Current cost: 1", code="400"), CAPPED, SPEND),
    (401, said("key not allowed to access model", type="key_model_access_denied", code="401"), MODEL, None),
    (400, said("Invalid model name passed in model=fable", code="400"), MODEL, None),
    (429, said("litellm.RateLimitError: Max parallel requests reached", type="throttling_error"), LIMITED, None),
    # Ollama, vLLM, llama.cpp, FastAPI
    (404, said('model "qwen9" not found, try pulling it first', type="api_error"), MODEL, None),
    (404, {"error": "model 'qwen9' not found"}, MODEL, None),
    (404, {"object": "error", "message": "The model `qwen9` does not exist.", "type": "NotFoundError", "code": 404}, MODEL, None),
    (404, {"detail": "Not Found"}, GONE, None),
    (404, b"404 page not found", GONE, None),
    (405, {"detail": "Method Not Allowed"}, GONE, None),
    (501, said("not implemented"), GONE, None),
    (422, {"detail": [{"loc": ["body"], "msg": "extra"}]}, CLIENT, None),
    (503, said("Loading model", type="unavailable_error"), SERVER, None),
    # What stands in between
    (404, b"<html>nginx</html>", GONE, None),
    (401, b"<html>log in</html>", LOGIN, None),
    (403, b"<html>Just a moment...</html>", SERVER, None),
    (200, b"<!DOCTYPE html><html>Welcome, guest</html>", SERVER, None),
    (502, b"<html>Bad gateway</html>", SERVER, None),
    (200, b"", SERVER, None),
    (200, b"[1]", SERVER, None),
    (200, b'{"choices": [', SERVER, None),
    (302, b"", SERVER, None),
    (408, b"", Failure.TIMEOUT, None),
    (407, b"", CLIENT, None),
    (500, b"oops", SERVER, None),
]  # fmt: skip


def trouble_of(answer: Response) -> Reply:
    reply = failed(answer, KEY)
    assert reply is not None
    return reply


@pytest.mark.parametrize(("status", "content", "expected", "window"), ROWS)
def test_what_a_refusal_means(status: int, content: Any, expected: Failure, window: WindowKind | None) -> None:
    trouble = trouble_of(response(content, status)).trouble
    assert trouble is not None
    assert (trouble.failure, trouble.window) == (expected, window)
    assert trouble.detail.startswith(f"HTTP {status}")
    unbilled = 300 <= status < 500 or status == 529
    assert trouble.billed is not unbilled


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (
            400,
            said(
                "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
                code="invalid_prompt",
            ),
        ),
        (400, said("Output blocked by content filtering policy", type="invalid_request_error")),
        (
            400,
            said(
                "The response was filtered",
                code="content_filter",
                innererror={"code": "ResponsibleAIPolicyViolation"},
            ),
        ),
        (400, said("litellm.ContentPolicyViolationError: AzureException", code="400")),
    ],
)
def test_a_policy_that_refuses_is_a_refusal(status: int, content: Any) -> None:
    reply = trouble_of(response(content, status))
    assert (reply.finish, reply.trouble) == (Finish.REFUSAL, None)


@pytest.mark.parametrize(
    "content", [{"choices": []}, {"error": None, "output": []}, {"error": {}, "content": []}, {}]
)
def test_what_tells_no_error(content: Any) -> None:
    assert failed(response(content), KEY) is None


@pytest.mark.parametrize(
    ("reason", "sent", "expected"),
    [
        (Reason.TIMEOUT, True, Failure.TIMEOUT),
        (Reason.NETWORK, True, Failure.NETWORK),
        (Reason.NETWORK, False, Failure.NETWORK),
        (Reason.TOO_LARGE, True, SERVER),
    ],
)
def test_no_answer_at_all(reason: Reason, sent: bool, expected: Failure) -> None:
    trouble = trouble_of(Response(NOW, failure=reason, detail="ReadError", sent=sent)).trouble
    assert trouble is not None
    assert (trouble.failure, trouble.billed, trouble.detail) == (expected, sent, "no answer: ReadError")


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry_after": "12"}, 12.0),
        ({"retry_after": "0.2"}, 1.0),
        ({"retry_after": "86400"}, 3600.0),
        ({"retry_after": "0"}, None),
        ({"retry_after": "Thu, 15 Oct 2026 12:05:00 GMT"}, 300.0),
        ({"retry_after_ms": "2500"}, 2.5),
        ({"retry_after_ms": "0"}, None),
        ({"retry_after_ms": "soon"}, None),
        ({}, None),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_the_servers_own_wait_is_bounded(status: int, headers: dict[str, str], wait: float | None) -> None:
    trouble = trouble_of(response(said("later"), status, **headers)).trouble
    assert trouble is not None
    assert trouble.retry_after_s == wait


@pytest.mark.parametrize(
    ("content", "clears_at"),
    [
        (
            said(
                "You have reached your specified API usage limits. You will regain access on 2026-11-01 at 00:00 UTC."
            ),
            datetime(2026, 11, 1, tzinfo=UTC),
        ),
        (
            said(
                "You have reached your specified API usage limits. You will regain access on 2026-13-01 at 00:00 UTC."
            ),
            None,
        ),
        (said("limit", type="usage_limit_reached", resets_at=1792080000), datetime(2026, 10, 15, 16, 0, tzinfo=UTC)),
        (said("limit", type="usage_limit_reached", resets_at="soon"), None),
        (said("limit", type="usage_limit_reached"), None),
    ],
)
def test_when_a_wall_clears(content: Any, clears_at: datetime | None) -> None:
    trouble = trouble_of(response(content, 400)).trouble
    assert trouble is not None
    assert (trouble.failure, trouble.clears_at) == (CAPPED, clears_at)


@pytest.mark.parametrize(
    "secret",
    [
        KEY,
        "sk-proj-abcdef***uvwxyz",
        "Bearer abc.def/ghi",
        "eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl",
        "someone@example.invalid",
        "org-9aBcDeFgHiJkLm",
        "0c96f4de2e2bb4cd2dfbd4a4c2b5a2ab6a7d3c39",
        "8f14e45f-ceea-467f-9e3c-1b2d3c4d5e6f",
        "https://user:pa55word@host",
        "AIzaSyA-1234567890abcdef",
    ],
)
def test_no_text_holds_what_looks_like_a_secret(secret: str) -> None:
    trouble = trouble_of(response(said(f"refused for {secret} today"), 401)).trouble
    assert trouble is not None
    bare = secret.removeprefix("Bearer ").removeprefix("https://").removesuffix("host")
    assert bare not in trouble.detail
    assert "refused for" in trouble.detail
    assert trouble.detail.endswith("today")


@given(st.text(), st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=4, max_size=400))
def test_a_line_is_short_and_holds_no_given_secret(text: str, secret: str) -> None:
    line = one_line(f"{text}{secret}{text}", [secret, None, ""])
    assert len(line) <= LENGTH
    assert line.isprintable()
    assert secret not in line or secret in "[…]"


def test_a_models_name_stays_readable() -> None:
    text = "HTTP 404: model meta-llama/Llama-3.3-70B-Instruct-Turbo-Free not found, key_model_access_denied"
    assert one_line(text) == text
