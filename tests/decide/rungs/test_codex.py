"""codex: how Codex is run, and what its output means."""

import asyncio
import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.quota import WindowKind
from decide.reply import Failure, Finish, Reply, Trouble, Usage
from decide.rungs import codex
from decide.rungs.codex_events import reply_of
from decide.rungs.process import Finished
from tests.decide.rungs import samples
from tests.decide.rungs.pretend import BRIEF, NOW, SCHEMA, VERDICT, pretend


def read(output: bytes, code: int = 0, errors: bytes = b"") -> Reply:
    return reply_of(Finished(code, output, errors, len(errors)), NOW)


def utc(*when: int) -> datetime:
    return datetime(*when, tzinfo=UTC)  # type: ignore[misc,arg-type]  # a date and a time


def lines(*events: Mapping[str, Any]) -> bytes:
    return b"\n".join(json.dumps(event, ensure_ascii=False).encode() for event in events)


def message(text: str) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"type": "agent_message", "text": text}}


def failure(text: str) -> dict[str, Any]:
    return {"type": "turn.failed", "error": {"message": text}}


DONE = {"type": "turn.completed"}


def test_what_the_real_client_printed_of_an_answer() -> None:
    assert read(samples.CODEX_ANSWER) == Reply(json.dumps(VERDICT), usage=Usage(236, output=32))
    assert read(samples.CODEX_CUT_OFF, 1).finish is Finish.LENGTH


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CODEX_WALL", Trouble(Failure.SEAT_CAPPED, clears_at=utc(2026, 11, 30, 18, 46), billed=False)),
        ("CODEX_WEEK_WALL", Trouble(Failure.SEAT_CAPPED, clears_at=utc(2026, 12, 4, 9, 46), billed=False)),
        ("CODEX_THROTTLE", Trouble(Failure.RATE_LIMITED, billed=False)),
        ("CODEX_OFFLINE", Trouble(Failure.NETWORK, billed=False)),
        ("CODEX_SPENT_LOGIN", Trouble(Failure.NEEDS_LOGIN, billed=False)),
    ],
)
def test_what_the_real_client_printed_of_trouble(name: str, expected: Trouble) -> None:
    reply = read(getattr(samples, name), 1)
    assert reply.trouble is not None
    assert reply == Reply(trouble=replace(expected, detail=reply.trouble.detail))
    assert reply.trouble.detail


def test_a_message_is_the_answer_only_of_a_turn_that_is_complete() -> None:
    assert read(lines(message("first"), message("last"), DONE)) == Reply("last")
    cut = read(lines(message("half"), failure("Incomplete response returned, reason: max_output_tokens")), 1)
    assert cut == Reply("half", finish=Finish.LENGTH)
    filtered = "stream disconnected before completion: Incomplete response returned, reason: content_filter"
    assert read(lines(message("half"), failure(filtered)), 1) == Reply(finish=Finish.REFUSAL)
    lost = read(lines(message("half"), failure("stream disconnected before completion")), 1)
    assert lost.trouble is not None
    assert (lost.trouble.failure, lost.trouble.billed) == (Failure.NETWORK, True)
    alone = read(lines(message("half")))
    assert alone.trouble is not None
    assert (alone.trouble.failure, alone.text) == (Failure.CLIENT_ERROR, "")


def test_an_answer_that_speaks_of_limits_after_trouble_that_was_got_over() -> None:  # LLM-18
    words = "You've hit your usage limit in line 529; try again later"
    got_over = {"type": "error", "message": "Reconnecting... 2/5 (exceeded retry limit, last status: 429)"}
    fell_back = {"type": "item.completed", "item": {"type": "error", "message": "Falling back to HTTPS"}}
    assert read(lines(got_over, fell_back, message(words), DONE)) == Reply(words)


