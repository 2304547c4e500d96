"""Target: one seat of one rung as a source needs to know it."""

from dataclasses import dataclass, field
from pathlib import Path

from canary.sources.seats_file import ListedSeat
from decide.seat import Auth, Quota


@dataclass(frozen=True, slots=True)
class Target:
    """What to read for a seat.

    `login_kind` is a key of the table of logins; `reports_scopes` whether a source of the seat can name per-model
    windows; `feeds` is the folder of status-line feeds; `listed` is set for a seat that a rung's seats.json
    brought, whose reading is already there.
    """

    rung: str
    seat: str
    login_kind: str
    model: str
    config_dir: Path
    auth: Auth = Auth.OAUTH
    quota: Quota = Quota.METERED
    sources: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    reports_scopes: bool = True
    ignore_windows: tuple[str, ...] = ()
    allow_overage: bool = False
    client_renews: bool = True
    claude_base_url: str = ""
    codex_base_url: str = ""
    seats_file: Path | None = None
    feeds: Path = Path()
    client: str | None = None
    switcher_file: Path | None = None
    switcher_row: str | None = None
    base_url: str | None = None
    command: tuple[str, ...] = ()
    api_key_env: str | None = None
    api_key_file: Path | None = None
    keychain: bool = False
    keychain_account: str | None = None
    config_dir_setting: str | None = None
    listed: ListedSeat | None = field(default=None, repr=False)

    @property
    def key(self) -> str:
        """What the canary remembers this seat by."""
        return f"{self.rung}/{self.seat}"
