"""Scene: two rungs whose seats are in different states, as logins on disk, the vendors' answers and a configuration."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from canary.demo.logins import claude_token, write_claude_login, write_codex_login
from canary.demo.provider import Provider
from canary.demo.script import Fault, Meter, MeterKind, SeatScript, Vendor

CLAUDE_SEATS = ("desk", "lab", "spare", "loan")
CODEX_SEATS = ("codex-main", "codex-two")
READ_SEATS = 5
"""All but the one whose login has lapsed."""

CONFIG = """\
[ladder]
primary = "fable"
second = "astra"

[canary]
interval = "{interval}"
jitter = "0s"
stale_after = "3h"
seat_timeout = "20s"

[source]
claude_base_url = "{base}"
codex_base_url = "{base}/backend-api"

[[rung]]
name = "fable"
kind = "claude"
model = "claude-fable-5"
scopes = ["Fable"]
{claude}
[[rung]]
name = "astra"
kind = "codex"
model = "gpt-6-astra"
{codex}"""
SEAT = """\
[[rung.seat]]
name = "{name}"
config_dir = "{folder}/{name}"
sources = ["{source}"]
"""


@dataclass(frozen=True, slots=True)
class Scene:
    """A folder with everything in it, the configuration and state folder in it, and the vendor that answers."""

    home: Path
    provider: Provider

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.home / "rungwatch.toml"

    @property
    def state_dir(self) -> Path:
        """The state folder."""
        return self.home / "state"

    @property
    def options(self) -> tuple[str, ...]:
        """What every command is given."""
        return "--config", str(self.config), "--state-dir", str(self.state_dir)

    def configure(self, base: str, *, interval: str = "1h") -> None:
        """Write the configuration; an hour between ticks leaves what the first one found standing still."""
        claude = "".join(SEAT.format(name=name, folder=self.home, source="claude-usage") for name in CLAUDE_SEATS)
        codex = "".join(SEAT.format(name=name, folder=self.home, source="codex-usage") for name in CODEX_SEATS)
        text = CONFIG.format(base=base, interval=interval, claude=claude, codex=codex)
        self.config.write_text(text, encoding="utf-8")


def scene(home: Path) -> Scene:
    """An available, a full, a lapsed and an unreadable Claude seat; an available and a full Codex seat."""
    now = datetime.now(UTC).replace(microsecond=0)
    provider = Provider({}, lambda: datetime.now(UTC))
    for name in CLAUDE_SEATS:
        lapses = now + timedelta(hours=-1 if name == "spare" else 6)
        write_claude_login(home / name, claude_token(name), expires_at=lapses)
        provider.seats[claude_token(name)] = _claude(name, now)
    for name in CODEX_SEATS:
        account = f"acct-{name}"
        token = write_codex_login(home / name, expires_at=now + timedelta(days=5), account_id=account)
        used = 100.0 if name == "codex-two" else 37.5
        windows = [
            Meter(MeterKind.SESSION, used, now + timedelta(hours=2)),
            Meter(MeterKind.WEEKLY, 20.0, now + timedelta(days=3)),
        ]
        provider.seats[token] = SeatScript(name, Vendor.CODEX, account_id=account, windows=windows)
    return Scene(home, provider)


def _claude(name: str, now: datetime) -> SeatScript:
    windows = [
        Meter(MeterKind.SESSION, 12.0, now + timedelta(hours=3)),
        Meter(MeterKind.WEEKLY, 31.0, now + timedelta(days=4)),
        Meter(MeterKind.WEEKLY_MODEL, 101.0 if name == "lab" else 48.0, now + timedelta(days=4, hours=1), "Fable"),
    ]
    fault = Fault.SERVER_ERROR if name == "loan" else None
    return SeatScript(name, Vendor.CLAUDE, windows=windows, fault=fault)
