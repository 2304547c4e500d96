"""The vendors' clients as sources: small programs that speak their protocols stand in for them here."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canary.login import Login
from canary.sources import clients
from canary.sources.answer import Answer
from canary.sources.clients import answer_of_claude, answer_of_codex, claude_environ, codex_environ
from decide.quota import Measure, WindowKind
from decide.reason import Reason
from decide.seat import Auth
from tests.canary.fakes import NOW, FakeClock, target, world
from tests.canary.sources.test_claude_usage import json_values, measured

S, W, M, SP, X = (WindowKind.SESSION, WindowKind.WEEKLY, WindowKind.WEEKLY_MODEL, WindowKind.SPEND, WindowKind.OTHER)
BAD, REFUSED, UNLIMITED = Measure.MALFORMED, Measure.REFUSED, Measure.UNLIMITED
SOON = 1792069200
RESET = datetime.fromtimestamp(SOON, UTC)
SECRET = "sk-ant-oat01-SENTINEL"
USAGE = {"five_hour": {"utilization": 12, "resets_at": RESET.isoformat()}, "limits": []}
LIMITS = {
    "rateLimits": {"limitId": "codex", "primary": {"usedPercent": 22, "windowDurationMins": 300, "resetsAt": SOON}}
}

CLAUDE = """
for line in sys.stdin:
    asked = json.loads(line)
    name = asked["request"]["subtype"]
    body = {"rate_limits": USAGE} if name == "get_usage" else {"commands": []}
    print(json.dumps({"type": "system", "subtype": "noise"}))
    answer = {"subtype": "success", "request_id": asked["request_id"], "response": body}
    print(json.dumps({"type": "control_response", "response": answer}), flush=True)
"""
CODEX = """
while line := sys.stdin.readline():
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        print(json.dumps({"id": asked["id"], "result": {"userAgent": "x"}}), flush=True)
    if asked.get("method") == "account/rateLimits/read":
        # as the real one does, it drops the answer when its input has ended by then
        gone = select.select([sys.stdin], [], [], 0.1)[0] and not sys.stdin.readline()
        print(json.dumps({"id": 2, "method": "somethingElse"}))
        print(json.dumps({"method": "note"} if gone else {"id": asked["id"], "result": LIMITS}), flush=True)
