"""Claude usage endpoint: what to ask, and the windows in its answer (formats 2)."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic import SecretStr

from canary.files import parse_object
from canary.sources.answer import Answer, describe, failed
from canary.sources.wire import finite, malformed, meter
from decide.quota import Measure, Reading, Window, WindowKind
from decide.reason import Reason
from decide.rungs.http import Request, Response

NAME = "claude-usage"
BASE_URL = "https://api.anthropic.com"

_FLAT = {
    "five_hour": (WindowKind.SESSION, ""),
    "seven_day": (WindowKind.WEEKLY, ""),
    "seven_day_opus": (WindowKind.WEEKLY_MODEL, "Opus"),
    "seven_day_sonnet": (WindowKind.WEEKLY_MODEL, "Sonnet"),
}
_FLAT_MODELS = frozenset(scope.casefold() for _, scope in _FLAT.values() if scope)
"""The only models that a document without `limits[]` can name."""
_LIMITS = {"session": WindowKind.SESSION, "weekly_all": WindowKind.WEEKLY, "weekly_scoped": WindowKind.WEEKLY_MODEL}
_NEVER_BINDS = frozenset(
    {"seven_day_design", "seven_day_omelette", "seven_day_cowork", "cowork", "routines", "claude_routines"}
    | {"seven_day_routines", "seven_day_claude_routines"}
)
"""Windows of other products of the vendor, or merged into the main limit (formats 2.2)."""
_NOT_WINDOWS = frozenset({"extra_usage", "spend", "limits"})


def ask(base_url: str, token: SecretStr) -> Request:
    """The one request; it needs the scope user:profile (formats 2.1)."""
    return Request(
        f"{base_url.rstrip('/')}/api/oauth/usage",
        {
            "authorization": f"Bearer {token.get_secret_value()}",
            "anthropic-beta": "oauth-2025-04-20",
            "accept": "application/json",
        },
    )


def interpret(reply: Response) -> Answer:
    """What a reply says of the seat."""
    failure = failed(reply)
    if failure is not None:
        return _revoked(reply, failure)
    document = parse_object(reply.body) or {}
    return Answer(reading=parse(document, reply.received_at), skew_s=reply.skew_s, step=describe(reply))


def _revoked(reply: Response, failure: Answer) -> Answer:
    """A 403 means that quotas may not be read, unless it says that the login itself is gone (clients 2.3).

    A 401 that speaks of how OAuth is used is one of this request: nothing is said of the login.
    """
    error = (parse_object(reply.body) or {}).get("error")
    message = error.get("message") if isinstance(error, dict) else None
    text = message.casefold() if isinstance(message, str) else ""
    if failure.failure is Reason.REJECTED and "not supported" in text:
        return replace(failure, failure=Reason.HTTP_4XX, rejected=False)
    if failure.failure is Reason.HTTP_403 and any(words in text for words in _GONE):
        return replace(failure, failure=Reason.REJECTED, rejected=True, retry_after_s=None)
    return failure


_GONE = ("revoked", "disabled", "not allowed for this organization")


def parse(document: dict[str, Any], fetched_at: datetime) -> Reading:
    """The reading in a usage document of any of its shapes (formats 2.2 a-c); never raises."""
    spend = list(_spend(document, fetched_at))
    return Reading(
        NAME,
        fetched_at,
        (*_flat(document, fetched_at), *_limits(document.get("limits"), fetched_at), *spend),
        permits_overage=any(_left(window) for window in spend),
        models=_FLAT_MODELS if _is_flat(document) else None,
    )


def _is_flat(document: dict[str, Any]) -> bool:
    """Whether this is the shape of 2025, whose windows stand alone; a seat of money only has none to name."""
    return document.get("limits") is None and any(document.get(key) is not None for key in _FLAT)


def _flat(document: dict[str, Any], now: datetime) -> Iterator[Window]:
    for key, value in document.items():
        if value is None or key in _NEVER_BINDS or key in _NOT_WINDOWS:
            continue
        known = _FLAT.get(key)
        if known is None and not (isinstance(value, dict) and "utilization" in value):
            continue
        kind, scope = known or (WindowKind.OTHER, key)
        if not isinstance(value, dict):
            yield malformed(kind, scope)
            continue
        window = meter(kind, value.get("utilization"), value.get("resets_at"), now, scope=scope)
        if window is not None:
            yield window


def _limits(limits: Any, now: datetime) -> Iterator[Window]:
    if limits is None:
        return
    if not isinstance(limits, list):
        yield malformed(WindowKind.OTHER, "limits")
        return
    for entry in limits:
        window = _limit(entry, now) if isinstance(entry, dict) else malformed(WindowKind.OTHER, "limits")
        if window is not None:
            yield window


def _limit(entry: dict[str, Any], now: datetime) -> Window | None:
    name = entry.get("kind")
    if not isinstance(name, str):
        return malformed(WindowKind.OTHER, "limits")
    kind, scope = _LIMITS.get(name, WindowKind.OTHER), ""
    if kind is WindowKind.OTHER:
        scope = name
    elif kind is WindowKind.WEEKLY_MODEL:
        scope = _model(entry.get("scope"))
        if not scope and entry.get("percent") is not None:
            return malformed(kind)
    return meter(kind, entry.get("percent"), entry.get("resets_at"), now, scope=scope)


def _model(scope: Any) -> str:
    """The model's display name, or its id where that is null; empty where neither can be read."""
    model = scope.get("model") if isinstance(scope, dict) else None
    if not isinstance(model, dict):
        return ""
    name = model.get("display_name")
    name = model.get("id") if name is None else name
    return name.strip() if isinstance(name, str) else ""


