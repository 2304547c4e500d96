"""LiteLLM proxy: the budgets that bind a virtual key, its own and its team's or user's, in dollars (formats 5)."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from math import isfinite
from typing import Any, NamedTuple
from urllib.parse import quote

from pydantic import SecretStr

from canary.files import parse_object
from canary.login import Login
from canary.sources.answer import Answer, describe, failed
from canary.sources.target import Target
from canary.sources.wire import finite, iso_time, malformed, reset_time
from canary.world import World
from decide.quota import Measure, Reading, Window, WindowKind
from decide.reason import Reason
from decide.rungs.http import Request, Response

NAME = "litellm"

_LIFETIMES = (timedelta(days=-36_500), timedelta(days=36_500))


class Owner(NamedTuple):
    """Whose budget binds a key beside its own: `team` or `user`, with the id to ask by, and who uses the key."""

    kind: str
    id: str
    user: str = ""


async def read_budgets(target: Target, login: Login, world: World) -> Answer:
    """What the key may still spend: its own budget, then that of its team, else of its user."""
    if login.secret is None:
        return Answer(failure=Reason.MISSING, step="nothing to ask with")
    if target.base_url is None:
        return Answer(failure=Reason.MISSING, step="no base_url is configured")
    reply = await world.fetch(ask_key(target.base_url, login.secret))
    first = interpret_key(reply)
    info = key_info(reply)
    owner = owner_of(info) if info is not None else None
    if first.reading is None or owner is None or any(window.full for window in first.reading.windows):
        return first
    return interpret_owner(await world.fetch(ask_owner(target.base_url, owner, login.secret)), owner, first)


def ask_key(base_url: str, key: SecretStr) -> Request:
    """What the proxy knows of the key that asks."""
    return _ask(f"{base_url.rstrip('/')}/key/info", key)


def ask_owner(base_url: str, owner: Owner, key: SecretStr) -> Request:
    """What the proxy knows of the key's team or user."""
    return _ask(f"{base_url.rstrip('/')}/{owner.kind}/info?{owner.kind}_id={quote(owner.id, safe='')}", key)


def _ask(url: str, key: SecretStr) -> Request:
    return Request(url, {"authorization": f"Bearer {key.get_secret_value()}", "accept": "application/json"})


def key_info(reply: Response) -> dict[str, Any] | None:
    """The facts of a key in a reply: under `info`, or at the top as older proxies have them."""
    document = parse_object(reply.body) or {}
    info = document.get("info", document if "spend" in document else None)
    return info if isinstance(info, dict) else None


def owner_of(info: dict[str, Any]) -> Owner | None:
    """A key of a team spends from the team's budget and not from its user's; without either, its own alone binds."""
    team, user = (found if isinstance(found := info.get(name), str) else "" for name in ("team_id", "user_id"))
    if team:
        return Owner("team", team, user)
    return Owner("user", user, user) if user else None


def interpret_key(reply: Response) -> Answer:
    """What a reply of `/key/info` says; a key past its own end is rejected."""
    if _exceeded(reply):
        window = Window(WindowKind.SPEND, scope="key", measure=Measure.REFUSED)
        reading = Reading(NAME, reply.received_at, (window,))
        return Answer(reading=reading, skew_s=reply.skew_s, step=f"{describe(reply)}: a budget is exceeded")
    failure = failed(reply)
    if failure is not None:
        return failure
    info = key_info(reply)
    if info is None:
        return Answer(failure=Reason.MALFORMED, skew_s=reply.skew_s, step=describe(reply, Reason.MALFORMED))
    end = _end(info, reply.received_at)
    if end is not None and end <= reply.received_at:
        return Answer(failure=Reason.REJECTED, rejected=True, skew_s=reply.skew_s, step="the key has expired")
    reading = Reading(NAME, reply.received_at, tuple(parse_key(info, reply.received_at)))
    return Answer(reading=reading, skew_s=reply.skew_s, step=describe(reply))


