"""Logins as the vendors' own clients leave them on disk, with plainly fake tokens (formats 1.2, 3.2, 3.3)."""

import json
import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import jwt

SIGNING = "not-a-secret-only-a-loopback-demo-key"
SCOPES = ("user:inference", "user:profile", "user:sessions:claude_code")
ACCOUNT = "acct-00000000-0000-0000-0000-000000000000"
ORGANIZATION = "org-00000000-0000-0000-0000-000000000000"


def claude_token(seat: str, generation: int = 0) -> str:
    """A fake Claude access token; each renewal has the next generation."""
    return f"sk-ant-oat01-FAKE-{seat}" + (f"-r{generation}" if generation else "")


def codex_token(
    expires_at: datetime,
    *,
    issued_at: datetime | None = None,
    account_id: str = ACCOUNT,
    plan: str = "pro",
    email: str = "seat@example.invalid",
) -> str:
    """A well-formed JWT with the claims Codex reads (3.3), signed with a key that is no secret."""
    claims = {
        "exp": int(expires_at.timestamp()),
        "iat": int((issued_at or expires_at - timedelta(days=10)).timestamp()),
        "email": email,
        "https://api.openai.com/profile": {"email": email},
        "https://api.openai.com/auth": {
            "chatgpt_plan_type": plan,
            "chatgpt_account_id": account_id,
            "chatgpt_user_id": "user-FAKE",
            "user_id": "user-FAKE",
        },
    }
    return jwt.encode(claims, SIGNING, algorithm="HS256")


def write_private(path: Path, text: str) -> bool:
    """The file holds the text with mode 0600; says whether it had to be written, which is by rename."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    fresh.replace(path)
    return True


def write_claude_login(
    folder: Path,
    token: str,
    *,
    expires_at: datetime | None,
    refresh_token: str | None = None,
    scopes: Sequence[str] | None = SCOPES,
    subscription: str | None = "max",
    tier: str | None = "default_claude_max_20x",
    account_id: str | None = None,
    organization_id: str = ORGANIZATION,
    email: str = "seat@example.invalid",
) -> bool:
    """`.credentials.json`, `expiresAt` in milliseconds, and `.claude.json` where an account is named (1.1, 1.2)."""
    login: dict[str, object] = {"accessToken": token}
    if refresh_token is not None:
        login["refreshToken"] = refresh_token
    if expires_at is not None:
        login["expiresAt"] = int(expires_at.timestamp() * 1000)
    login |= {"scopes": None if scopes is None else list(scopes)}
    login |= {"subscriptionType": subscription, "rateLimitTier": tier}
    if account_id is not None:
        who = {"emailAddress": email, "accountUuid": account_id, "organizationUuid": organization_id}
        write_private(folder / ".claude.json", json.dumps({"oauthAccount": who}, indent=2))
    return write_private(folder / ".credentials.json", json.dumps({"claudeAiOauth": login}, indent=2))


def write_codex_login(
    folder: Path,
    *,
    expires_at: datetime,
    issued_at: datetime | None = None,
    account_id: str = ACCOUNT,
    plan: str = "pro",
    email: str = "seat@example.invalid",
    refresh_token: str = "",
) -> str:
    """`auth.json` as Codex 3.2 has it; returns the access token in it.

    An empty refresh token is well-formed, a missing one would make Codex call the file malformed (clients 3.4).
    """
    issued = issued_at or expires_at - timedelta(days=10)
    token = codex_token(expires_at, issued_at=issued, account_id=account_id, plan=plan, email=email)
    document = {
        "auth_mode": "chatgpt",
        "OPENAI_API_KEY": None,
        "tokens": {
            "id_token": token,
            "access_token": token,
            "refresh_token": refresh_token,
            "account_id": account_id,
        },
        "last_refresh": issued.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    write_private(folder / "auth.json", json.dumps(document, indent=2))
    return token
