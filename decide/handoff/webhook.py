"""Webhook: what a raiser is told, as a signed message, and how it is delivered (standardwebhooks.com, version 1)."""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from tenacity import AsyncRetrying, RetryCallState, retry_if_result, stop_after_attempt

from decide.consultation import UNKNOWN_MODEL
from decide.handoff.inbox import News, NewsKind
from decide.handoff.ports import Delivery
from decide.receipt import banner
from decide.rungs.http import Fetch, Request, Response

ATTEMPTS = 3
"""How often a message is posted within one round."""
PAUSE_S = 1.0
"""How long the first pause within a round is, in seconds; the next is twice that."""
LONGEST_PAUSE_S = 30.0
"""The longest pause within a round; a host that asks for more is left alone until a later round."""
TIMEOUT_S = 15.0
"""How long one attempt may take, in seconds, as the specification asks for."""
ROUNDS = 12
"""After how many rounds that failed a message is given up: about six hours."""
FIRST_BACK_OFF = timedelta(minutes=1)
LONGEST_BACK_OFF = timedelta(hours=1)
_PREFIX = "whsec_"
_AGAIN = frozenset({408, 429})
_ANSWER_LIMIT = 4096


@dataclass(frozen=True, slots=True)
class Hook:
    """Where a raiser hears what became of its questions, and the secret that messages are signed with.

    The URL may hold a password, so neither shows. Raises ValueError, without the secret, for one that cannot sign.
    """

    url: str = field(repr=False)
    secret: str = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse a secret with which nothing could be signed."""
        signing_key(self.secret)


@dataclass(frozen=True, slots=True)
class Told:
    """How telling went; `detail` says it in a few words, `again_at` when a failed message is tried next."""

    result: Delivery
    detail: str
    again_at: datetime | None = None


def signing_key(secret: str) -> bytes:
    """The bytes that a secret stands for: "whsec_" with base64, or any other text itself; raises ValueError."""
    if not secret.startswith(_PREFIX):
        key = secret.encode()
    else:
        try:
            key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
        except binascii.Error:
            raise ValueError(f"a webhook's secret: what follows {_PREFIX!r} must be base64") from None
    if not key:
        raise ValueError("a webhook's secret must not be empty")
    return key


def message(news: News) -> dict[str, Any]:
    """What a raiser is told, as JSON values: which model answered, and each rung that never ran with the reason."""
    receipt: Mapping[str, Any] = news.receipt
    question = news.item.question
    answer, person = receipt["answer"] or {}, receipt["person"] if news.kind is NewsKind.ANSWER else None
    return {
        "type": news.kind.value,
        "data": {
            "item": news.item.id,
            "question": {"id": question.id or None, "key": question.key},
            "outcome": receipt["outcome"],
            "exit_code": 0 if news.kind is NewsKind.ANSWER else receipt["exit_code"],
            "option": answer.get("option") if person is None else person["option"],
            "answered_by": _answered_by(receipt),
            "single_rung": receipt["single_rung"],
            "banner": banner(receipt) or None,
            "never_ran": never_ran(receipt),
            "why": receipt["why"],
            "person_answer": person,
            "cancelled_by": news.person if news.kind is NewsKind.CANCELLED else None,
            "receipt": receipt["id"],
        },
    }


def _answered_by(receipt: Mapping[str, Any]) -> dict[str, str] | None:
    """The model of the ladder's answer, UNKNOWN when none is known, None when the ladder has no answer."""
    if receipt["answer"] is None:
        return None
    by = receipt["answered_by"] or {}
    return {"model": by.get("model") or UNKNOWN_MODEL, "from": by.get("from") or UNKNOWN_MODEL}


def never_ran(receipt: Mapping[str, Any]) -> list[dict[str, str]]:
    """The rungs that a run did not reach, each with the reason."""
    names = {rung["role"]: rung["name"] for rung in receipt["rungs"]}
    states = {role: receipt["consultations"][role] or {} for role in names}
    return [
        {"rung": names[role], "reason": ", ".join(dict.fromkeys(state["failures"]))}
        for role, state in states.items()
        if state.get("state") == "unreachable"
    ]


