"""chat: a rung asked through chat completions, OpenAI's form that Ollama, vLLM, llama.cpp and LiteLLM speak too."""

import re
from collections.abc import Mapping
from typing import Any

from decide.brief import Brief
from decide.ports import Access, Ask
from decide.reply import Finish, Reply, Usage
from decide.rungs import api, wire
from decide.rungs.http import Fetch, Response
from decide.rungs.openai import SCHEMA_NAME

_FINISHES = {
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "content_filter": Finish.REFUSAL,
    "refusal": Finish.REFUSAL,
}


def rung(fetch: Fetch) -> Ask:
    """How such a rung asks."""
    return api.rung(API, fetch)


def _url(base_url: str) -> str:
    return api.versioned(base_url, "chat/completions")


def body(brief: Brief, access: Access) -> dict[str, Any]:
    """The request, in fields that every such server takes, with the two that some do not."""
    schema = {"name": SCHEMA_NAME, "strict": True, "schema": brief.schema}
    effort = {"reasoning_effort": access.effort} if access.effort else {}
    return {
        "model": access.model,
        "messages": [{"role": "system", "content": brief.system}, {"role": "user", "content": brief.text}],
        "stream": False,
        "response_format": {"type": "json_schema", "json_schema": schema},
    } | effort


def read(response: Response, document: Mapping[str, Any]) -> Reply:
    """The reply in a completion's first choice; what a server shows of reasoning is no part of the answer."""
    choice = next(wire.objects(document.get("choices")), None)
    if choice is None or not isinstance(choice.get("message"), dict):
        return api.not_an_answer("it has no choice with a message")
    if choice.get("error") or choice.get("finish_reason") == "error":
        return api.not_an_answer("the server broke off with an error")
    message, usage = choice["message"], wire.mapping(document.get("usage"))
    refused = bool(wire.text(message.get("refusal")).strip())
    finish = _FINISHES.get(wire.text(choice.get("finish_reason")), Finish.COMPLETE)
    return Reply(
        text=_content(message.get("content")),
        finish=Finish.REFUSAL if refused else finish,
        models=wire.models(document),
        usage=_usage(usage) if usage else None,
        cost_micro_usd=wire.stated_cost(response, usage),
    )


def _content(content: Any) -> str:
    """The answer, whether as one text or in parts."""
    if isinstance(content, str):
        return content
    return "\n".join(wire.text(part.get("text")) for part in wire.objects(content) if part.get("type") == "text")


def _usage(found: Mapping[str, Any]) -> Usage | None:
    """Each token once; some servers leave reasoning out of `completion_tokens`, which their total tells."""
    asked, answered = (wire.mapping(found.get(f"{side}_tokens_details")) for side in ("prompt", "completion"))
    prompt, completion = (wire.tokens(found, f"{side}_tokens", absent=None) for side in ("prompt", "completion"))
    total, reasoning = wire.tokens(found, "total_tokens"), wire.tokens(answered, "reasoning_tokens")
    if prompt is None or completion is None or total is None or reasoning is None:
        return None
    apart = reasoning > 0 and total == prompt + completion + reasoning
    return wire.split(
        all_input=prompt,
        read=wire.tokens(asked, "cached_tokens"),
        written=wire.tokens(asked, "cache_write_tokens", "cache_creation_tokens"),
        all_output=completion + reasoning if apart else completion,
        reasoning=reasoning,
    )


API = api.Api(
    base_url="",
    url=_url,
    headers=api.bearer,
    body=body,
    read=read,
    extras=(
        api.Extra("effort", ("reasoning_effort",), re.compile(r"reasoning|\beffort\b|\bthink", re.IGNORECASE)),
        api.Extra(
            "schema",
            ("response_format",),
            re.compile(r"response_format|json_schema|\bschema\b|grammar|structured|guided", re.IGNORECASE),
        ),
    ),
)
