"""ccswitch's cache: what nhtera/ccswitch last read of each profile it keeps (formats 6.3); read only."""

import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from canary.files import FileFault, read_object
from canary.login import Login
from canary.sources.answer import Answer
from canary.sources.target import Target
from canary.sources.wire import EXPIRY_RANGE, iso_time, malformed, meter
from canary.world import World
from decide.quota import Reading, Window, WindowKind
from decide.reason import Reason

NAME = "ccswitch"

_WINDOWS = (("five_hour", WindowKind.SESSION), ("seven_day", WindowKind.WEEKLY))
_NO_RESET = "0001-01-01T00:00:00Z"
"""How Go writes a time that was never set."""


def default_file(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Where ccswitch keeps its cache: in its own configuration folder."""
    named = environ.get("CCSWITCH_CONFIG_DIR")
    if named:
        return Path(named).expanduser() / "cache/usage.json"
    usual = "~/Library/Application Support" if platform == "darwin" else environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(usual).expanduser() / "ccswitch/cache/usage.json"


async def read_cache(target: Target, login: Login, world: World) -> Answer:
    """The row of the profile that the configuration names: the cache itself tells no account."""
    if not target.switcher_row:
        return Answer(failure=Reason.NEVER_READ, step="no switcher_row is configured: the profile's name in ccswitch")
    path = target.switcher_file or default_file(world.environ)
    found = await read_object(path, sleep=world.sleep, offload=world.offloader.owned(target.key))
    if isinstance(found, FileFault):
        return Answer(failure=found.reason, step=found.text)
    return parse(found.value, target.switcher_row, world.clock.now())


def parse(document: dict[str, Any], row: str, now: datetime) -> Answer:
    """What the cache says of one profile; one time holds for all rows. Never raises."""
    rows, stamp = document.get("rows"), document.get("timestamp")
    at = iso_time(stamp, now, EXPIRY_RANGE).at if isinstance(stamp, str) else None
    if not isinstance(rows, dict) or at is None:
        return Answer(failure=Reason.MALFORMED, step="the cache has no rows with a time")
    if row not in rows:
        return Answer(failure=Reason.NEVER_READ, step=f"the cache has no profile {row!r}")
    entry = rows[row]
    result = entry.get("result") if isinstance(entry, dict) else entry
    if result is None:
        return Answer(failure=Reason.SOURCE_FAILED, step="the switcher's own read of this profile failed")
    if not isinstance(result, dict):
        return Answer(failure=Reason.MALFORMED, step="this profile's row is not what the format says")
    return Answer(
        reading=Reading(NAME, at, tuple(_windows(result, at)), models=frozenset()), step="read the switcher's cache"
    )


def _windows(result: dict[str, Any], at: datetime) -> Iterator[Window]:
    """The windows that are marked as there: a used share of exactly 0 is left out by its writer (omitempty)."""
    for name, kind in _WINDOWS:
        there, percent = result.get(f"has_{name}"), result.get(f"{name}_pct")
        if not isinstance(there, bool | None):
            yield malformed(kind)
        elif there or percent is not None:
            reset = result.get(f"{name}_resets_at")
            unset = isinstance(reset, str) and reset == _NO_RESET
            share = percent if percent is not None else 0
            window = meter(kind, share, None if unset else reset, at)
            yield window if there and window is not None else malformed(kind)
