"""Fault: what an HTTP answer that carries no model's answer means for a pass (design 4.1)."""

import re
from typing import Any

from decide.reason import Reason
from decide.reply import Failure, Finish, Reply, Trouble
from decide.rungs import wire
from decide.rungs.http import Response
from decide.rungs.redact import one_line
from decide.rungs.wall import Fault, wall

RETRY_AFTER_S = (1.0, 3600.0)
"""How long a throttle may be waited out, in seconds (design 4.1)."""

_POLICY_CODES = frozenset({"content_filter", "content_policy_violation", "responsibleaipolicyviolation"})
_POLICY = re.compile(
    r"flagged as potentially violating our usage policy"
    r"|blocked by content filtering policy"
    r"|contentpolicyviolationerror",
    re.IGNORECASE,
)
_NO_MODEL_CODES = frozenset({"model_not_found", "invalid_model", "model_not_available"})
_NO_MODEL = re.compile(
    r"\bmodel\b.{0,80}\b(?:does not exist|not found|not a valid model|not available)\b"
    r"|not a valid model|invalid model name|no access to model|not have access to (?:the |this )?model",
    re.IGNORECASE | re.DOTALL,
)
_NOT_THERE = frozenset({404, 405, 410, 501})


def failed(response: Response, secret: str | None) -> Reply | None:
    """The reply that an answer without a model's answer makes; None when there is one to read."""
    if response.failure is not None:
        return Reply(trouble=_unanswered(response))
    if 300 <= response.status < 400:
        detail = f"HTTP {response.status}: a redirect, which is never followed; check base_url"
        return Reply(trouble=Trouble(Failure.SERVER_ERROR, detail=detail, billed=False))
    if response.is_html:
        return Reply(trouble=_web_page(response))
    fault = told(response)
    if fault is None:
        return None
    if fault.status < 500 and (_POLICY_CODES & fault.codes or _POLICY.search(fault.message)):
        return Reply(finish=Finish.REFUSAL)
    return Reply(trouble=_trouble(fault, response, secret))


def _unanswered(response: Response) -> Trouble:
    """A time-out and a broken connection may have cost a model's work, unless nothing was ever sent."""
    failure = {Reason.TIMEOUT: Failure.TIMEOUT, Reason.NETWORK: Failure.NETWORK}.get(
        response.failure or Reason.ERROR, Failure.SERVER_ERROR
    )
    return Trouble(failure, detail=f"no answer: {response.detail}", billed=response.sent)


def _web_page(response: Response) -> Trouble:
    """A web page is a gateway's or a portal's word, and says of the API only that it is not at this path."""
    failure = Failure.NOT_INSTALLED if response.status in _NOT_THERE else Failure.SERVER_ERROR
    failure = Failure.NEEDS_LOGIN if response.status == 401 else failure
    detail = f"HTTP {response.status}: a web page instead of an API's answer"
    return Trouble(failure, detail=detail, billed=not 400 <= response.status < 500)


def told(response: Response) -> Fault | None:
    """The error that an answer tells, also in the body of a 200; None where it tells none."""
    found = wire.document(response.body)
    good = 200 <= response.status < 300
    if good and found is None:
        return Fault(500, message="the answer is no JSON object")
    error: Any = (found or {}).get("error")
    if good and not error:
        return None
    if isinstance(error, str):
        error = {"message": error}
    fields = wire.mapping(error) or wire.mapping(found)
    named = (fields.get("type"), fields.get("code"), wire.mapping(fields.get("innererror")).get("code"))
    codes = frozenset(name.casefold() for name in named if isinstance(name, str))
    status = _stated(fields.get("code")) if good else response.status
    return Fault(status, codes, wire.text(fields.get("message")) or wire.text(fields.get("detail")), fields)


def _stated(code: Any) -> int:
    """The status that an error in a good answer stands for, by its code."""
    known = {"rate_limit_exceeded": 429, "invalid_prompt": 400}
    if isinstance(code, str):
        return known.get(code, 500)
    return code if type(code) is int and 400 <= code < 600 else 500


def _trouble(fault: Fault, response: Response, secret: str | None) -> Trouble:
    detail = one_line(f"HTTP {response.status}: {' '.join(sorted(fault.codes))} {fault.message}", [secret])
    billed = not (400 <= response.status < 500 or response.status == 529)
    full = wall(fault, response)
    if full is not None:
        return Trouble(Failure.SEAT_CAPPED, full.window, full.clears_at, detail=detail, billed=billed)
    failure = _failure(fault)
    wait = _wait(response) if failure in (Failure.RATE_LIMITED, Failure.SERVER_ERROR) else None
    return Trouble(failure, retry_after_s=wait, detail=detail, billed=billed)


def _failure(fault: Fault) -> Failure:
    status = fault.status
    if status in (400, 401, 403, 404, 422) and _lacks_model(fault):
        return Failure.MODEL_UNAVAILABLE
    if status == 429:
        return Failure.RATE_LIMITED
    if status in (401, 403):
        return Failure.NEEDS_LOGIN
    if status in _NOT_THERE:
        return Failure.NOT_INSTALLED
    if status == 408:
        return Failure.TIMEOUT
    return Failure.SERVER_ERROR if status >= 500 else Failure.CLIENT_ERROR


def _lacks_model(fault: Fault) -> bool:
    """Whether it is the model that is not there, or not for this seat; a bare 404 that speaks of a model is."""
    denied = any(code.endswith("model_access_denied") for code in fault.codes)
    if denied or _NO_MODEL_CODES & fault.codes or _NO_MODEL.search(fault.message):
        return True
    return fault.status == 404 and re.search(r"\bmodel\b", fault.message, re.IGNORECASE) is not None


def _wait(response: Response) -> float | None:
    """The host's own word on when to ask again, bounded."""
    wait = response.retry_after_s
    precise = response.headers.get("retry-after-ms", "")
    if wait is None and re.fullmatch(r"\d{1,9}", precise):
        wait = int(precise) / 1000 or None
    return min(max(wait, RETRY_AFTER_S[0]), RETRY_AFTER_S[1]) if wait is not None else None
