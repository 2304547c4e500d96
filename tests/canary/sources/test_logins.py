"""Logins of Claude Code, Codex, API keys and the key ring: shapes of formats 1 and 3, and their traps."""

import base64
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jwt
import keyring
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked
from pydantic import SecretStr

from canary.demo.logins import codex_token
from canary.login import Login, Renewal, judge_token
from canary.offload import Offloader
from canary.sources import api_key, claude_login, codex_login
from canary.sources.keychain import KeychainLockedError, choose, system_keychain
from decide.reason import Reason
from decide.seat import Auth, TokenState
from tests.canary.fakes import NOW, no_pause
from tests.canary.sources.test_claude_usage import json_values

MS = 1000
SOON = int((NOW + timedelta(hours=1)).timestamp())
PAST = int((NOW - timedelta(hours=1)).timestamp())
offload = Offloader().owned("test")


def claude(**fields: Any) -> dict[str, Any]:
    block = {"accessToken": "tok-a", "expiresAt": SOON * MS, "refreshToken": "tok-r"} | fields
    return {"claudeAiOauth": {name: value for name, value in block.items() if value != "-"}}


CLAUDE: list[tuple[str, dict[str, Any], Reason | None, Reason | None, Renewal]] = [
    # document, absent, fault, renewal
    ("usual", claude(scopes=["user:inference", "user:profile"]), None, None, Renewal.YES),
    ("legacy key", {"claude.ai_oauth": claude()["claudeAiOauth"]}, None, None, Renewal.YES),
    ("scopes not told", claude(scopes=None), None, None, Renewal.YES),
    ("setup token, no renewal", claude(refreshToken="-", scopes=["user:inference"]), None, None, Renewal.NO),
    ("renewal lapsed", claude(refreshTokenExpiresAt=PAST * MS), None, None, Renewal.NO),
    ("renewal ahead", claude(refreshTokenExpiresAt=SOON * MS), None, None, Renewal.YES),
    ("renewal at no plausible time", claude(refreshTokenExpiresAt="x"), None, None, Renewal.UNKNOWN),
    ("no inference scope", claude(scopes=["user:profile"]), Reason.UNUSABLE, None, Renewal.YES),
    ("scopes as one text", claude(scopes="user:inference user:profile"), None, None, Renewal.YES),
    ("scopes as one text without inference", claude(scopes="user:profile"), Reason.UNUSABLE, None, Renewal.YES),
    ("no expiry", claude(expiresAt="-"), None, Reason.NO_EXPIRY, Renewal.YES),
    ("expiry in seconds by mistake", claude(expiresAt=SOON), None, Reason.IMPLAUSIBLE_TIME, Renewal.YES),
    ("expiry that is text", claude(expiresAt=str(SOON * MS)), None, Reason.EXP_NOT_NUMERIC, Renewal.YES),
    (
        "only another product's token",
        {"mcpOAuth": {"srv|1": {"accessToken": "x", "expiresAt": SOON * MS}}},
        Reason.MISSING,
        None,
        Renewal.NO,
    ),
    ("blanked by its client", claude(accessToken="", refreshToken="", expiresAt=0), Reason.MISSING, None, Renewal.NO),
    ("token that is a number", claude(accessToken=5), None, Reason.MALFORMED, Renewal.NO),
    ("block that is a list", {"claudeAiOauth": []}, None, Reason.MALFORMED, Renewal.NO),
    ("empty", {}, Reason.MISSING, None, Renewal.NO),
]


@pytest.mark.parametrize(
    ("document", "absent", "fault", "renewal"), [row[1:] for row in CLAUDE], ids=[row[0] for row in CLAUDE]
)
def test_each_shape_of_a_claude_login(
    document: dict[str, Any], absent: Reason | None, fault: Reason | None, renewal: Renewal
) -> None:
    login = claude_login.parse(document, NOW)
    assert (login.absent, login.fault) == (absent, fault)
    if login.secret is not None:
        assert login.renewal is renewal
    assert "tok-" not in repr(login)


