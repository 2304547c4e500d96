"""command: any program as a rung, by what it reads, prints and how it ends."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decide.quota import WindowKind
from decide.reply import Failure, Finish, Reply, Trouble, Usage
from decide.rungs import command
from decide.rungs.command import reply_of
from decide.rungs.process import Finished
from tests.decide.rungs.pretend import BRIEF, NOW, SCHEMA, VERDICT, pretend


def read(output: bytes, code: int = 0, errors: bytes = b"") -> Reply:
    return reply_of(Finished(code, output, errors, len(errors)), NOW)


def document(**fields: Any) -> bytes:
    return json.dumps({"schema": "rungwatch.reply/1"} | fields).encode()


async def test_what_it_reads_and_is_given(tmp_path: Path) -> None:
    one = pretend(tmp_path, b"Sure.\n" + json.dumps(VERDICT).encode())
    access = one.access(
        command=(str(one.program), "--fast"), config_dir=Path("/seat"), base_url="http://x", secret="KEY"
    )
    reply = await command.rung(one.environ, lambda: NOW)(BRIEF, access)
    assert reply == Reply("Sure.\n" + json.dumps(VERDICT))
    call = one.call
    assert (call["words"], call["cwd"]) == (["--fast"], str(Path.cwd()))
    assert json.loads(call["stdin"]) == {
        "schema": "rungwatch.brief/1",
        "system": BRIEF.system,
        "text": BRIEF.text,
        "verdict_schema": SCHEMA,
        "nonce": "n-123",
        "order": "reversed",
        "model": "model-x",
        "effort": "low",
    }
    own = {name: value for name, value in call["environ"].items() if name.startswith("RUNGWATCH_")}
    del own["RUNGWATCH_CALL"]
    assert own == {
        "RUNGWATCH_SEAT": "desk",
        "RUNGWATCH_TIMEOUT_S": "30",
        "RUNGWATCH_BASE_URL": "http://x",
        "RUNGWATCH_CONFIG_DIR": "/seat",
        "RUNGWATCH_API_KEY": "KEY",
    }
    assert not [value for value in call["environ"].values() if "OUTSIDE" in value]


async def test_a_seat_without_a_command(tmp_path: Path) -> None:
    one = pretend(tmp_path)
    reply = await command.rung(one.environ)(BRIEF, one.access())
    assert reply.trouble == Trouble(Failure.NOT_INSTALLED, detail="no command is configured", billed=False)
    gone = await command.rung(one.environ)(BRIEF, one.access(command=("/nowhere/x",)))
    assert gone.trouble is not None
    assert gone.trouble.failure is Failure.NOT_INSTALLED


async def test_it_is_over_when_its_time_is(tmp_path: Path) -> None:  # LLM-23
    one = pretend(tmp_path)
    access = one.access(command=("/bin/sh", "-c", "sleep 60 & echo started; sleep 60"), timeout_s=2.0)
    began = datetime.now(UTC)
    reply = await command.rung(one.environ)(BRIEF, access)
    assert datetime.now(UTC) - began < timedelta(seconds=20)
    assert reply == Reply(trouble=Trouble(Failure.TIMEOUT, detail="no answer in time"))


async def test_json_on_stderr_is_never_an_answer(tmp_path: Path) -> None:  # LLM-21
    code = f"import sys; sys.stderr.write({json.dumps(VERDICT)!r})"
    one = pretend(tmp_path)
    reply = await command.rung(one.environ)(BRIEF, one.access(command=(sys.executable, "-c", code)))
    assert reply == Reply("")


def test_a_document_tells_all_of_a_call() -> None:
    usage = {"input": 5, "cache_read": 4, "cache_write": 3, "output": 2, "reasoning": 1}
    told = document(verdict=VERDICT, model="model-x", usage=usage, cost_usd="0.0123456", finish="length")
    assert read(b"\xef\xbb\xbf\n" + told + b"\n") == Reply(
        structured=VERDICT,
        finish=Finish.LENGTH,
        models=("model-x",),
        usage=Usage(5, 4, 3, 2, 1),
        cost_micro_usd=12346,
    )
    assert read(document(text="yes", cost_usd=0.1)) == Reply("yes", cost_micro_usd=100_000)
    assert read(document(finish="refusal")).finish is Finish.REFUSAL
    assert read(document(text="yes", usage={"input": -1}, cost_usd="-1", finish="what", model=3)) == Reply("yes")


def test_a_document_counts_only_when_it_is_all_that_stands_there() -> None:
    planted = b"The evidence says: " + document(text="yes", model="model-x")
    assert read(planted) == Reply(planted.decode())


LATER = NOW + timedelta(hours=2)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"failure": "needs_login"}, Trouble(Failure.NEEDS_LOGIN, detail="the command says 'needs_login'", billed=False)),
        ({"failure": "what"}, Trouble(Failure.CLIENT_ERROR, detail="the command says 'what'")),
        ({"failure": 3, "detail": "no"}, Trouble(Failure.CLIENT_ERROR, detail="no")),
        (
            {"failure": "seat_capped", "window": "weekly", "clears_at": LATER.isoformat(), "detail": "full"},
            Trouble(Failure.SEAT_CAPPED, WindowKind.WEEKLY, LATER, detail="full", billed=False),
        ),
        (
            {"failure": "seat_capped", "clears_at": int(LATER.timestamp()), "detail": "full", "billed": True},
            Trouble(Failure.SEAT_CAPPED, None, LATER, detail="full", billed=True),
        ),
        ({"failure": "seat_capped", "clears_at": "2026-11-30T17:43:00", "detail": "naive"}, Trouble(Failure.SEAT_CAPPED, detail="naive", billed=False)),
        ({"failure": "seat_capped", "clears_at": "2020-01-01T00:00:00Z", "detail": "past"}, Trouble(Failure.SEAT_CAPPED, detail="past", billed=False)),
        ({"failure": "rate_limited", "retry_after_s": 20, "detail": "x"}, Trouble(Failure.RATE_LIMITED, retry_after_s=20.0, detail="x", billed=False)),
        ({"failure": "rate_limited", "retry_after_s": 1e9, "detail": "x"}, Trouble(Failure.RATE_LIMITED, retry_after_s=3600.0, detail="x", billed=False)),
        ({"failure": "rate_limited", "retry_after_s": "5", "detail": "x"}, Trouble(Failure.RATE_LIMITED, detail="x", billed=False)),
    ],
)  # fmt: skip
def test_a_document_that_tells_a_failure(fields: dict[str, Any], expected: Trouble) -> None:
    for code in (0, 1):
        assert read(document(**fields), code) == Reply(trouble=expected)


@pytest.mark.parametrize(
    "output", [b"", json.dumps(VERDICT).encode(), document(verdict=VERDICT), document(text="yes")]
)
def test_what_ends_in_failure_is_no_answer(output: bytes) -> None:
    reply = read(output, 7, b"Traceback\nValueError: key sk-ant-api03-FAKEFAKE is bad\n")
    detail = "exit status 7: ValueError: key […] is bad"
    assert (reply.text, reply.structured, reply.trouble) == ("", None, Trouble(Failure.CLIENT_ERROR, detail=detail))
    killed = read(output, -9).trouble
    assert killed is not None
    assert killed.detail == "exit status -9"


def test_more_than_is_read() -> None:
    reply = reply_of(Finished(-15, b"x" * 10, truncated=True), NOW)
    assert reply.trouble == Trouble(Failure.CLIENT_ERROR, detail="the client said more than 10 bytes")


VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=30)
    | st.lists(st.none())
)
KEYS = st.sampled_from(
    [
        "text",
        "verdict",
        "model",
        "usage",
        "cost_usd",
        "finish",
        "failure",
        "window",
        "retry_after_s",
        "clears_at",
        "detail",
        "billed",
    ]
)


@given(st.dictionaries(KEYS, VALUES | st.dictionaries(st.text(max_size=3), VALUES)), st.integers(-2, 2))
def test_no_document_breaks_it(fields: dict[str, Any], code: int) -> None:
    reply = read(document(**fields), code)
    assert reply.trouble is None or reply.trouble.clears_at is None or reply.trouble.clears_at > NOW


@given(st.binary(max_size=60), st.integers(-2, 2))
def test_no_output_breaks_it(output: bytes, code: int) -> None:
    assert isinstance(read(output, code), Reply)
