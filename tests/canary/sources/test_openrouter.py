"""OpenRouter: the shapes of a key and of its account's credits, their errors, and their traps."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from canary.login import Login
from canary.sources.openrouter import (
    ask,
    interpret_credits,
    interpret_key,
    parse_credits,
    parse_key,
    read_credits,
    read_key,
)
from decide.quota import Measure, Window, WindowKind
from decide.reason import Reason
from decide.rungs.http import Response
from tests.canary.fakes import NOW, FakeClock, FarSide, json_reply, target, world
from tests.canary.sources.test_claude_usage import json_values, measured

SP, X = WindowKind.SPEND, WindowKind.OTHER
BAD, REFUSED, UNLIMITED = Measure.MALFORMED, Measure.REFUSED, Measure.UNLIMITED
SECRET = "sk-or-v1-SENTINEL"
KEY = {
    "label": "sk-or-v1-au7...890",
    "limit": 100,
    "limit_remaining": 74.5,
    "limit_reset": "monthly",
    "usage": 925.5,
    "expires_at": None,
}
FREE = {"limit": None, "limit_remaining": None, "usage": 3.2}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (KEY, [(SP, "key", 0.255)]),
        (KEY | {"limit_reset": None}, [(SP, "key", 0.255)]),
        (KEY | {"limit_remaining": 0}, [(SP, "key", 1.0)]),
        (KEY | {"limit_remaining": -0.5}, [(SP, "key", 1.005)]),
        (KEY | {"limit_remaining": 120}, [(SP, "key", 0.0)]),
        (KEY | {"limit": 0, "limit_remaining": 0}, [(SP, "key", 1.0)]),
        (FREE, [(SP, "key", UNLIMITED)]),
        (FREE | {"is_free_tier": True, "rate_limit": {"requests": -1, "interval": "10s"}}, [(SP, "key", UNLIMITED)]),
        (KEY | {"is_management_key": True}, [(SP, "key", 0.255), (X, "management key", REFUSED)]),
        (FREE | {"is_provisioning_key": True}, [(SP, "key", UNLIMITED), (X, "management key", REFUSED)]),
        (KEY | {"expires_at": "2027-12-31T23:59:59Z"}, [(SP, "key", 0.255)]),
        # malformed, each of which keeps the seat from being called available
        ({}, [(SP, "key", BAD)]),
        (KEY | {"limit": "100"}, [(SP, "key", BAD)]),
        (KEY | {"limit": -1}, [(SP, "key", BAD)]),
        (KEY | {"limit": True}, [(SP, "key", BAD)]),
        (KEY | {"limit_remaining": None}, [(SP, "key", BAD)]),
        (KEY | {"limit": None}, [(SP, "key", BAD)]),
        (KEY | {"limit": 1e-300, "limit_remaining": -1e300}, [(SP, "key", BAD)]),
        (KEY | {"limit_reset": "hourly"}, [(SP, "key", BAD)]),
        (KEY | {"limit_reset": ["monthly"]}, [(SP, "key", BAD)]),
        (KEY | {"expires_at": 1798761599}, [(SP, "key", 0.255), (X, "expires_at", BAD)]),
        (KEY | {"expires_at": "soon"}, [(SP, "key", 0.255), (X, "expires_at", BAD)]),
    ],
)  # fmt: skip
def test_each_shape_of_a_key(data: dict[str, Any], expected: list[tuple[WindowKind, str, float | Measure]]) -> None:
    found = [(w.kind, w.scope, measured(w)) for w in parse_key(data, NOW).windows]
    assert found == [(k, s, m if isinstance(m, Measure) else pytest.approx(m)) for k, s, m in expected]


@pytest.mark.parametrize(
    ("period", "now", "turn"),
    [
        ("daily", NOW, datetime(2026, 10, 16, tzinfo=UTC)),
        ("weekly", NOW, datetime(2026, 10, 19, tzinfo=UTC)),
        ("weekly", datetime(2026, 10, 19, tzinfo=UTC), datetime(2026, 10, 26, tzinfo=UTC)),
        ("monthly", NOW, datetime(2026, 11, 1, tzinfo=UTC)),
        ("monthly", datetime(2026, 12, 31, 23, 59, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
        ("monthly", datetime(2027, 1, 31, tzinfo=UTC), datetime(2027, 2, 1, tzinfo=UTC)),
        (None, NOW, None),
    ],
)
def test_a_limit_is_renewed_by_the_calendar(period: str | None, now: datetime, turn: datetime | None) -> None:
    assert parse_key(KEY | {"limit_reset": period}, now).windows[0].resets_at == turn


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"total_credits": 110.0, "total_usage": 55}, 0.5),
        ({"total_credits": 110.0, "total_usage": 110.0}, 1.0),
        ({"total_credits": 110.0, "total_usage": 121}, 1.1),
        ({"total_credits": 0, "total_usage": 0}, 1.0),
        ({"total_credits": "110", "total_usage": 1}, BAD),
        ({"total_credits": 110}, BAD),
        ({"total_credits": 110, "total_usage": -1}, BAD),
        ({}, BAD),
    ],
)
def test_each_shape_of_credits(data: dict[str, Any], expected: float | Measure) -> None:
    (window,) = parse_credits(data, NOW).windows
    assert (window.kind, window.scope) == (SP, "credits")
    assert measured(window) == (expected if isinstance(expected, Measure) else pytest.approx(expected))


@pytest.mark.parametrize("interpret", [interpret_key, interpret_credits])
@pytest.mark.parametrize(
    ("status", "body", "reason", "rejected"),
    [
        (401, b'{"error": {"message": "No auth credentials found", "code": 401}}', Reason.REJECTED, True),
        (403, b'{"error": {"message": "Only management keys can do this"}}', Reason.HTTP_403, False),
        (403, b"<html>", Reason.HTML, False),
        (429, b"{}", Reason.HTTP_429, False),
        (502, b"{}", Reason.HTTP_5XX, False),
        (200, b"{}", Reason.MALFORMED, False),
        (200, b'{"data": []}', Reason.MALFORMED, False),
        (307, b"", Reason.REDIRECT, False),
    ],
)
def test_each_error(interpret: Any, status: int, body: bytes, reason: Reason, rejected: bool) -> None:
    answer = interpret(json_reply(body, status=status))
    assert (answer.reading, answer.failure, answer.rejected) == (None, reason, rejected)


def test_a_key_past_its_end_is_rejected_whatever_it_may_still_spend() -> None:
    answer = interpret_key(json_reply(json.dumps({"data": KEY | {"expires_at": NOW.isoformat()}}).encode()))
    assert (answer.reading, answer.failure, answer.rejected) == (None, Reason.REJECTED, True)


def test_the_request_is_that_of_formats_5_and_hides_its_key() -> None:
    sent = ask("https://openrouter.ai/", "key", SecretStr(SECRET))
    assert sent.url == "https://openrouter.ai/api/v1/key"
    assert sent.headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in repr(sent)


async def test_each_source_asks_its_own_path_once_at_the_configured_host() -> None:
    replies: dict[str, Response] = {
        "/key": json_reply(json.dumps({"data": KEY}).encode()),
        "/credits": json_reply(b'{"data": {"total_credits": 2, "total_usage": 1}}'),
    }
    far = FarSide(FakeClock(), replies)
    seat = target(Path(), base_url="https://router.test")
    login = Login(SecretStr(SECRET))
    answers = [await read(seat, login, world(FakeClock(), far)) for read in (read_key, read_credits)]
    assert [asked.url for asked in far.asked] == [
        "https://router.test/api/v1/key",
        "https://router.test/api/v1/credits",
    ]
    assert [answer.reading and answer.reading.source for answer in answers] == [
        "openrouter-key",
        "openrouter-credits",
    ]
    await read_key(target(Path()), login, world(FakeClock(), far))
    assert far.asked[-1].url == "https://openrouter.ai/api/v1/key"
    assert (await read_key(seat, Login(), world(FakeClock(), far))).failure is Reason.SOURCE_MISSING
    assert SECRET not in repr(answers)


@given(
    st.dictionaries(
        st.sampled_from([*KEY, "is_management_key", "total_credits", "total_usage"]), json_values, max_size=6
    )
)
def test_no_document_raises(data: dict[str, Any]) -> None:
    for reading in (parse_key(data, NOW), parse_credits(data, NOW)):
        assert all(isinstance(window, Window) for window in reading.windows)


@given(st.binary(max_size=100), st.sampled_from([200, 401, 403, 429, 500]))
def test_no_body_raises_and_none_is_shown(body: bytes, status: int) -> None:
    for interpret in (interpret_key, interpret_credits):
        assert SECRET not in repr(interpret(json_reply(body + SECRET.encode(), status=status)))