def token(**claims: Any) -> str:
    return jwt.encode(claims, "not-a-secret-but-long-enough-for-hs256", "HS256")


def codex(access: Any, **fields: Any) -> dict[str, Any]:
    tokens = {"access_token": access, "refresh_token": "rt_x", "account_id": "acct-x"} | fields
    return {"auth_mode": "chatgpt", "OPENAI_API_KEY": None, "tokens": {k: v for k, v in tokens.items() if v != "-"}}


CODEX: list[tuple[str, dict[str, Any], Reason | None, Reason | None, Renewal]] = [
    ("usual", codex(token(exp=SOON)), None, None, Renewal.YES),
    ("no refresh token at all", codex(token(exp=SOON), refresh_token="-"), Reason.UNUSABLE, None, Renewal.NO),
    ("an empty refresh token", codex(token(exp=SOON), refresh_token=""), None, None, Renewal.NO),
    ("opaque token", codex("opaque-0123456789abcdef"), None, Reason.NO_EXPIRY, Renewal.YES),
    ("no exp", codex(token(sub="x")), None, Reason.NO_EXPIRY, Renewal.YES),
    ("exp is text", codex(token(exp=str(SOON))), None, Reason.EXP_NOT_NUMERIC, Renewal.YES),
    ("iat is text", codex(token(exp=SOON, iat="x")), None, Reason.EXP_NOT_NUMERIC, Renewal.YES),
    ("exp in milliseconds", codex(token(exp=SOON * MS)), None, Reason.IMPLAUSIBLE_TIME, Renewal.YES),
    ("no tokens", {"auth_mode": "chatgpt", "tokens": None}, Reason.MISSING, None, Renewal.NO),
    ("tokens is a list", {"tokens": []}, None, Reason.MALFORMED, Renewal.NO),
    ("token is a number", codex(5), None, Reason.MALFORMED, Renewal.NO),
    ("an API key", {"OPENAI_API_KEY": "sk-x"}, None, None, Renewal.NO),
    (
        "an API key beside a chatgpt login",
        {"OPENAI_API_KEY": "sk-x", **{k: v for k, v in codex(token(exp=PAST)).items() if k != "OPENAI_API_KEY"}},
        None,
        None,
        Renewal.YES,
    ),
]


@pytest.mark.parametrize(
    ("document", "absent", "fault", "renewal"), [row[1:] for row in CODEX], ids=[row[0] for row in CODEX]
)
def test_each_shape_of_a_codex_login(
    document: dict[str, Any], absent: Reason | None, fault: Reason | None, renewal: Renewal
) -> None:
    login = codex_login.parse(document, NOW)
    assert (login.absent, login.fault) == (absent, fault)
    if login.secret is not None:
        assert login.renewal is renewal
    assert "rt_x" not in repr(login)


def test_the_account_comes_from_the_file_else_from_the_claims() -> None:
    claims = {codex_login.CLAIMS: {"chatgpt_account_id": "acct-claims"}}
    assert codex_login.parse(codex(token(exp=SOON, **claims)), NOW).account == "acct-x"
    assert codex_login.parse(codex(token(exp=SOON, **claims), account_id="-"), NOW).account == "acct-claims"
    assert codex_login.parse({"OPENAI_API_KEY": "sk-x"}, NOW).auth is Auth.API_KEY


@given(
    st.dictionaries(st.sampled_from(["claudeAiOauth", "claude.ai_oauth", "tokens", "OPENAI_API_KEY"]), json_values)
)
def test_no_document_raises(document: dict[str, Any]) -> None:
    claude_login.parse(document, NOW)
    codex_login.parse(document, NOW)


async def read_claude(folder: Path, **more: Any) -> Login:
    return await claude_login.read_login(folder, now=NOW, sleep=no_pause, offload=offload, **more)


