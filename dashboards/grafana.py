"""Grafana: what its HTTP API is sent, when a dashboard is there already, and what a refusal means."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from dashboards.board import Board

_THEIRS = ("id", "version", "iteration")
"""What Grafana adds to a dashboard that it keeps."""
MESSAGE = "rungwatch dashboards push"

_REFUSALS: Mapping[int, str] = MappingProxyType(
    {
        401: "the token is not accepted: it is missing, wrong or expired",
        403: "the token may not do this: it needs the permission to write dashboards and folders",
        404: "not found there: is the URL that of Grafana, and does the folder still exist?",
        409: "another folder or dashboard has this name: rename it, or choose a folder with --folder",
        412: "it was changed there, or another dashboard in the folder has its name: --overwrite replaces it",
        422: "Grafana does not take it",
    }
)


def folder_path(uid: str) -> str:
    """Where a folder is read."""
    return f"/api/folders/{uid}"


def board_path(board: Board) -> str:
    """Where a dashboard is read."""
    return f"/api/dashboards/uid/{board.value}"


FOLDERS, BOARDS = "/api/folders", "/api/dashboards/db"
"""Where a folder is made and a dashboard is saved."""


def folder_body(uid: str, title: str) -> bytes:
    """What makes a folder."""
    return json.dumps({"uid": uid, "title": title}).encode()


def board_body(text: str, *, folder: str, version: int, overwrite: bool) -> bytes:
    """What saves a dashboard; `version` is the one that was last seen there, so that nobody's change is lost."""
    document = json.loads(text) | {"id": None, "version": version}
    sent = {"dashboard": document, "folderUid": folder, "message": MESSAGE, "overwrite": overwrite}
    return json.dumps(sent).encode()


def version_of(kept: Mapping[str, Any]) -> int:
    """The version of a dashboard as Grafana gives it."""
    return int(kept["dashboard"].get("version") or 0)


def same(text: str, kept: Mapping[str, Any], folder: str) -> bool:
    """Whether what Grafana keeps is this dashboard, in this folder."""
    document = {name: value for name, value in kept["dashboard"].items() if name not in _THEIRS}
    return bool(document == json.loads(text) and kept.get("meta", {}).get("folderUid") == folder)


def refusal(status: int, body: bytes, what: str) -> str:
    """An answer that is no success, in words; Grafana's own message is added where it has one."""
    meaning = _REFUSALS.get(status)
    if meaning is None and 300 <= status < 400:
        meaning = "it redirects, which is not followed: give the URL that it leads to"
    if meaning is None and status >= 500:
        meaning = "Grafana is in trouble; try again later"
    told = _message(body)
    return f"{what}: HTTP {status}: {meaning or 'refused'}" + (f" (Grafana says: {told})" if told else "")


def _message(body: bytes) -> str:
    try:
        document = json.loads(body)
    except ValueError:
        return ""
    told = document.get("message") if isinstance(document, dict) else None
    return " ".join(told.split())[:200] if isinstance(told, str) else ""
