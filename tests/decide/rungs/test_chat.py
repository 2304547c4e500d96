"""Chat completions: what is asked, what each server's answer means, and what it says the call cost."""

from typing import Any

import pytest

from canary.demo.provider import Provider
from canary.demo.script import SeatScript, Vendor
from canary.demo.server import serve
from decide.quota import WindowKind
from decide.reply import Failure, Finish, Reply, Usage
from decide.rungs import chat, wire
from decide.rungs.http import Http
from tests.decide.rungs.far import BRIEF, KEY, NOW, SCHEMA, access, failure, response


def test_the_request() -> None:
    assert chat.body(BRIEF, access("", "qwen3", effort="low")) == {
        "model": "qwen3",
        "messages": [{"role": "system", "content": "You review."}, {"role": "user", "content": BRIEF.text}],
        "stream": False,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
        },
        "reasoning_effort": "low",
    }
    assert "reasoning_effort" not in chat.body(BRIEF, access("", effort=""))


def read(choice: Any = None, **changes: Any) -> Reply:
    """The reply in a completion."""
    choice = {"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"} | (choice or {})
    document = {"model": "qwen3", "choices": [choice]} | changes
    return chat.read(response(document), document)


@pytest.mark.parametrize(
    ("choice", "text", "finish"),
    [
        ({}, "yes", Finish.COMPLETE),
        ({"finish_reason": None}, "yes", Finish.COMPLETE),
        ({"finish_reason": "length"}, "yes", Finish.LENGTH),
        ({"finish_reason": "content_filter"}, "yes", Finish.REFUSAL),
        ({"message": {"content": None, "refusal": "I can't help."}}, "", Finish.REFUSAL),
        ({"message": {"content": "yes", "refusal": ""}}, "yes", Finish.COMPLETE),
        ({"message": {"content": None}}, "", Finish.COMPLETE),
        ({"message": {"content": "yes", "reasoning_content": "no", "reasoning": "no"}}, "yes", Finish.COMPLETE),
        (
            {
                "message": {
                    "content": [
                        {"type": "text", "text": "a"},
                        {"type": "thinking", "text": "no"},
                        {"type": "text", "text": "b"},
                    ]
                }
            },
            "a\nb",
            Finish.COMPLETE,
        ),
    ],
)
def test_the_answer_and_how_it_ended(choice: dict[str, Any], text: str, finish: Finish) -> None:
    reply = read(choice)
    assert (reply.text, reply.finish, reply.trouble) == (text, finish, None)


@pytest.mark.parametrize("choice", [{"finish_reason": "error"}, {"error": {"code": 502, "message": "upstream"}}])
def test_a_server_that_broke_off(choice: dict[str, Any]) -> None:
    assert failure(read(choice)) is Failure.SERVER_ERROR


def counts(prompt: Any, completion: Any, total: Any = None, **details: Any) -> dict[str, Any]:
    stated: dict[str, Any] = {} if total is None else {"total_tokens": total}
    return {"prompt_tokens": prompt, "completion_tokens": completion} | stated | details


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (counts(10, 5, 15), Usage(10, 0, 0, 5)),
        (counts(10, 5), Usage(10, 0, 0, 5)),
        (
            counts(
                10,
                5,
                15,
                prompt_tokens_details={"cached_tokens": 4, "cache_write_tokens": 1},
                completion_tokens_details={"reasoning_tokens": 3},
            ),
            Usage(5, 4, 1, 2, 3),
        ),
        (counts(10, 5, 18, completion_tokens_details={"reasoning_tokens": 3}), Usage(10, 0, 0, 5, 3)),
        (counts(10, 2, 12, completion_tokens_details={"reasoning_tokens": 3}), None),
        (counts(10, 5, 15, prompt_tokens_details=None, completion_tokens_details=None), Usage(10, 0, 0, 5)),
        (counts(None, 5, 15), None),
        (counts(10, "5", 15), None),
        (counts(10**12, 5), None),
    ],
)
def test_each_token_once(usage: Any, expected: Usage | None) -> None:
    assert read(usage=usage).usage == expected


@pytest.mark.parametrize(
    ("raw", "headers", "micro"),
    [
        (b'{"cost": 0.0614}', {}, 61_400),
        (b'{"cost": 1.1e-6}', {}, 2),
        (b'{"cost": 0}', {}, 0),
        (b'{"cost": 0.1}', {"x_litellm_response_cost": "9"}, 100_000),
        (b"{}", {"x_litellm_response_cost": "3e-05"}, 30),
        (b"{}", {"x_litellm_response_cost": "0.0"}, 0),
        (b"{}", {"x_litellm_response_cost": "None"}, None),
        (b"{}", {"x_litellm_response_cost": "NaN"}, None),
        (b'{"cost": -1}', {}, None),
        (b'{"cost": 1e999999}', {}, None),
        (b'{"cost": true}', {}, None),
        (b'{"cost": 0.001, "is_byok": true}', {}, None),
        (b"{}", {}, None),
    ],
)
def test_what_the_server_says_that_it_cost(raw: bytes, headers: dict[str, Any], micro: int | None) -> None:
    usage = wire.mapping(wire.document(raw))
    assert wire.stated_cost(response({}, **headers), usage) == micro


def test_the_cost_is_in_the_reply() -> None:
    assert read(usage=counts(1, 1) | {"cost": 2}).cost_micro_usd == 2_000_000


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'"x"', b'{"a": NaN}', b"{", b"[" * 100_000, b"\xff", b'{"a": ' + b"9" * 5000 + b"}"]
)
def test_a_body_that_is_no_object(body: bytes) -> None:
    assert wire.document(body) is None


async def test_the_provider_answers_cuts_and_caps() -> None:
    script = SeatScript("codex-main", Vendor.CODEX, answer="yes", answers_as="gpt-6-luna")
    provider = Provider({KEY: script}, lambda: NOW)
    async with serve(provider) as base_url:
        http = Http(lambda: NOW, timeout_s=5, version="test", purpose="tries itself")
        ask = chat.rung(http.fetch)
        seat = access(f"{base_url}/v1/", "gpt-6-astra")
        whole = await ask(BRIEF, seat)
        script.stop_reason = "length"
        cut = await ask(BRIEF, seat)
        script.allowed = False
        capped = await ask(BRIEF, seat)
        lost = await ask(BRIEF, access(f"{base_url}/v2/"))
        await http.aclose()
    assert (whole.text, whole.models, whole.finish) == ("yes", ("gpt-6-luna",), Finish.COMPLETE)
    assert (cut.text, cut.finish) == ("yes", Finish.LENGTH)
    assert capped.trouble is not None
    assert (capped.trouble.failure, capped.trouble.window) == (Failure.SEAT_CAPPED, WindowKind.SPEND)
    assert failure(lost) is Failure.NOT_INSTALLED
