"""Far checks: what the clients asked of the far side, and what they left on this machine."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from canary.demo.claude_model import STRUCTURED
from canary.demo.provider import Request
from canary.demo.script import Kind
from decide.level import LEVELS
from decide.rungs.guardian import NAME
from tests.clients.decision_rows import Row
from tests.clients.ladder import ASTRA, FABLE, MODELS, SEATS, Ladder, files
from tests.clients.lived_in import reached
from tests.clients.mind import verdict_schema

PATHS = {FABLE: "/v1/messages", ASTRA: "/backend-api/codex/responses"}
BESIDE = frozenset(
    {
        ("POST", "/v1/oauth/token"),
        ("GET", "/api/oauth/profile"),
        ("POST", "/oauth/token"),
        ("GET", "/backend-api/codex/models"),
        ("GET", "/backend-api/codex/responses"),
        ("GET", "/backend-api/wham/accounts/check"),
        ("GET", "/backend-api/wham/settings/user"),
    }
)
"""What the clients ask beside the model: login, profile, list of models, settings, and a websocket."""
HOSTS = frozenset({"api.anthropic.com", "platform.claude.com", "chatgpt.com", "auth.openai.com"})
OVERHEAD = {FABLE: 3_000, ASTRA: 18_000}
"""The most bytes of a request beside its question; Claude's hold the schema once more, as that of a tool."""
REPEATED = 24_000
"""The same of a request that Codex repeats, with every refused answer in it."""
TOOLS = {FABLE: [STRUCTURED], ASTRA: []}
CODEX_OWN = {"exec", "wait", "request_user_input", "request_user_input_async"}
"""The default model's own tools, which come as an item of the conversation; no switch removes them (clients 3.1)."""
KNOWN = {FABLE: frozenset[str](), ASTRA: frozenset({"AGENTS.md"})}
"""What of a lived-in folder reaches the model: no switch keeps Codex from its folder's AGENTS.md."""
LEFT = {
    FABLE: (".credentials.json", ".claude.json", ".last-cleanup", "backups/"),
    ASTRA: ("auth.json", "auth.json.lock", "auth.lock", "installation_id", "models_cache.json", "tmp/arg0-linux/"),
}
"""What a client may leave in its folder."""


def calls(ladder: Ladder, rung: str) -> list[Request]:
    """A rung's model requests."""
    return [one for one in ladder.provider.requests(kind=Kind.MODEL) if one.path == PATHS[rung]]


def size(value: object) -> int:
    """The bytes of a value as compact JSON, which is how both clients send it."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def question(request: Request) -> str:
    """The brief in a model request; empty where there is none."""
    turns = request.body.get("messages") or request.body.get("input") or []
    parts = (part for turn in turns for part in turn.get("content") or [] if isinstance(part, dict))
    return next((part["text"] for part in parts if verdict_schema(part.get("text", ""))), "")


def own_words(request: Request) -> set[str]:
    """What of its lived-in folder a client sent along."""
    return reached(json.dumps(dict(request.body)))


def overheads(ladder: Ladder, rung: str) -> list[int]:
    """The bytes of each of a rung's requests beside its question."""
    return [size(dict(one.body)) - size(question(one)) for one in calls(ladder, rung)]


def faults(row: Row, told: Mapping[str, Any], ladder: Ladder) -> list[str]:
    """Everything that was asked and should not have been, or the other way round."""
    found = [*_asked_elsewhere(ladder)]
    for rung in SEATS:
        made = sum(one["rung"] == rung for one in (*told["passes"], *told["refused"]))
        wanted, count = row.calls.get(rung, made), len(calls(ladder, rung))
        if count != wanted:
            found.append(f"{rung}: {count} model requests, not {wanted}")
        repeated = count > made
        for one in calls(ladder, rung):
            found += [f"{rung}: {fault}" for fault in _request(row, rung, one, repeated=repeated)]
        found += [f"{rung}: {fault}" for fault in _login(row, rung, ladder)]
    return found + (_led(row.renewed, told, ladder) if row.renewed else []) + left(ladder)


def _asked_elsewhere(ladder: Ladder) -> Iterator[str]:
    log = ladder.provider.log
    beside = {(one.method, one.path) for one in log if one.kind is not Kind.MODEL} - BESIDE
    yield from (f"asked {method} {path}" for method, path in sorted(beside))
    hosts = {*ladder.proxy.asked, *(one.host for one in log), *ladder.proxy.refused} - HOSTS
    yield from (f"spoke to {host}" for host in sorted(hosts))


