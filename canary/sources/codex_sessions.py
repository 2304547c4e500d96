"""Codex session files: the quotas that the vendor told in the seat's own sessions (formats 4.4)."""

import heapq
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from canary.files import REREADS_S, Document, parse_object, read_object
from canary.login import Login
from canary.sources.answer import Answer
from canary.sources.credits import spendable
from canary.sources.target import Target
from canary.sources.wire import EXPIRY_RANGE, RESET_RANGE, finite, iso_time, kind_of_duration, malformed, meter
from canary.world import World
from decide.quota import Measure, Reading, Window, WindowKind
from decide.reason import Reason

NAME = "codex-sessions"

FILES = 3
"""How many session files are read: the newest by name, which is when they began, and by their last write."""
TAIL = 1024 * 1024
"""How much of the end of a session file is read, in bytes; whole ones can be hundreds of megabytes."""
DAYS = 31
"""How many day folders are looked into, newest first; sessions that are resumed write into the day they began."""
NAMES = 2000
"""How many session files are looked at."""

_REACHED = frozenset(
    {"rate_limit_reached"}
    | {
        f"workspace_{who}_{what}"
        for who in ("owner", "member")
        for what in ("credits_depleted", "usage_limit_reached")
    }
)
"""The vendor's words for a refusal (formats 4.2)."""


@dataclass(frozen=True, slots=True)
class _Event:
    """One report of one bucket of quotas; `at` None when its own time cannot be told."""

    at: datetime | None
    bucket: str
    windows: tuple[Window, ...]
    permits_overage: bool = False


async def read_sessions(target: Target, login: Login, world: World) -> Answer:
    """The newest quotas in the session files of this seat's folder that are surely not an earlier account's."""
    offload = world.offloader.owned(target.key)
    stored = await read_object(target.config_dir / "auth.json", sleep=world.sleep, offload=offload)
    tails: list[bytes] = []
    for pause in (*REREADS_S, None):
        tails = await offload(lambda: newest_tails(target.config_dir))
        if pause is None or not any(_torn(tail) for tail in tails):
            break
        await world.sleep(pause)
    if not tails:
        return Answer(failure=Reason.NEVER_READ, step=f"no session files in {target.config_dir}")
    now = world.clock.now()
    since = switched_at(stored, now) if isinstance(stored, Document) else None
    return conclude(tails, now, since=since)


def switched_at(stored: Document, now: datetime) -> datetime:
    """Since when auth.json holds this login: the later of its own `last_refresh` and the file's last write.

    The write is not an age of a reading: a switcher puts an older login back, and nothing else tells when.
    """
    text = stored.value.get("last_refresh")
    refreshed = iso_time(text, now, EXPIRY_RANGE).at if isinstance(text, str) else None
    return max(refreshed, stored.modified_at) if refreshed else stored.modified_at


def conclude(tails: Sequence[bytes], now: datetime, *, since: datetime | None) -> Answer:
    """What the ends of session files say, of events later than `since`; session files name no account."""
    events = [event for tail in tails for event in _events(tail, now)]
    if not events:
        return Answer(failure=Reason.NEVER_READ, step=f"{len(tails)} session files tell no quota")
    ours = [event for event in events if event.at is not None and (since is None or event.at > since)]
    if not ours:
        broken = all(event.at is None for event in events)
        why = "have no time" if broken else "are older than this login and may be another account's"
        return Answer(failure=Reason.MALFORMED if broken else Reason.STALE, step=f"the sessions' quotas {why}")
    reading = _newest(ours, now)
    told = "no account is named in them" if since is None else "newer than this login, though they name no account"
    return Answer(reading=reading, step=f"read {len(tails)} session files: {told}")


def parse(tails: Sequence[bytes], now: datetime) -> Reading | None:
    """The reading in the ends of session files, whoever's they are; None when they tell no quota. Never raises."""
    return conclude(tails, now, since=None).reading


def _newest(events: Sequence[_Event], now: datetime) -> Reading:
    """Each bucket's newest event, with the age of the main one; of others, what is as new or is full until later."""
    newest: dict[str, tuple[datetime, _Event]] = {}
    for event in events:
        if event.at is not None and (event.bucket not in newest or event.at >= newest[event.bucket][0]):
            newest[event.bucket] = (event.at, event)
    at, main = newest.get(_MAIN) or max(newest.values(), key=lambda found: found[0])
    others = [
        window
        for told_at, event in newest.values()
        for window in event.windows
        if event is not main and (told_at >= at or (window.full and window.resets_at and window.resets_at > now))
    ]
    return Reading(NAME, at, (*main.windows, *others), main.permits_overage, frozenset())


_MAIN = "codex"
"""The bucket of the plan itself; others are of single models, and they interleave (formats 4.4)."""


def _events(tail: bytes, now: datetime) -> Iterator[_Event]:
    before: datetime | None = None
    lines = tail.split(b"\n")
    if _torn(tail):
        lines[-1] = b'"rate_limits"'  # whatever is still being written comes after all that is whole
    for line in lines:
        event = _event(line, before, now) if _telling(line) else None
        if event is not None:
            before = event.at or before
            yield event


def _telling(line: bytes) -> bool:
    """Whether a line can be a report: cheap, since the lines between can be large; a key inside a text is escaped."""
    return b'"rate_limits"' in line or (b'"event_msg"' in line and _PAYLOAD.search(line) is None)


_PAYLOAD = re.compile(rb'"payload"\s*:\s*\{')


def _torn(tail: bytes) -> bool:
    last = tail.rsplit(b"\n", 1)[-1]
    return bool(last.strip()) and parse_object(last) is None


