"""The vendors' own clients as sources: asked for quotas over their pipes, without a model call (clients 4).

Opt-in: a client that is started like this renews a login that has lapsed, and may empty one whose renewal is refused.
"""

import asyncio
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from canary.files import LIMIT, parse_object
from canary.login import Login
from canary.sources import claude_usage, codex_usage, converse
from canary.sources.answer import Answer
from canary.sources.target import Target
from canary.sources.wire import finite
from canary.world import World
from decide.quota import Reading
from decide.reason import Reason
from decide.rungs.process import Finished, run
from decide.seat import Auth

CLAUDE = "claude-client"
CODEX = "codex-client"
BOUND_S = 8.0
"""How long a client may take; it is killed whole within two seconds more, which is a seat's time-out."""

_PASSED = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"}
    | {"NODE_EXTRA_CA_CERTS", "CODEX_CA_CERTIFICATE"}
    | {name for upper in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for name in (upper, upper.lower())}
)
"""All that a client gets of the canary's environment: never a variable that replaces its seat (clients 2.5, 3.5)."""
_QUIET = {"DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1"}
_CLAUDE_WORDS = (
    *("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
    *("--tools", "", "--strict-mcp-config", "--setting-sources", ""),
    *("--no-session-persistence", "--disable-slash-commands"),
)
_CODEX_WORDS = (
    *("app-server", "--disable", "plugins", "--disable", "apps"),
    *("-c", "analytics.enabled=false", "-c", "skills.bundled.enabled=false"),
)
_ASKED = "rungwatch-usage"
_RPC_ID = "2"


def claude_environ(target: Target, environ: Mapping[str, str]) -> dict[str, str]:
    """Claude Code's environment for a seat; the default folder goes unnamed: naming it moves its key ring item."""
    setting = target.config_dir_setting
    default = Path(environ.get("HOME", "")) / ".claude"
    if setting is None and target.config_dir != default:
        setting = str(target.config_dir)
    return _passed(environ) | _QUIET | ({"CLAUDE_CONFIG_DIR": setting} if setting else {})


def codex_environ(target: Target, environ: Mapping[str, str]) -> dict[str, str]:
    """Codex's environment for a seat."""
    return _passed(environ) | {"CODEX_HOME": str(target.config_dir)}


def _passed(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name in _PASSED or name.startswith("LC_")}


async def read_claude(target: Target, login: Login, world: World) -> Answer:
    """What Claude Code's `get_usage` says of the seat."""
    program = target.client or "claude"
    asks = ("initialize", "rungwatch-hello"), ("get_usage", _ASKED)
    lines = [{"type": "control_request", "request_id": mark, "request": {"subtype": name}} for name, mark in asks]
    words = (program, *_CLAUDE_WORDS)
    return await _asked(words, claude_environ(target, world.environ), lines, answer_of_claude, world)


async def read_codex(target: Target, login: Login, world: World) -> Answer:
    """What the Codex app-server's `account/rateLimits/read` says of the seat."""
    if login.auth is Auth.API_KEY:
        return Answer(failure=Reason.NO_WINDOW, step="an API key login has no such quota: set quota = 'unmetered'")
    program = target.client or "codex"
    lines: list[Mapping[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "rungwatch", "version": "1"}}},
        {"method": "initialized"},
        {"id": int(_RPC_ID), "method": "account/rateLimits/read"},
    ]
    words = (sys.executable, "-I", converse.__file__, _RPC_ID, program, *_CODEX_WORDS)
    return await _asked(words, codex_environ(target, world.environ), lines, answer_of_codex, world)


async def _asked(
    words: Sequence[str],
    environ: Mapping[str, str],
    messages: Sequence[Mapping[str, Any]],
    answer_of: Callable[[bytes, datetime], Answer],
    world: World,
) -> Answer:
    """The answer of a client that is started, asked and, whatever it does, gone before this returns."""
    lines = "".join(json.dumps(message) + "\n" for message in messages).encode()
    try:
        async with asyncio.timeout(BOUND_S):
            done = await run(words, environ=environ, stdin=lines, limit=LIMIT)
    except TimeoutError:
        return Answer(failure=Reason.TIMEOUT, step=f"the client did not answer within {BOUND_S:g} s")
    return _unfinished(done) or answer_of(done.stdout, world.clock.now())


def _unfinished(done: Finished) -> Answer | None:
    """Why there is no output to read, without a word of it."""
    if done.truncated:
        return Answer(failure=Reason.TOO_LARGE, step=f"the client said more than {LIMIT} bytes")
    if done.code is None:
        return Answer(failure=Reason.SOURCE_FAILED, step="the client could not be started: set the seat's `client`")
    if not done.stdout:
        told = f"status {done.code}, {done.stderr_length} bytes of errors"
        return Answer(failure=Reason.SOURCE_FAILED, step=f"the client ended without an answer: {told}")
    return None


def _messages(output: bytes) -> Iterator[dict[str, Any]]:
    for line in output.splitlines():
        message = parse_object(line)
        if message is not None:
            yield message


def answer_of_claude(output: bytes, now: datetime) -> Answer:
    """The answer in Claude Code's output; never raises.

    No quotas at all are a failed read: 401, 403, 429, silence and no network all look like that (clients 4).
    """
    responses = (
        message.get("response") for message in _messages(output) if message.get("type") == "control_response"
    )
    told = next((one for one in responses if isinstance(one, dict) and one.get("request_id") == _ASKED), None)
    if told is None:
        return Answer(failure=Reason.MALFORMED, step=f"no answer to get_usage in {len(output)} bytes")
    body = told.get("response")
    document = body.get("rate_limits") if isinstance(body, dict) else None
    if told.get("subtype") != "success" or document is None:
        return Answer(failure=Reason.SOURCE_FAILED, step="the client could not read its quotas and does not say why")
    if not isinstance(document, dict):
        return Answer(failure=Reason.MALFORMED, step="the client's quotas are not an object")
    return Answer(reading=parse_claude(document, now), step="read by the client")


