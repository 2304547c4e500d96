"""claude-swap's cache: what that switcher last read of each account it keeps (formats 6.1); read only."""

import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from canary.files import Document, FileFault, Sleep, read_object
from canary.login import Login
from canary.offload import Offload
from canary.sources.answer import Answer
from canary.sources.target import Target
from canary.sources.wire import expiry_in_s, finite, malformed, meter
from canary.world import World
from decide.quota import Measure, Reading, Window, WindowKind
from decide.reason import Reason

NAME = "claude-swap"
VERSION = 2

_KINDS = {"five_hour": WindowKind.SESSION, "seven_day": WindowKind.WEEKLY}


class Identity(NamedTuple):
    """Whose login it is, both parts as the client wrote them: an e-mail alone can be in many organisations."""

    email: str
    organization: str


def default_file(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Where claude-swap keeps its cache (formats 6.1)."""
    if platform == "darwin":
        return Path("~/.claude-swap-backup/cache/usage.json").expanduser()
    base = Path(environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser()
    return (base if base.is_absolute() else Path("~/.local/share").expanduser()) / "claude-swap/cache/usage.json"


async def read_cache(target: Target, login: Login, world: World) -> Answer:
    """The row of the account that this seat's configuration folder is logged in to."""
    offload = world.offloader.owned(target.key)
    identity = await read_identity(target.config_dir, sleep=world.sleep, offload=offload)
    if identity is None:
        step = "whose login this is, is not told beside it: no row of the cache can be known to be its"
        return Answer(failure=Reason.NEVER_READ, step=step)
    path = target.switcher_file or default_file(world.environ)
    found = await read_object(path, sleep=world.sleep, offload=offload)
    if isinstance(found, FileFault):
        return Answer(failure=found.reason, step=found.text)
    return parse(found.value, identity, world.clock.now())


async def read_identity(config_dir: Path, *, sleep: Sleep, offload: Offload) -> Identity | None:
    """E-mail and organisation that the client wrote beside its login (formats 1.1); None unless it wrote both."""
    beside = (config_dir.parent if config_dir.name == ".claude" else config_dir) / ".claude.json"
    for path in (config_dir / ".config.json", config_dir / ".claude.json", beside):
        found = await read_object(path, sleep=sleep, offload=offload)
        account = found.value.get("oauthAccount") if isinstance(found, Document) else None
        if isinstance(account, dict):
            email, organization = account.get("emailAddress"), account.get("organizationUuid")
            known = isinstance(email, str) and isinstance(organization, str) and email and organization
            return Identity(str(email), str(organization)) if known else None
    return None


def parse(document: dict[str, Any], identity: Identity, now: datetime) -> Answer:
    """What the cache says of one account; never raises.

    A good reading is kept through later failures with its own age; a failure stands only where there is none.
    """
    accounts = document.get("accounts")
    version = document.get("schemaVersion")
    if isinstance(version, bool) or version != VERSION or not isinstance(accounts, dict):
        return Answer(failure=Reason.MALFORMED, step=f"the cache is not of schema {VERSION}")
    rows = [row for row in accounts.values() if isinstance(row, dict) and _matches(row, identity)]
    if not rows:
        return Answer(failure=Reason.NEVER_READ, step="the cache has no row of this account and organisation")
    answers = [_row(row, now) for row in rows]
    return max(answers, key=_age)


def _age(answer: Answer) -> float:
    return answer.reading.fetched_at.timestamp() if answer.reading else float("inf")


def _matches(row: dict[str, Any], identity: Identity) -> bool:
    email, organization = row.get("email"), row.get("organizationUuid")
    if not isinstance(email, str) or organization != identity.organization:
        return False
    return email.casefold() == identity.email.casefold()


def _row(row: dict[str, Any], now: datetime) -> Answer:
    good = row.get("lastGood")
    failing = " (its last attempt failed)" if row.get("lastError") is not None else ""
    if good is None:
        reason = Reason.SOURCE_FAILED if failing else Reason.NEVER_READ
        return Answer(failure=reason, step=f"the cache holds no reading of this account{failing}")
    fetched_at = expiry_in_s(row.get("fetchedAt"), now).at
    if not isinstance(good, dict) or fetched_at is None:
        return Answer(failure=Reason.MALFORMED, step="this account's row has no reading with a time")
    windows = tuple(_windows(good, fetched_at))
    permits = any(window.kind is WindowKind.SPEND and _left(window) for window in windows)
    return Answer(reading=Reading(NAME, fetched_at, windows, permits), step=f"read the switcher's cache{failing}")


def _windows(good: dict[str, Any], at: datetime) -> Iterator[Window]:
    """The windows of a reading; its countdown and clock texts were true when it was written, and are not read."""
    for key, value in good.items():
        if value is None or key in ("scoped", "spend"):
            continue
        kind = _KINDS.get(key)
        if kind is None and not (isinstance(value, dict) and "pct" in value):
            continue
        window = _window(value, at, kind or WindowKind.OTHER, "" if kind else key)
        if window is not None:
            yield window
    yield from _scoped(good.get("scoped"), at)
    if good.get("spend") is not None:
        yield _spend(good["spend"], at)


def _window(value: Any, at: datetime, kind: WindowKind, scope: str) -> Window | None:
    if not isinstance(value, dict):
        return malformed(kind, scope)
    return meter(kind, value.get("pct"), value.get("resets_at"), at, scope=scope)


def _scoped(entries: Any, at: datetime) -> Iterator[Window]:
    if entries is None:
        return
    for entry in entries if isinstance(entries, list) else [entries]:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(name, str) or not name.strip():
            yield malformed(WindowKind.WEEKLY_MODEL)
        elif (window := _window(entry, at, WindowKind.WEEKLY_MODEL, name.strip())) is not None:
            yield window


def _spend(spend: Any, at: datetime) -> Window:
    """The spend window; amounts are whole currency units, both of the same currency."""
    if not isinstance(spend, dict):
        return malformed(WindowKind.SPEND)
    percent, limit, used = spend.get("pct"), spend.get("limit"), finite(spend.get("used"))
    if percent is not None:
        return meter(WindowKind.SPEND, percent, None, at) or malformed(WindowKind.SPEND)
    if limit is None:
        return Window(WindowKind.SPEND, measure=Measure.UNLIMITED)
    top = finite(limit)
    if top is None or top <= 0 or used is None or used < 0:
        return malformed(WindowKind.SPEND)
    return Window(WindowKind.SPEND, used / top)


def _left(window: Window) -> bool:
    return window.measure is Measure.UNLIMITED or (window.measure is Measure.METERED and window.used < 1)
