"""Command: any program as a rung. It reads the brief as JSON and prints a verdict, or a document about its call.

What it may print and how it fails is told in docs/rungs.md. Its errors are never looked at for an answer.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

from decide.brief import Brief
from decide.ports import Access, Ask
from decide.quota import WindowKind
from decide.reply import Failure, Finish, Reply, Trouble, Usage
from decide.rungs import wire
from decide.rungs.client import Run, ended, last_line
from decide.rungs.cost import stated
from decide.rungs.environment import passed
from decide.rungs.process import Finished, run
from decide.rungs.redact import one_line
from decide.rungs.wording import RETRY_AFTER_S, UNBILLED

BRIEF = "rungwatch.brief/1"
REPLY = "rungwatch.reply/1"
LIMIT = 4 * 1024 * 1024
"""The most that a command may print, in bytes."""

SYSTEM: Callable[[], datetime] = partial(datetime.now, UTC)

Closed = TypeVar("Closed", bound=StrEnum)


def rung(environ: Mapping[str, str], now: Callable[[], datetime] = SYSTEM, *, run: Run = run) -> Ask:
    """A rung that runs the seat's command, in the folder of this process; `environ` is that of this process."""

    async def ask(brief: Brief, access: Access) -> Reply:
        if not access.command:
            detail = "no command is configured"
            return Reply(trouble=Trouble(Failure.NOT_INSTALLED, detail=detail, billed=False))
        done = await run(
            list(access.command),
            environ=environ_of(access, environ),
            stdin=asked(brief, access),
            limit=LIMIT,
            cwd=None,
            within_s=access.timeout_s,
        )
        return reply_of(done, now(), secret=access.secret)

    return ask


def asked(brief: Brief, access: Access) -> bytes:
    """The brief as the command reads it: one line of JSON."""
    document = {
        "schema": BRIEF,
        "system": brief.system,
        "text": brief.text,
        "verdict_schema": brief.schema,
        "nonce": brief.nonce,
        "order": brief.order.value,
        "model": access.model,
        "effort": access.effort,
    }
    return json.dumps(document).encode() + b"\n"


def environ_of(access: Access, environ: Mapping[str, str]) -> dict[str, str]:
    """All of the command's environment: what any client is given, and its seat."""
    own = {
        "RUNGWATCH_SEAT": access.seat,
        "RUNGWATCH_TIMEOUT_S": f"{access.timeout_s:g}",
        "RUNGWATCH_BASE_URL": access.base_url,
        "RUNGWATCH_CONFIG_DIR": str(access.config_dir or ""),
        "RUNGWATCH_API_KEY": access.secret or "",
    }
    return passed(environ) | {name: value for name, value in own.items() if value}


def reply_of(done: Finished, now: datetime, *, secret: str | None = None) -> Reply:
    """The reply in what a command printed: a document if it is all that stands there, else an answer's text."""
    failed = ended(done, secret=secret)
    if failed is not None:
        return failed
    text = done.stdout.decode(errors="replace").removeprefix("\ufeff")
    document = wire.document(text.strip().encode())
    reply = Reply(text)
    if document is not None and document.get("schema") == REPLY:
        reply = _told(document, now, secret)
    if done.code == 0 or reply.trouble is not None:
        return reply
    error = one_line(last_line(done.stderr), [secret])
    detail = f"exit status {done.code}" + (f": {error}" if error else "")
    # What it printed all the same is no answer: nobody can say whether it is whole.
    return replace(reply, text="", structured=None, trouble=Trouble(Failure.CLIENT_ERROR, detail=detail))


def _told(document: Mapping[str, Any], now: datetime, secret: str | None) -> Reply:
    """The reply that a document of the command's tells."""
    verdict = document.get("verdict")
    return Reply(
        wire.text(document.get("text")),
        structured=verdict if isinstance(verdict, dict) else None,
        finish=_one_of(Finish, document.get("finish")) or Finish.COMPLETE,
        models=wire.models(document),
        usage=_usage(document.get("usage")),
        cost_micro_usd=stated(document.get("cost_usd")),
        trouble=_trouble(document, now, secret),
    )


def _trouble(document: Mapping[str, Any], now: datetime, secret: str | None) -> Trouble | None:
    """The failure that a document tells; one that has no name here is `client_error`."""
    stated_failure = document.get("failure")
    if stated_failure is None:
        return None
    failure = _one_of(Failure, stated_failure) or Failure.CLIENT_ERROR
    told = wire.text(document.get("detail")) or f"the command says {str(stated_failure)[:80]!r}"
    billed = document.get("billed")
    return Trouble(
        failure,
        window=_one_of(WindowKind, document.get("window")),
        clears_at=_clears_at(document.get("clears_at"), now),
        retry_after_s=_wait(document.get("retry_after_s")),
        detail=one_line(told, [secret]),
        billed=billed if isinstance(billed, bool) else failure not in UNBILLED,
    )


def _one_of(closed: type[Closed], value: Any) -> Closed | None:
    return next((member for member in closed if member.value == value), None)


def _wait(value: Any) -> float | None:
    """A number of seconds above 0, bounded."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not value > 0:
        return None
    return float(min(max(value, RETRY_AFTER_S[0]), RETRY_AFTER_S[1]))


def _clears_at(value: Any, now: datetime) -> datetime | None:
    """A reset that is ahead, as ISO 8601 with its zone or as epoch seconds."""
    at = wire.moment(value, now)
    if isinstance(value, str):
        try:
            read = datetime.fromisoformat(value)
        except ValueError:
            read = None
        at = read.astimezone(UTC) if read is not None and read.tzinfo is not None else at
    return at if at is not None and at > now else None


def _usage(counts: Any) -> Usage | None:
    """Tokens, each in one field; None where one of them is no count."""
    if not isinstance(counts, dict):
        return None
    read = [wire.tokens(counts, name) for name in ("input", "cache_read", "cache_write", "output", "reasoning")]
    known = [count for count in read if count is not None]
    return Usage(*known) if len(known) == len(read) else None
