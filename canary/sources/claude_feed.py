"""Claude status-line feed: the windows that `rungwatch feed` has kept, each with its own time (formats 2.6)."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from canary.feed import VERSION, account_of, feed_file
from canary.files import FileFault, read_object
from canary.login import Login
from canary.sources import claude_usage
from canary.sources.answer import Answer
from canary.sources.target import Target
from canary.sources.wire import expiry_in_s, finite, malformed, meter
from canary.world import World
from decide.quota import CLOCK_TOLERANCE, Reading, Window, WindowKind
from decide.reason import Reason

NAME = "claude-feed"

_KINDS = {
    "five_hour": (WindowKind.SESSION, ""),
    "seven_day": (WindowKind.WEEKLY, ""),
    "seven_day_opus": (WindowKind.WEEKLY_MODEL, "Opus"),
    "seven_day_sonnet": (WindowKind.WEEKLY_MODEL, "Sonnet"),
    "extra_usage": (WindowKind.SPEND, ""),
}


@dataclass(frozen=True, slots=True)
class _Told:
    """A window with the time at which it was told; None when the feed does not say."""

    window: Window
    at: datetime | None
    permits_overage: bool = False


async def read_feed(target: Target, login: Login, world: World) -> Answer:
    """What the status line was last told for this seat's configuration folder."""
    offload = world.offloader.owned(target.key)
    path = Path(await offload(lambda: feed_file(target.feeds, target.config_dir)))
    found = await read_object(path, sleep=world.sleep, offload=offload)
    if isinstance(found, FileFault):
        if found.reason is not Reason.MISSING:
            return Answer(failure=found.reason, step=found.text)
        return Answer(
            failure=Reason.NEVER_READ, step="no status line has told anything yet: is `rungwatch feed` set?"
        )
    account = await offload(lambda: account_of(target.config_dir))
    theirs = found.value.get("account")
    if account and isinstance(theirs, str) and theirs and theirs != account:
        return Answer(failure=Reason.NEVER_READ, step="the feed is another account's: this one has not answered yet")
    reading = parse(found.value, world.clock.now())
    if reading is None:
        return Answer(failure=Reason.MALFORMED, step="the feed is not a document of this version")
    doubt = "" if account and theirs else ", which names no account"
    return Answer(reading=reading, step=f"read the status line's feed{doubt}")


def parse(document: dict[str, Any], now: datetime) -> Reading | None:
    """The reading in a kept feed; None when it is none. Never raises.

    A reading has one age, so it is that of the oldest window that still counts: one whose reset has passed does not.
    """
    windows = document.get("windows")
    if not isinstance(windows, dict) or finite(document.get("version")) != VERSION:
        return None
    told = [found for name, value in windows.items() if (found := _told(name, value, now)) is not None]
    counting = [found for found in told if not _over(found.window, now)]
    ages = [found.at for found in counting if found.at and found.window.kind is not WindowKind.OTHER]
    ages = ages or [found.at for found in told if found.at]
    if not ages:
        return None
    fetched_at = max(ages) if max(ages) - now > CLOCK_TOLERANCE else min(ages)
    permits = any(found.permits_overage for found in counting)
    return Reading(NAME, fetched_at, tuple(found.window for found in counting), permits, frozenset())


def _over(window: Window, now: datetime) -> bool:
    return window.resets_at is not None and window.resets_at <= now and not window.full


def _told(name: str, value: Any, now: datetime) -> _Told | None:
    kind, scope = _KINDS.get(name, (WindowKind.OTHER, name))
    at = expiry_in_s(value.get("at"), now).at if isinstance(value, dict) else None
    if not isinstance(value, dict) or at is None:
        return _Told(malformed(kind, scope), None)
    if kind is WindowKind.SPEND:
        return _spend(value, at)
    window = meter(kind, value.get("used_percentage"), value.get("resets_at"), at, scope=scope)
    return _Told(window, at) if window is not None else None


def _spend(value: dict[str, Any], at: datetime) -> _Told | None:
    """The purse for work past a full window, in the fields of the usage endpoint or of the other windows."""
    reached, percent = value.get("spend_limit_reached"), value.get("used_percentage")
    if not isinstance(reached, bool | None):
        return _Told(malformed(WindowKind.SPEND), at)
    if value.get("is_enabled") is None and percent is not None:
        window = meter(WindowKind.SPEND, percent, value.get("resets_at"), at)
        return _Told(window, at) if window is not None else None
    block = value if percent is None else value | {"utilization": percent}
    reading = claude_usage.parse({"extra_usage": block}, at)
    return next((_Told(window, at, reading.permits_overage) for window in reading.windows), None)
