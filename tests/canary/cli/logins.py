"""Logins as the vendors' clients leave them in a home, with plainly fake tokens."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from canary.demo.logins import codex_token

SECRET = "sk-ant-oat01-FAKE-planted"


def claude_login(folder: Path, lapses: timedelta = timedelta(hours=6), *, mode: int = 0o600) -> Path:
    """A Claude Code login in that configuration folder."""
    expires_at = datetime.now(UTC) + lapses
    block = {"accessToken": SECRET, "expiresAt": int(expires_at.timestamp() * 1000), "scopes": ["user:inference"]}
    return _write(folder / ".credentials.json", {"claudeAiOauth": block}, mode)


def codex_login(folder: Path, *, mode: int = 0o600) -> Path:
    """A Codex login in that folder."""
    token = codex_token(datetime.now(UTC) + timedelta(days=5))
    return _write(
        folder / "auth.json", {"tokens": {"id_token": token, "access_token": token, "refresh_token": "rt_FAKE"}}, mode
    )


def script(path: Path) -> Path:
    """A program that leaves a mark beside itself when it is started."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch '{path.parent}/started'\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def _write(path: Path, document: object, mode: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    path.chmod(mode)
    return path
