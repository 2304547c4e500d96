"""claude: how Claude Code is run, and that nothing of it is left."""

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from decide.reply import Failure, Reply, Trouble, Usage
from decide.rungs import claude
from tests.decide.rungs import samples
from tests.decide.rungs.pretend import BRIEF, NOW, SCHEMA, VERDICT, pretend

ANSWER = Reply(
    json.dumps(VERDICT, separators=(",", ":")),
    VERDICT,
    models=("claude-fable-5",),
    usage=Usage(350, output=32),
    cost_micro_usd=5100,
)


async def test_how_it_is_run(tmp_path: Path) -> None:
    one = pretend(tmp_path, samples.ANSWER)
    ask = claude.rung(one.environ, lambda: NOW)
    seat = tmp_path / "seat"
    assert await ask(BRIEF, one.access(config_dir=seat)) == ANSWER
    call = one.call
    assert call["words"] == [
        *("-p", "--output-format", "stream-json", "--verbose", "--model", "model-x", "--effort", "low"),
        *("--system-prompt", BRIEF.system, "--json-schema", json.dumps(SCHEMA), "--tools", "", "--strict-mcp-config"),
        *("--setting-sources", "", "--no-session-persistence", "--disable-slash-commands", "--max-turns", "1"),
    ]
    assert call["stdin"] == BRIEF.text
    assert call["files"] == {}
    assert one.left == []
    given = environ_of(call)
    folder = given.pop("TMPDIR")
    assert folder == call["cwd"]
    assert given == {
        **{name: one.environ[name] for name in ("PATH", "HOME", "LC_ALL", "HTTPS_PROXY", "XDG_RUNTIME_DIR", "NODE_EXTRA_CA_CERTS")},
        "CLAUDE_CONFIG_DIR": str(seat),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
        "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1",
        "TZ": "UTC",
        "API_TIMEOUT_MS": "27000",
        "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS": "15000",
    }  # fmt: skip


def environ_of(call: Mapping[str, Any]) -> dict[str, str]:
    """What the program was given, but for what a system adds to any."""
    added = {"RUNGWATCH_CALL", "LC_CTYPE", "PWD", "SHLVL", "_"}
    return {name: value for name, value in call["environ"].items() if name not in added}


@pytest.mark.parametrize(
    ("secret", "name", "bare"),
    [
        ("sk-ant-api03-FAKE", "ANTHROPIC_API_KEY", True),
        ("sk-ant-oat01-FAKE", "CLAUDE_CODE_OAUTH_TOKEN", False),
    ],
)
async def test_a_seat_that_brings_its_secret(tmp_path: Path, secret: str, name: str, bare: bool) -> None:
    one = pretend(tmp_path, samples.ANSWER)
    await claude.rung(one.environ, lambda: NOW)(BRIEF, one.access(secret=secret, base_url="http://127.0.0.1:1"))
    given = environ_of(one.call)
    assert {key for key, value in given.items() if value == secret} == {name}
    assert ("--bare" in one.call["words"]) is bare
    assert secret not in str(one.call["words"])
    assert given["CLAUDE_CONFIG_DIR"] == str(Path(one.call["cwd"]) / "config")
    assert given["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert not {"sk-ant-OUTSIDE", "OUTSIDE"} & set(given.values())


async def test_the_default_folder_goes_unnamed(tmp_path: Path) -> None:
    one = pretend(tmp_path, samples.ANSWER)
    ask = claude.rung(one.environ, lambda: NOW)
    for folder in (None, tmp_path / ".claude"):
        await ask(BRIEF, one.access(config_dir=folder, effort=""))
        assert "CLAUDE_CONFIG_DIR" not in one.call["environ"]
        assert "--effort" not in one.call["words"]


async def test_a_question_that_no_command_line_could_hold(tmp_path: Path) -> None:
    one = pretend(tmp_path, samples.ANSWER)
    large = replace(BRIEF, text="x" * 400_000)
    await claude.rung(one.environ, lambda: NOW)(large, one.access())
    assert len(one.call["stdin"]) == 400_000


async def test_a_client_that_is_not_there(tmp_path: Path) -> None:
    one = pretend(tmp_path)
    reply = await claude.rung(one.environ, lambda: NOW)(BRIEF, one.access(client=str(tmp_path / "none")))
    assert reply.trouble == Trouble(
        Failure.NOT_INSTALLED, detail="the client is not there, or no program", billed=False
    )
    assert one.left == []


async def test_it_is_over_when_its_time_is(tmp_path: Path) -> None:
    one = pretend(tmp_path, before="import time; time.sleep(600)")
    reply = await claude.rung(one.environ, lambda: NOW)(BRIEF, one.access(timeout_s=0.5))
    assert reply == Reply(trouble=Trouble(Failure.TIMEOUT, detail="no answer in time"))
    assert one.left == []


async def test_a_cancellation_leaves_no_file_and_no_process(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    one = pretend(tmp_path, before=f"import time; open({str(ready)!r}, 'w').write(str(os.getpid())); time.sleep(600)")
    task = asyncio.ensure_future(claude.rung(one.environ, lambda: NOW)(BRIEF, one.access()))
    for _ in range(3000):
        if ready.exists() and ready.read_text():
            break
        await asyncio.sleep(0.01)
    assert len(one.left) == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert one.left == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(ready.read_text()), 0)


async def test_a_secret_shows_nowhere(tmp_path: Path) -> None:
    secret = "sk-ant-api03-FAKE-planted"
    words = f"Failed to authenticate. API Error: 401 bad key {secret}"
    one = pretend(tmp_path, json.dumps({"type": "result", "is_error": True, "result": words}).encode(), code=1)
    access = one.access(secret=secret)
    reply = await claude.rung(one.environ, lambda: NOW)(BRIEF, access)
    assert reply.trouble is not None
    assert reply.trouble.failure is Failure.NEEDS_LOGIN
    assert "planted" not in repr(reply) + repr(access)
