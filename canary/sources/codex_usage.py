"""Codex usage endpoint: what to ask, and the windows in its answer (formats 4)."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from pydantic import SecretStr

from canary.files import parse_object
from canary.sources.answer import Answer, describe, failed
from canary.sources.credits import spendable
from canary.sources.wire import finite, kind_of_duration, malformed, meter, reset_time
from decide.quota import Measure, Reading, Window, WindowKind
from decide.rungs.http import Request, Response

NAME = "codex-usage"
BASE_URL = "https://chatgpt.com/backend-api"


def ask(base_url: str, token: SecretStr, account: str) -> Request:
    """The one request; without the account header another workspace's quota may come back (formats 4.1)."""
    base = base_url.rstrip("/")
    path = "/wham/usage" if "/backend-api" in base else "/api/codex/usage"
    headers = {"authorization": f"Bearer {token.get_secret_value()}", "accept": "application/json"}
    return Request(base + path, headers | ({"chatgpt-account-id": account} if account else {}))


def interpret(reply: Response, model: str) -> Answer:
    """What a reply says of the seat, for a rung that asks `model`."""
    failure = failed(reply)
    if failure is not None:
        return failure
    document = parse_object(reply.body) or {}
    return Answer(reading=parse(document, reply.received_at, model=model), skew_s=reply.skew_s, step=describe(reply))


def parse(document: dict[str, Any], fetched_at: datetime, *, model: str = "") -> Reading:
    """The reading in a usage document for a rung that asks `model`; never raises.

    The vendor's own verdict comes before percentages.
    """
    limit = document.get("rate_limit")
    own = tuple(_bucket(limit, fetched_at, ""))
    windows = (
        *own,
        *_additional(document.get("additional_rate_limits"), fetched_at),
        *_model(document.get("model_usage"), model, fetched_at, explained=any(window.full for window in own)),
        *_spend(document, fetched_at),
    )
    return Reading(NAME, fetched_at, windows, permits_overage=_permits(limit, document.get("credits")))


def _bucket(limit: Any, now: datetime, model: str) -> Iterator[Window]:
    """The windows of one `rate_limit`; `model` is the bucket's name for a per-model one, else empty."""
    if limit is None:
        return
    whole = WindowKind.WEEKLY_MODEL if model else WindowKind.OTHER
    if not isinstance(limit, dict):
        yield malformed(whole, model or "rate_limit")
        return
    windows = [
        window
        for slot in ("primary_window", "secondary_window")
        if (window := _slot(limit.get(slot), now, model)) is not None
    ]
    yield from windows
    verdicts = (limit.get("allowed"), limit.get("limit_reached"))
    if not all(isinstance(verdict, bool | None) for verdict in verdicts):
        yield malformed(whole, model or "refusal")
    elif _refused(limit) and not any(window.full for window in windows):
        yield Window(whole, scope=model or "refusal", measure=Measure.REFUSED)


def _refused(limit: dict[str, Any]) -> bool:
    return limit.get("allowed") is False or limit.get("limit_reached") is True


def _slot(slot: Any, now: datetime, model: str) -> Window | None:
    if slot is None:
        return None
    duration = finite(slot.get("limit_window_seconds")) if isinstance(slot, dict) else None
    if not isinstance(slot, dict) or duration is None or duration <= 0:
        return malformed(WindowKind.WEEKLY_MODEL if model else WindowKind.OTHER, model or "window")
    kind = WindowKind.WEEKLY_MODEL if model else kind_of_duration(duration)
    scope = model or (f"{duration:.0f}s" if kind is WindowKind.OTHER else "")
    return meter(kind, slot.get("used_percent"), _reset(slot, now), now, scope=scope)


def _reset(slot: dict[str, Any], now: datetime) -> Any:
    """`reset_at`, or what `reset_after_seconds` makes of it where only that is given."""
    wait = finite(slot.get("reset_after_seconds"))
    if slot.get("reset_at") is not None or wait is None or not 0 <= wait <= 400 * 86_400:
        return slot.get("reset_at")
    return (now + timedelta(seconds=wait)).timestamp()


def _additional(buckets: Any, now: datetime) -> Iterator[Window]:
    if buckets is None:
        return
    if not isinstance(buckets, list):
        yield malformed(WindowKind.WEEKLY_MODEL)
        return
    for bucket in buckets:
        name = bucket.get("limit_name") if isinstance(bucket, dict) else None
        if not isinstance(bucket, dict) or not isinstance(name, str) or not name.strip():
            yield malformed(WindowKind.WEEKLY_MODEL)
        else:
            yield from _bucket(bucket.get("rate_limit"), now, name.strip())


def _model(usage: Any, model: str, now: datetime, *, explained: bool) -> Iterator[Window]:
    """The vendor calling the rung's own model not available is a full window; other models never matter.

    Where a full window of the seat explains it and no time is named, it says nothing more.
    """
    facts = usage.get(model) if isinstance(usage, dict) else usage
    if facts is None:
        return
    available = facts.get("available") if isinstance(facts, dict) else None
    if available is False:
        reset = reset_time(facts.get("available_at"), now).at
        if explained and reset is None:
            return
        yield Window(WindowKind.OTHER, resets_at=reset, scope=model, measure=Measure.REFUSED)
    elif available is not True:
        yield malformed(WindowKind.OTHER, model)


def _spend(document: dict[str, Any], now: datetime) -> Iterator[Window]:
    control, purse = document.get("spend_control"), document.get("credits")
    if control is None:
        control = {}
    if not isinstance(control, dict) or not isinstance(control.get("reached"), bool | None):
        yield malformed(WindowKind.SPEND)
        return
    limit = control.get("individual_limit")
    window = _individual(limit, now) if limit is not None else None
    if control.get("reached") is True and not (window and window.full):
        yield Window(WindowKind.SPEND, measure=Measure.REFUSED)
    elif window is not None:
        yield window
    elif document.get("rate_limit") is None:
        yield from _credits_only(purse)


def _individual(limit: Any, now: datetime) -> Window:
    if not isinstance(limit, dict):
        return malformed(WindowKind.SPEND)
    percent = limit.get("used_percent")
    left = finite(limit.get("remaining_percent"))
    if percent is None and left is not None:
        percent = max(0.0, 100 - left)
    if percent is None and limit.get("limit") is None:
        return Window(WindowKind.SPEND, measure=Measure.UNLIMITED)
    return meter(WindowKind.SPEND, percent, _reset(limit, now), now) or malformed(WindowKind.SPEND)


def _credits_only(purse: Any) -> Iterator[Window]:
    """A usage-based seat has no windows: its credits decide (formats 4.2)."""
    if purse is None:
        return
    if not isinstance(purse, dict):
        yield malformed(WindowKind.SPEND)
    elif spendable(purse):
        yield Window(WindowKind.SPEND, measure=Measure.UNLIMITED)
    elif isinstance(purse.get("has_credits"), bool):
        yield Window(WindowKind.SPEND, measure=Measure.REFUSED)
    else:
        yield malformed(WindowKind.SPEND)


def _permits(limit: Any, purse: Any) -> bool:
    if not isinstance(limit, dict) or limit.get("allowed") is False:
        return False
    if limit.get("allowed") is True:  # the vendor's own verdict counts credits in, also past a limit that is reached
        return True
    return limit.get("limit_reached") is not True and spendable(purse)
