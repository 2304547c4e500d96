"""What OpenAI answers to a model call: Codex's stream and wall, and the endpoints for API keys (formats 4.4, 4.5)."""

from collections.abc import Iterator, Mapping
from typing import Any

from canary.demo.codex_wire import LENGTHS, allowed, limit_reached, slots, usable_credits
from canary.demo.reply import SSE_TYPE, Ask, Headers, Reply, json_reply, openai_error, sse_reply
from canary.demo.script import Json, SeatScript

ENDS_EARLY = frozenset({"max_output_tokens", "content_filter"})
"""Why a response ends incomplete (formats 4.4)."""


def _texts(content: object) -> Iterator[str]:
    """Every text inside a message's content, whichever of the APIs wrote it."""
    if isinstance(content, str):
        yield content
    if isinstance(content, list):
        for part in content:
            yield from _texts(part)
    if isinstance(content, dict):
        yield from _texts(content.get("text"))
        yield from _texts(content.get("content"))


def prompt_text(body: Mapping[str, Any]) -> str:
    """All the text a request carries: instructions and then every item or message."""
    fields = (body.get("instructions"), body.get("input"), body.get("messages"))
    return "\n".join(text for part in fields for text in _texts(part))


def quota_headers(seat: SeatScript) -> Headers:
    """The `x-codex-*` headers of a model reply: percent 0-100, minutes, resets in epoch seconds (4.4)."""
    rows: list[tuple[str, str]] = [("x-codex-active-limit", "codex")]
    for slot, meter in zip(("primary", "secondary"), slots(seat), strict=True):
        if meter:
            rows.append((f"x-codex-{slot}-used-percent", f"{meter.percent:g}"))
            rows.append((f"x-codex-{slot}-window-minutes", str(LENGTHS[meter.kind] // 60)))
        if meter and meter.resets_at:
            rows.append((f"x-codex-{slot}-reset-at", str(int(meter.resets_at.timestamp()))))
    if seat.reached_type:
        rows.append(("x-codex-rate-limit-reached-type", seat.reached_type))
    if seat.credits:
        rows.append(("x-codex-credits-has-credits", str(seat.credits["has_credits"])))
        rows.append(("x-codex-credits-unlimited", str(seat.credits["unlimited"])))
        rows.append(("x-codex-credits-balance", str(seat.credits["balance"] or "")))
    return tuple(rows)


def walled(seat: SeatScript, model: str) -> bool:
    """Whether a model call is refused: the vendor's verdict, or the model's own bucket full without credits."""
    own = [meter for meter in seat.full_meters(model) if meter.model]
    return not allowed(seat) or bool(own and seat.allowed is None and not usable_credits(seat))


def _wall(ask: Ask, model: str) -> Reply:
    """A quota wall's 429 body carries the plan and, where one is known, the reset (clients 3.3)."""
    seat = ask.seat
    resets = [meter.resets_at for meter in seat.full_meters(model) if meter.resets_at]
    more: Json = {"plan_type": seat.plan}
    if resets and (limit_reached(seat) or walled(seat, model)):
        reset = max(resets)
        more["resets_at"] = int(reset.timestamp())
        more["resets_in_seconds"] = max(0, int((reset - ask.now).total_seconds()))
    message = "The usage limit has been reached"
    return openai_error(429, seat.refusal, message, headers=quota_headers(seat), **more)


def _no_quota() -> Reply:
    message = "You exceeded your current quota, please check your plan and billing details."
    return openai_error(429, "insufficient_quota", message)


def _response(seat: SeatScript, model: str, prompt: str, text: str) -> Json:
    cut = seat.stop_reason in ENDS_EARLY
    part = {"type": "output_text", "text": text, "annotations": []}
    if seat.stop_reason == "refusal":
        part = {"type": "refusal", "refusal": text}
    message = {
        "id": "msg_FAKE",
        "type": "message",
        "role": "assistant",
        "status": "incomplete" if cut else "completed",
        "content": [part] if text else [],
    }
    count = {"input_tokens": len(prompt) // 4, "output_tokens": len(text) // 4 + 1}
    return {
        "id": "resp_FAKE",
        "object": "response",
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": seat.stop_reason} if cut else None,
        "error": None,
        "model": seat.answers_as or model,
        "output": [message],
        "usage": count
        | {
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": sum(count.values()),
        },
    }


def _response_events(response: Json, text: str) -> list[Json]:
    item = response["output"][0]
    start = response | {"status": "in_progress", "output": [], "usage": None}
    empty = item | {"content": [], "status": "in_progress"}
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    return [
        {"type": "response.created", "response": start},
        {"type": "response.output_item.added", "output_index": 0, "item": empty},
        {"type": "response.output_text.delta", **place, "delta": text},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": f"response.{response['status']}", "response": response},
    ]


def _answered(ask: Ask, *, stream: bool, headers: Headers = ()) -> Reply:
    model, prompt = str(ask.body.get("model", "")), prompt_text(ask.body)
    text = ask.seat.says(prompt)
    response = _response(ask.seat, model, prompt, text)
    if stream:
        return sse_reply(_response_events(response, text), headers=headers)
    return json_reply(response, headers=headers)


def codex_responses(ask: Ask) -> Reply:
    """`POST /backend-api/codex/responses`: the wall, or the answer, as a stream where one is asked for."""
    model = str(ask.body.get("model", ""))
    if walled(ask.seat, model):
        return _wall(ask, model)
    # What names no model could not be read: Codex compresses its requests, all of which want a stream.
    stream = bool(ask.body.get("stream")) or not model
    return _answered(ask, stream=stream, headers=quota_headers(ask.seat))


def responses(ask: Ask) -> Reply:
    """`POST /v1/responses` for an API key, whose only wall is its money."""
    if not allowed(ask.seat):
        return _no_quota()
    return _answered(ask, stream=bool(ask.body.get("stream")))


def _chunks(completion: Json, text: str, finish: str) -> tuple[bytes, ...]:
    base = completion | {"object": "chat.completion.chunk"}
    base.pop("usage")
    rows: tuple[tuple[Json, str | None], ...] = (({"role": "assistant", "content": text}, None), ({}, finish))
    choices = ({"index": 0, "delta": delta, "finish_reason": end} for delta, end in rows)
    lines = [json_reply(base | {"choices": [choice]}).parts[0] for choice in choices]
    return tuple(b"data: " + line + b"\n\n" for line in (*lines, b"[DONE]"))


def chat_completions(ask: Ask) -> Reply:
    """`POST /v1/chat/completions` for an API key, as one document or as chunks."""
    seat = ask.seat
    if not allowed(seat):
        return _no_quota()
    prompt = prompt_text(ask.body)
    text, finish = seat.says(prompt), seat.stop_reason or "stop"
    count = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4 + 1}
    completion: Json = {
        "id": "chatcmpl-FAKE",
        "object": "chat.completion",
        "created": int(ask.now.timestamp()),
        "model": seat.answers_as or str(ask.body.get("model", "")),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": finish,
            }
        ],
        "usage": count | {"total_tokens": sum(count.values())},
    }
    if ask.body.get("stream"):
        return Reply(200, (SSE_TYPE,), _chunks(completion, text, finish))
    return json_reply(completion)