def items(*found: tuple[str, dict[str, Any]]) -> Any:
    def keychain(service: str, account: str | None) -> Sequence[tuple[str, str]]:
        return [(name, json.dumps(document)) for name, document in found if account in (None, name)]

    return keychain


def locked(service: str, account: str | None) -> Sequence[tuple[str, str]]:
    raise KeychainLockedError


def write(folder: Path, document: dict[str, Any]) -> None:
    (folder / ".credentials.json").write_text(json.dumps(document))


async def test_a_claude_login_from_its_file(tmp_path: Path) -> None:
    assert (await read_claude(tmp_path)).absent is Reason.MISSING
    write(tmp_path, claude())
    login = await read_claude(tmp_path)
    assert login.secret == SecretStr("tok-a")
    assert login.expires_at == datetime.fromtimestamp(SOON, UTC)


@pytest.mark.parametrize(("file_in", "item_in", "speaks"), [(60, 10, "file"), (10, 60, "item")])
async def test_of_file_and_key_ring_the_later_expiry_speaks_and_the_difference_is_told(
    tmp_path: Path, file_in: int, item_in: int, speaks: str
) -> None:
    write(tmp_path, claude(accessToken="file", expiresAt=(NOW.timestamp() + file_in) * MS))
    ring = items(("jo", claude(accessToken="item", expiresAt=(NOW.timestamp() + item_in) * MS)))
    login = await read_claude(tmp_path, keychain=ring)
    assert login.secret == SecretStr(speaks)
    assert any("hold different logins" in step for step in login.steps)


async def test_a_locked_key_ring_is_unknown_and_never_logged_out(tmp_path: Path) -> None:
    assert (await read_claude(tmp_path, keychain=locked)).fault is Reason.UNREADABLE
    write(tmp_path, claude())
    assert (await read_claude(tmp_path, keychain=locked)).secret == SecretStr("tok-a")


async def test_the_key_ring_alone_is_enough(tmp_path: Path) -> None:
    login = await read_claude(tmp_path, keychain=items(("jo", claude())))
    assert login.secret == SecretStr("tok-a")


def test_the_key_ring_service_is_suffixed_by_the_raw_setting() -> None:
    assert claude_login.keychain_service(None) == "Claude Code-credentials"
    assert claude_login.keychain_service("") == "Claude Code-credentials"
    named = claude_login.keychain_service("~/.claude-work")
    assert named != claude_login.keychain_service("~/.claude-work/")
    assert named.startswith("Claude Code-credentials-")
    assert len(named) == len("Claude Code-credentials-") + 8


def test_of_several_items_the_configured_account_is_used() -> None:
    empty, good, other = Login(absent=Reason.MISSING), Login(SecretStr("a")), Login(SecretStr("b"))
    assert choose([("unknown", empty), ("jo", good)], "jo") is good
    assert choose([("unknown", empty), ("jo", good)], None) is good
    assert choose([("al", other), ("jo", good)], None).fault is Reason.AMBIGUOUS
    assert choose([("al", other), ("jo", good)], "jo") is good
    assert choose([], None).absent is Reason.MISSING