def parse_claude(document: dict[str, Any], fetched_at: datetime) -> Reading:
    """The reading in `rate_limits`: a usage document, with `model_scoped` in place of `limits[]` in some versions."""
    scoped, limits = document.get("model_scoped"), document.get("limits")
    if scoped is not None:
        known = limits if isinstance(limits, list) else [limits] if limits is not None else []
        listed = [_limit(entry) for entry in scoped] if isinstance(scoped, list) else [scoped]
        document = document | {"limits": [*known, *listed]}
    return replace(claude_usage.parse(document, fetched_at), source=CLAUDE)


def _limit(entry: Any) -> Any:
    """A `model_scoped` entry as one of `limits[]`; whatever is no object is left for the parser to call malformed."""
    if not isinstance(entry, dict):
        return entry
    scope = {"model": {"display_name": entry.get("display_name")}}
    percent = entry.get("utilization")
    return {"kind": "weekly_scoped", "percent": percent, "resets_at": entry.get("resets_at"), "scope": scope}


def answer_of_codex(output: bytes, now: datetime) -> Answer:
    """The answer in the app-server's output; never raises."""
    told = next((m for m in _messages(output) if str(m.get("id")) == _RPC_ID and "method" not in m), None)
    if told is None:
        return Answer(failure=Reason.MALFORMED, step=f"no answer to account/rateLimits/read in {len(output)} bytes")
    if told.get("error") is not None:
        return _refused(told["error"])
    result = told.get("result")
    if not isinstance(result, dict) or not isinstance(result.get("rateLimits"), dict):
        return Answer(failure=Reason.MALFORMED, step="the client's quotas are not an object")
    return Answer(reading=parse_codex(result, now), step="read by the client")


_STATUSES = {"401": Reason.REJECTED, "403": Reason.HTTP_403, "429": Reason.HTTP_429}


def _refused(error: Any) -> Answer:
    """What an RPC error means: the HTTP status is in its text only; a client without a login says so (clients 4)."""
    text = error.get("message") if isinstance(error, dict) else None
    if not isinstance(text, str):
        return Answer(failure=Reason.MALFORMED, step="an error without a message")
    if "authentication required" in text:
        return Answer(failure=Reason.UNUSABLE, step="the client says that it has no login")
    status = re.search(r"failed: ([1-5]\d\d)\b", text)
    if status is None:
        return Answer(failure=Reason.SOURCE_FAILED, step="the client could not read its quotas")
    reason = _STATUSES.get(status[1]) or (Reason.HTTP_5XX if status[1] >= "500" else Reason.HTTP_4XX)
    return Answer(failure=reason, rejected=reason is Reason.REJECTED, step=f"the client met HTTP {status[1]}")


def parse_codex(result: dict[str, Any], fetched_at: datetime) -> Reading:
    """The reading in an RPC result, by the rules of the usage document that it retells in other words."""
    main, allowed = result.get("rateLimits"), result.get("ordinaryUsageAllowed")
    bucket: dict[str, Any] = main if isinstance(main, dict) else {}
    named = result.get("rateLimitsByLimitId")
    own = bucket.get("limitId")
    others = [
        {"limit_name": _first(other, "limitName") or key, "rate_limit": _rate_limit(other, None)}
        for key, other in (named.items() if isinstance(named, dict) else ())
        if key != (own if own is not None else "codex")
    ]
    document = {
        "rate_limit": _rate_limit(main, allowed),
        "additional_rate_limits": others if isinstance(named, dict | None) else named,
        "credits": _credits(bucket.get("credits")),
        "spend_control": {
            "reached": bucket.get("spendControlReached"),
            "individual_limit": _individual(bucket.get("individualLimit")),
        },
    }
    return replace(codex_usage.parse(document, fetched_at), source=CODEX)


def _first(mapping: Any, key: str) -> Any:
    return mapping.get(key) if isinstance(mapping, dict) else None


def _rate_limit(bucket: Any, allowed: Any) -> Any:
    """A bucket as a `rate_limit`; None where it tells neither windows nor a verdict, for then money decides."""
    if not isinstance(bucket, dict):
        return bucket
    reached = bucket.get("rateLimitReachedType") is not None and allowed is not True
    windows = {f"{slot}_window": _slot(bucket.get(slot)) for slot in ("primary", "secondary")}
    if not reached and allowed in (None, True) and not any(window is not None for window in windows.values()):
        return None
    return {"allowed": allowed, "limit_reached": True if reached else None, **windows}


def _slot(slot: Any) -> Any:
    if not isinstance(slot, dict):
        return slot
    minutes = finite(slot.get("windowDurationMins"))
    return {
        "used_percent": slot.get("usedPercent"),
        "limit_window_seconds": minutes * 60 if minutes is not None else None,
        "reset_at": slot.get("resetsAt"),
    }


def _credits(purse: Any) -> Any:
    if not isinstance(purse, dict):
        return purse
    return {
        "has_credits": purse.get("hasCredits"),
        "unlimited": purse.get("unlimited"),
        "balance": purse.get("balance"),
    }


def _individual(limit: Any) -> Any:
    if not isinstance(limit, dict):
        return limit
    left = limit.get("remainingPercent")
    return {"limit": limit.get("limit"), "remaining_percent": left, "reset_at": limit.get("resetsAt")}
