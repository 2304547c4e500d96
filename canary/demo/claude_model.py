"""What Anthropic answers to a model call: the message, its stream, its quota headers, the wall (clients 2.2, 2.3)."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from canary.demo.claude_wire import NO_OVERAGE
from canary.demo.reply import Ask, Headers, Reply, claude_error, json_reply, sse_reply
from canary.demo.script import Json, Meter, MeterKind, SeatScript, Shape
from canary.files import parse_object

CLAIMS: Mapping[str, str] = {
    "opus": "seven_day_opus",
    "sonnet": "seven_day_sonnet",
    "fable": "seven_day_overage_included",
}
WARNING = 90.0
STRUCTURED = "StructuredOutput"
"""The tool by which Claude Code asks for an answer of a schema (clients 2.1)."""


def _overage(seat: SeatScript) -> bool:
    block = seat.extra_usage or NO_OVERAGE
    return bool(block["is_enabled"]) and not block.get("spend_limit_reached")


def _tightest(seat: SeatScript, model: str) -> Meter | None:
    """The meter the headers speak of: of the full ones the last to clear, else the one most used."""
    floor = datetime.min.replace(tzinfo=UTC)
    full = seat.full_meters(model)
    if full:
        return max(full, key=lambda meter: meter.resets_at or floor)
    return max((m for m in seat.windows if m.covers(model)), key=lambda meter: meter.percent, default=None)


def claim(meter: Meter) -> str:
    """The claim that names a meter in the unified headers (clients 2.2)."""
    match meter.kind:
        case MeterKind.SESSION:
            return "five_hour"
        case MeterKind.WEEKLY_MODEL:
            return CLAIMS.get((meter.model or "").casefold(), "seven_day_model")
        case _:
            return "seven_day"


def walled(seat: SeatScript, model: str) -> bool:
    """Whether the vendor refuses a model call: its own word first, else a full meter that no overage lifts."""
    if seat.allowed is not None or seat.limit_reached is not None:
        return seat.allowed is False or bool(seat.limit_reached)
    if seat.shape is Shape.SPEND_ONLY:
        return bool((seat.extra_usage or NO_OVERAGE).get("spend_limit_reached"))
    return bool(seat.full_meters(model)) and not _overage(seat)


def unified_headers(seat: SeatScript, model: str) -> Headers:
    """The `anthropic-ratelimit-unified-*` headers of a model reply: utilization 0-1, resets in epoch seconds."""
    prefix = "anthropic-ratelimit-unified"
    binding = _tightest(seat, model)
    refused = walled(seat, model) or bool(seat.full_meters(model))
    warned = binding is not None and binding.percent >= WARNING
    rows = [(f"{prefix}-status", "rejected" if refused else "allowed_warning" if warned else "allowed")]
    if binding:
        rows.append((f"{prefix}-representative-claim", claim(binding)))
    if binding and binding.resets_at:
        rows.append((f"{prefix}-reset", str(int(binding.resets_at.timestamp()))))
    for slot, kind in (("5h", MeterKind.SESSION), ("7d", MeterKind.WEEKLY)):
        if meter := seat.meter(kind):
            rows.append((f"{prefix}-{slot}-utilization", f"{meter.percent / 100:.4g}"))
            if meter.resets_at:
                rows.append((f"{prefix}-{slot}-reset", str(int(meter.resets_at.timestamp()))))
    rows.append((f"{prefix}-overage-status", "allowed" if _overage(seat) else "rejected"))
    return tuple(rows)


def _wall(ask: Ask, model: str) -> Reply:
    if ask.api_key:
        message = "Your credit balance is too low to access the Anthropic API."
        return claude_error(400, "invalid_request_error", message)
    headers = unified_headers(ask.seat, model)
    binding = _tightest(ask.seat, model)
    if binding and binding.resets_at:
        wait = max(0, int((binding.resets_at - ask.now).total_seconds()))
        headers += (("retry-after", str(wait)),)
    # Enterprise seats are told to retry even a quota wall (clients 1.9).
    if ask.seat.plan != "enterprise":
        headers += (("x-should-retry", "false"),)
    message = "This request would exceed your account's rate limit. Please try again later."
    return claude_error(429, "rate_limit_error", message, headers=headers)


def _key_headers(now: datetime) -> Headers:
    """The rate-limit headers an API key's reply carries, resets in RFC 3339 (5)."""
    reset = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    values = {"limit": "4000", "remaining": "3999", "reset": reset}
    return tuple((f"anthropic-ratelimit-requests-{name}", value) for name, value in values.items())


def prompt_text(body: Mapping[str, Any]) -> str:
    """All the text a Messages request carries: the system prompt and then every turn."""
    pieces = [body.get("system"), *(turn.get("content") for turn in body.get("messages", []))]
    return "\n".join(_plain(piece) for piece in pieces if piece)


def _plain(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(block.get("text", "") for block in content if isinstance(block, dict))
    return str(content)


def _content(body: Mapping[str, Any], text: str) -> list[Json]:
    """The answer as blocks: a call of the structured-output tool where that is offered and the text is an object."""
    offered = any(isinstance(tool, dict) and tool.get("name") == STRUCTURED for tool in body.get("tools") or ())
    fields = parse_object(text) if offered else None
    if fields is not None:
        return [{"type": "tool_use", "id": "toolu_FAKE", "name": STRUCTURED, "input": fields}]
    return [{"type": "text", "text": text}] if text else []


def _block_events(index: int, block: Json) -> list[Json]:
    """A content block as its stream tells it: empty at first, then whole in one delta."""
    if block["type"] == "tool_use":
        empty, delta = block | {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        empty, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
    return [
        {"type": "content_block_start", "index": index, "content_block": empty},
        {"type": "ping"},
        {"type": "content_block_delta", "index": index, "delta": delta},
        {"type": "content_block_stop", "index": index},
    ]


def _message_events(message: Json) -> list[Json]:
    blocks = message["content"] or [{"type": "text", "text": ""}]
    return [
        {"type": "message_start", "message": message | {"content": [], "stop_reason": None}},
        *(event for index, block in enumerate(blocks) for event in _block_events(index, block)),
        {
            "type": "message_delta",
            "delta": {"stop_reason": message["stop_reason"], "stop_sequence": None},
            "usage": {"output_tokens": message["usage"]["output_tokens"]},
        },
        {"type": "message_stop"},
    ]


def messages(ask: Ask) -> Reply:
    """`POST /v1/messages`: the wall, or the answer as one document or as a stream."""
    seat, body = ask.seat, ask.body
    model = str(body.get("model", ""))
    if walled(seat, model) and not (ask.api_key and seat.allowed is None):
        return _wall(ask, model)
    prompt = prompt_text(body)
    text = seat.says(prompt)
    content = _content(body, text)
    calls = any(block["type"] == "tool_use" for block in content)
    tokens = {"input_tokens": len(prompt) // 4, "output_tokens": len(text) // 4 + 1}
    message: Json = {
        "id": "msg_FAKE",
        "type": "message",
        "role": "assistant",
        "model": seat.answers_as or model,
        "content": content,
        "stop_reason": seat.stop_reason or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": tokens | {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    }
    headers = _key_headers(ask.now) if ask.api_key else unified_headers(seat, model)
    if body.get("stream"):
        return sse_reply(_message_events(message), headers=headers)
    return json_reply(message, headers=headers)
