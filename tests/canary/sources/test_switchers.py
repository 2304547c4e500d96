"""Switchers' caches: shapes and traps of formats 6.1, 6.3 and 6.7, and whose row is whose."""

import json
import os
from copy import deepcopy
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from canary.demo.logins import codex_token
from canary.login import Login
from canary.sources import ccswitch, claude_swap, codex_auth
from canary.sources.answer import Answer
from decide.quota import Measure, Reading, WindowKind
from decide.reason import Reason
from tests.canary.fakes import NOW, FakeClock, target, world

S, W, M, SP, X = (WindowKind.SESSION, WindowKind.WEEKLY, WindowKind.WEEKLY_MODEL, WindowKind.SPEND, WindowKind.OTHER)
BAD = Measure.MALFORMED
AT = NOW - timedelta(minutes=5)
ISO, RESET = (NOW + timedelta(hours=2)).isoformat(), int((NOW + timedelta(hours=2)).timestamp())
Found = list[tuple[WindowKind, str, float | Measure]]


def found(reading: Reading | None) -> Found:
    assert reading is not None
    return [(w.kind, w.scope, w.used if w.measure is Measure.METERED else w.measure) for w in reading.windows]


def expected(windows: Found) -> list[tuple[WindowKind, str, Any]]:
    return [(k, s, m if isinstance(m, Measure) else pytest.approx(m)) for k, s, m in windows]


ME = claude_swap.Identity("Jo@example.test", "org-1")
GOOD: dict[str, Any] = {
    "five_hour": {"pct": 22.0, "resets_at": ISO, "countdown": "SECRET", "clock": "14:30"},
    "seven_day": {"pct": 61.0, "resets_at": ISO},
    "scoped": [{"name": "Fable", "pct": 49.0, "resets_at": ISO}],
    "spend": {"used": 3.25, "limit": 20.5, "pct": 15.85, "currency": "USD"},
}
ROW: dict[str, Any] = {
    "email": "jo@example.test",
    "organizationUuid": "org-1",
    "lastGood": GOOD,
    "fetchedAt": AT.timestamp(),
    "lastAttemptAt": NOW.timestamp(),
    "consecutiveFailures": 0,
    "lastError": None,
}


def cache(**changes: Any) -> dict[str, Any]:
    return {"schemaVersion": 2, "accounts": {"1": {**ROW, "email": "al@example.test"}, "2": {**ROW, **changes}}}


def swap(document: dict[str, Any]) -> Answer:
    return claude_swap.parse(document, ME, NOW)


GOOD_ONES: list[tuple[dict[str, Any], Found]] = [
    (GOOD, [(S, "", 0.22), (W, "", 0.61), (M, "Fable", 0.49), (SP, "", 0.1585)]),
    ({"five_hour": None, "seven_day": {"pct": 0.4}}, [(W, "", 0.004)]),
    ({"five_hour": {"pct": 101}}, [(S, "", 1.01)]),
    ({"five_hour": {"pct": 5}, "nimbus": {"pct": 100}, "plan": "max"}, [(S, "", 0.05), (X, "nimbus", 1.0)]),
    ({"spend": {"used": 5, "limit": 20, "pct": None}}, [(SP, "", 0.25)]),
    ({"spend": {"used": 5, "limit": None, "pct": None}}, [(SP, "", Measure.UNLIMITED)]),
    ({}, []),
    ({"five_hour": 22}, [(S, "", BAD)]),
    ({"five_hour": {"pct": "22"}}, [(S, "", BAD)]),
    ({"scoped": {"name": "Fable", "pct": 100}}, [(M, "Fable", 1.0)]),
    ({"scoped": "Fable"}, [(M, "", BAD)]),
    ({"scoped": [{"name": 5, "pct": 100}]}, [(M, "", BAD)]),
    ({"spend": 5}, [(SP, "", BAD)]),
    ({"spend": {"used": 5, "limit": 0}}, [(SP, "", BAD)]),
]


@pytest.mark.parametrize(("good", "windows"), GOOD_ONES)
def test_claude_swap_each_shape(good: dict[str, Any], windows: Found) -> None:
    answer = swap(cache(lastGood=good))
    assert found(answer.reading) == expected(windows)
    assert answer.reading is not None
    assert (answer.reading.source, answer.reading.fetched_at) == ("claude-swap", AT)
    assert "SECRET" not in answer.step


