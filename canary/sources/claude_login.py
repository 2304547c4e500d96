"""Claude Code login: the credentials file and the macOS key ring item, never written, never renewed (formats 1)."""

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from canary.files import Document, FileFault, Sleep, parse_object, read_objects
from canary.login import Login, Renewal, sendable
from canary.offload import Offload
from canary.sources.keychain import Keychain, KeychainLockedError, choose
from canary.sources.wire import expiry_in_ms
from decide.reason import Reason

SERVICE = "Claude Code-credentials"
INFERENCE = "user:inference"


def credentials_file(config_dir: Path) -> Path:
    """Where Claude Code keeps the login of a configuration folder."""
    return config_dir / ".credentials.json"


def keychain_service(config_dir_setting: str | None) -> str:
    """The key ring service for a `CLAUDE_CONFIG_DIR` as its user wrote it; unset or empty is the plain one.

    The suffix is a digest of the raw text, not of the resolved path (formats 1.1).
    """
    if not config_dir_setting:
        return SERVICE
    raw = unicodedata.normalize("NFC", config_dir_setting).encode()
    return f"{SERVICE}-{hashlib.sha256(raw).hexdigest()[:8]}"


async def read_login(
    config_dir: Path,
    *,
    now: datetime,
    sleep: Sleep,
    offload: Offload,
    keychain: Keychain | None = None,
    service: str = SERVICE,
    account: str | None = None,
) -> Login:
    """The login of a seat; where file and key ring both hold one, that with the later expiry (formats 1.1)."""
    stored, config, legacy = await read_objects(
        {credentials_file(config_dir): False, _beside(config_dir): True, config_dir / ".config.json": True},
        sleep=sleep,
        offload=offload,
    )
    whose = _identity(legacy) or _identity(config) or ("", "")
    from_file = _startable(_of_file(stored, now), config)
    from_file = replace(from_file, account=whose[0], organization=whose[1])
    if keychain is None:
        return from_file
    try:
        items = await offload(lambda: keychain(service, account))
    except KeychainLockedError:
        locked = Login(fault=Reason.UNREADABLE, steps=(f"key ring item {service!r} could not be read",))
        return from_file if from_file.secret is not None else locked
    best = later(from_file, _of_items(items, account, now))
    return replace(best, account=whose[0], organization=whose[1])


def _identity(found: Document | FileFault) -> tuple[str, str] | None:
    """The account and organisation that the client wrote beside its login (formats 1.1)."""
    account = found.value.get("oauthAccount") if isinstance(found, Document) else None
    if not isinstance(account, dict):
        return None
    return _text(account.get("accountUuid")), _text(account.get("organizationUuid"))


def _beside(config_dir: Path) -> Path:
    """Without CLAUDE_CONFIG_DIR the client keeps this file beside `.claude`, not in it; no other folder's is ours."""
    return (config_dir.parent if config_dir.name == ".claude" else config_dir) / ".claude.json"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _startable(login: Login, config: Document | FileFault) -> Login:
    """The login, in doubt while its client's own configuration is broken: once, the client stops at that."""
    if not isinstance(config, FileFault) or config.reason is not Reason.MALFORMED:
        return login
    if login.secret is None or login.doubt is not None:
        return login
    return replace(login, doubt=config.reason, steps=(*login.steps, config.text))


def _of_file(found: Document | FileFault, now: datetime) -> Login:
    if isinstance(found, Document):
        doubt = None if _told(found.value) else Reason.UNUSABLE
        return replace(parse(found.value, now), doubt=doubt, steps=("read the credentials file",))
    if found.reason is Reason.MISSING:
        return Login(absent=Reason.MISSING, steps=(found.text,))
    return Login(fault=found.reason, steps=(found.text,))


def _of_items(items: Sequence[tuple[str, str]], account: str | None, now: datetime) -> Login:
    parsed = [(name, parse(parse_object(text) or {}, now)) for name, text in items]
    return choose(parsed, account)


def later(file: Login, item: Login) -> Login:
    """The better of two copies of one login; that they differ is told."""
    if item.secret is None or file.secret is None:
        best = item if file.secret is None and (item.secret is not None or item.fault is not None) else file
        return replace(best, steps=(*file.steps, *item.steps))
    best = max((file, item), key=lambda login: login.expires_at.timestamp() if login.expires_at else float("-inf"))
    same = item.secret.get_secret_value() == file.secret.get_secret_value()
    told = () if same else (f"file (lapses {_said(file)}) and key ring (lapses {_said(item)}) hold different logins",)
    return replace(best, steps=(*file.steps, *item.steps, *told))


def _said(login: Login) -> str:
    return login.expires_at.isoformat(timespec="seconds") if login.expires_at else "at an unknown time"


def parse(document: dict[str, Any], now: datetime) -> Login:
    """The login in a credentials document (formats 1.2); never raises, and takes no other product's token for it."""
    block = document.get("claudeAiOauth", document.get("claude.ai_oauth"))
    if block is None:
        return Login(absent=Reason.MISSING)
    if not isinstance(block, dict):
        return Login(fault=Reason.MALFORMED)
    token = block.get("accessToken")
    if token is None or token == "":
        return Login(absent=Reason.MISSING)
    if not isinstance(token, str) or not sendable(token):
        return Login(fault=Reason.MALFORMED)
    expiry = expiry_in_ms(block.get("expiresAt"), now)
    login = Login(
        secret=SecretStr(token),
        expires_at=expiry.at,
        renewal=_renewal(block, now),
        fault=expiry.fault or (None if expiry.at else Reason.NO_EXPIRY),
    )
    return replace(login, absent=Reason.UNUSABLE) if not _infers(block.get("scopes")) else login


def _infers(scopes: Any) -> bool:
    """Whether the client would use this login for work by its scopes, a list or one text."""
    return scopes is None or (isinstance(scopes, list | str) and INFERENCE in scopes)


def _told(document: dict[str, Any]) -> bool:
    """Whether today's client reads a login like this: under its own key, and with scopes (tests.clients)."""
    block = document.get("claudeAiOauth")
    return isinstance(block, dict) and block.get("scopes") is not None


def _renewal(block: dict[str, Any], now: datetime) -> Renewal:
    token = block.get("refreshToken")
    if not isinstance(token, str) or not token:
        return Renewal.NO
    until = expiry_in_ms(block.get("refreshTokenExpiresAt"), now)
    if until.fault is not None:
        return Renewal.UNKNOWN
    return Renewal.NO if until.at is not None and until.at <= now else Renewal.YES
