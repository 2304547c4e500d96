"""Answer: what one source said of one seat in one read, and the reading of an HTTP status that all vendors share."""

import hashlib
from dataclasses import dataclass

from canary.files import parse_object
from decide.quota import Reading
from decide.reason import Reason
from decide.rungs.http import Response


@dataclass(frozen=True, slots=True)
class Answer:
    """Either a `reading` or the `failure` for which there is none.

    `rejected`: the vendor refused the login. `retry_after_s`: how long the host asks to be left alone. `skew_s`: by
    how many seconds this machine's clock is ahead of the host's. `step` is one line on what was done, without
    secrets.
    """

    reading: Reading | None = None
    failure: Reason | None = None
    rejected: bool = False
    retry_after_s: float | None = None
    skew_s: float | None = None
    step: str = ""

    def __post_init__(self) -> None:
        """A source that is not there is told apart from a login that is not."""
        if self.failure is Reason.MISSING:
            object.__setattr__(self, "failure", Reason.SOURCE_MISSING)


def failed(reply: Response) -> Answer | None:
    """What a reply that carries no usable document means (formats 2.4); None when it carries one."""
    reason = reply.failure or _reason(reply)
    if reason is None:
        return None
    return Answer(
        failure=reason,
        rejected=reason is Reason.REJECTED,
        retry_after_s=reply.retry_after_s,
        skew_s=reply.skew_s,
        step=describe(reply, reason),
    )


def _reason(reply: Response) -> Reason | None:
    status = reply.status
    if 300 <= status < 400:
        return Reason.REDIRECT
    if reply.is_html:
        return Reason.HTML
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        return Reason.HTTP_5XX
    if status >= 400:
        return Reason.HTTP_4XX
    return None if parse_object(reply.body) is not None else Reason.MALFORMED


_BY_STATUS = {401: Reason.REJECTED, 403: Reason.HTTP_403, 429: Reason.HTTP_429}


def describe(reply: Response, reason: Reason | None = None) -> str:
    """A reply in a line: status, or why there was none; a body only as its length and digest (case QUO-18)."""
    if reply.failure is not None:
        return f"no answer: {reply.failure} ({reply.detail})"
    digest = hashlib.sha256(reply.body).hexdigest()[:8]
    said = f", {reason}" if reason else ""
    return f"HTTP {reply.status}{said}, {len(reply.body)} bytes (sha256 {digest})"