class Ring(KeyringBackend):
    """A key ring that holds what it is given, or is locked."""

    priority = 1

    def __init__(self, held: dict[tuple[str, str], str] | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # keyring is not typed
        self.held = held

    def get_password(self, service: str, username: str) -> str | None:
        if self.held is None:
            raise KeyringLocked
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        raise AssertionError("the canary writes no key ring")

    def delete_password(self, service: str, username: str) -> None:
        raise AssertionError("the canary writes no key ring")


def test_the_real_key_ring_library_is_asked_and_never_written() -> None:
    before = keyring.get_keyring()
    try:
        keyring.set_keyring(Ring({("svc", "jo"): "text"}))
        assert system_keychain("svc", "jo") == [("jo", "text")]
        assert system_keychain("svc", "al") == []
        keyring.set_keyring(Ring(None))
        with pytest.raises(KeychainLockedError):
            system_keychain("svc", "jo")
    finally:
        keyring.set_keyring(before)


async def read_codex(home: Path) -> Login:
    return await codex_login.read_login(home, now=NOW, sleep=no_pause, offload=offload)


@pytest.mark.parametrize(
    ("config", "absent", "fault"),
    [
        (None, Reason.MISSING, None),
        ('model = "x"', Reason.MISSING, None),
        ('cli_auth_credentials_store = "file"', Reason.MISSING, None),
        ('cli_auth_credentials_store = "keyring"', None, Reason.UNREADABLE),
        ('cli_auth_credentials_store = "auto"', None, Reason.UNREADABLE),
        ("not toml [", None, Reason.UNREADABLE),
    ],
)
async def test_a_missing_auth_file_is_logged_out_only_where_the_file_is_the_store(
    tmp_path: Path, config: str | None, absent: Reason | None, fault: Reason | None
) -> None:
    if config is not None:
        (tmp_path / "config.toml").write_text(config)
    login = await read_codex(tmp_path)
    assert (login.absent, login.fault) == (absent, fault)


async def test_a_codex_login_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text(json.dumps(codex(token(exp=SOON))))
    login = await read_codex(tmp_path)
    assert login.expires_at == datetime.fromtimestamp(SOON, UTC)


async def test_whose_login_it_is_stands_in_the_clients_own_file(tmp_path: Path) -> None:
    async def identity(folder: Path) -> tuple[str, str]:
        login = await read_claude(folder)
        return login.account, login.organization

    account = {"oauthAccount": {"accountUuid": "a", "organizationUuid": "o", "emailAddress": "x@example.test"}}
    home = tmp_path / ".claude"
    home.mkdir()
    assert await identity(home) == ("", "")
    (tmp_path / ".claude.json").write_text(json.dumps(account))
    assert await identity(home) == ("a", "o")
    seat = tmp_path / "seat"
    seat.mkdir()
    assert await identity(seat) == ("", ""), "another folder's account is not this seat's"
    (seat / ".claude.json").write_text(json.dumps(account))
    assert await identity(seat) == ("a", "o")


@pytest.mark.parametrize(
    ("environ", "content", "absent", "secret"),
    [
        ({"KEY": " k1 "}, None, None, "k1"),
        ({}, "k2\n", None, "k2"),
        ({"KEY": "k1"}, "k2", None, "k1"),
        ({"KEY": "  "}, None, Reason.MISSING, None),
        ({}, "", Reason.MISSING, None),
    ],
)
async def test_an_api_key_from_its_variable_or_file(
    tmp_path: Path, environ: dict[str, str], content: str | None, absent: Reason | None, secret: str | None
) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_text(content)
    login = await api_key.read_login("KEY", file, environ=environ, offload=offload)
    assert login.absent is absent
    assert login.secret == (SecretStr(secret) if secret else None)
    assert login.auth is (Auth.API_KEY if secret else Auth.OAUTH)


@pytest.mark.parametrize(
    ("document", "doubt"),
    [
        (claude(scopes=["user:inference"]), None),
        (claude(scopes=None), Reason.UNUSABLE),
        (claude(), Reason.UNUSABLE),
        ({"claude.ai_oauth": claude(scopes=["user:inference"])["claudeAiOauth"]}, Reason.UNUSABLE),
    ],
)
async def test_a_claude_file_that_todays_client_does_not_read_is_in_doubt(
    tmp_path: Path, document: dict[str, Any], doubt: Reason | None
) -> None:
    (tmp_path / ".credentials.json").write_text(json.dumps(document))
    login = await read_claude(tmp_path)
    assert login.doubt is doubt
    state = judge_token(login, now=NOW, rejected=False, skew=None).state
    assert state is (TokenState.UNKNOWN if doubt else TokenState.LIVE)
    later = judge_token(login, now=NOW + timedelta(hours=2), rejected=False, skew=None)
    assert later.state is TokenState.REFRESHABLE


async def test_a_claude_login_is_in_doubt_while_its_clients_configuration_is_broken(tmp_path: Path) -> None:
    (tmp_path / ".credentials.json").write_text(json.dumps(claude(scopes=["user:inference"])))
    (tmp_path / ".claude.json").write_text('{"oauthAccount": {"accountU')
    assert (await read_claude(tmp_path)).doubt is Reason.MALFORMED


ID = codex_token(NOW)
TOKENS: dict[str, Any] = {"id_token": ID, "access_token": "a", "refresh_token": "r", "account_id": None}


def id_of(payload: bytes) -> str:
    return f"e30.{base64.urlsafe_b64encode(payload).decode().rstrip('=')}.sig"


@pytest.mark.parametrize(
    ("document", "taken"),
    [
        ({"tokens": TOKENS}, True),
        ({"tokens": TOKENS, "auth_mode": "chatgpt", "OPENAI_API_KEY": "sk-x"}, True),
        ({"tokens": TOKENS, "auth_mode": "chatgptAuthTokens"}, True),
        ({"OPENAI_API_KEY": "sk-x", "tokens": None}, True),
        ({"OPENAI_API_KEY": "sk-x", "auth_mode": "apikey"}, True),
        ({"OPENAI_API_KEY": "", "tokens": TOKENS}, False),
        ({"OPENAI_API_KEY": 5, "tokens": TOKENS}, False),
        *(({"tokens": TOKENS, "auth_mode": mode}, False) for mode in ("apikey", "ChatGPT", "agentIdentity", "", 5)),
        *(({"tokens": TOKENS, "last_refresh": at}, False) for at in ("", 5, "2026-10-15", "2026-10-15T12:00:00", "2026-10-15T12:00Z")),
        *(({"tokens": TOKENS, "last_refresh": at}, True) for at in (None, "2026-10-15 12:00:00Z", "2026-10-15T12:00:00.123456789+02:00")),
        *(({"tokens": TOKENS | {"id_token": token}}, False) for token in (None, 5, "", "x", "e30.e30", "e30.e30.", "e30.!!!.x", "e30.e30=.x")),
        *(({"tokens": TOKENS | {"id_token": id_of(payload)}}, False) for payload in (b"nope", b"[1]", b'{"email":5}', b'{"https://api.openai.com/auth":"x"}')),
        ({"tokens": TOKENS | {"id_token": id_of(b"{}")}}, True),
        ({"tokens": TOKENS | {"account_id": 5}}, False),
        ({"tokens": TOKENS | {"refresh_token": None}}, False),
        ({"tokens": None}, False),
    ],
)  # fmt: skip
def test_which_auth_files_codex_takes(document: dict[str, Any], taken: bool) -> None:
    """As `codex login status` of 0.171.0 says of each."""
    assert codex_login.taken(document) is taken


@given(json_values)
def test_no_document_makes_that_raise(value: Any) -> None:
    for document in ({"tokens": value}, {"auth_mode": value}, {"tokens": TOKENS | {"id_token": value}}):
        assert isinstance(codex_login.taken(document), bool)


@pytest.mark.parametrize("text", ["\ufeff%s", '{"x": NaN, %.0s"y": 1}'])
async def test_a_login_file_that_its_client_cannot_parse_is_malformed(tmp_path: Path, text: str) -> None:
    (tmp_path / ".credentials.json").write_text(text % json.dumps(claude(scopes=["user:inference"])))
    assert (await read_claude(tmp_path)).fault is Reason.MALFORMED


def test_an_empty_access_token_that_can_be_renewed_is_not_logged_out() -> None:
    assert codex_login.parse({"tokens": TOKENS | {"access_token": ""}}, NOW).fault is Reason.NO_EXPIRY
    assert codex_login.parse({"tokens": {"access_token": "", "refresh_token": ""}}, NOW).absent is Reason.MISSING
