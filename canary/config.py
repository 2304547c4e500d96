"""Config: `rungwatch.toml` as a frozen value, read strictly once; every error names the key and what is allowed."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from canary.budget import pace
from canary.config_decide import CapsSection, DecideSection, StoreSection
from canary.config_handoff import (
    CommandSection,
    ConfirmSection,
    ConsoleSection,
    InboxSection,
    QueueSection,
    WebhookSection,
)
from canary.config_level import LevelsSection
from canary.config_types import Dollars, Duration, Folder, HostUrl, Label, Section, listen_address
from canary.duration import brief
from canary.sources import claude_usage, codex_usage
from canary.sources.table import LOGIN_KINDS, SOURCES
from decide.quota import WindowKind
from decide.reply import Billing
from decide.seat import Auth, Quota
from decide.verdict import accepts

DEFAULT_LISTEN = "127.0.0.1:9477"
READS_PER_HOUR = 20
"""The poll budget of a seat (design 5); a configuration may lower it, never raise it."""
LEAST_READINGS = timedelta(days=3)


class LadderSection(Section):
    """Which rung plays which role."""

    primary: Label
    """name of the rung that is asked first and reconsiders"""
    second: Label
    """name of the other rung"""


class SeatSection(Section):
    """One login with its quota. Give `config_dir`, or for an API key `api_key_env` or `api_key_file`."""

    name: Label
    """the seat's label in every metric"""
    config_dir: Folder | None = None
    """configuration folder of the seat's client (default: ~/.claude or ~/.codex)"""
    config_dir_setting: str | None = None
    """CLAUDE_CONFIG_DIR exactly as the client is started with it, where the login is in the macOS key ring"""
    auth: Annotated[Auth, Field(strict=False)] | None = None
    """how the seat proves who it is (default: by the kind of the rung)"""
    quota: Annotated[Quota, Field(strict=False)] | None = None
    """whether the seat has meters (default: metered with oauth or with sources, else unmetered)"""
    sources: tuple[str, ...] = Field(default=(), strict=False)
    """where its quota is read; empty: only the login is read"""
    seats_file: Folder | None = None
    """the file of the source seats-file"""
    client: str | None = None
    """the client that the sources claude-client and codex-client start (default: claude or codex, by PATH)"""
    switcher_file: Folder | None = None
    """the cache of the switcher whose source is used (default: where that switcher keeps it)"""
    switcher_row: str | None = None
    """the name under which the switcher keeps this seat, where it keeps names"""
    base_url: HostUrl | None = None
    """host that a key is sent to, by the sources openrouter and litellm and by rungs that are asked over HTTP"""
    command: tuple[str, ...] = Field(default=(), strict=False)
    """program and arguments that print a seats.json, for the source command"""
    api_key_env: str | None = None
    """name of the environment variable that holds the key"""
    api_key_file: Folder | None = None
    """file that holds the key"""
    keychain: bool = False
    """also read the login from the key ring (needs the extra `keyring`)"""
    keychain_account: str | None = None
    """account of the key ring item, where several exist"""
    ignore_windows: tuple[str, ...] = Field(default=(), strict=False)
    """kinds or names of windows that never stop this seat"""
    billing: Annotated[Billing, Field(strict=False)] | None = None
    """who pays for a call: subscription or metered (default: metered for a key, else subscription)"""
    allow_overage: bool = False
    """a full window does not stop the seat while the vendor permits overage or credits are left"""


class RungSection(Section):
    """One vendor's model and the seats that reach it."""

    name: Label
    """the rung's label in every metric"""
    kind: Literal["claude", "codex", "anthropic", "openai", "chat", "command"]
    """how it is asked"""
    model: str = Field(min_length=1)
    """the model that is asked"""
    accepts: tuple[str, ...] = Field(default=(), strict=False)
    """models whose answer counts as this rung's (default: `model`)"""
    max_usd_per_pass: Dollars = Field(default="0.50", validate_default=True)
    """the most that one model call can cost, reserved before it is made"""
    timeout: Duration = timedelta(minutes=5)
    """the longest that one model call may take, 1s to 1h"""
    command: tuple[str, ...] = Field(default=(), strict=False)
    """program and arguments that answer a brief, for the kind command"""
    scopes: tuple[str, ...] = Field(default=(), strict=False)
    """display names of the per-model weekly windows that bind this rung"""
    seat: tuple[SeatSection, ...] = Field(default=(), strict=False)
    """its seats"""
    seats_file: Folder | None = None
    """a seats.json whose seats are all this rung's"""
    seats_command: tuple[str, ...] = Field(default=(), strict=False)
    """program and arguments that print a seats.json whose seats are all this rung's"""

    @property
    def accepted(self) -> frozenset[str]:
        """The models whose answer counts as this rung's."""
        return frozenset(model.casefold() for model in self.accepts or (self.model,))

    @property
    def sends_token_itself(self) -> bool:
        """Whether no client stands between, so that nothing renews a lapsed login (design 5)."""
        return self.kind in ("anthropic", "openai", "chat")