@pytest.mark.parametrize(
    "changes",
    [
        {"organizationUuid": "org-2"},
        {"organizationUuid": ""},
        {"organizationUuid": None},
        {"email": "x@example.test"},
    ],
)
def test_claude_swap_a_row_is_this_seats_by_email_and_organisation_only(changes: dict[str, Any]) -> None:
    assert swap(cache(**changes)).failure is Reason.NEVER_READ


def test_claude_swap_a_good_reading_outlives_failures_with_its_own_age() -> None:
    old = (NOW - timedelta(hours=45)).timestamp()
    answer = swap(cache(lastError="SECRET", consecutiveFailures=9, fetchedAt=old))
    assert answer.reading is not None
    assert answer.reading.fetched_at == NOW - timedelta(hours=45)
    assert "last attempt failed" in answer.step
    assert "SECRET" not in answer.step


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"lastGood": None, "lastError": "http-429"}, Reason.SOURCE_FAILED),
        ({"lastGood": None, "lastError": None}, Reason.NEVER_READ),
        ({"lastGood": []}, Reason.MALFORMED),
        ({"fetchedAt": None}, Reason.MALFORMED),
        ({"fetchedAt": "now"}, Reason.MALFORMED),
        ({"fetchedAt": 5}, Reason.MALFORMED),
    ],
)
def test_claude_swap_what_gives_no_reading(changes: dict[str, Any], reason: Reason) -> None:
    answer = swap(cache(**changes))
    assert (answer.reading, answer.failure) == (None, reason)


@pytest.mark.parametrize(
    "document", [{}, {"schemaVersion": 2}, {**cache(), "schemaVersion": 3}, {**cache(), "accounts": [ROW]}]
)
def test_claude_swap_what_is_no_cache(document: dict[str, Any]) -> None:
    assert swap(document).failure is Reason.MALFORMED


def test_claude_swap_a_purse_permits_overage_while_something_is_left() -> None:
    left, spent = swap(cache()), swap(cache(lastGood={**GOOD, "spend": {"pct": 100}}))
    assert [answer.reading and answer.reading.permits_overage for answer in (left, spent)] == [True, False]


def put(path: Path, document: Any, at: datetime = NOW) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def account(email: Any = "jo@example.test", organization: Any = "org-1") -> dict[str, Any]:
    return {"oauthAccount": {"emailAddress": email, "organizationUuid": organization, "accountUuid": "uuid"}}


async def test_claude_swap_reads_its_usual_place_for_the_account_beside_the_login(tmp_path: Path) -> None:
    put(tmp_path / "data/claude-swap/cache/usage.json", cache(), at=NOW - timedelta(days=3))
    put(tmp_path / "seat/.claude.json", account())
    there = world(FakeClock(), environ={"XDG_DATA_HOME": str(tmp_path / "data")})
    answer = await claude_swap.read_cache(target(tmp_path / "seat"), Login(), there)
    assert answer.reading is not None
    assert answer.reading.fetched_at == AT


async def test_claude_swap_reads_the_file_that_is_configured(tmp_path: Path) -> None:
    path = put(tmp_path / "elsewhere.json", cache())
    put(tmp_path / ".claude.json", account())
    (tmp_path / ".claude").mkdir()
    seat = target(tmp_path / ".claude", switcher_file=path)
    assert (await claude_swap.read_cache(seat, Login(), world(FakeClock()))).reading is not None


@pytest.mark.parametrize("told", [{}, account(email=None), account(organization=""), {"oauthAccount": "jo"}])
async def test_claude_swap_without_the_whole_identity_no_row_is_taken(tmp_path: Path, told: dict[str, Any]) -> None:
    seat = target(tmp_path, switcher_file=put(tmp_path / "usage.json", cache()))
    put(tmp_path / ".claude.json", told)
    assert (await claude_swap.read_cache(seat, Login(), world(FakeClock()))).failure is Reason.NEVER_READ


def test_claude_swap_its_usual_places(home: Path) -> None:
    tail = Path("cache/usage.json")
    assert claude_swap.default_file({"XDG_DATA_HOME": "/d"}, "linux") == Path("/d/claude-swap") / tail
    assert claude_swap.default_file({"XDG_DATA_HOME": "d"}, "linux") == home / ".local/share/claude-swap" / tail
    assert claude_swap.default_file({}, "darwin") == home / ".claude-swap-backup" / tail


RESULT: dict[str, Any] = {"five_hour_pct": 63, "five_hour_resets_at": ISO, "has_five_hour": True}
STAMP = AT.isoformat()


def profiles(result: Any = RESULT, stamp: Any = STAMP) -> dict[str, Any]:
    return {"timestamp": stamp, "key_set_sha": "00", "rows": {"work": {"result": result}, "home": {}}}


