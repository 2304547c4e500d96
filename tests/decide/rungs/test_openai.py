"""The Responses API: what is asked, and what its items, refusals and sums mean."""

from typing import Any

import pytest

from canary.demo.provider import Provider
from canary.demo.script import SeatScript, Vendor
from canary.demo.server import serve
from decide.quota import WindowKind
from decide.reply import Failure, Finish, Reply, Usage
from decide.rungs import openai
from decide.rungs.fault import failed
from decide.rungs.http import Http
from tests.decide.rungs.far import BRIEF, KEY, NOW, SCHEMA, access, failure, response


def test_the_request() -> None:
    assert openai.body(BRIEF, access("", "gpt-6-astra", effort="low")) == {
        "model": "gpt-6-astra",
        "instructions": "You review.",
        "input": BRIEF.text,
        "text": {"format": {"type": "json_schema", "name": "verdict", "strict": True, "schema": SCHEMA}},
        "max_output_tokens": openai.OUTPUT_LIMIT,
        "store": False,
        "reasoning": {"effort": "low"},
    }
    assert "reasoning" not in openai.body(BRIEF, access("", effort=""))


def message(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": list(parts)}


def said(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text}


def read(**changes: Any) -> Reply:
    """The reply in a response object."""
    document = {
        "model": "gpt-6-astra",
        "status": "completed",
        "error": None,
        "output": [message(said("yes"))],
    } | changes
    answer = response(document)
    return failed(answer, KEY) or openai.read(answer, document)


def test_the_answer_is_what_messages_say() -> None:
    items = [
        {"type": "reasoning", "content": [said("no")], "summary": [{"type": "summary_text", "text": "no"}]},
        message(said("one")),
        message({"type": "input_text", "text": "no"}, said("two")),
        "no",
    ]
    assert read(output=items).text == "one\ntwo"


CUT = {"status": "incomplete"}


@pytest.mark.parametrize(
    ("changes", "finish"),
    [
        ({}, Finish.COMPLETE),
        (CUT | {"incomplete_details": {"reason": "max_output_tokens"}}, Finish.LENGTH),
        (CUT | {"incomplete_details": {"reason": "content_filter"}}, Finish.REFUSAL),
        (CUT | {"incomplete_details": {"reason": "a new one"}}, Finish.LENGTH),
        (CUT, Finish.LENGTH),
        ({"output": [message({"type": "refusal", "refusal": "I can't help."})]}, Finish.REFUSAL),
        (CUT | {"output": [message(said("x"), {"type": "refusal", "refusal": "No."})]}, Finish.REFUSAL),
    ],
)
def test_how_the_model_stopped(changes: dict[str, Any], finish: Finish) -> None:
    assert read(**changes).finish is finish


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 100, "output_tokens": 50}, Usage(100, 0, 0, 50, 0)),
        (
            {
                "input_tokens": 100,
                "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
                "output_tokens": 50,
                "output_tokens_details": {"reasoning_tokens": 40},
                "total_tokens": 150,
            },
            Usage(30, 60, 10, 10, 40),
        ),
        ({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 101}, "output_tokens": 50}, None),
        ({"input_tokens": 100, "input_tokens_details": {"cached_tokens": "6"}, "output_tokens": 50}, None),
        ({"output_tokens": 50}, None),
        (None, None),
    ],
)
def test_each_token_once(usage: Any, expected: Usage | None) -> None:
    assert read(usage=usage).usage == expected


@pytest.mark.parametrize(
    ("code", "message_", "expected"),
    [
        ("server_error", "The model had an error.", Failure.SERVER_ERROR),
        ("rate_limit_exceeded", "Rate limit reached.", Failure.RATE_LIMITED),
        ("insufficient_quota", "You exceeded your current quota.", Failure.SEAT_CAPPED),
    ],
)
def test_a_response_that_failed(code: str, message_: str, expected: Failure) -> None:
    reply = read(status="failed", output=[], error={"code": code, "message": message_})
    assert failure(reply) is expected
    assert reply.trouble is not None
    assert reply.trouble.billed


def test_a_prompt_that_the_policy_refuses() -> None:
    error = {
        "code": "invalid_prompt",
        "message": "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
    }
    assert read(status="failed", output=[], error=error).finish is Finish.REFUSAL


@pytest.mark.parametrize("status", ["queued", "in_progress", "cancelled", "failed", None])
def test_a_response_that_did_not_end(status: str | None) -> None:
    assert failure(read(status=status)) is Failure.SERVER_ERROR


async def test_the_provider_answers_cuts_and_caps() -> None:
    script = SeatScript("codex-main", Vendor.CODEX, answer="yes")
    provider = Provider({KEY: script}, lambda: NOW)
    async with serve(provider) as base_url:
        http = Http(lambda: NOW, timeout_s=5, version="test", purpose="tries itself")
        ask = openai.rung(http.fetch)
        seat = access(base_url, "gpt-6-astra")
        whole = await ask(BRIEF, seat)
        script.stop_reason = "max_output_tokens"
        cut = await ask(BRIEF, seat)
        script.allowed = False
        capped = await ask(BRIEF, seat)
        await http.aclose()
    assert (whole.text, whole.models, whole.finish) == ("yes", ("gpt-6-astra",), Finish.COMPLETE)
    assert (cut.text, cut.finish) == ("yes", Finish.LENGTH)
    assert capped.trouble is not None
    assert (capped.trouble.failure, capped.trouble.window) == (Failure.SEAT_CAPPED, WindowKind.SPEND)