def _request(row: Row, rung: str, one: Request, *, repeated: bool) -> Iterator[str]:
    """What is wrong with one model request."""
    body, effort = one.body, LEVELS[row.level].effort
    if body.get("model") != MODELS[rung] or body.get("fallbacks"):
        yield f"asked {body.get('model')}, fallbacks {body.get('fallbacks')}"
    asked = body.get("output_config" if rung == FABLE else "reasoning", {}).get("effort")
    if asked != effort:
        yield f"effort {asked}, not {effort}"
    tools = [tool.get("name") for tool in body.get("tools") or []]
    if tools != TOOLS[rung]:
        yield f"tools {tools}"
    own = [tool for item in body.get("input") or [] for space in item.get("tools") or [] for tool in space["tools"]]
    if {tool["name"] for tool in own} - CODEX_OWN:
        yield f"tools of its own {[tool['name'] for tool in own]}"
    if not question(one):
        yield "no brief in it"
    beside = size(dict(body)) - size(question(one))
    most = REPEATED if repeated else OVERHEAD[rung]
    if beside > most:
        yield f"{beside} bytes beside the question, more than {most}"
    if strange := own_words(one) - KNOWN[rung]:
        yield f"its folder's {', '.join(sorted(strange))} reached the model"


def _login(row: Row, rung: str, ladder: Ladder) -> Iterator[str]:
    """What is wrong with how often a login was renewed, and with what is on disk of it."""
    path = "/v1/oauth/token" if rung == FABLE else "/oauth/token"
    renewals = sum(one.path == path for one in ladder.provider.log)
    fewest, most = row.renewals.get(rung, (0, 0))
    if not fewest <= renewals <= most:
        yield f"{renewals} requests to renew the login, not {fewest} to {most}"
    seat = ladder.provider.seat(SEATS[rung])
    text = ladder.login(rung).read_text()
    if seat.renewals > 1:
        yield f"the login was rotated {seat.renewals} times"
    if seat.renewals and ladder.provider.token(SEATS[rung]) not in text:
        yield "the renewed login is not on disk"
    if not seat.renewals and not renewals and text != ladder.logins[rung]:
        yield "the login's file was changed"


def _led(rung: str, told: Mapping[str, Any], ladder: Ladder) -> list[str]:
    """What is wrong with who went first where a login was about to lapse."""
    log = [one for one in ladder.provider.log if one.path in (PATHS[rung], "/v1/oauth/token", "/oauth/token")]
    own = [one.kind for one in log if one.method == "POST" and one.seat == SEATS[rung]]
    first, then = sorted((one for one in told["passes"] if one["rung"] == rung), key=lambda one: one["began_at"])
    spoke = datetime.fromisoformat(first["began_at"]) + timedelta(seconds=first["duration_s"])
    found = [f"{rung}: renewed after its first call"] if own[:1] != [Kind.REFRESH] else []
    late = timedelta(milliseconds=1)  # a receipt's durations are rounded to that
    if datetime.fromisoformat(then["began_at"]) < spoke - late:
        found.append(f"{rung}: both clients went at once")
    return found


def left(ladder: Ladder) -> list[str]:
    """What is left on this machine that should not be."""
    folder = ladder.folder
    found = [f"process {pid} is left: {words}" for pid, words in marked(folder)]
    found += [f"{path.relative_to(folder)} was run" for path in (folder / "ran").iterdir()]
    found += [f"{path.relative_to(folder)} is left" for path in (folder / "tmp").iterdir()]
    new = files(folder) - ladder.before
    for rung, seat in SEATS.items():
        own = {name.removeprefix(f"{seat}/") for name in new if name.startswith(f"{seat}/")}
        found += [f"{rung}: {name} is left in its folder" for name in sorted(own) if not name.startswith(LEFT[rung])]
    return found + [f"{name} was written" for name in sorted(new) if name.startswith("home/")]


def marked(folder: Path) -> list[tuple[int, str]]:
    """The processes that a call of this ladder has started and that still run."""
    found = []
    for place in Path("/proc").iterdir():
        try:
            environ, words = (place / "environ").read_bytes(), (place / "cmdline").read_bytes()
        except OSError:
            continue
        if f"{NAME}=".encode() in environ and str(folder).encode() in environ:
            found.append((int(place.name), words.replace(b"\0", b" ").decode(errors="replace")[:80]))
    return found