def _spend(document: dict[str, Any], now: datetime) -> Iterator[Window]:
    extra, spend = document.get("extra_usage"), document.get("spend")
    for block, switch, limit, used, percent in (
        (extra, "is_enabled", "monthly_limit", "used_credits", "utilization"),
        (spend, "enabled", "limit", "used", "percent"),
    ):
        if block is None:
            continue
        if not isinstance(block, dict):
            yield malformed(WindowKind.SPEND)
            continue
        if not isinstance(block.get("spend_limit_reached"), bool | None):
            yield malformed(WindowKind.SPEND)
        elif block.get("spend_limit_reached") is True:
            yield Window(WindowKind.SPEND, measure=Measure.REFUSED)
        elif block.get(switch) is True:
            yield _purse(block.get(limit), block.get(used), block.get(percent), now)
        elif not isinstance(block.get(switch), bool | None):
            yield malformed(WindowKind.SPEND)


def _purse(limit: Any, used: Any, percent: Any, now: datetime) -> Window:
    """A spend window: unlimited without a limit (design 5), else by its percentage or by its amounts."""
    if limit is None and percent is None:
        return Window(WindowKind.SPEND, measure=Measure.UNLIMITED)
    if percent is not None:
        return meter(WindowKind.SPEND, percent, None, now) or malformed(WindowKind.SPEND)
    top, spent = minor_units(limit), minor_units(used)
    used = finite(spent / top) if top is not None and spent is not None and top > 0 and spent >= 0 else None
    return malformed(WindowKind.SPEND) if used is None else Window(WindowKind.SPEND, used)


def minor_units(amount: Any) -> float | None:
    """An amount in minor units, plain or as `{amount_minor, currency, exponent}`; as cents, whatever its exponent.

    Cents because the plain form is in them (formats 2.3).
    """
    if not isinstance(amount, dict):
        return finite(amount)
    minor, exponent = finite(amount.get("amount_minor")), amount.get("exponent", 2)
    if minor is None or not isinstance(exponent, int) or not 0 <= exponent <= 9:
        return None
    return float(minor * 10.0 ** (2 - exponent))


def _left(window: Window) -> bool:
    if window.measure is Measure.UNLIMITED:
        return True
    return window.measure is Measure.METERED and window.used < 1
