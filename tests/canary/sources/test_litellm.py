"""LiteLLM: the budgets of a key, its team, its member and its user, their errors, and their traps."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from canary.login import Login
from canary.sources.answer import Answer
from canary.sources.litellm import Owner, ask_owner, interpret_key, owner_of, parse_key, parse_owner, read_budgets
from decide.quota import Measure, Window, WindowKind
from decide.reason import Reason
from decide.rungs.http import Response
from tests.canary.fakes import NOW, FakeClock, FarSide, json_reply, target, world
from tests.canary.sources.test_claude_usage import json_values, measured

SP, X = WindowKind.SPEND, WindowKind.OTHER
BAD, REFUSED, UNLIMITED = Measure.MALFORMED, Measure.REFUSED, Measure.UNLIMITED
SECRET = "sk-litellm-SENTINEL"
RESET = "2026-11-01T00:00:00.594000Z"
KEY = {"key_name": "sk-...abcd", "spend": 2.5, "max_budget": 10.0, "budget_reset_at": RESET, "expires": None}
Expected = list[tuple[WindowKind, str, float | Measure]]


def shown(windows: Any) -> Expected:
    return [(w.kind, w.scope, measured(w)) for w in windows]


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (KEY, [(SP, "key", 0.25)]),
        (KEY | {"spend": 10.0}, [(SP, "key", 1.0)]),
        (KEY | {"spend": 12.0}, [(SP, "key", 1.2)]),
        (KEY | {"max_budget": None}, [(SP, "key", UNLIMITED)]),
        ({"spend": 1.0}, [(SP, "key", BAD)]),
        (KEY | {"max_budget": 0, "spend": 0}, [(SP, "key", 1.0)]),
        (KEY | {"blocked": True}, [(X, "blocked key", REFUSED), (SP, "key", 0.25)]),
        (KEY | {"blocked": False}, [(SP, "key", 0.25)]),
        (KEY | {"soft_budget": 1.0}, [(SP, "key", 0.25)]),
        (KEY | {"expires": "2028-01-01T00:00:00Z"}, [(SP, "key", 0.25)]),
        # malformed, each of which keeps the seat from being called available
        (KEY | {"blocked": "no"}, [(X, "blocked key", BAD), (SP, "key", 0.25)]),
        (KEY | {"max_budget": "10"}, [(SP, "key", BAD)]),
        (KEY | {"max_budget": -1}, [(SP, "key", BAD)]),
        (KEY | {"max_budget": 1e-300, "spend": 1e300}, [(SP, "key", BAD)]),
        (KEY | {"spend": None}, [(SP, "key", BAD)]),
        (KEY | {"spend": True}, [(SP, "key", BAD)]),
        (KEY | {"budget_reset_at": "soon"}, [(SP, "key", BAD)]),
        (KEY | {"budget_reset_at": "soon", "spend": 10}, [(SP, "key", 1.0)]),
        (KEY | {"expires": "later"}, [(SP, "key", 0.25), (X, "expires", BAD)]),
        ({}, [(SP, "key", BAD)]),
    ],
)  # fmt: skip
def test_each_shape_of_a_key(info: dict[str, Any], expected: Expected) -> None:
    found = shown(parse_key(info, NOW))
    assert found == [(k, s, m if isinstance(m, Measure) else pytest.approx(m)) for k, s, m in expected]


def test_a_budget_is_renewed_when_the_proxy_says() -> None:
    (window,) = parse_key(KEY, NOW)
    assert window.resets_at == datetime(2026, 11, 1, 0, 0, 0, 594000, UTC)


TEAM = {"max_budget": 100.0, "spend": 100.0, "blocked": False, "budget_reset_at": RESET}


def member(user: str = "jo", **changes: Any) -> dict[str, Any]:
    return {"user_id": user, "spend": 4.0, "litellm_budget_table": {"max_budget": 5.0}} | changes


@pytest.mark.parametrize(
    ("document", "kind", "expected"),
    [
        ({"team_info": TEAM}, "team", [(SP, "team", 1.0)]),
        ({"team_info": TEAM | {"max_budget": None}}, "team", [(SP, "team", UNLIMITED)]),
        ({"team_info": TEAM | {"blocked": True, "spend": 0}}, "team", [(X, "blocked team", REFUSED), (SP, "team", 0.0)]),
        ({"user_info": {"max_budget": 8, "spend": 2}}, "user", [(SP, "user", 0.25)]),
        ({"team_info": TEAM, "team_memberships": [member(), member("sam")]}, "team", [(SP, "team", 1.0), (SP, "member", 0.8)]),
        ({"team_info": TEAM, "team_memberships": [member(litellm_budget_table=None)]}, "team", [(SP, "team", 1.0)]),
        ({"team_info": TEAM, "team_memberships": [member(litellm_budget_table=7)]}, "team", [(SP, "team", 1.0), (SP, "member", BAD)]),
        ({"team_info": TEAM, "team_memberships": "x"}, "team", [(SP, "team", 1.0), (SP, "member", BAD)]),
        ({"team_info": TEAM, "team_memberships": [7]}, "team", [(SP, "team", 1.0)]),
        ({"user_info": None}, "user", [(SP, "user", BAD)]),
        ({}, "team", [(SP, "team", BAD)]),
    ],
)  # fmt: skip
def test_each_shape_of_an_owner(document: dict[str, Any], kind: str, expected: Expected) -> None:
    found = shown(parse_owner(document, Owner(kind, "id", "jo"), NOW))
    assert found == [(k, s, m if isinstance(m, Measure) else pytest.approx(m)) for k, s, m in expected]


@pytest.mark.parametrize(
    ("info", "owner"),
    [
        ({"team_id": "t", "user_id": "jo"}, Owner("team", "t", "jo")),
        ({"team_id": "t"}, Owner("team", "t")),
        ({"team_id": None, "user_id": "jo"}, Owner("user", "jo", "jo")),
        ({"team_id": "", "user_id": None}, None),
        ({"team_id": 7, "user_id": ["jo"]}, None),
    ],
)
def test_a_key_of_a_team_spends_from_the_teams_budget(info: dict[str, Any], owner: Owner | None) -> None:
    assert owner_of(info) == owner


def replies(info: dict[str, Any], **owners: Any) -> dict[str, Response]:
    found = {"/key/info": json_reply(json.dumps({"key": "hashed", "info": info}).encode())}
    for kind, answer in owners.items():
        found[f"/{kind}/info"] = answer if isinstance(answer, Response) else json_reply(json.dumps(answer).encode())
    return found


async def read(
    far_replies: dict[str, Response], base_url: str | None = "https://proxy.test/"
) -> tuple[Answer, list[str]]:
    far = FarSide(FakeClock(), far_replies)
    seat = target(Path(), base_url=base_url)
    answer = await read_budgets(seat, Login(SecretStr(SECRET)), world(FakeClock(), far))
    assert SECRET not in repr(answer)
    assert {asked.headers["authorization"] for asked in far.asked} <= {f"Bearer {SECRET}"}
    return answer, [asked.url for asked in far.asked]


async def test_the_teams_budget_binds_and_the_users_is_not_asked() -> None:
    user = {"user_info": {"max_budget": 1, "spend": 0}}
    answer, asked = await read(
        replies(KEY | {"team_id": "t/1", "user_id": "jo"}, team={"team_info": TEAM}, user=user)
    )
    assert asked == ["https://proxy.test/key/info", "https://proxy.test/team/info?team_id=t%2F1"]
    assert answer.reading is not None
    assert shown(answer.reading.windows) == [(SP, "key", 0.25), (SP, "team", 1.0)]
    assert answer.reading.source == "litellm"


async def test_the_users_budget_binds_a_key_without_a_team() -> None:
    answer, asked = await read(replies(KEY | {"user_id": "jo"}, user={"user_info": {"max_budget": None, "spend": 3}}))
    assert asked[1:] == ["https://proxy.test/user/info?user_id=jo"]
    assert answer.reading is not None
    assert shown(answer.reading.windows) == [(SP, "key", 0.25), (SP, "user", UNLIMITED)]


async def test_a_key_of_its_own_needs_one_request() -> None:
    assert (await read(replies(KEY)))[1] == ["https://proxy.test/key/info"]


async def test_a_full_key_is_full_whatever_its_owner_would_say() -> None:
    answer, asked = await read(replies(KEY | {"user_id": "jo", "spend": 11}))
    assert len(asked) == 1
    assert answer.reading is not None
    assert shown(answer.reading.windows) == [(SP, "key", 1.1)]


@pytest.mark.parametrize(
    ("status", "reason"), [(401, Reason.HTTP_403), (403, Reason.HTTP_403), (500, Reason.HTTP_5XX)]
)
async def test_an_owner_that_cannot_be_read_fails_the_read_but_rejects_no_key(status: int, reason: Reason) -> None:
    answer, _ = await read(replies(KEY | {"user_id": "jo"}, user=json_reply(b"{}", status=status)))
    assert (answer.reading, answer.failure, answer.rejected) == (None, reason, False)


async def test_without_a_key_or_a_host_nothing_is_asked() -> None:
    answer, asked = await read({}, None)
    assert (answer.failure, asked) == (Reason.SOURCE_MISSING, [])
    seat = target(Path(), base_url="https://proxy.test")
    assert (await read_budgets(seat, Login(), world(FakeClock()))).failure is Reason.SOURCE_MISSING


@pytest.mark.parametrize(
    ("status", "body", "reason", "rejected"),
    [
        (401, b'{"error": {"type": "expired_key"}}', Reason.REJECTED, True),
        (403, b"{}", Reason.HTTP_403, False),
        (404, b"{}", Reason.HTTP_4XX, False),
        (429, b"{}", Reason.HTTP_429, False),
        (200, b"<html>", Reason.HTML, False),
        (200, b'{"key": "x", "info": 7}', Reason.MALFORMED, False),
    ],
)
def test_each_error(status: int, body: bytes, reason: Reason, rejected: bool) -> None:
    answer = interpret_key(json_reply(body, status=status))
    assert (answer.reading, answer.failure, answer.rejected) == (None, reason, rejected)


@pytest.mark.parametrize("status", [400, 401, 422, 429])
def test_a_spent_budget_that_refuses_the_read_itself_is_a_full_window_and_no_throttle(status: int) -> None:
    answer = interpret_key(json_reply(b'{"error": {"type": "budget_exceeded"}}', status=status))
    assert answer.reading is not None
    assert shown(answer.reading.windows) == [(SP, "key", REFUSED)]


def test_a_key_past_its_end_is_rejected() -> None:
    body = json.dumps({"info": KEY | {"expires": "2026-10-15T11:59:59Z"}}).encode()
    answer = interpret_key(json_reply(body))
    assert (answer.reading, answer.failure, answer.rejected) == (None, Reason.REJECTED, True)


def test_facts_at_the_top_are_those_of_an_older_proxy() -> None:
    answer = interpret_key(json_reply(json.dumps(KEY).encode()))
    assert answer.reading is not None
    assert shown(answer.reading.windows) == [(SP, "key", 0.25)]


def test_an_id_cannot_change_the_address() -> None:
    sent = ask_owner("https://proxy.test", Owner("user", "a&b=c/../x"), SecretStr(SECRET))
    assert sent.url == "https://proxy.test/user/info?user_id=a%26b%3Dc%2F..%2Fx"
    assert SECRET not in repr(sent)


KEYS = st.sampled_from([*KEY, "team_info", "user_info", "team_memberships", "blocked", "info"])


@given(st.dictionaries(KEYS, json_values, max_size=6))
def test_no_document_raises(document: dict[str, Any]) -> None:
    windows = [*parse_key(document, NOW), *parse_owner(document, Owner("team", "t", "jo"), NOW)]
    assert all(isinstance(window, Window) for window in windows)
    assert isinstance(interpret_key(json_reply(json.dumps(document).encode())), Answer)
