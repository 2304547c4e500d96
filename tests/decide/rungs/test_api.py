"""A call over HTTP: one request and its answer, what is refused left out, bounded in time, and the key kept."""

import asyncio
import json
from typing import Any

import pytest

from decide.ports import Ask
from decide.reply import Failure, Finish
from decide.rungs import anthropic, chat, openai
from decide.rungs.api import versioned
from decide.rungs.http import Http, Request
from tests.decide.rungs.far import BRIEF, KEY, NOW, Script, access, failure, far, nobody, response

RUNGS = {"anthropic": anthropic.rung, "openai": openai.rung, "chat": chat.rung}
ANSWERS: dict[str, dict[str, Any]] = {
    "anthropic": {"model": "m", "content": [{"type": "text", "text": "yes"}], "stop_reason": "end_turn"},
    "openai": {"model": "m", "output": [{"type": "message", "content": [{"type": "output_text", "text": "yes"}]}]},
    "chat": {"model": "m", "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]},
}
PATHS = {"anthropic": "/v1/messages", "openai": "/v1/responses", "chat": "/v1/chat/completions"}


@pytest.mark.parametrize("kind", RUNGS)
async def test_one_request_brings_the_answer(kind: str) -> None:
    async with far(Script(content=ANSWERS[kind])) as side:
        reply = await RUNGS[kind](side.http.fetch)(BRIEF, access(side.base_url))
    assert (reply.text, reply.models, reply.finish, reply.trouble) == ("yes", ("m",), Finish.COMPLETE, None)
    (asked,) = side.asked
    assert (asked.method, asked.path) == ("POST", PATHS[kind])
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["user-agent"] == "rungwatch/test (tries itself)"
    sent = asked.headers.get("x-api-key") or asked.headers["authorization"].removeprefix("Bearer ")
    assert sent == KEY
    assert asked.body["model"] == "claude-fable-5"
    assert "You review." in json.dumps(asked.body)
    assert not {"tools", "tool_choice"} & asked.body.keys()
    assert not asked.body.get("stream")


@pytest.mark.parametrize("kind", RUNGS)
async def test_a_seat_without_a_key_sends_none(kind: str) -> None:
    async with far(Script(content=ANSWERS[kind])) as side:
        await RUNGS[kind](side.http.fetch)(BRIEF, access(side.base_url, secret=None))
    assert not {"authorization", "x-api-key"} & side.asked[0].headers.keys()


REFUSALS = [
    ("anthropic", "This model does not support the effort parameter.", "effort", '"effort"'),
    ("anthropic", "output_config.format: json_schema is not supported", "schema", '"format"'),
    ("anthropic", "output_config: Extra inputs are not permitted", "effort and schema", "output_config"),
    ("openai", "Unsupported parameter: 'reasoning.effort' is not supported with this model.", "effort", "reasoning"),
    ("openai", "Invalid parameter: 'text.format' of type 'json_schema' is not supported", "schema", '"text"'),
    (
        "chat",
        "litellm.UnsupportedParamsError: hosted_vllm does not support parameters: ['reasoning_effort']",
        "effort",
        "reasoning_effort",
    ),
    ("chat", '"llama3.2" does not support thinking', "effort", "reasoning_effort"),
    ("chat", "This response_format type is unavailable now", "schema", "response_format"),
]


@pytest.mark.parametrize(("kind", "message", "left_out", "gone"), REFUSALS)
async def test_what_the_server_does_not_take_is_left_out_and_told(
    kind: str, message: str, left_out: str, gone: str
) -> None:
    refusal = Script(400, {"error": {"type": "invalid_request_error", "message": message}})
    async with far(refusal, Script(content=ANSWERS[kind])) as side:
        reply = await RUNGS[kind](side.http.fetch)(BRIEF, access(side.base_url))
    assert (reply.text, reply.left_out) == ("yes", (left_out,))
    first, second = (json.dumps(asked.body) for asked in side.asked)
    assert gone in first
    assert gone not in second


async def test_a_server_that_refuses_everything_is_asked_an_end_number_of_times() -> None:
    refusal = {"error": {"message": "reasoning_effort and response_format are unknown"}}
    async with far(Script(400, refusal)) as side:
        reply = await chat.rung(side.http.fetch)(BRIEF, access(side.base_url))
    assert failure(reply) is Failure.CLIENT_ERROR
    assert reply.left_out == ("effort", "schema")
    assert len(side.asked) == 3


async def test_another_refusal_is_not_asked_again() -> None:
    async with far(Script(400, {"error": {"message": "This model's maximum context length is 8192 tokens"}})) as side:
        reply = await chat.rung(side.http.fetch)(BRIEF, access(side.base_url))
    assert failure(reply) is Failure.CLIENT_ERROR
    assert len(side.asked) == 1


@pytest.mark.parametrize("ask", [anthropic.rung(nobody), chat.rung(nobody)])
@pytest.mark.parametrize("base_url", ["ftp://host", "localhost:11434", "http://", "http://[::1", "http://host:99999"])
async def test_a_base_url_that_is_none_is_not_there(ask: Ask, base_url: str) -> None:
    reply = await ask(BRIEF, access(base_url))
    assert failure(reply) is Failure.NOT_INSTALLED
    assert reply.trouble is not None
    assert not reply.trouble.billed


async def test_a_chat_rung_has_no_base_url_of_its_own() -> None:
    assert failure(await chat.rung(nobody)(BRIEF, access(""))) is Failure.NOT_INSTALLED


@pytest.mark.parametrize("secret", ["sk-SENTINEL\r\nx-evil: 1", "sk-SENTINEL…", "", " "])
async def test_a_key_that_no_header_takes_is_not_sent(secret: str) -> None:
    reply = await anthropic.rung(nobody)(BRIEF, access("http://host", secret=secret))
    assert failure(reply) is Failure.NEEDS_LOGIN
    assert "SENTINEL" not in repr(reply)


@pytest.mark.parametrize("kind", RUNGS)
async def test_the_longest_that_a_call_may_take(kind: str) -> None:
    async with far(Script(), Script(hang=True), timeout_s=60) as side:
        await side.http.fetch(Request(side.base_url))  # the first request of a process has httpx to import
        ask = RUNGS[kind](side.http.fetch)
        reply = await asyncio.wait_for(ask(BRIEF, access(side.base_url, timeout_s=0.2)), 20)
        await asyncio.wait_for(side.left.wait(), 5)
    assert failure(reply) is Failure.TIMEOUT
    assert reply.trouble is not None
    assert reply.trouble.billed


async def test_a_cancelled_call_leaves_no_connection() -> None:
    async with far(Script(hang=True)) as side:
        call = asyncio.ensure_future(openai.rung(side.http.fetch)(BRIEF, access(side.base_url)))
        await side.reached.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(side.left.wait(), 5)


async def test_nothing_that_listens_costs_nothing() -> None:
    http = Http(lambda: NOW, timeout_s=5, version="test", purpose="tries itself")
    reply = await openai.rung(http.fetch)(BRIEF, access("http://127.0.0.1:9/v1"))
    await http.aclose()
    assert failure(reply) is Failure.NETWORK
    assert reply.trouble is not None
    assert not reply.trouble.billed


async def test_the_key_goes_to_no_other_host_and_into_no_text() -> None:
    echo = {
        "error": {
            "type": "authentication_error",
            "message": f"Incorrect API key provided: {KEY}. Authorization: Bearer {KEY}",
        }
    }
    async with far(Script(content=ANSWERS["anthropic"])) as other:
        moved = Script(307, headers={"location": other.base_url})
        async with far(moved, Script(401, echo)) as side:
            ask = anthropic.rung(side.http.fetch)
            first = await ask(BRIEF, access(side.base_url))
            second = await ask(BRIEF, access(side.base_url))
    assert other.asked == []
    assert (failure(first), failure(second)) == (Failure.SERVER_ERROR, Failure.NEEDS_LOGIN)
    assert "Incorrect API key provided" in repr(second)
    assert "SENTINEL" not in repr((first, second, access("http://host")))


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1/chat"),
        ("http://localhost:11434/", "http://localhost:11434/v1/chat"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat"),
    ],
)
def test_where_a_base_url_leads(base_url: str, url: str) -> None:
    assert versioned(base_url, "chat") == url


@pytest.mark.parametrize(
    "base_url", ["https://api.anthropic.com", "https://api.anthropic.com/", "https://api.anthropic.com/v1"]
)
def test_where_anthropics_base_url_leads(base_url: str) -> None:
    assert anthropic.API.url(base_url) == "https://api.anthropic.com/v1/messages"


@pytest.mark.parametrize("kind", RUNGS)
@pytest.mark.parametrize(
    "document", [{}, {"choices": []}, {"content": "x"}, {"output": None}, {"choices": [{"message": "x"}]}]
)
def test_a_good_status_that_is_no_answer(kind: str, document: dict[str, Any]) -> None:
    api = {"anthropic": anthropic, "openai": openai, "chat": chat}[kind]
    assert failure(api.read(response(document), document)) is Failure.SERVER_ERROR
