"""Scenario: a login on disk and a far side as they stand before a client runs, and how such rows are written."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from canary.demo.logins import SCOPES, claude_token, write_claude_login, write_codex_login
from canary.demo.provider import Provider
from canary.demo.script import Kind, Meter, MeterKind, SeatScript, Vendor

USAGE, MODEL, REFRESH = frozenset({Kind.USAGE}), frozenset({Kind.MODEL}), frozenset({Kind.REFRESH})
CALLS = frozenset({Kind.USAGE, Kind.MODEL, Kind.PROFILE})
HOURS_3, PAST = timedelta(hours=3), timedelta(hours=-1)
SEAT = "seat"


class Blind(StrEnum):
    """The four causes that no reader of quota can see (design 5)."""

    OUTAGE = "vendor outage"
    REVOKED = "early revocation"
    LAGGING = "lagging meter"
    UNSHOWN = "a wall the meter does not show"


@dataclass
class Stage:
    """The empty folder of a seat and a far side that does not know it yet."""

    folder: Path
    provider: Provider
    now: datetime


Setup = Callable[[Stage], None]


@dataclass(frozen=True)
class Scenario:
    """One row.

    `refers` is the place in clients.md; `changes` are fields of the seat's target, which stand for its
    configuration; `blind` the cause for which the canary cannot know better; `options` are further words of the
    client's command line, `environ` further variables. `offline`: nothing listens where vendor and proxy would be.
    """

    name: str
    refers: str
    vendor: Vendor
    setup: Setup
    blind: Blind | None = None
    changes: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    model: str = ""
    environ: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    own_provider: bool = True
    offline: bool = False


@dataclass(frozen=True)
class Level:
    """A meter before its scenario's moment is known: resets `hours` from then, None for no stated reset."""

    kind: MeterKind
    percent: float
    hours: float | None
    of: str | None = None

    def at(self, now: datetime) -> Meter:
        """The meter at the scenario's moment."""
        reset = None if self.hours is None else now + timedelta(hours=self.hours)
        return Meter(self.kind, self.percent, reset, self.of)


def session(percent: float, hours: float | None = 3) -> Level:
    """The session meter."""
    return Level(MeterKind.SESSION, percent, hours)


def week(percent: float, hours: float | None = 90) -> Level:
    """The weekly meter."""
    return Level(MeterKind.WEEKLY, percent, hours)


def month(percent: float, hours: float | None = 300) -> Level:
    """The monthly meter."""
    return Level(MeterKind.MONTHLY, percent, hours)


def model_week(of: str, percent: float, hours: float | None = 90) -> Level:
    """The weekly meter of a model."""
    return Level(MeterKind.WEEKLY_MODEL, percent, hours, of)


HEADROOM = (session(12), week(31))
Edit = Callable[[Any], Any]


def claude(
    *levels: Level,
    lapses: timedelta | None = HOURS_3,
    refresh: bool = True,
    renewable: bool = True,
    known: bool = True,
    scopes: tuple[str, ...] | None = SCOPES,
    edit: Edit | None = None,
    text: Callable[[str], str] | None = None,
    **script: Any,
) -> Setup:
    """A Claude login and its seat.

    `renewable`: the far side knows its refresh token; `known`: its access token. `edit` changes the login's block
    before it is written, `text` the file after.
    """

    def setup(stage: Stage) -> None:
        token, renewal = claude_token(SEAT), "sk-ant-ort01-FAKE"
        expires_at = None if lapses is None else stage.now + lapses
        write_claude_login(
            stage.folder,
            token,
            expires_at=expires_at,
            refresh_token=renewal if refresh else None,
            scopes=scopes,
        )
        seat = SeatScript(SEAT, Vendor.CLAUDE, windows=[level.at(stage.now) for level in levels or HEADROOM])
        _script(stage, token if known else "gone", seat, renewal if renewable else None, script)
        seat.expires_at = script.get("expires_at", expires_at)
        _rewrite(stage.folder / ".credentials.json", "claudeAiOauth", edit, text)

    return setup


def codex(
    *levels: Level,
    lapses: timedelta = HOURS_3,
    refresh: bool = True,
    renewable: bool = True,
    known: bool = True,
    spent: bool = False,
    token: str | None = None,
    edit: Edit | None = None,
    text: Callable[[str], str] | None = None,
    **script: Any,
) -> Setup:
    """A Codex login and its seat, by the same words; `edit` changes the whole document.

    `spent`: its refresh token was used before. `token` is the one that the far side knows, where that is not the one of the login as first written.
    """

    def setup(stage: Stage) -> None:
        expires_at, renewal = stage.now + lapses, "rt_FAKE"
        issued = stage.now - timedelta(days=1)
        written = write_codex_login(
            stage.folder, expires_at=expires_at, issued_at=issued, refresh_token=renewal if refresh else ""
        )
        if spent:
            stage.provider.spent_refresh_tokens.add(renewal)
        windows = [level.at(stage.now) for level in levels or HEADROOM]
        seat = SeatScript(SEAT, Vendor.CODEX, plan="pro", windows=windows)
        _script(stage, (token or written) if known else "gone", seat, renewal if renewable else None, script)
        seat.expires_at = script.get("expires_at", expires_at)
        _rewrite(stage.folder / "auth.json", None, edit, text)

    return setup


def _script(stage: Stage, token: str, seat: SeatScript, renewal: str | None, script: Mapping[str, Any]) -> None:
    seat.answer, seat.refresh_token = '{"verdict": "yes"}', renewal
    for name, value in script.items():
        setattr(seat, name, value(stage.now) if callable(value) else value)
    stage.provider.seats[token] = seat


def _rewrite(path: Path, block: str | None, edit: Edit | None, text: Callable[[str], str] | None) -> None:
    if edit is not None:
        document = json.loads(path.read_text())
        changed = edit(document if block is None else document[block])
        path.write_text(json.dumps(changed if block is None else {block: changed}))
    if text is not None:
        path.write_text(text(path.read_text()))


def without(*names: str, **values: Any) -> Edit:
    """An edit that takes keys out and puts values in; `tokens` is merged where it is given as a mapping."""

    def edit(document: dict[str, Any]) -> dict[str, Any]:
        merged = {key: value for key, value in document.items() if key not in names}
        for key, value in values.items():
            merged[key] = {**document.get(key, {}), **value} if isinstance(value, dict) else value
        return merged

    return edit


def no_file(setup: Setup, name: str) -> Setup:
    """The same, with the login's file gone."""

    def without_file(stage: Stage) -> None:
        setup(stage)
        (stage.folder / name).unlink()

    return without_file


def also(setup: Setup, name: str, content: str) -> Setup:
    """The same, with another file beside the login."""

    def with_file(stage: Stage) -> None:
        setup(stage)
        (stage.folder / name).write_text(content)

    return with_file


def half(text: str) -> str:
    """The first half of a file, as a reader sees it during a truncate-and-write."""
    return text[: len(text) // 2]
