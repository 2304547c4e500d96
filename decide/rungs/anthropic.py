"""anthropic: a rung asked through the Messages API with an API key."""

import re
from collections.abc import Mapping
from typing import Any

from decide.brief import Brief
from decide.ports import Access, Ask
from decide.reply import Finish, Reply, Usage
from decide.rungs import api, wire
from decide.rungs.http import Fetch, Response

BASE_URL = "https://api.anthropic.com"
VERSION = "2023-06-01"
OUTPUT_LIMIT = 20_000
"""Tokens of thinking and answer; the API wants a limit, and says that much more is to be streamed."""

_FINISHES = {
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.REFUSAL,
}


def rung(fetch: Fetch) -> Ask:
    """How such a rung asks."""
    return api.rung(API, fetch)


def _url(base_url: str) -> str:
    """The endpoint; the vendor's own clients take a base URL without `/v1`, and people give it with."""
    return f"{base_url.rstrip('/').removesuffix('/v1')}/v1/messages"


def _headers(secret: str | None) -> dict[str, str]:
    key = {"x-api-key": secret} if secret else {}
    return {"accept": "application/json", "anthropic-version": VERSION} | key


def body(brief: Brief, access: Access) -> dict[str, Any]:
    """The request: effort and schema as `output_config` takes them, no tools, thinking left to the model."""
    config: dict[str, Any] = {"format": {"type": "json_schema", "schema": brief.schema}}
    if access.effort:
        config["effort"] = access.effort
    return {
        "model": access.model,
        "max_tokens": OUTPUT_LIMIT,
        "system": brief.system,
        "messages": [{"role": "user", "content": brief.text}],
        "output_config": config,
    }


def read(response: Response, document: Mapping[str, Any]) -> Reply:
    """The reply in a message; text blocks alone are its answer."""
    if not isinstance(document.get("content"), list):
        return api.not_an_answer("it has no `content`")
    usage = wire.mapping(document.get("usage"))
    blocks = (block for block in wire.objects(document["content"]) if block.get("type") == "text")
    return Reply(
        text="\n".join(wire.text(block.get("text")) for block in blocks),
        finish=_FINISHES.get(wire.text(document.get("stop_reason")), Finish.COMPLETE),
        models=wire.models(document),
        usage=_usage(usage) if usage else None,
        cost_micro_usd=wire.stated_cost(response, usage),
    )


def _usage(found: Mapping[str, Any]) -> Usage | None:
    """Each token once: `input_tokens` leaves out what was read from or written to the cache."""
    read_ = wire.tokens(found, "cache_read_input_tokens")
    written = wire.tokens(found, "cache_creation_input_tokens")
    fresh = wire.tokens(found, "input_tokens", absent=None)
    if fresh is None or read_ is None or written is None:
        return None
    return wire.split(
        all_input=fresh + read_ + written,
        read=read_,
        written=written,
        all_output=wire.tokens(found, "output_tokens", absent=None),
        reasoning=wire.tokens(wire.mapping(found.get("output_tokens_details")), "thinking_tokens"),
    )


API = api.Api(
    base_url=BASE_URL,
    url=_url,
    headers=_headers,
    body=body,
    read=read,
    extras=(
        api.Extra("effort", ("output_config", "effort"), re.compile(r"\beffort\b", re.IGNORECASE)),
        api.Extra(
            "schema",
            ("output_config", "format"),
            re.compile(r"output_config\.format|json_schema|\bschema\b|structured output", re.IGNORECASE),
        ),
        api.Extra("effort and schema", ("output_config",), re.compile(r"output_config")),
    ),
)
