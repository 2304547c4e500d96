"""The demo ladder: its configuration, its day, and what is told about it on screen."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

from canary.config import Config
from canary.demo.clock import DemoClock
from canary.demo.day import phase_at
from canary.demo.provider import Provider
from canary.demo.questions import CAPS, CLICK_LASTS, COMMANDS, PRICES
from canary.demo.server import serve
from canary.demo.stage import apply

START = datetime(2026, 9, 10, 12, 0, tzinfo=UTC)
"""The day of the incident (ADR-0016), from noon UTC."""
LENGTH = timedelta(hours=12)
CLAUDE_SEATS = tuple(f"desk-{number}" for number in range(1, 8))
CODEX_SEAT = "astra-main"


class Demo:
    """One showing of the day: a loopback provider that plays both vendors, and logins in a scratch folder."""

    def __init__(self, folder: Path, speed: float, real: Callable[[], float] = monotonic) -> None:
        self.speed = speed
        self.clock = DemoClock(START, LENGTH, speed, real)
        self.provider = Provider({}, self.clock.now)
        self._folder = folder
        (folder.parent / "prices.toml").write_text(PRICES)

    def provided(self) -> AbstractAsyncContextManager[str]:
        """The provider, answering on the base URL that the context yields."""
        return serve(self.provider)

    def set_stage(self) -> None:
        """Stop the demo clock for a tick, and play the moment that it shows."""
        self.clock.freeze()
        apply(self.provider, self._folder, self.clock.now(), start=self.clock.day_start())

    def caption(self) -> str:
        """What the audience is told: that this is a demo, and what happens now."""
        now = self.clock.now()
        return f"{now:%H:%M} UTC: {phase_at(now, self.clock.day_start()).caption}"

    def config(self, base_url: str, listen: str) -> Config:
        """The configuration of the demo ladder, reading from the provider at `base_url` only."""
        return Config.model_validate(
            {
                "ladder": {"primary": "fable", "second": "astra"},
                "rung": [
                    {
                        "name": "fable",
                        "kind": "claude",
                        "model": "claude-fable-5",
                        "scopes": ["Fable"],
                        "timeout": "10s",
                        "seat": [self._seat(name, "claude-usage", base_url) for name in CLAUDE_SEATS],
                    },
                    {
                        "name": "astra",
                        "kind": "codex",
                        "model": "gpt-6-astra",
                        "timeout": "10s",
                        "seat": [self._seat(CODEX_SEAT, "codex-usage", f"{base_url}/backend-api")],
                    },
                ],
                "canary": {"jitter": "0s", "seat_timeout": "2s"},
                "serve": {"listen": listen},
                "caps": dict(CAPS),
                "command": list(COMMANDS),
                "confirm": {"ttl": CLICK_LASTS},
                "inbox": {"questions_per_tick": 5},
                "decide": {"prices": str(self._folder.parent / "prices.toml")},
                "source": {"claude_base_url": base_url, "codex_base_url": f"{base_url}/backend-api"},
            }
        )

    def _seat(self, name: str, source: str, base_url: str) -> dict[str, object]:
        folder = str(self._folder / name)
        return {
            "name": name,
            "config_dir": folder,
            "sources": [source],
            "base_url": base_url,
            "billing": "subscription",
        }