def message_id(news: News) -> str:
    """By what a receiver knows a message again, whenever and however often it comes."""
    return "msg_" + hashlib.sha256(f"{news.item.id}\n{news.mark}".encode()).hexdigest()[:32]


def signed(body: bytes, *, name: str, at: datetime, key: bytes) -> dict[str, str]:
    """The three headers of a message that is sent now."""
    stamp = str(int(at.timestamp()))
    digest = hmac.new(key, f"{name}.{stamp}.".encode() + body, hashlib.sha256).digest()
    signature = "v1," + base64.b64encode(digest).decode()
    return {"webhook-id": name, "webhook-timestamp": stamp, "webhook-signature": signature}


def without_login(url: str) -> tuple[str, dict[str, str]]:
    """A URL without its user and password, and the header that says them: a header is in no log, a URL may be."""
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, {}
    basic = base64.b64encode(unquote_to_bytes(login)).decode()
    return parts._replace(netloc=host).geturl(), {"authorization": f"Basic {basic}"}


async def deliver(
    news: News,
    hook: Hook,
    send: Fetch,
    *,
    clock: Callable[[], datetime],
    sleep: Callable[[float], Awaitable[None]],
) -> Told:
    """One round: post the message up to three times, and say how it went and when the next round is."""
    body = json.dumps(message(news), ensure_ascii=True, separators=(",", ":")).encode()
    name, key = message_id(news), signing_key(hook.secret)
    url, login = without_login(hook.url)

    async def post() -> Response:
        headers = signed(body, name=name, at=clock(), key=key) | login
        return await send(Request(url, headers, body, timeout_s=TIMEOUT_S, limit=_ANSWER_LIMIT, cut=True))

    trying = AsyncRetrying(
        sleep=sleep,
        stop=stop_after_attempt(ATTEMPTS),
        wait=_pause,
        retry=retry_if_result(_soon_again),
        retry_error_callback=_last,
    )
    answer: Response = await trying(post)
    return told(answer, news.tries, clock())


def told(answer: Response, tries: int, now: datetime) -> Told:
    """What a round came to whose last answer this is, after so many rounds that failed."""
    detail = f"HTTP {answer.status}" if answer.failure is None else f"{answer.failure}: {answer.detail}"
    if answer.failure is None and 200 <= answer.status < 300:
        return Told(Delivery.DELIVERED, detail)
    if answer.failure is None and 400 <= answer.status < 500 and answer.status not in _AGAIN:
        return Told(Delivery.GIVEN_UP, detail)
    return failed(detail, tries, now, asked=timedelta(seconds=min(answer.retry_after_s or 0.0, 3600.0)))


def failed(detail: str, tries: int, now: datetime, *, asked: timedelta = timedelta()) -> Told:
    """A round that failed after so many others: tried again after a minute, then two, to an hour, then given up."""
    if tries + 1 >= ROUNDS:
        return Told(Delivery.GIVEN_UP, detail)
    back_off = max(FIRST_BACK_OFF * 2**tries, asked)
    return Told(Delivery.FAILED, detail, now + min(back_off, LONGEST_BACK_OFF))


def _soon_again(answer: Response) -> bool:
    """Whether another attempt may do better within the round."""
    passing = answer.failure is not None or answer.status in _AGAIN or answer.status >= 500
    return passing and (answer.retry_after_s or 0.0) <= LONGEST_PAUSE_S


def _pause(state: RetryCallState) -> float:
    """How long to wait before the next attempt, in seconds: at least as long as the host asks."""
    return max(PAUSE_S * 2.0 ** (state.attempt_number - 1), _last(state).retry_after_s or 0.0)


def _last(state: RetryCallState) -> Response:
    """The answer to the latest attempt."""
    if state.outcome is None:
        raise ValueError("no attempt was made yet")
    answer: Response = state.outcome.result()
    return answer
