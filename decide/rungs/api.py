"""Api: one model call over plain HTTP, the same for every vendor but for the request's and the answer's form."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from decide.brief import Brief
from decide.ports import Access, Ask
from decide.reply import Failure, Reply, Trouble
from decide.rungs import wire
from decide.rungs.fault import failed, told
from decide.rungs.http import Fetch, Request, Response

PURPOSE = "asks a model for a decision"
"""What a rung tells a host that it is there for."""
ANSWER_LIMIT = 8 * 1024 * 1024
"""The largest answer that is read, in bytes; it may hold a long rationale and the vendor's own bookkeeping."""


class Extra(NamedTuple):
    """A part of the request that some servers refuse: its name, its path in the body, and what a refusal says."""

    name: str
    path: tuple[str, ...]
    refusal: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Api:
    """One vendor's form of a call. `url` makes the endpoint of a base URL; `base_url` is the vendor's own, empty
    where only the configuration can name one.
    """

    base_url: str
    url: Callable[[str], str]
    headers: Callable[[str | None], Mapping[str, str]]
    body: Callable[[Brief, Access], dict[str, Any]]
    read: Callable[[Response, Mapping[str, Any]], Reply]
    extras: Sequence[Extra]


def rung(api: Api, fetch: Fetch) -> Ask:
    """How a rung of this API asks."""
    return partial(_ask, api, fetch)


async def _ask(api: Api, fetch: Fetch, brief: Brief, access: Access) -> Reply:
    """The reply to a brief; what the server says that it does not take is left out, and it is asked again.

    A request that was refused for its form reached no model, so this is still one call.
    """
    unable = _unable(api, access)
    if unable is not None:
        return Reply(trouble=unable)
    loop = asyncio.get_running_loop()
    until = loop.time() + access.timeout_s
    url, headers, body = api.url(access.base_url or api.base_url), api.headers(access.secret), api.body(brief, access)
    left_out: tuple[str, ...] = ()
    while True:
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace")
        left_s = max(until - loop.time(), 0.001)
        response = await fetch(Request(url, headers, content, timeout_s=left_s, limit=ANSWER_LIMIT))
        refused = _refused(api, response, body)
        if refused is None:
            reply = _read(api, response, access.secret)
            return replace(reply, left_out=left_out) if left_out else reply
        _remove(body, refused.path)
        left_out += (refused.name,)


def _unable(api: Api, access: Access) -> Trouble | None:
    """Why nothing can be sent at all."""
    base_url = access.base_url or api.base_url
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        return Trouble(Failure.NOT_INSTALLED, detail="base_url is missing or no http(s) URL", billed=False)
    if access.secret is not None and not re.fullmatch(r"[!-~]+", access.secret):
        return Trouble(Failure.NEEDS_LOGIN, detail="the key holds signs that no key has", billed=False)
    return None


def _read(api: Api, response: Response, secret: str | None) -> Reply:
    trouble = failed(response, secret)
    return trouble if trouble is not None else api.read(response, wire.document(response.body) or {})


def _refused(api: Api, response: Response, body: Mapping[str, Any]) -> Extra | None:
    """The part of the request that the answer refuses by name; None when it refuses none, or another."""
    if response.status not in (400, 422) or response.is_html:
        return None
    fault = told(response)
    if fault is None:
        return None
    said = " ".join([*fault.codes, wire.text(fault.fields.get("param")), fault.message])
    return next((one for one in api.extras if _has(body, one.path) and one.refusal.search(said)), None)


def _has(body: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    inner: Any = body
    for name in path:
        if not isinstance(inner, dict) or name not in inner:
            return False
        inner = inner[name]
    return True


def _remove(body: dict[str, Any], path: tuple[str, ...]) -> None:
    """Take a part out of a request's body, and what is then empty around it."""
    *outer, last = path
    inner = body
    for name in outer:
        inner = inner[name]
    del inner[last]
    if outer and not inner:
        _remove(body, tuple(outer))


def not_an_answer(what: str) -> Reply:
    """The reply to a good status whose document is no answer of this API."""
    return Reply(trouble=Trouble(Failure.SERVER_ERROR, detail=f"HTTP 200 that is no answer: {what}"))


def versioned(base_url: str, endpoint: str) -> str:
    """The endpoint under a base URL as OpenAI's own clients take it; one that names no path means `/v1`."""
    base = base_url.rstrip("/")
    return f"{base}{'' if urlsplit(base).path else '/v1'}/{endpoint}"


def bearer(secret: str | None) -> dict[str, str]:
    """The headers of a request with a key, or of one to a server that wants none."""
    return {"accept": "application/json"} | ({"authorization": f"Bearer {secret}"} if secret else {})
