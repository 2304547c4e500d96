"""Claude Code as a rung: one question, no tools, nothing kept, by the leanest invocation found (clients 2.1).

Its output is read as a stream of events. That costs no further model call, and tells what its short form leaves out:
the model that answered (`modelUsage` names the one that was asked for), the window that is full with its exact reset,
and an answer given in prose.

`CLAUDE_CODE_MAX_RETRIES=0`: a wall, an outage and a rejected login end within seconds (clients 1.1, 1.9). The client
then does not renew a login that is rejected before it lapses (clients 2.4): that seat needs a login, and the next is
asked. One retry would save that call at the price of a renewal for each of the passes that run at once, and one that
the vendor refuses empties the login (clients 1.2). What has lapsed is still renewed before the first request.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from decide.brief import Brief
from decide.ports import Access, Ask
from decide.reply import Reply
from decide.rungs.claude_events import reply_of
from decide.rungs.client import LIMIT, Run
from decide.rungs.environment import passed, scratch
from decide.rungs.process import run

PROGRAM = "claude"
SETUP_TOKEN = "sk-ant-oat"  # noqa: S105 - how such a token begins
"""How the long-lived token of `claude setup-token` begins, which is no API key."""

QUIET: Mapping[str, str] = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    # Without it a refusal is put to another model at once, and the request asks the server to do the same.
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1",
    "TZ": "UTC",
}
OUTPUT = ("--output-format", "stream-json", "--verbose")
LEAN = (
    *("--tools", "", "--strict-mcp-config", "--setting-sources", ""),
    *("--no-session-persistence", "--disable-slash-commands", "--max-turns", "1"),
)


def rung(environ: Mapping[str, str], now: Callable[[], datetime], *, run: Run = run) -> Ask:
    """A rung that asks Claude Code; `environ` is that of this process."""

    async def ask(brief: Brief, access: Access) -> Reply:
        with scratch(environ) as folder:
            done = await run(
                words_of(brief, access),
                environ=environ_of(access, environ, folder),
                # A word of the command line holds 128 KiB at most, and the whole machine sees it.
                stdin=brief.text.encode(errors="replace"),
                limit=LIMIT,
                cwd=folder,
                within_s=access.timeout_s,
            )
        return reply_of(done, now(), secret=access.secret)

    return ask


def words_of(brief: Brief, access: Access) -> list[str]:
    """The command line; a key needs nothing of a login, so that `--bare` leaves out all that reads one."""
    effort = ("--effort", access.effort) if access.effort else ()
    bare = ("--bare",) if access.secret and not _is_setup_token(access.secret) else ()
    schema = json.dumps(brief.schema, ensure_ascii=False)
    program = access.client or PROGRAM
    asked = ("--model", access.model, *effort, "--system-prompt", brief.system, "--json-schema", schema)
    return [program, "-p", *OUTPUT, *asked, *LEAN, *bare]


def environ_of(access: Access, environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """All of the client's environment. A seat that brings its secret leaves nothing behind in anybody's home; the
    default folder goes unnamed, for naming it moves its key ring item.
    """
    given = {**passed(environ), **QUIET, **_bounds(access.timeout_s), "TMPDIR": str(folder)}
    config = access.config_dir
    if access.secret:
        config = config or folder / "config"
        given["CLAUDE_CODE_OAUTH_TOKEN" if _is_setup_token(access.secret) else "ANTHROPIC_API_KEY"] = access.secret
    if config is not None and config != Path(environ.get("HOME", "")) / ".claude":
        given["CLAUDE_CONFIG_DIR"] = str(config)
    if access.base_url:
        given["ANTHROPIC_BASE_URL"] = access.base_url
    return given


def _bounds(timeout_s: float) -> dict[str, str]:
    """The client's own bounds, a little within ours, so that it is the client that says what it waited for."""
    headers, silence = int(timeout_s * 900), int(timeout_s * 500)
    return {"API_TIMEOUT_MS": str(max(headers, 1)), "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS": str(max(silence, 1))}


def _is_setup_token(secret: str) -> bool:
    return secret.startswith(SETUP_TOKEN)