def test_json_on_stderr_and_an_echoed_brief_are_no_answer() -> None:  # LLM-04, LLM-21
    stray = json.dumps(VERDICT).encode()
    echoed = b"user\n" + stray + b"\ncodex\nI was cut off\n"
    for reply in (read(echoed, 0, stray), read(echoed, 1, stray)):
        assert (reply.text, reply.structured) == ("", None)
        assert reply.trouble is not None


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        (b"2026 ERROR x\nError: timed out waiting for cloud config bundle after 20s\nlast\n", Failure.NETWORK),
        (b"Failed to refresh token: 500 Internal Server Error\n", Failure.SERVER_ERROR),
        (b"error: unexpected argument '--x' found\n\nUsage: codex\n", Failure.CLIENT_ERROR),
        (b"", Failure.CLIENT_ERROR),
    ],
)
def test_a_client_that_told_no_turn(errors: bytes, expected: Failure) -> None:
    reply = read(b"", 1, errors)
    assert reply.trouble is not None
    assert reply.trouble.failure is expected


def test_each_token_is_counted_once() -> None:
    usage = {"input_tokens": 100, "cached_input_tokens": 70, "cache_write_input_tokens": 10, "output_tokens": 40, "reasoning_output_tokens": 30}  # fmt: skip
    assert read(lines(message("x"), DONE | {"usage": usage})).usage == Usage(20, 70, 10, 10, 30)
    assert read(lines(message("x"), DONE | {"usage": usage | {"cached_input_tokens": 101}})).usage is None
    assert read(lines(message("x"), DONE)).usage is None


async def run_with(tmp_path: Path, **fields: Any) -> tuple[dict[str, Any], dict[str, Any], Reply]:
    """The record of one run, its settings, and the reply."""
    one = pretend(tmp_path, samples.CODEX_ANSWER)
    reply = await codex.rung(one.environ, lambda: NOW)(BRIEF, one.access(**fields))
    assert one.left == []
    words = one.call["words"]
    pairs = [words[place + 1] for place, word in enumerate(words) if word == "-c"]
    return one.call, tomllib.loads("\n".join(pairs)), reply


async def test_how_it_is_run(tmp_path: Path) -> None:
    call, settings, reply = await run_with(tmp_path, config_dir=tmp_path / "seat")
    assert reply == Reply(json.dumps(VERDICT), usage=Usage(236, output=32))
    words, folder = call["words"], call["cwd"]
    assert words[:9] == ["exec", "-s", "read-only", "--json", "--skip-git-repo-check", "--ephemeral", "--ignore-user-config", "--ignore-rules", "--disable"]  # fmt: skip
    assert words[-7:] == [
        "-m",
        "model-x",
        "--output-schema",
        f"{folder}/schema.txt",
        "-o",
        f"{folder}/answer.txt",
        "-",
    ]
    assert {words[place + 1] for place, word in enumerate(words) if word == "--disable"} == set(codex.OFF)
    assert "unbounded_connection_retries" in codex.OFF
    assert settings["model_instructions_file"] == f"{folder}/instructions.txt"
    assert settings["model_reasoning_effort"] == "low"
    assert (settings["agents"], settings["web_search"], settings["include_apps_instructions"]) == ({"enabled": False}, "disabled", False)  # fmt: skip
    assert "model_provider" not in settings
    assert call["stdin"] == BRIEF.text
    assert call["files"] == {"instructions.txt": BRIEF.system, "schema.txt": json.dumps(SCHEMA)}


async def test_its_environment(tmp_path: Path) -> None:
    call, _, _ = await run_with(tmp_path, config_dir=tmp_path / "seat")
    given = {n: v for n, v in call["environ"].items() if n not in ("RUNGWATCH_CALL", "LC_CTYPE", "PWD", "SHLVL", "_")}
    own = {"CODEX_HOME": str(tmp_path / "seat"), "CODEX_SQLITE_HOME": call["cwd"], "TMPDIR": call["cwd"], "TZ": "UTC"}
    assert {name: given.pop(name) for name in own} == own
    assert set(given) == {"PATH", "HOME", "LC_ALL", "HTTPS_PROXY", "XDG_RUNTIME_DIR", "NODE_EXTRA_CA_CERTS"}


