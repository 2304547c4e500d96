"""openai: a rung asked through the Responses API with an API key."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from decide.brief import Brief
from decide.ports import Access, Ask
from decide.reply import Finish, Reply, Usage
from decide.rungs import api, wire
from decide.rungs.http import Fetch, Response

BASE_URL = "https://api.openai.com/v1"
OUTPUT_LIMIT = 32_000
"""Tokens of reasoning and answer; the vendor advises to leave 25,000 for reasoning."""
SCHEMA_NAME = "verdict"

_CUT = {"max_output_tokens": Finish.LENGTH, "content_filter": Finish.REFUSAL}


def rung(fetch: Fetch) -> Ask:
    """How such a rung asks."""
    return api.rung(API, fetch)


def _url(base_url: str) -> str:
    return api.versioned(base_url, "responses")


def body(brief: Brief, access: Access) -> dict[str, Any]:
    """The request: nothing is stored, no tool is offered, and the schema is strict."""
    schema = {"type": "json_schema", "name": SCHEMA_NAME, "strict": True, "schema": brief.schema}
    effort = {"reasoning": {"effort": access.effort}} if access.effort else {}
    return {
        "model": access.model,
        "instructions": brief.system,
        "input": brief.text,
        "text": {"format": schema},
        "max_output_tokens": OUTPUT_LIMIT,
        "store": False,
    } | effort


def read(response: Response, document: Mapping[str, Any]) -> Reply:
    """The reply in a response object; reasoning items are no part of the answer."""
    if not isinstance(document.get("output"), list):
        return api.not_an_answer("it has no `output`")
    status = document.get("status", "completed")
    if status not in ("completed", "incomplete"):
        return api.not_an_answer("it is neither completed nor incomplete")
    parts = list(_parts(document))
    usage = wire.mapping(document.get("usage"))
    return Reply(
        text="\n".join(wire.text(part.get("text")) for part in parts if part.get("type") == "output_text"),
        finish=_finish(document, parts),
        models=wire.models(document),
        usage=_usage(usage) if usage else None,
        cost_micro_usd=wire.stated_cost(response, usage),
    )


def _parts(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for item in wire.objects(document.get("output")):
        if item.get("type") == "message":
            yield from wire.objects(item.get("content"))


def _finish(document: Mapping[str, Any], parts: list[Mapping[str, Any]]) -> Finish:
    """A refusal stands before a cut, and an answer that is incomplete for a reason unknown counts as cut."""
    if any(part.get("type") == "refusal" for part in parts):
        return Finish.REFUSAL
    if document.get("status") != "incomplete":
        return Finish.COMPLETE
    reason = wire.mapping(document.get("incomplete_details")).get("reason")
    return _CUT.get(wire.text(reason), Finish.LENGTH)


def _usage(found: Mapping[str, Any]) -> Usage | None:
    asked, answered = (wire.mapping(found.get(f"{side}_tokens_details")) for side in ("input", "output"))
    return wire.split(
        all_input=wire.tokens(found, "input_tokens", absent=None),
        read=wire.tokens(asked, "cached_tokens"),
        written=wire.tokens(asked, "cache_write_tokens"),
        all_output=wire.tokens(found, "output_tokens", absent=None),
        reasoning=wire.tokens(answered, "reasoning_tokens"),
    )


API = api.Api(
    base_url=BASE_URL,
    url=_url,
    headers=api.bearer,
    body=body,
    read=read,
    extras=(
        api.Extra("effort", ("reasoning",), re.compile(r"\breasoning\b|\beffort\b", re.IGNORECASE)),
        api.Extra("schema", ("text",), re.compile(r"text\.format|json_schema|structured output", re.IGNORECASE)),
    ),
)
