"""OpenRouter: what a key may still spend, and what its account still holds; both in dollars (formats 5)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any

from pydantic import SecretStr

from canary.files import parse_object
from canary.login import Login
from canary.sources.answer import Answer, describe, failed
from canary.sources.target import Target
from canary.sources.wire import finite, iso_time, malformed
from canary.world import World
from decide.quota import Measure, Reading, Window, WindowKind
from decide.reason import Reason
from decide.rungs.http import Request, Response

KEY = "openrouter-key"
CREDITS = "openrouter-credits"
BASE_URL = "https://openrouter.ai"

_LIFETIMES = (timedelta(days=-36_500), timedelta(days=36_500))
"""How far from now a key's end may lie: a key may be made for many years."""
_MANAGES = ("is_management_key", "is_provisioning_key")


async def read_key(target: Target, login: Login, world: World) -> Answer:
    """What the key itself may still spend."""
    return await _read("key", target, login, world, interpret_key)


async def read_credits(target: Target, login: Login, world: World) -> Answer:
    """What the account behind the key still holds."""
    return await _read("credits", target, login, world, interpret_credits)


async def _read(
    what: str, target: Target, login: Login, world: World, interpret: Callable[[Response], Answer]
) -> Answer:
    if login.secret is None:
        return Answer(failure=Reason.MISSING, step="nothing to ask with")
    return interpret(await world.fetch(ask(target.base_url or BASE_URL, what, login.secret)))


def ask(base_url: str, what: str, key: SecretStr) -> Request:
    """The one request, `what` being `key` or `credits`."""
    headers = {"authorization": f"Bearer {key.get_secret_value()}", "accept": "application/json"}
    return Request(f"{base_url.rstrip('/')}/api/v1/{what}", headers)


def interpret_key(reply: Response) -> Answer:
    """What a reply of `/key` says; a key past its own end is rejected, whatever else is told of it."""
    failure = failed(reply)
    if failure is not None:
        return failure
    data = _data(reply)
    if data is None:
        return Answer(failure=Reason.MALFORMED, skew_s=reply.skew_s, step=describe(reply, Reason.MALFORMED))
    if _ended(data, reply.received_at):
        return Answer(failure=Reason.REJECTED, rejected=True, skew_s=reply.skew_s, step="the key has expired")
    return Answer(reading=parse_key(data, reply.received_at), skew_s=reply.skew_s, step=describe(reply))


def interpret_credits(reply: Response) -> Answer:
    """What a reply of `/credits` says; a 403 means that this key may not read them, not that it is dead."""
    failure = failed(reply)
    if failure is not None:
        return failure
    data = _data(reply)
    if data is None:
        return Answer(failure=Reason.MALFORMED, skew_s=reply.skew_s, step=describe(reply, Reason.MALFORMED))
    return Answer(reading=parse_credits(data, reply.received_at), skew_s=reply.skew_s, step=describe(reply))


def _data(reply: Response) -> dict[str, Any] | None:
    data = (parse_object(reply.body) or {}).get("data")
    return data if isinstance(data, dict) else None


def _ended(data: dict[str, Any], now: datetime) -> bool:
    end = data.get("expires_at")
    at = iso_time(end, now, _LIFETIMES).at if isinstance(end, str) else None
    return at is not None and at <= now


def parse_key(data: dict[str, Any], fetched_at: datetime) -> Reading:
    """The reading in the data of `/key`; never raises. A key that only manages others can ask no model."""
    windows = [_allowance(data, fetched_at)]
    end = data.get("expires_at")
    if end is not None and not (isinstance(end, str) and iso_time(end, fetched_at, _LIFETIMES).at):
        windows.append(malformed(WindowKind.OTHER, "expires_at"))
    if not all(isinstance(data.get(name), bool | None) for name in _MANAGES):
        windows.append(malformed(WindowKind.OTHER, "management key"))
    elif any(data.get(name) is True for name in _MANAGES):
        windows.append(Window(WindowKind.OTHER, scope="management key", measure=Measure.REFUSED))
    return Reading(KEY, fetched_at, tuple(windows))


def _allowance(data: dict[str, Any], now: datetime) -> Window:
    """The key's own limit; `usage` beside it counts from the key's first day, so what remains decides."""
    limit, left = data.get("limit"), data.get("limit_remaining")
    if limit is None and left is None and "limit" in data:
        return Window(WindowKind.SPEND, scope="key", measure=Measure.UNLIMITED)
    top, rest = finite(limit), finite(left)
    used = _used(top, rest) if top is not None and rest is not None and top >= 0 else None
    period = data.get("limit_reset")
    if used is None or not (period is None or (isinstance(period, str) and period in _TURNS)):
        return malformed(WindowKind.SPEND, "key")
    return Window(WindowKind.SPEND, used, _turn(period, now), "key")


def _used(top: float, rest: float) -> float | None:
    """The part of `top` that is gone, of a limit of nothing all of it; None when that is no number."""
    used = max(0.0, 1 - rest / top) if top > 0 else 1.0
    return used if isfinite(used) else None


_TURNS = frozenset({"daily", "weekly", "monthly"})


def _turn(period: str | None, now: datetime) -> datetime | None:
    """When a limit that is renewed by the calendar (UTC, weeks from Monday) is renewed next."""
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    match period:
        case "daily":
            return day + timedelta(days=1)
        case "weekly":
            return day + timedelta(days=7 - day.weekday())
        case "monthly":
            return (day.replace(day=28) + timedelta(days=4)).replace(day=1)
        case _:
            return None


def parse_credits(data: dict[str, Any], fetched_at: datetime) -> Reading:
    """The reading in the data of `/credits`; never raises."""
    bought, spent = finite(data.get("total_credits")), finite(data.get("total_usage"))
    used = None
    if bought is not None and spent is not None and bought >= 0 and spent >= 0:
        used = _used(bought, bought - spent)
    window = (
        malformed(WindowKind.SPEND, "credits") if used is None else Window(WindowKind.SPEND, used, scope="credits")
    )
    return Reading(CREDITS, fetched_at, (window,))
