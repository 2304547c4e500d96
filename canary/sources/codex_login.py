"""Codex login: auth.json and the claims of its access token, never written and never renewed (formats 3)."""

import base64
import json
import re
import tomllib
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from canary.files import Document, FileFault, Sleep, read_bytes, read_object
from canary.login import Login, Renewal, sendable
from canary.offload import Offload
from canary.sources.wire import Instant, expiry_in_s, finite
from decide.reason import Reason
from decide.seat import Auth

CLAIMS = "https://api.openai.com/auth"


async def read_login(codex_home: Path, *, now: datetime, sleep: Sleep, offload: Offload) -> Login:
    """The login of a seat; without auth.json it is missing only where the client keeps logins in that file."""
    found = await read_object(codex_home / "auth.json", sleep=sleep, offload=offload, bom=False)
    if isinstance(found, Document):
        doubt = None if taken(found.value) else Reason.UNUSABLE
        return replace(parse(found.value, now), doubt=doubt, steps=("read auth.json",))
    if found.reason is not Reason.MISSING:
        return Login(fault=found.reason, steps=(found.text,))
    store = await offload(lambda: credential_store(codex_home / "config.toml"))
    if store == "file":
        return Login(absent=Reason.MISSING, steps=(found.text,))
    return Login(fault=Reason.UNREADABLE, steps=(f"{found.text}; the client keeps its login in {store!r}",))


def credential_store(config: Path) -> str:
    """Where this Codex keeps its login; `file` unless its configuration says otherwise (formats 3.1)."""
    found = read_bytes(config)
    if isinstance(found, FileFault):
        return "file" if found.reason is Reason.MISSING else "unreadable"
    try:
        store = tomllib.loads(found[0].decode("utf-8-sig")).get("cli_auth_credentials_store", "file")
    except ValueError:
        return "unreadable"
    return store if isinstance(store, str) else "unreadable"


def parse(document: dict[str, Any], now: datetime) -> Login:
    """The login in an auth.json document (formats 3.2); never raises."""
    key, mode = document.get("OPENAI_API_KEY"), document.get("auth_mode")
    tokens = document.get("tokens")
    if isinstance(key, str) and key and (mode is None or str(mode).casefold() == "apikey"):
        return Login(secret=SecretStr(key), auth=Auth.API_KEY)
    if tokens is None:
        return Login(absent=Reason.MISSING)
    if not isinstance(tokens, dict):
        return Login(fault=Reason.MALFORMED)
    access = tokens.get("access_token")
    if access is None or (access == "" and not tokens.get("refresh_token")):
        return Login(absent=Reason.MISSING)
    if access == "":  # sent as it is, refused, and renewed
        return Login(fault=Reason.NO_EXPIRY)
    if not isinstance(access, str) or not sendable(access):
        return Login(fault=Reason.MALFORMED)
    return _chatgpt(access, tokens, now)


def _chatgpt(access: str, tokens: dict[str, Any], now: datetime) -> Login:
    claims = token_claims(access)
    expiry = expiry_of(claims, now)
    auth = claims.get(CLAIMS)
    refresh = tokens.get("refresh_token")
    account = tokens.get("account_id") or (auth.get("chatgpt_account_id") if isinstance(auth, dict) else None)
    return Login(
        secret=SecretStr(access),
        expires_at=expiry.at,
        renewal=Renewal.YES if isinstance(refresh, str) and refresh else Renewal.NO,
        # without the key the client takes the whole file for malformed (clients 3.4)
        absent=None if isinstance(refresh, str) else Reason.UNUSABLE,
        fault=expiry.fault,
        account=account if isinstance(account, str) else "",
    )


def taken(document: dict[str, Any]) -> bool:
    """Whether today's client takes this document as a ChatGPT or API key login (tests.clients).

    It reads the whole file or nothing: one field of another type, or a mode that it does not know, is no login.
    """
    key, mode, tokens = document.get("OPENAI_API_KEY"), document.get("auth_mode"), document.get("tokens")
    if not isinstance(key, str | None) or not _moment(document.get("last_refresh")):
        return False
    if mode == "apikey" or (mode is None and key is not None):
        return bool(key)
    return mode in (None, "chatgpt", "chatgptAuthTokens") and isinstance(tokens, dict) and _typed(tokens)


_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)")


def _moment(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, str) and _RFC_3339.fullmatch(value) is not None


def _typed(tokens: dict[str, Any]) -> bool:
    claims = id_claims(tokens.get("id_token"))
    texts = isinstance(tokens.get("account_id"), str | None) and isinstance(tokens.get("refresh_token"), str)
    return texts and claims is not None and isinstance(claims.get("email"), str | None)


def id_claims(token: Any) -> dict[str, Any] | None:
    """The claims of an id token as the client reads them: three parts and more, the second strict base64url."""
    parts = token.split(".") if isinstance(token, str) else []
    if len(parts) < 3 or not all(parts[:3]) or re.fullmatch(r"[\w-]+", parts[1], re.ASCII) is None:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, RecursionError):
        return None
    return claims if isinstance(claims, dict) and isinstance(claims.get(CLAIMS), dict | None) else None


def token_claims(token: str) -> dict[str, Any]:
    """The unverified claims of a JWT, empty for a token that is not one."""
    import jwt  # it imports cryptography, where that is there: only a machine with a Codex login waits for it

    try:
        claims = jwt.decode(token, options={"verify_signature": False})
    except (jwt.InvalidTokenError, ValueError, RecursionError):
        return {}
    return claims if isinstance(claims, dict) else {}


def expiry_of(claims: dict[str, Any], now: datetime) -> Instant:
    """The expiry that the claims state; one that is missing, not a number or implausible is a fault.

    A claim about the start that is not a number spoils the expiry beside it (case TOK-02).
    """
    if any(claims.get(name) is not None and finite(claims[name]) is None for name in ("nbf", "iat")):
        return Instant(fault=Reason.EXP_NOT_NUMERIC)
    if claims.get("exp") is None:
        return Instant(fault=Reason.NO_EXPIRY)
    return expiry_in_s(claims["exp"], now)