async def test_an_address_of_ones_own_does_not_retry(tmp_path: Path) -> None:
    _, settings, _ = await run_with(tmp_path, base_url="http://127.0.0.1:1/v1", timeout_s=30.0, effort="")
    assert settings["model_provider"] == "seat"
    assert settings["model_providers"]["seat"] == {
        "name": "seat",
        "base_url": "http://127.0.0.1:1/v1",
        "wire_api": "responses",
        "request_max_retries": 0,
        "stream_max_retries": 0,
        "stream_idle_timeout_ms": 15000,
        "requires_openai_auth": True,
    }
    assert "model_reasoning_effort" not in settings


@pytest.mark.parametrize("base_url", ["", "http://127.0.0.1:1/v1"])
async def test_a_seat_that_brings_its_key(tmp_path: Path, base_url: str) -> None:
    call, settings, _ = await run_with(tmp_path, secret="sk-FAKE-key", base_url=base_url)
    assert {name for name, value in call["environ"].items() if value == "sk-FAKE-key"} == {"CODEX_API_KEY"}
    assert call["environ"]["CODEX_HOME"] == f"{call['cwd']}/config"
    assert "sk-FAKE-key" not in str(call["words"])
    assert settings.get("model_providers", {}).get("seat", {}).get("env_key") == (
        "CODEX_API_KEY" if base_url else None
    )


async def test_it_is_over_when_its_time_is_and_says_what_it_waited_for(tmp_path: Path) -> None:
    one = pretend(tmp_path)
    waiting = json.dumps({"type": "error", "message": "Reconnecting... waiting for network (x)"})
    one.program.write_text(f"#!/bin/sh\necho '{waiting}'\nexec sleep 600\n")
    reply = await codex.rung(one.environ, lambda: NOW)(BRIEF, one.access(timeout_s=2.0))
    detail = "no answer in time; the client's last word: Reconnecting... waiting for network (x)"
    assert reply == Reply(trouble=Trouble(Failure.TIMEOUT, detail=detail))
    assert one.left == []


async def test_a_cancellation_leaves_no_folder(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    one = pretend(tmp_path, before=f"import time; open({str(ready)!r}, 'w').close(); time.sleep(600)")
    task = asyncio.ensure_future(codex.rung(one.environ, lambda: NOW)(BRIEF, one.access()))
    for _ in range(3000):
        if ready.exists():
            break
        await asyncio.sleep(0.01)
    assert one.left
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert one.left == []


def test_a_secret_shows_nowhere() -> None:
    output = lines(failure("unexpected status 401 Unauthorized: bad key correct-horse of me@example.invalid"))
    reply = reply_of(Finished(1, output), NOW, secret="correct-horse")
    assert reply.trouble is not None
    assert (reply.trouble.failure, reply.trouble.window) == (Failure.NEEDS_LOGIN, None)
    assert "correct-horse" not in repr(reply)
    assert "example" not in repr(reply)


def test_a_model_of_its_own_bucket() -> None:
    text = (
        "You’ve hit your usage limit for GPT-5.3-Codex-Spark. Switch to another model now, or try again at 4:10 PM."
    )
    told = read(lines(failure(text)), 1).trouble
    assert told is not None
    assert (told.window, told.clears_at) == (WindowKind.WEEKLY_MODEL, utc(2026, 11, 30, 16, 10))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
EVENT = st.builds(
    lambda kind, fields: fields | {"type": kind},
    st.sampled_from(["turn.completed", "turn.failed", "item.completed", "error"]),
    st.dictionaries(st.sampled_from(["item", "error", "message", "usage"]), JSON, max_size=4),
)


@given(st.lists(EVENT, max_size=4), st.integers(-9, 2), st.binary(max_size=40))
def test_no_output_breaks_it(events: list[dict[str, Any]], code: int, noise: bytes) -> None:
    assert isinstance(read(noise + b"\n" + lines(*events), code, noise), Reply)
