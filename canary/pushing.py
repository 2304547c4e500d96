"""Pushing: the folder and the dashboards sent to a Grafana, each only where it is not there already."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from dashboards import grafana
from dashboards.board import Board
from decide.rungs.http import Fetch, Request, Response

USER_FAULTS = frozenset({401, 403, 404})
"""Answers that whoever runs the command has to mend."""


class Did(StrEnum):
    """What was done, or with a dry run would be."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Pushed:
    """What was done with one thing; `name` is a uid."""

    kind: str
    name: str
    did: Did


class PushError(Exception):
    """Grafana could not be reached or said no; `mendable` where the command's user has to act."""

    def __init__(self, text: str, *, mendable: bool) -> None:
        super().__init__(text)
        self.mendable = mendable


@dataclass(frozen=True, slots=True)
class Grafana:
    """Where to push, and how: `token` never shows."""

    url: str
    folder_uid: str
    folder_title: str
    token: str = field(repr=False)
    overwrite: bool = False
    dry_run: bool = False

    def request(self, path: str, body: bytes | None = None) -> Request:
        """A request with the token."""
        headers = {"authorization": f"Bearer {self.token}", "accept": "application/json"}
        return Request(f"{self.url.rstrip('/')}{path}", headers, body, timeout_s=30)


async def push(boards: Mapping[Board, str], to: Grafana, fetch: Fetch) -> AsyncIterator[Pushed]:
    """Push the folder, then each dashboard, telling each as it is done; raises PushError at the first refusal."""
    yield Pushed("folder", to.folder_uid, await _folder(to, fetch))
    for board, text in boards.items():
        yield Pushed("dashboard", board.value, await _board(board, text, to, fetch))


async def _folder(to: Grafana, fetch: Fetch) -> Did:
    what = f"folder {to.folder_uid}"
    if await _kept(to.request(grafana.folder_path(to.folder_uid)), fetch, what) is not None:
        return Did.UNCHANGED
    if not to.dry_run:
        _taken(await fetch(to.request(grafana.FOLDERS, grafana.folder_body(to.folder_uid, to.folder_title))), what)
    return Did.CREATED


async def _board(board: Board, text: str, to: Grafana, fetch: Fetch) -> Did:
    what = f"dashboard {board.value}"
    kept = await _kept(to.request(grafana.board_path(board)), fetch, what)
    if kept is not None and grafana.same(text, kept, to.folder_uid):
        return Did.UNCHANGED
    version = 0 if kept is None else grafana.version_of(kept)
    body = grafana.board_body(text, folder=to.folder_uid, version=version, overwrite=to.overwrite)
    if not to.dry_run:
        _taken(await fetch(to.request(grafana.BOARDS, body)), what)
    return Did.CREATED if kept is None else Did.UPDATED


async def _kept(request: Request, fetch: Fetch, what: str) -> dict[str, Any] | None:
    """What Grafana keeps; None where it answers as Grafana does that it has no such thing."""
    answer = await fetch(request)
    if answer.status == 404 and not answer.is_html and b"message" in answer.body:
        return None
    document = json.loads(_taken(answer, what))
    if not isinstance(document, dict):
        raise PushError(f"{what}: the answer is none of Grafana's", mendable=True)
    return document


def _taken(answer: Response, what: str) -> bytes:
    if answer.failure is not None:
        raise PushError(f"{what}: Grafana was not reached: {answer.failure} ({answer.detail})", mendable=False)
    if answer.is_html:
        raise PushError(f"{what}: a web page came back: is the URL that of Grafana?", mendable=True)
    if answer.status != 200:
        told = grafana.refusal(answer.status, answer.body, what)
        raise PushError(told, mendable=answer.status in USER_FAULTS)
    return answer.body
