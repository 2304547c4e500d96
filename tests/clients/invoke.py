"""One question to a real client: the bounded invocations of clients.md 2.1 and 3.1, and what came of them."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from canary.demo.script import Vendor
from canary.files import parse_object
from tests.clients.install import Clients
from tests.clients.scenario import Scenario

QUESTION = "Is the sky blue? Say yes or no."
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string"}},
    "required": ["verdict"],
    "additionalProperties": False,
}
MODELS = {Vendor.CLAUDE: "claude-fable-5", Vendor.CODEX: "gpt-6-astra"}
CLAUDE_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "API_TIMEOUT_MS": "60000",
    "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS": "30000",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
}
CODEX_OFF = [
    "plugins",
    "apps",
    "shell_tool",
    "unified_exec",
    "image_generation",
    "browser_use",
    "computer_use",
    "goals",
    "hooks",
    "skill_search",
    "tool_suggest",
    "shell_snapshot",
    "sleep_tool",
    "default_mode_request_user_input",
    "unbounded_connection_retries",
]
CODEX_SET = (
    "agents.enabled=false",
    "web_search='disabled'",
    "project_doc_max_bytes=0",
    "skills.include_instructions=false",
    "skills.bundled.enabled=false",
    "include_environment_context=false",
    "include_permissions_instructions=false",
    "include_apps_instructions=false",
    "include_collaboration_mode_instructions=false",
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    "model_reasoning_effort='low'",
)
CODEX_PROVIDER = (
    'model_provider="seat"',
    'model_providers.seat={name="seat",base_url="https://chatgpt.com/backend-api/codex",wire_api="responses",'
    "requires_openai_auth=true,request_max_retries=0,stream_max_retries=0,stream_idle_timeout_ms=30000}",
)


class Outcome(StrEnum):
    """What a client did with a question."""

    ANSWERS = "answers"
    FAILS = "fails"
    HANGS = "hangs"


@dataclass(frozen=True)
class Told:
    """An outcome with the client's own words."""

    outcome: Outcome
    words: str


@dataclass(frozen=True)
class Room:
    """Where a client runs: its seat, scratch folders, the proxy and the file of the throw-away CA."""

    seat: Path
    scratch: Path
    proxy: str
    authority: Path


def base_environ(room: Room) -> dict[str, str]:
    """The variables any client is given: an allow-list, nothing of this process but the search path."""
    home = room.scratch / "home"
    home.mkdir(exist_ok=True)
    named = {"HOME": str(home), "TMPDIR": str(room.scratch), "TZ": "UTC", "LANG": "C.UTF-8"}
    named["PATH"] = os.environ["PATH"]
    return named | {"HTTPS_PROXY": room.proxy, "HTTP_PROXY": room.proxy, "NO_PROXY": ""}


def claude_environ(room: Room) -> dict[str, str]:
    """Claude Code's variables: the seat, the proxy's CA and the bounds."""
    own = {"CLAUDE_CONFIG_DIR": str(room.seat), "NODE_EXTRA_CA_CERTS": str(room.authority)}
    return base_environ(room) | own | CLAUDE_QUIET


def codex_environ(room: Room) -> dict[str, str]:
    """Codex's variables: the seat, the proxy's CA, and its databases elsewhere."""
    own = {"CODEX_HOME": str(room.seat), "CODEX_SQLITE_HOME": str(room.scratch)}
    return base_environ(room) | own | {"CODEX_CA_CERTIFICATE": str(room.authority)}


def command(scenario: Scenario, clients: Clients, room: Room) -> tuple[list[str], dict[str, str]]:
    """The words and the whole environment of the scenario's client."""
    model = scenario.model or MODELS[scenario.vendor]
    if scenario.vendor is Vendor.CLAUDE:
        return _claude_words(clients.claude, model), claude_environ(room) | dict(scenario.environ)
    words = _codex_words(clients.codex, model, room.scratch, own_provider=scenario.own_provider)
    return words, codex_environ(room) | dict(scenario.environ)


def _claude_words(client: Path, model: str) -> list[str]:
    return [
        *(str(client), "-p", QUESTION, "--output-format", "json", "--model", model, "--effort", "low"),
        *("--system-prompt", "Answer.", "--tools", "", "--strict-mcp-config", "--setting-sources", ""),
        *("--no-session-persistence", "--disable-slash-commands"),
        *("--json-schema", json.dumps(SCHEMA), "--max-turns", "1"),
    ]


def _codex_words(client: Path, model: str, scratch: Path, *, own_provider: bool) -> list[str]:
    schema, instructions = scratch / "schema.json", scratch / "instructions.md"
    schema.write_text(json.dumps(SCHEMA))
    instructions.write_text("Answer.")
    settings = [*CODEX_SET, f"model_instructions_file='{instructions}'", f'model="{model}"']
    settings += CODEX_PROVIDER if own_provider else ()
    return [
        *(str(client), "exec", "-s", "read-only", "--json", "--skip-git-repo-check", "--ephemeral"),
        *("--ignore-user-config", "--ignore-rules"),
        *(word for feature in CODEX_OFF for word in ("--disable", feature)),
        *(word for setting in settings for word in ("-c", setting)),
        *("--output-schema", str(schema), "-o", str(scratch / "answer.txt"), QUESTION),
    ]


def told_by_claude(code: int, output: bytes) -> Told:
    """Claude's outcome: an answer is exit 0, no error and an object of the schema (clients 1.4, 2.2)."""
    result: Mapping[str, Any] = parse_object(output) or {}
    answered = code == 0 and result.get("is_error") is False and isinstance(result.get("structured_output"), dict)
    words = result.get("result") or result.get("errors") or f"exit {code}, {output[:120]!r}"
    return Told(Outcome.ANSWERS if answered else Outcome.FAILS, str(words))


def told_by_codex(code: int, output: bytes) -> Told:
    """Codex's outcome: an answer is exit 0, a completed turn and a last message of the schema (clients 3.2)."""
    events = [event for line in output.splitlines() if (event := parse_object(line)) is not None]
    done = any(event.get("type") == "turn.completed" for event in events)
    items = [item for event in events if isinstance(item := event.get("item"), dict)]
    messages = [item.get("text", "") for item in items if item.get("type") == "agent_message"]
    failure = next((event["error"]["message"] for event in events if event.get("type") == "turn.failed"), None)
    answered = code == 0 and done and bool(messages) and parse_object(messages[-1]) is not None
    words = failure or (messages[-1] if messages else f"exit {code}, {output[-120:]!r}")
    return Told(Outcome.ANSWERS if answered else Outcome.FAILS, str(words))
