"""Codex as a rung: one question through `codex exec`, as lean as its switches allow (clients 3.1).

The vendor's own provider is asked, as the vendor's service is not known to treat one of another name the same; its
retries are bounded by ours alone, so that an outage takes until the time-out. With a `base_url` there is an entry of
its own that does not retry. The client names neither a price nor the model that answered.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from decide.brief import Brief
from decide.ports import Access, Ask
from decide.reply import Reply
from decide.rungs.client import LIMIT, Run
from decide.rungs.codex_events import reply_of
from decide.rungs.environment import passed, scratch
from decide.rungs.process import run

PROGRAM = "codex"
KEY = "CODEX_API_KEY"

LEAN = ("-s", "read-only", "--json", "--skip-git-repo-check", "--ephemeral", "--ignore-user-config", "--ignore-rules")
OFF = (
    *("plugins", "apps", "shell_tool", "unified_exec", "image_generation", "browser_use", "computer_use", "goals"),
    *("hooks", "skill_search", "tool_suggest", "shell_snapshot", "sleep_tool", "default_mode_request_user_input"),
    "unbounded_connection_retries",
)
"""Features switched off: what is left is the default model's own tool, which no switch removes (clients 3.1)."""
SET: Mapping[str, object] = {
    "agents.enabled": False,
    "web_search": "disabled",
    "project_doc_max_bytes": 0,
    "skills.include_instructions": False,
    "skills.bundled.enabled": False,
    "include_environment_context": False,
    "include_permissions_instructions": False,
    "include_apps_instructions": False,
    "include_collaboration_mode_instructions": False,
    "analytics.enabled": False,
    "check_for_update_on_startup": False,
}


def rung(environ: Mapping[str, str], now: Callable[[], datetime], *, run: Run = run) -> Ask:
    """A rung that asks Codex; `environ` is that of this process."""

    async def ask(brief: Brief, access: Access) -> Reply:
        with scratch(environ) as folder:
            files = written(brief, folder)
            done = await run(
                words_of(access, files),
                environ=environ_of(access, environ, folder),
                # A word of the command line holds 128 KiB at most; Codex waits for the end of its input anyway.
                stdin=brief.text.encode(errors="replace"),
                limit=LIMIT,
                cwd=folder,
                within_s=access.timeout_s,
            )
        return reply_of(done, now(), secret=access.secret)

    return ask


def written(brief: Brief, folder: Path) -> Mapping[str, Path]:
    """The files that the client reads its instructions and the answer's schema from."""
    files = {name: folder / f"{name}.txt" for name in ("instructions", "schema", "answer")}
    files["instructions"].write_text(brief.system, encoding="utf-8", errors="replace")
    files["schema"].write_text(json.dumps(brief.schema), encoding="utf-8")
    return files


def words_of(access: Access, files: Mapping[str, Path]) -> list[str]:
    """The command line; the question comes by standard input, which `-` stands for."""
    settings = {**SET, "model_instructions_file": str(files["instructions"])}
    if access.effort:
        settings["model_reasoning_effort"] = access.effort
    if access.base_url:
        settings |= _provider(access)
    return [
        *(access.client or PROGRAM, "exec", *LEAN),
        *(word for feature in OFF for word in ("--disable", feature)),
        *(word for name, value in settings.items() for word in ("-c", f"{name}={json.dumps(value)}")),
        *("-m", access.model, "--output-schema", str(files["schema"]), "-o", str(files["answer"]), "-"),
    ]


def _provider(access: Access) -> dict[str, object]:
    """An entry for an address of one's own, which does not retry; it sends the key, else the login's token."""
    own: dict[str, object] = {
        "name": "seat",
        "base_url": access.base_url,
        "wire_api": "responses",
        "request_max_retries": 0,
        "stream_max_retries": 0,
        "stream_idle_timeout_ms": max(int(access.timeout_s * 500), 1),
    }
    own |= {"env_key": KEY} if access.secret else {"requires_openai_auth": True}
    return {"model_provider": "seat"} | {f"model_providers.seat.{name}": value for name, value in own.items()}


def environ_of(access: Access, environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """All of the client's environment; a seat that brings its key leaves nothing behind in anybody's home."""
    given = passed(environ) | {"CODEX_SQLITE_HOME": str(folder), "TMPDIR": str(folder), "TZ": "UTC"}
    config = access.config_dir
    if access.secret:
        given[KEY] = access.secret
        config = config or _made(folder / "config")
    if config is not None:
        given["CODEX_HOME"] = str(config)
    return given


def _made(folder: Path) -> Path:
    """The folder, which the client wants to find there."""
    folder.mkdir(exist_ok=True)
    return folder