class CanarySection(Section):
    """The schedule and its limits."""

    interval: Duration = timedelta(minutes=5)
    """time between ticks, 1s to 1h"""
    jitter: Duration = timedelta(seconds=10)
    """a tick starts up to this much later, so that many machines do not read at once"""
    stale_after: Duration = timedelta(minutes=15)
    """older than this, a reading or tick says nothing of now"""
    seat_timeout: Duration = timedelta(seconds=10)
    """the longest that reading one seat may take"""
    tick_deadline: Duration = timedelta(seconds=30)
    """the longest that a tick may take"""
    concurrency: int = Field(default=16, ge=1, le=256)
    """seats that are read at once"""
    reads_per_hour: int = Field(default=READS_PER_HOUR, ge=1, le=READS_PER_HOUR)
    """poll budget of a seat"""
    textfile: Folder | None = None
    """also write the metrics to this .prom file after each tick"""
    keep_readings: Duration = timedelta(days=60)
    """how long what was read of meters is kept in the store, for `plan` and for forecasts; 3d or more"""

    @model_validator(mode="after")
    def _sane(self) -> Self:
        if not timedelta(seconds=1) <= self.interval <= timedelta(hours=1):
            raise ValueError("interval must lie between 1s and 1h")
        if self.jitter > self.interval:
            raise ValueError("jitter must not be longer than interval")
        if not timedelta() < self.seat_timeout <= self.tick_deadline:
            raise ValueError("seat_timeout must be longer than 0s and not longer than tick_deadline")
        rare = max(self.interval, pace(self.reads_per_hour)) + self.interval
        least = rare + self.jitter + min(self.tick_deadline, self.interval)
        if self.stale_after < least:
            raise ValueError(
                f"stale_after must be {brief(least)} or more: with this interval, jitter, tick_deadline and "
                "reads_per_hour a seat is not read more often, and would be unknown in between"
            )
        if self.keep_readings < LEAST_READINGS:
            raise ValueError("keep_readings must be 3d or more: forecasts look back so far")
        if self.textfile is not None and self.textfile.suffix != ".prom":
            raise ValueError("textfile must end in .prom: the collector reads no other")
        return self


class ServeSection(Section):
    """The HTTP server."""

    listen: Annotated[str, AfterValidator(listen_address)] = DEFAULT_LISTEN
    """address and port"""


class StateSection(Section):
    """What is kept between runs."""

    dir: Folder | None = None
    """state folder (default: $XDG_STATE_HOME/rungwatch)"""


class SourceSection(Section):
    """Where the usage endpoints are."""

    claude_base_url: HostUrl = claude_usage.BASE_URL
    """host of the Claude usage endpoint; a seat's login is sent nowhere else"""
    codex_base_url: HostUrl = codex_usage.BASE_URL
    """host of the Codex usage endpoint; a seat's login is sent nowhere else"""


class Config(Section):
    """The whole configuration."""

    ladder: LadderSection
    rung: tuple[RungSection, ...] = Field(strict=False)
    canary: CanarySection = CanarySection()
    serve: ServeSection = ServeSection()
    state: StateSection = StateSection()
    source: SourceSection = SourceSection()
    caps: CapsSection = CapsSection()
    decide: DecideSection = DecideSection()
    level: LevelsSection = LevelsSection()
    store: StoreSection = StoreSection()
    queue: QueueSection = QueueSection()
    inbox: InboxSection = InboxSection()
    webhook: tuple[WebhookSection, ...] = Field(default=(), strict=False)
    command: tuple[CommandSection, ...] = Field(default=(), strict=False)
    confirm: ConfirmSection = ConfirmSection()
    console: ConsoleSection = ConsoleSection()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        problems = list(_problems(self))
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def in_order(self) -> tuple[RungSection, RungSection]:
        """The primary rung and the second."""
        by_name = {rung.name: rung for rung in self.rung}
        return by_name[self.ladder.primary], by_name[self.ladder.second]