def _exceeded(reply: Response) -> bool:
    """Whether the proxy refuses even this because a budget is spent, whatever status its version has for that."""
    error = (parse_object(reply.body) or {}).get("error")
    return reply.status >= 400 and isinstance(error, dict) and error.get("type") == "budget_exceeded"


def interpret_owner(reply: Response, owner: Owner, first: Answer) -> Answer:
    """The key's answer with its owner's budget; one that cannot be read leaves what binds untold: a failed read.

    Whether the key is good was settled by the first request: a refusal here is of this one read.
    """
    failure = failed(reply)
    if failure is not None:
        reason = Reason.HTTP_403 if failure.failure is Reason.REJECTED else failure.failure
        step = f"{first.step}; {owner.kind}: {failure.step}"
        return Answer(failure=reason, retry_after_s=failure.retry_after_s, skew_s=first.skew_s, step=step)
    windows = tuple(parse_owner(parse_object(reply.body) or {}, owner, reply.received_at))
    known = first.reading.windows if first.reading else ()
    reading = Reading(NAME, reply.received_at, (*known, *windows))
    return Answer(reading=reading, skew_s=first.skew_s, step=f"{first.step}; {owner.kind}: {describe(reply)}")


def parse_key(info: dict[str, Any], now: datetime) -> Iterator[Window]:
    """The key's own windows; never raises."""
    yield from _budget(info, "key", now)
    if info.get("expires") is not None and _end(info, now) is None:
        yield malformed(WindowKind.OTHER, "expires")


def parse_owner(document: dict[str, Any], owner: Owner, now: datetime) -> Iterator[Window]:
    """The windows of a team or user document, whose facts lie under `team_info` or `user_info`; never raises."""
    facts = document.get(f"{owner.kind}_info")
    if not isinstance(facts, dict):
        yield malformed(WindowKind.SPEND, owner.kind)
        return
    yield from _budget(facts, owner.kind, now)
    if owner.kind == "team" and owner.user:
        yield from _member(document.get("team_memberships"), owner.user, now)


def _member(memberships: Any, user: str, now: datetime) -> Iterator[Window]:
    """What a team lets this one member spend of its budget, where it says so."""
    if memberships is None:
        return
    if not isinstance(memberships, list):
        yield malformed(WindowKind.SPEND, "member")
        return
    for entry in memberships:
        own = isinstance(entry, dict) and entry.get("user_id") == user
        table = entry.get("litellm_budget_table") if own else None
        if isinstance(table, dict):
            yield _spend({"budget_reset_at": None} | table | {"spend": entry.get("spend")}, "member", now)
        elif table is not None:
            yield malformed(WindowKind.SPEND, "member")


def _budget(facts: dict[str, Any], scope: str, now: datetime) -> Iterator[Window]:
    blocked = facts.get("blocked")
    if blocked is True:
        yield Window(WindowKind.OTHER, scope=f"blocked {scope}", measure=Measure.REFUSED)
    elif blocked is not None and blocked is not False:
        yield malformed(WindowKind.OTHER, f"blocked {scope}")
    yield _spend(facts, scope, now)


def _spend(facts: dict[str, Any], scope: str, now: datetime) -> Window:
    """A budget of null does not limit, one that is left out is not told; one of nothing is spent from the start."""
    budget, spent = facts.get("max_budget"), finite(facts.get("spend"))
    if budget is None and "max_budget" in facts:
        return Window(WindowKind.SPEND, scope=scope, measure=Measure.UNLIMITED)
    top, reset = finite(budget), reset_time(facts.get("budget_reset_at"), now)
    if top is None or spent is None or top < 0 or spent < 0:
        return malformed(WindowKind.SPEND, scope)
    used = spent / top if top > 0 else 1.0
    if not isfinite(used):
        return malformed(WindowKind.SPEND, scope)
    if reset.fault is not None and used < 1:
        return malformed(WindowKind.SPEND, scope, reset.fault)
    return Window(WindowKind.SPEND, used, reset.at, scope)


def _end(info: dict[str, Any], now: datetime) -> datetime | None:
    end = info.get("expires")
    return iso_time(end, now, _LIFETIMES).at if isinstance(end, str) else None