def _event(line: bytes, before: datetime | None, now: datetime) -> _Event | None:
    """The report in a line; one that cannot be read stands for an unknown report after the one before it."""
    value = parse_object(line) or {}
    text, payload = value.get("timestamp"), value.get("payload")
    at = iso_time(text, now, EXPIRY_RANGE).at if isinstance(text, str) else None
    kind = payload.get("type") if isinstance(payload, dict) else None
    if not isinstance(payload, dict) or not isinstance(kind, str) or not isinstance(value.get("type"), str):
        return _unknown(at or before)
    limits = payload.get("rate_limits")
    if kind != "token_count" or limits is None:
        return None
    if not isinstance(limits, dict) or at is None:
        return _unknown(at or before)
    return _report(limits, at)


def _unknown(at: datetime | None) -> _Event:
    return _Event(at, _MAIN, (malformed(WindowKind.OTHER, "rate_limits"),))


def _report(limits: dict[str, Any], at: datetime) -> _Event | None:
    bucket, name = limits.get("limit_id"), limits.get("limit_name")
    if bucket is None:
        bucket = _MAIN
    if not isinstance(bucket, str):
        return _unknown(at)
    windows = tuple(windows_of(limits, at, *_meaning(bucket, name)))
    return _Event(at, bucket, windows, spendable(limits.get("credits"))) if windows else None


def _meaning(bucket: str, name: Any) -> tuple[WindowKind | None, str]:
    """Kind and scope of a bucket's windows; None: by their durations. A bucket is a model's when it names one."""
    if bucket == _MAIN:
        return None, ""
    model = name.strip() if isinstance(name, str) else ""
    return (WindowKind.WEEKLY_MODEL, model) if model else (WindowKind.OTHER, bucket)


def windows_of(
    limits: dict[str, Any], at: datetime, kind: WindowKind | None = None, scope: str = ""
) -> Iterator[Window]:
    """The windows of one bucket as told at `at`; `kind` None: each by its duration. Never raises."""
    windows = [window for slot in ("primary", "secondary") if (window := _slotted(limits.get(slot), at, kind, scope))]
    yield from windows
    reached = limits.get("rate_limit_reached_type")
    if isinstance(reached, dict):
        reached = reached.get("type", "unknown")
    if reached is None or any(window.full for window in windows):
        return
    whole, what = kind or WindowKind.OTHER, scope or "refusal"
    known = isinstance(reached, str) and reached in _REACHED
    yield Window(whole, scope=what, measure=Measure.REFUSED) if known else malformed(whole, what)


def _slotted(slot: Any, at: datetime, kind: WindowKind | None, scope: str) -> Window | None:
    """The window in a slot, by its duration: the weekly one stands in the first slot where it is the only one."""
    if slot is None:
        return None
    minutes = finite(slot.get("window_minutes")) if isinstance(slot, dict) else None
    if not isinstance(slot, dict) or minutes is None or minutes <= 0:
        return malformed(kind or WindowKind.OTHER, scope or "window")
    kind = kind or kind_of_duration(minutes * 60)
    if kind is WindowKind.OTHER and not scope:
        scope = f"{minutes * 60:.0f}s"
    return meter(kind, _used_percent(slot), _reset(slot, at), at, scope=scope)


def _used_percent(slot: dict[str, Any]) -> Any:
    """What is used, 0-100, also where only the rest is told; the fuller where both are."""
    used, left = slot.get("used_percent"), slot.get("remaining_percent")
    if left is None:
        return used
    rest = finite(left)
    if rest is None or (used is not None and finite(used) is None):
        return "malformed"
    told = max(0.0, 100 - rest)
    return told if used is None else max(told, finite(used) or 0.0)


def _reset(slot: dict[str, Any], at: datetime) -> Any:
    """`resets_at`, `reset_at`, or what the older `resets_in_seconds`, counted from the event, makes of it."""
    for name in ("resets_at", "reset_at"):
        if slot.get(name) is not None:
            return slot[name]
    wait = slot.get("resets_in_seconds")
    if wait is None:
        return None
    seconds = finite(wait)
    if seconds is None or not 0 <= seconds <= RESET_RANGE[1].total_seconds():
        return "malformed"
    return (at + timedelta(seconds=seconds)).timestamp()


def newest_tails(codex_home: Path) -> list[bytes]:
    """The ends of the newest session files; blocking, and bounded in folders, files and bytes."""
    names = _session_files(codex_home)
    recent = {path for _, path in heapq.nlargest(FILES, names)}
    recent |= {path for _, path in heapq.nlargest(FILES, ((_written(path), path) for _, path in names))}
    return [tail for path in sorted(recent) if (tail := _tail(path)) is not None]


def _session_files(codex_home: Path) -> list[tuple[str, Path]]:
    months = (month for year in _dated(codex_home / "sessions") for month in _dated(year))
    days = islice((day for month in months for day in _dated(month)), DAYS)
    files = (path for folder in (codex_home / "archived_sessions", *days) for path in _newest_in(folder))
    return [(path.name, path) for path in islice((path for path in files if path.suffix == ".jsonl"), NAMES)]


def _dated(folder: Path) -> list[Path]:
    """The folders of years, months or days, newest first."""
    return [path for path in _newest_in(folder) if path.name.isdecimal()]


def _newest_in(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in heapq.nlargest(NAMES, os.listdir(folder))]
    except OSError:
        return []


def _written(path: Path) -> float:
    """When a file was last written: which ones to read, never how old what they say is."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _tail(path: Path) -> bytes | None:
    """The last lines of a regular file, without the one that the cut tears; None where it cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            return None
        start = max(0, facts.st_size - TAIL)
        content = os.pread(handle, TAIL, start)
    except OSError:
        return None
    finally:
        os.close(handle)
    return content.partition(b"\n")[2] if start else content
