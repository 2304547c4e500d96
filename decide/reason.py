"""Reason: the closed set of causes by which a seat or rung is blocked, each with its meaning and remedy."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple


class Reason(StrEnum):
    """Why something is not simply available; a label value, so the set is closed (design 6)."""

    # the login
    EXPIRED = "expired"
    REJECTED = "rejected"
    MISSING = "missing"
    UNUSABLE = "unusable"
    NO_EXPIRY = "no_expiry"
    EXP_NOT_NUMERIC = "exp_not_numeric"
    AMBIGUOUS = "ambiguous"
    CALL_REFUSED = "call_refused"
    # a full window
    SESSION_CAP = "session_cap"
    WEEKLY_CAP = "weekly_cap"
    WEEKLY_MODEL_CAP = "weekly_model_cap"
    MONTHLY_CAP = "monthly_cap"
    SPEND_CAP = "spend_cap"
    REFUSED = "refused"
    RESET_OVERDUE = "reset_overdue"
    WALLED = "walled"
    # a window that cannot be judged
    STALE = "stale"
    ASLEEP = "asleep"
    UNKNOWN_WINDOW = "unknown_window"
    SCOPE_UNREAD = "scope_unread"
    NO_WINDOW = "no_window"
    IMPLAUSIBLE_TIME = "implausible_time"
    # a read that failed or never was
    NEVER_READ = "never_read"
    UNREADABLE = "unreadable"
    MALFORMED = "malformed"
    TIMEOUT = "timeout"
    NETWORK = "network"
    REDIRECT = "redirect"
    SOURCE_MISSING = "source_missing"
    SOURCE_FAILED = "source_failed"
    HTML = "html"
    HTTP_403 = "http_403"
    HTTP_429 = "http_429"
    HTTP_4XX = "http_4xx"
    HTTP_5XX = "http_5xx"
    TOO_LARGE = "too_large"
    ERROR = "error"
    # the observer itself
    CLOCK = "clock"
    NO_SEAT = "no_seat"


class Words(NamedTuple):
    """What a reason means and what the reader can do about it; both are whole phrases without a full stop."""

    means: str
    remedy: str


_WAIT = "wait for the reset, or add a seat"
_LATER = "nothing to do unless it lasts; the next tick reads again"

WORDS: Mapping[Reason, Words] = MappingProxyType(
    {
        Reason.EXPIRED: Words("the login has lapsed and nothing renews it", "log in again with the seat's client"),
        Reason.REJECTED: Words("the vendor rejected the login", "start the seat's client once; log in if it asks"),
        Reason.MISSING: Words("there is no login", "log in with the seat's client, or fix the seat's path"),
        Reason.UNUSABLE: Words(
            "the seat's own client would not use this login", "log in again with the seat's client"
        ),
        Reason.NO_EXPIRY: Words("the login does not say when it lapses", "log in again if calls fail"),
        Reason.EXP_NOT_NUMERIC: Words("the login's expiry is not a number", "log in again with the seat's client"),
        Reason.AMBIGUOUS: Words("several key ring items could be this seat's", "set `keychain_account` for the seat"),
        Reason.CALL_REFUSED: Words(
            "a decision run could not use this seat", "see `rungwatch receipt list`; mend its login or configuration"
        ),
        Reason.SESSION_CAP: Words("the session window is full", _WAIT),
        Reason.WEEKLY_CAP: Words("the weekly window is full", _WAIT),
        Reason.WEEKLY_MODEL_CAP: Words("the weekly window of this rung's model is full", _WAIT),
        Reason.MONTHLY_CAP: Words("the monthly window is full", _WAIT),
        Reason.SPEND_CAP: Words("the spend limit is reached", "raise the limit, or wait for the month to turn"),
        Reason.REFUSED: Words("the vendor says this seat may not be used now", "look at the vendor's usage page"),
        Reason.RESET_OVERDUE: Words(
            "the reset time has passed and the window is still full", "wait; it is read again"
        ),
        Reason.WALLED: Words("a decision run was refused on this seat", "wait for the reset or a newer reading"),
        Reason.STALE: Words("the last reading is too old to trust", "look at the source named below"),
        Reason.ASLEEP: Words(
            "the login has lapsed, and its client renews it on next use",
            "start the seat's client once to read it again",
        ),
        Reason.UNKNOWN_WINDOW: Words(
            "a window this version does not know is full", "list it in `ignore_windows` if it does not bind"
        ),
        Reason.SCOPE_UNREAD: Words(
            "whether this rung's model is capped cannot be told",
            "set the rung's `scopes`, with a source that reports them",
        ),
        Reason.NO_WINDOW: Words(
            "the reading holds no valid window that binds", "run `rungwatch canary` and look at it"
        ),
        Reason.IMPLAUSIBLE_TIME: Words("a time is outside the plausible range", "check the clock and the source"),
        Reason.NEVER_READ: Words("its quota has never been read", "give the seat a source: `rungwatch init`"),
        Reason.UNREADABLE: Words("a file or key ring cannot be read", "check its owner and mode (0600)"),
        Reason.MALFORMED: Words("what was read is not what the format says", _LATER),
        Reason.TIMEOUT: Words("the read did not end in time", _LATER),
        Reason.NETWORK: Words("the host could not be reached", "check the network, proxy and DNS"),
        Reason.REDIRECT: Words("the host answered with a redirect, which is never followed", "check the base URL"),
        Reason.SOURCE_MISSING: Words(
            "what reports this seat is not there, or does not name it", "fix the path, or the seat's name in it"
        ),
        Reason.SOURCE_FAILED: Words("the program that reports this seat says that its own read failed", _LATER),
        Reason.HTML: Words("a web page came instead of data", "check for a captive portal or gateway"),
        Reason.HTTP_403: Words("the login is live but may not read its quota", "use another source for this seat"),
        Reason.HTTP_429: Words("the quota read is throttled, which says nothing of the quota", "wait; it backs off"),
        Reason.HTTP_4XX: Words("the host refused the read", "check the base URL and the version"),
        Reason.HTTP_5XX: Words("the host is in trouble", _LATER),
        Reason.TOO_LARGE: Words("the answer or file is larger than allowed", "check the path or URL"),
        Reason.ERROR: Words("rungwatch failed while reading", "report the traceback in the log"),
        Reason.CLOCK: Words("this machine's clock cannot be trusted", "set the clock (NTP)"),
        Reason.NO_SEAT: Words("the rung has no seat", "configure one: `rungwatch init`"),
    }
)