RESULTS: list[tuple[Any, Found]] = [
    (RESULT, [(S, "", 0.63)]),
    (
        {**RESULT, "seven_day_pct": 19, "seven_day_resets_at": ISO, "has_seven_day": True},
        [(S, "", 0.63), (W, "", 0.19)],
    ),
    ({"has_five_hour": True, "five_hour_resets_at": ISO}, [(S, "", 0.0)]),
    ({"has_five_hour": True, "five_hour_resets_at": "0001-01-01T00:00:00Z"}, [(S, "", 0.0)]),
    ({"has_five_hour": True, "five_hour_resets_at": "2026-10-15T14:00:00.123456789+07:00"}, [(S, "", 0.0)]),
    ({"five_hour_resets_at": "0001-01-01T00:00:00Z", "seven_day_resets_at": "0001-01-01T00:00:00Z"}, []),
    ({"five_hour_pct": 63}, [(S, "", BAD)]),
    ({**RESULT, "has_five_hour": "yes"}, [(S, "", BAD)]),
    ({**RESULT, "five_hour_pct": "63"}, [(S, "", BAD)]),
    ({**RESULT, "five_hour_resets_at": "soon"}, [(S, "", BAD)]),
]


@pytest.mark.parametrize(("result", "windows"), RESULTS)
def test_ccswitch_each_shape(result: Any, windows: Found) -> None:
    answer = ccswitch.parse(profiles(result), "work", NOW)
    assert found(answer.reading) == expected(windows)
    assert answer.reading is not None
    assert (answer.reading.source, answer.reading.fetched_at) == ("ccswitch", AT)


@pytest.mark.parametrize(
    ("document", "row", "reason"),
    [
        (profiles(), "play", Reason.NEVER_READ),
        (profiles(), "home", Reason.SOURCE_FAILED),
        (profiles(result=None), "work", Reason.SOURCE_FAILED),
        (profiles(result=[]), "work", Reason.MALFORMED),
        (profiles(stamp=None), "work", Reason.MALFORMED),
        (profiles(stamp=1792065600), "work", Reason.MALFORMED),
        (profiles(stamp="2026-10-15T12:00:00"), "work", Reason.MALFORMED),
        ({**profiles(), "rows": []}, "work", Reason.MALFORMED),
        ({}, "work", Reason.MALFORMED),
    ],
)
def test_ccswitch_what_gives_no_reading(document: dict[str, Any], row: str, reason: Reason) -> None:
    answer = ccswitch.parse(document, row, NOW)
    assert (answer.reading, answer.failure) == (None, reason)


async def test_ccswitch_reads_the_profile_that_is_configured(tmp_path: Path) -> None:
    put(tmp_path / "ccswitch/cache/usage.json", profiles(), at=NOW - timedelta(days=3))
    there = world(FakeClock(), environ={"XDG_CONFIG_HOME": str(tmp_path), "CCSWITCH_CONFIG_DIR": ""})
    if ccswitch.default_file(there.environ).is_relative_to(tmp_path):
        answer = await ccswitch.read_cache(target(tmp_path, switcher_row="work"), Login(), there)
        assert answer.reading is not None
        assert answer.reading.fetched_at == AT
    unnamed = await ccswitch.read_cache(target(tmp_path), Login(), there)
    assert (unnamed.failure, "switcher_row" in unnamed.step) == (Reason.NEVER_READ, True)
    elsewhere = target(tmp_path, switcher_row="work", switcher_file=tmp_path / "none.json")
    assert (await ccswitch.read_cache(elsewhere, Login(), there)).failure is Reason.SOURCE_MISSING


def test_ccswitch_its_usual_places(home: Path) -> None:
    tail = Path("cache/usage.json")
    assert ccswitch.default_file({"CCSWITCH_CONFIG_DIR": "/c", "XDG_CONFIG_HOME": "/d"}, "linux") == Path("/c") / tail
    assert ccswitch.default_file({"XDG_CONFIG_HOME": "/d"}, "linux") == Path("/d/ccswitch") / tail
    assert ccswitch.default_file({}, "linux") == home / ".config/ccswitch" / tail
    assert ccswitch.default_file({}, "darwin") == home / "Library/Application Support/ccswitch" / tail


US = codex_auth.Identity("acct-a", "user-a")
SNAPSHOT: dict[str, Any] = {
    "primary": {"used_percent": 42.0, "window_minutes": 300, "resets_at": RESET},
    "secondary": {"used_percent": 9.0, "window_minutes": 10080, "resets_at": RESET},
    "credits": None,
    "plan_type": "team",
}
RECORD: dict[str, Any] = {
    "account_key": "user-a::acct-a",
    "chatgpt_account_id": "acct-a",
    "chatgpt_user_id": "user-a",
    "email": "SECRET@example.test",
    "last_usage_at": int(AT.timestamp()),
    "last_usage": SNAPSHOT,
}