"""
HANGING = """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path(PIDS).write_text(f"{os.getpid()} {child.pid}")
time.sleep(600)
"""
Write = Callable[..., Path]


@pytest.fixture
def program(tmp_path: Path) -> Write:
    """Writes a program that stands in for a client, with values put into it by name."""

    def write(body: str, **values: Any) -> Path:
        path = tmp_path / "client"
        given_values = "".join(f"{name} = {value!r}\n" for name, value in values.items())
        imports = "import json, os, pathlib, select, subprocess, sys, time\n"
        path.write_text(f"#!{sys.executable}\n{imports}{given_values}{body}")
        path.chmod(0o755)
        return path

    return write


def environ(folder: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(folder), "PATH": os.environ["PATH"], **more}


async def read(folder: Path, client: Path | str, kind: str = "claude", **more: str) -> Answer:
    seat = target(folder / "seat", login_kind=kind, client=str(client))
    ask = clients.read_claude if kind == "claude" else clients.read_codex
    return await ask(seat, Login(), world(FakeClock(), environ=environ(folder, **more)))


def windows(answer: Answer) -> list[tuple[WindowKind, str, float | Measure]]:
    assert answer.reading is not None, answer
    return [(window.kind, window.scope, measured(window)) for window in answer.reading.windows]


async def test_claude_is_asked_for_its_usage_and_nothing_else(tmp_path: Path, program: Write) -> None:
    answer = await read(tmp_path, program(CLAUDE, USAGE=USAGE))
    assert windows(answer) == [(S, "", 0.12)]
    assert answer.reading is not None
    assert (answer.reading.source, answer.reading.fetched_at) == ("claude-client", NOW)


async def test_codex_is_asked_for_its_limits_and_its_input_stays_open_until_it_answers(
    tmp_path: Path, program: Write
) -> None:
    answer = await read(tmp_path, program(CODEX, LIMITS=LIMITS), "codex")
    assert windows(answer) == [(S, "", 0.22)]
    assert answer.reading is not None
    assert answer.reading.source == "codex-client"


async def test_the_words_call_no_model_and_the_environment_is_an_allow_list(tmp_path: Path, program: Write) -> None:
    told = tmp_path / "told.json"
    body = "pathlib.Path(TOLD).write_text(json.dumps([sys.argv[1:], dict(os.environ)]))\n" + CLAUDE
    replacing = {
        "ANTHROPIC_API_KEY": SECRET,
        "ANTHROPIC_AUTH_TOKEN": SECRET,
        "ANTHROPIC_BASE_URL": "https://elsewhere.test",
        "CLAUDE_CODE_OAUTH_TOKEN": SECRET,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CODEX_API_KEY": SECRET,
        "CODEX_ACCESS_TOKEN": SECRET,
        "OPENAI_API_KEY": SECRET,
        "RUNGWATCH_CONFIG": "x",
    }
    await read(tmp_path, program(body, TOLD=str(told), USAGE=USAGE), **replacing, HTTPS_PROXY="http://127.0.0.1:9")
    words, given_environ = json.loads(told.read_text())
    assert "-p" in words
    assert words[words.index("-p") + 1].startswith("--")
    assert replacing.keys().isdisjoint(given_environ)
    assert given_environ["HTTPS_PROXY"] == "http://127.0.0.1:9"
    assert given_environ["CLAUDE_CONFIG_DIR"] == str(tmp_path / "seat")


def test_the_default_folder_goes_unnamed_and_a_setting_goes_as_written() -> None:
    home = {"HOME": "/home/jo"}
    assert "CLAUDE_CONFIG_DIR" not in claude_environ(target(Path("/home/jo/.claude")), home)
    assert claude_environ(target(Path("/home/jo/two")), home)["CLAUDE_CONFIG_DIR"] == "/home/jo/two"
    written = target(Path("/home/jo/.claude"), config_dir_setting="~/.claude")
    assert claude_environ(written, home)["CLAUDE_CONFIG_DIR"] == "~/.claude"
    assert codex_environ(target(Path("/home/jo/.codex")), home)["CODEX_HOME"] == "/home/jo/.codex"


@pytest.mark.parametrize("kind", ["claude", "codex"])
async def test_a_client_that_hangs_is_gone_with_its_children_when_it_is_given_up(
    tmp_path: Path, program: Write, kind: str
) -> None:
    pids = tmp_path / "pids"
    task = asyncio.create_task(read(tmp_path, program(HANGING, PIDS=str(pids)), kind))
    await until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not any(_running(int(pid)) for pid in pids.read_text().split()))


async def until(condition: Callable[[], bool]) -> None:
    """Waits until something holds, for ten seconds at most."""
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise TimeoutError


def _running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("kind", ["claude", "codex"])
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("sys.exit(1)", {Reason.SOURCE_FAILED}),
        ("print('not json', flush=True)", {Reason.MALFORMED}),
        ("sys.stdin.read() if CLAUDE_READS else None\nprint('{}')", {Reason.MALFORMED}),
        ("sys.stdout.write('x' * 5_000_000)", {Reason.TOO_LARGE}),
    ],
)
async def test_whatever_else_it_does_is_a_failed_read(
    tmp_path: Path, program: Write, kind: str, body: str, reason: set[Reason]
) -> None:
    answer = await read(tmp_path, program(body, CLAUDE_READS=kind == "claude"), kind)
    assert answer.reading is None
    assert answer.failure in reason


@pytest.mark.parametrize("kind", ["claude", "codex"])
async def test_a_client_that_is_not_there_is_a_failed_read(tmp_path: Path, kind: str) -> None:
    answer = await read(tmp_path, tmp_path / "nowhere", kind)
    assert (answer.reading, answer.failure) == (None, Reason.SOURCE_FAILED)


async def test_a_key_login_has_no_such_quota_and_starts_nothing(tmp_path: Path) -> None:
    seat = target(tmp_path, login_kind="codex", client=str(tmp_path / "nowhere"))
    answer = await clients.read_codex(seat, Login(auth=Auth.API_KEY), world(FakeClock()))
    assert answer.failure is Reason.NO_WINDOW


def control(body: Any, subtype: str = "success", mark: str = "rungwatch-usage") -> bytes:
    response = {"subtype": subtype, "request_id": mark, "response": body}
    return json.dumps({"type": "control_response", "response": response}).encode()


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (control({"rate_limits": None, "rate_limits_available": True}), Reason.SOURCE_FAILED),
        (control({"rate_limits_available": False}), Reason.SOURCE_FAILED),
        (control(None), Reason.SOURCE_FAILED),
        (control({"rate_limits": USAGE}, "error"), Reason.SOURCE_FAILED),
        (control({"rate_limits": "9"}), Reason.MALFORMED),
        (control({"rate_limits": USAGE}, mark="rungwatch-hello"), Reason.MALFORMED),
        (b'{"type":"control_response","response":7}', Reason.MALFORMED),
        (b"", Reason.MALFORMED),
    ],
)
def test_no_quotas_are_a_failed_read_and_never_nothing_used(output: bytes, reason: Reason) -> None:
    answer = answer_of_claude(output, NOW)
    assert (answer.reading, answer.failure) == (None, reason)


SCOPED = {"display_name": "Fable", "utilization": 100, "resets_at": RESET.isoformat()}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"five_hour": {"utilization": 42}, "model_scoped": [SCOPED]}, [(S, "", 0.42), (M, "Fable", 1.0)]),
        (
            {"limits": [{"kind": "session", "percent": 9}], "model_scoped": [SCOPED]},
            [(S, "", 0.09), (M, "Fable", 1.0)],
        ),
        ({"model_scoped": [{"utilization": 7}]}, [(M, "", BAD)]),
        ({"model_scoped": ["Fable"]}, [(X, "limits", BAD)]),
        ({"model_scoped": "Fable"}, [(X, "limits", BAD)]),
        ({"limits": 7, "model_scoped": []}, [(X, "limits", BAD)]),
    ],
)
def test_each_shape_of_claude(document: Any, expected: list[Any]) -> None:
    assert windows(answer_of_claude(control({"rate_limits": document}), NOW)) == expected


def rpc(**message: Any) -> bytes:
    return json.dumps({"id": 2} | message).encode()


def slot(percent: Any = 22, minutes: Any = 300, **more: Any) -> dict[str, Any]:
    return {"usedPercent": percent, "windowDurationMins": minutes, "resetsAt": SOON} | more


def told(bucket: Any, **more: Any) -> dict[str, Any]:
    return {"rateLimits": bucket} | more


SPARK = {"limitId": "codex_bengalfox", "limitName": "GPT-5.3-Codex-Spark", "primary": slot(100)}
OWN = {"limitId": "codex", "primary": slot(1)}
MONEY = {"limit": "1000", "used": "36.797", "remainingPercent": 96, "resetsAt": SOON}


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (told({"primary": slot(), "secondary": slot(43, 10080)}, ordinaryUsageAllowed=True), [(S, "", 0.22), (W, "", 0.43)]),
        (told({"primary": slot(100, 10080), "secondary": None}), [(W, "", 1.0)]),
        (told({"primary": slot()}, ordinaryUsageAllowed=False), [(S, "", 0.22), (X, "refusal", REFUSED)]),
        (told({"primary": slot(), "rateLimitReachedType": "workspace_member_credits_depleted"}), [(S, "", 0.22), (X, "refusal", REFUSED)]),
        (told({"primary": slot(), "rateLimitReachedType": "rate_limit_reached"}, ordinaryUsageAllowed=True), [(S, "", 0.22)]),
        (told({"primary": None}, ordinaryUsageAllowed=False), [(X, "refusal", REFUSED)]),
        (told({"primary": None, "credits": {"hasCredits": True, "unlimited": False, "balance": "12.34"}}, ordinaryUsageAllowed=True), [(SP, "", UNLIMITED)]),
        (told({"primary": None, "credits": {"hasCredits": False, "unlimited": False, "balance": None}}), [(SP, "", REFUSED)]),
        (told({"primary": slot(), "individualLimit": MONEY}), [(S, "", 0.22), (SP, "", 0.04)]),
        (told({"primary": slot(), "individualLimit": MONEY | {"remainingPercent": 0}}), [(S, "", 0.22), (SP, "", 1.0)]),
        (told({"primary": slot(), "spendControlReached": True}), [(S, "", 0.22), (SP, "", REFUSED)]),
        (told(OWN, rateLimitsByLimitId={"codex": OWN, "codex_bengalfox": SPARK}), [(S, "", 0.01), (M, "GPT-5.3-Codex-Spark", 1.0)]),
        (told(OWN, rateLimitsByLimitId={"codex_bengalfox": SPARK | {"limitName": None}}), [(S, "", 0.01), (M, "codex_bengalfox", 1.0)]),
        (told(OWN, rateLimitsByLimitId="x"), [(S, "", 0.01), (M, "", BAD)]),
        (told({"primary": slot(minutes=None)}), [(X, "window", BAD)]),
        (told({"primary": slot("22")}), [(S, "", BAD)]),
        (told({"primary": "22"}), [(X, "window", BAD)]),
        (told({"primary": slot()}, ordinaryUsageAllowed="yes"), [(S, "", 0.22), (X, "refusal", BAD)]),
        (told({"primary": slot(), "spendControlReached": "no"}), [(S, "", 0.22), (SP, "", BAD)]),
        (told({}), []),
    ],
)  # fmt: skip
def test_each_shape_of_codex(result: Any, expected: list[Any]) -> None:
    found = windows(answer_of_codex(rpc(result=result), NOW))
    assert found == [
        (kind, scope, use if isinstance(use, Measure) else pytest.approx(use)) for kind, scope, use in expected
    ]


FETCH = "failed to fetch codex rate limits: GET https://chatgpt.com/backend-api/wham/usage failed: {} x; content-type=y; body=z"


@pytest.mark.parametrize(
    ("message", "reason", "rejected"),
    [
        (FETCH.format("401 Unauthorized"), Reason.REJECTED, True),
        (FETCH.format("403 Forbidden"), Reason.HTTP_403, False),
        (FETCH.format("429 Too Many Requests"), Reason.HTTP_429, False),
        (FETCH.format("503 Service Unavailable"), Reason.HTTP_5XX, False),
        (FETCH.format("404 Not Found"), Reason.HTTP_4XX, False),
        ("failed to fetch codex rate limits: error sending request", Reason.SOURCE_FAILED, False),
        ("codex account authentication required to read rate limits", Reason.UNUSABLE, False),
        (7, Reason.MALFORMED, False),
    ],
)
def test_each_error_of_codex(message: Any, reason: Reason, rejected: bool) -> None:
    answer = answer_of_codex(rpc(error={"code": -32603, "message": message}), NOW)
    assert (answer.reading, answer.failure, answer.rejected) == (None, reason, rejected)
    assert "body=" not in answer.step


@pytest.mark.parametrize(
    "output", [b"", rpc(result=None), rpc(result=told([])), b'{"id":1,"result":{}}', b'{"id":2,"method":"x"}']
)
def test_an_output_without_limits_is_malformed(output: bytes) -> None:
    assert answer_of_codex(output, NOW).failure is Reason.MALFORMED


@given(json_values)
def test_no_answer_raises(value: Any) -> None:
    for answer in (answer_of_claude(control(value), NOW), answer_of_claude(control({"rate_limits": value}), NOW)):
        assert isinstance(answer, Answer)
    for message in ({"result": value}, {"result": {"rateLimits": value}}, {"error": value}):
        assert isinstance(answer_of_codex(rpc(**message), NOW), Answer)


@given(st.binary(max_size=200))
def test_no_output_raises_and_none_is_shown(output: bytes) -> None:
    marked = output + b"\n" + SECRET.encode()
    for answer in (answer_of_claude(marked, NOW), answer_of_codex(marked, NOW)):
        assert SECRET not in repr(answer)