def _problems(config: Config) -> Iterator[str]:
    names = [rung.name for rung in config.rung]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"rung.name: two rungs are named {name!r}; names must be unique"
    for role, name in (("primary", config.ladder.primary), ("second", config.ladder.second)):
        if name not in names:
            yield f"ladder.{role}: no rung is named {name!r}; the rungs are {_listed(names)}"
    if config.ladder.primary == config.ladder.second:
        yield f"ladder.second: must be another rung than ladder.primary ({config.ladder.primary!r})"
    for section, called in (
        ("webhook.raised_by", [one.raised_by for one in config.webhook]),
        ("command.name", [one.name for one in config.command]),
    ):
        for name in dict.fromkeys(called):
            if called.count(name) > 1:
                yield f"{section}: {name!r} is there twice; names must be unique"
    yield from config.level.problems({rung.name: rung.accepted for rung in config.rung})
    roles = {config.ladder.primary, config.ladder.second}
    for rung in config.rung:
        if rung.name not in roles and len(roles) == 2 and roles <= set(names):
            yield f"rung.name: {rung.name!r} is neither ladder.primary nor ladder.second; remove it or name it there"
        yield from _rung_problems(rung)
    for first, other in zip(config.rung, config.rung[1:], strict=False):
        shared = {m for m in first.accepted if accepts(other.accepted, m)} | {
            m for m in other.accepted if accepts(first.accepted, m)
        }
        if shared:
            yield (
                f"rung.accepts: rungs {first.name!r} and {other.name!r} both accept {_listed(sorted(shared))}; "
                "one model must never count as two rungs"
            )


def _rung_problems(rung: RungSection) -> Iterator[str]:
    if not rung.seat and rung.seats_file is None and not rung.seats_command:
        yield f"rung.seat: rung {rung.name!r} has no seat; add a [[rung.seat]], seats_file or seats_command"
    if rung.kind != "command" and rung.command:
        yield f"rung.command: rung {rung.name!r} is of kind {rung.kind!r}; only the kind 'command' has a program"
    if not timedelta(seconds=1) <= rung.timeout <= timedelta(hours=1):
        yield f"rung.timeout: rung {rung.name!r} must lie between 1s and 1h"
    names = [seat.name for seat in rung.seat]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"rung.seat.name: rung {rung.name!r} has two seats named {name!r}; names must be unique in a rung"
    for seat in rung.seat:
        yield from _seat_problems(rung, seat)


def _seat_problems(rung: RungSection, seat: SeatSection) -> Iterator[str]:
    where = f"seat {seat.name!r} of rung {rung.name!r}"
    for source in seat.sources:
        row = SOURCES.get(source)
        if row is None:
            yield f"rung.seat.sources: {where}: unknown source {source!r}; the sources are {_listed(sorted(SOURCES))}"
        elif row.login_kind not in (None, LOGIN_KINDS[rung.kind]):
            yield f"rung.seat.sources: {where}: source {source!r} does not read a seat of kind {rung.kind!r}"
    if "command" in seat.sources and not seat.command:
        yield f"rung.seat.command: {where}: source 'command' needs the program and its arguments"
    if "ccswitch" in seat.sources and not seat.switcher_row:
        yield f"rung.seat.switcher_row: {where}: source 'ccswitch' needs the name under which it keeps this seat"
    if "seats-file" in seat.sources and seat.seats_file is None:
        yield f"rung.seat.seats_file: {where}: source 'seats-file' needs the path of the file"
    if seat.auth is Auth.API_KEY and not (seat.api_key_env or seat.api_key_file):
        yield f"rung.seat.api_key_env: {where}: auth 'api_key' needs api_key_env or api_key_file"
    kinds = {kind.value for kind in WindowKind}
    for name in seat.ignore_windows:
        if not name.strip():
            yield f"rung.seat.ignore_windows: {where}: a name is empty; kinds are {_listed(sorted(kinds))}"


def _listed(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names) or "none"


def config_schema() -> dict[str, Any]:
    """The published JSON Schema of the configuration."""
    from canary.described import Described

    schema = Config.model_json_schema(schema_generator=Described)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema
