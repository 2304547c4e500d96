"""Wording: what the vendors' clients say when they do not answer, as a table, and what each of it means for a pass.

It is applied to a client's own channel for errors and to nothing else: an answer may speak of limits. Wordings change
between versions (formats 2.7), so a text that no row knows stays `client_error`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo

from decide.quota import WindowKind
from decide.reply import Failure, Trouble
from decide.rungs.clears import clears_at, span_s
from decide.rungs.redact import one_line

UNBILLED = frozenset(
    {
        Failure.SEAT_CAPPED,
        Failure.NEEDS_LOGIN,
        Failure.NOT_INSTALLED,
        Failure.MODEL_UNAVAILABLE,
        Failure.RATE_LIMITED,
    }
)
"""What a vendor says instead of letting a model work."""
RETRY_AFTER_S = (1.0, 3600.0)
"""How long a throttle may be waited out, in seconds (design 4.1)."""
READ = 4_000
"""How much of a text is looked at."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A row: texts like this mean that; `source` is where it was seen. The first row that fits counts."""

    pattern: re.Pattern[str]
    failure: Failure
    source: str
    window: WindowKind | None = None
    unsent: bool = False


def _row(
    pattern: str, failure: Failure, source: str, window: WindowKind | None = None, *, unsent: bool = False
) -> Wording:
    return Wording(re.compile(pattern, re.IGNORECASE), failure, source, window, unsent)


_CAPPED, _LOGIN, _MODEL = Failure.SEAT_CAPPED, Failure.NEEDS_LOGIN, Failure.MODEL_UNAVAILABLE
_SERVER, _NETWORK, _LIMITED = Failure.SERVER_ERROR, Failure.NETWORK, Failure.RATE_LIMITED
_SESSION, _WEEKLY, _MODEL_WEEK = WindowKind.SESSION, WindowKind.WEEKLY, WindowKind.WEEKLY_MODEL
_SPEND = WindowKind.SPEND

WORDINGS: tuple[Wording, ...] = (
    # A throttle, which says that it is no quota.
    _row(r"temporarily limiting requests|not your usage limit", _LIMITED, "clients 2.3"),
    _row(r"request rejected \(429\)", _LIMITED, "formats 2.7"),
    _row(
        r"exceeded retry limit, last status: 429|unexpected status 429|\brate limit exceeded\b"
        r"|\bslow_down\b",
        _LIMITED,
        "clients 3.3",
    ),
    # Money, before the windows: it is told as a limit, too.
    _row(r"credit balance is too low", _CAPPED, "clients 2.3", _SPEND),
    _row(r"monthly (?:spend|usage) limit", _CAPPED, "Claude Code 2.1.197, in the binary", _SPEND),
    _row(r"out of (?:usage|extra usage)\b|requires usage credits", _CAPPED, "Claude Code 2.1.197", _SPEND),
    _row(r"seat type doesn't include (?:extra )?usage", _CAPPED, "Claude Code 2.1.197", _SPEND),
    _row(r"usage allocation has been disabled|usage limit is set to \$0", _CAPPED, "Claude Code 2.1.197", _SPEND),
    _row(r"(?:workspace|you) (?:is|are|'re) out of credits", _CAPPED, "clients 3.3", _SPEND),
    _row(
        r"quota exceeded\. check your plan|exceeded your current quota|insufficient_quota",
        _CAPPED,
        "clients 3.3, formats 4.5",
        _SPEND,
    ),
    _row(r"to use codex with your chatgpt plan|usage_not_included", _CAPPED, "clients 3.3"),
    # Windows. The verb and the noun change from version to version.
    _row(
        r"(?:your|5-hour|five-hour|the) session limit|^session limit reached|\b(?:5|five)-hour limit",
        _CAPPED,
        "clients 2.3, formats 2.7",
        _SESSION,
    ),
    _row(
        r"\b(?:opus|sonnet|haiku|fable)(?: \d[\d.]*)? (?:weekly )?limit\b"
        r"|weekly (?:opus|sonnet|haiku|fable) limit",
        _CAPPED,
        "clients 2.3, formats 2.7",
        _MODEL_WEEK,
    ),
    _row(r"\bweekly limit\b", _CAPPED, "clients 2.3, formats 2.7", _WEEKLY),
    _row(r"hit your usage limit for \S", _CAPPED, "clients 3.3", _MODEL_WEEK),
    _row(r"(?:hit|reached) your (?:\w[\w.'-]* ){0,3}limit\b", _CAPPED, "clients 2.3, 3.3, formats 2.7"),
    _row(r"\busage limit (?:has been )?reached\b|^limit reached\b|usage_limit_reached", _CAPPED, "formats 2.7, 4.5"),
    # A web page in place of the vendor's answer, before what is said of a login.
    _row(
        r"failed to authenticate\. api error: (?!40[13]\b)|403 status code \(no body\)",
        _SERVER,
        "formats 4.2; seen with an HTML 403",
    ),
    _row(r"unexpected status \d+[^:]*: ?\s*<(?:!doctype|html)", _SERVER, "clients 3.3"),
    _row(r"empty or malformed response|stream ended without receiving", _SERVER, "clients 2.3"),
    # The login.
    _row(r"not logged in|please run /login|failed to authenticate|invalid api key", _LOGIN, "clients 2.3"),
    _row(
        r"does not have access to claude|disabled claude subscription access"
        r"|service is disabled for your org",
        _LOGIN,
        "clients 2.3; Claude Code 2.1.197",
    ),
    _row(
        r"oauth token (?:has been )?(?:revoked|expired|has expired)|oauth authentication is currently not",
        _LOGIN,
        "formats 2.7",
    ),
    _row(r"does not meet scope requirement", _LOGIN, "formats 2.7"),
    _row(
        r"access token could not be refreshed|log out and sign in again"
        r"|refresh_token_(?:reused|expired|invalidated)",
        _LOGIN,
        "clients 3.3, formats 3.5",
    ),
    _row(r"failed to refresh token: 4\d\d", _LOGIN, "clients 3.3"),
    _row(r"routing discovery unauthorized|unexpected status 40[13]\b|missing bearer", _LOGIN, "clients 3.3"),
    _row(r"provided authentication token is expired|token_expired", _LOGIN, "clients 3.3"),
    # The model.
    _row(r"issue with the selected model", _MODEL, "clients 2.3"),
    _row(
        r"the model [`'\"][^`'\"]+[`'\"] does not exist|\bmodel is not supported\b"
        r"|'[^']+' model is not supported|model_not_found",
        _MODEL,
        "clients 3.3",
    ),
    # The far side.
    _row(r"failed to refresh token: 5\d\d", _SERVER, "clients 3.3", unsent=True),
    _row(r"api error: 5\d\d\b|\boverloaded\b|internal server error", _SERVER, "clients 2.3, formats 2.7"),
    _row(r"experiencing high demand|selected model is at capacity|unexpected status 5\d\d", _SERVER, "clients 3.3"),
    # The way to it.
    _row(r"connectionrefused|failedtoopensocket|\benotfound\b|\beai_again\b", _NETWORK, "clients 2.3", unsent=True),
    _row(
        r"routing discovery (?:failed|timed out)|waiting for cloud config bundle",
        _NETWORK,
        "clients 3.3",
        unsent=True,
    ),
    _row(r"connection failed: error sending request|waiting for network", _NETWORK, "clients 3.3", unsent=True),
    _row(r"unable to connect to api|connection to the api was lost|\beconn[a-z]+\b", _NETWORK, "clients 2.3"),
    _row(r"stream disconnected before completion|stream idle timeout", _NETWORK, "clients 2.3, 3.3"),
    _row(r"^(?:api error: )?request timed out", Failure.TIMEOUT, "clients 2.3"),
    # The program, or what it asks.
    _row(r"unexpected status 404\b", Failure.NOT_INSTALLED, "design 4.1; seen with a wrong base_url"),
    _row(r"\benv: \W*node\W*: no such file", Failure.NOT_INSTALLED, "an npm wrapper without Node.js"),
)