def registry(*, version: Any = 3, **changes: Any) -> dict[str, Any]:
    colleague = {**deepcopy(RECORD), "chatgpt_user_id": "user-b", "last_usage": {"primary": None}}
    return {
        "schema_version": version,
        "active_account_key": "user-b::acct-a",
        "accounts": [colleague, {**RECORD, **changes}],
    }


SNAPSHOTS: list[tuple[dict[str, Any], Found]] = [
    (SNAPSHOT, [(S, "", 0.42), (W, "", 0.09)]),
    ({"primary": {"remaining_percent": 58, "window_minutes": 300, "reset_at": RESET}}, [(S, "", 0.42)]),
    (
        {"primary": {"used_percent": 100, "window_minutes": 10080, "resets_at": RESET}, "secondary": None},
        [(W, "", 1.0)],
    ),
    ({"primary": None, "secondary": None}, []),
    ({"primary": {"used_percent": 4}}, [(X, "window", BAD)]),
    ({"primary": 4}, [(X, "window", BAD)]),
]


@pytest.mark.parametrize(("snapshot", "windows"), SNAPSHOTS)
@pytest.mark.parametrize("version", [3, 4])
def test_codex_auth_each_shape(snapshot: dict[str, Any], windows: Found, version: int) -> None:
    answer = codex_auth.parse(registry(version=version, last_usage=snapshot), US, NOW)
    assert found(answer.reading) == expected(windows)
    assert answer.reading is not None
    assert (answer.reading.source, answer.reading.fetched_at) == ("codex-auth", AT)


@pytest.mark.parametrize(
    ("document", "identity", "reason"),
    [
        (registry(), codex_auth.Identity("acct-b", "user-a"), Reason.NEVER_READ),
        (registry(), codex_auth.Identity("acct-a", "user-c"), Reason.NEVER_READ),
        (registry(), codex_auth.Identity("acct-a", ""), Reason.NEVER_READ),
        (registry(last_usage=None), US, Reason.NEVER_READ),
        (registry(last_usage_at=None), US, Reason.MALFORMED),
        (registry(last_usage_at="now"), US, Reason.MALFORMED),
        (registry(last_usage=[]), US, Reason.MALFORMED),
        (registry(version=2), US, Reason.MALFORMED),
        (registry(version=5), US, Reason.MALFORMED),
        (registry(version=True), US, Reason.MALFORMED),
        ({"schema_version": 3, "accounts": {}}, US, Reason.MALFORMED),
        ({"schema_version": 3, "accounts": [RECORD, RECORD]}, US, Reason.NEVER_READ),
        ({}, US, Reason.MALFORMED),
    ],
)
def test_codex_auth_what_gives_no_reading(
    document: dict[str, Any], identity: codex_auth.Identity, reason: Reason
) -> None:
    answer = codex_auth.parse(document, identity, NOW)
    assert (answer.reading, answer.failure) == (None, reason)
    assert "SECRET" not in answer.step


def test_codex_auth_a_record_without_a_user_is_known_by_its_account() -> None:
    rows = [{**RECORD, "chatgpt_user_id": None}]
    assert codex_auth.parse({"version": 3, "accounts": rows}, US, NOW).reading is not None


async def test_codex_auth_reads_beside_the_login_for_its_account_and_user(tmp_path: Path) -> None:
    mine = {**RECORD, "chatgpt_user_id": "user-FAKE"}
    put(
        tmp_path / "accounts/registry.json",
        {"schema_version": 4, "accounts": [RECORD, mine]},
        at=NOW - timedelta(days=3),
    )
    token = codex_token(NOW + timedelta(hours=1), account_id="acct-a")
    login = Login(secret=SecretStr(token), account="acct-a")
    answer = await codex_auth.read_registry(target(tmp_path), login, world(FakeClock()))
    assert answer.reading is not None
    assert answer.reading.fetched_at == AT
    elsewhere = target(tmp_path, switcher_file=tmp_path / "none.json")
    assert (await codex_auth.read_registry(elsewhere, login, world(FakeClock()))).failure is Reason.SOURCE_MISSING
    assert (
        await codex_auth.read_registry(target(tmp_path), Login(), world(FakeClock()))
    ).failure is Reason.NEVER_READ