_REFUSED = re.compile(r"usage polic(?:y|ies)|safeguards flagged this message|reason: content_filter", re.IGNORECASE)
_CUT = re.compile(r"exceeded the \d+ output token maximum|reason: max_output_tokens", re.IGNORECASE)


def plain(text: str) -> str:
    """The text on one line in plain signs, as far as it is looked at: apostrophes, spaces and dots vary."""
    flat = text[:READ].replace("’", "'").replace("‘", "'").replace("∙", "·")
    return " ".join(flat.split())


def says_refusal(text: str) -> bool:
    """Whether a client's error says that the model, or its vendor's policy, refused to answer."""
    return _REFUSED.search(plain(text)) is not None


def says_cut(text: str) -> bool:
    """Whether a client's error says that the answer was cut off at its length."""
    return _CUT.search(plain(text)) is not None


def trouble_of(
    text: str, now: datetime, *, zone: tzinfo | None = None, secrets: Iterable[str | None] = ()
) -> Trouble:
    """What a client's error means; `zone` is that of its times where they name none, None for no guess."""
    flat = plain(text)
    row = next((row for row in WORDINGS if row.pattern.search(flat)), None)
    detail = one_line(first_line(text), secrets) or "the client failed without a word"
    if row is None:
        return Trouble(Failure.CLIENT_ERROR, detail=detail)
    billed = row.failure not in UNBILLED and not row.unsent
    if row.failure is Failure.SEAT_CAPPED:
        return Trouble(row.failure, row.window, clears_at(flat, now, zone), detail=detail, billed=billed)
    wait = span_s(flat) if row.failure is Failure.RATE_LIMITED else None
    bounded = None if wait is None else min(max(wait, RETRY_AFTER_S[0]), RETRY_AFTER_S[1])
    return Trouble(row.failure, retry_after_s=bounded, detail=detail, billed=billed)


def first_line(text: str) -> str:
    """The first line of a text that holds more than space."""
    return next((line.strip() for line in text[:READ].splitlines() if line.strip()), "")
