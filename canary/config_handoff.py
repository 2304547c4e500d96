"""Configuration of what reaches a person: queue, inbox, webhooks, the allow-list, clicks, and the console."""

from datetime import timedelta
from ipaddress import ip_network
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from canary.config_types import Duration, Folder, HostUrl, Label, Section
from decide.handoff.click import TTL
from decide.handoff.command import CONFIRM_CLASS, Command, CommandClass
from decide.question import LEAD, MAX_ATTEMPTS


def _network(text: str) -> str:
    try:
        ip_network(text)
    except ValueError as error:
        raise ValueError('must be an address or a network, such as "10.0.0.5" or "10.0.0.0/24"') from error
    return text


class QueueSection(Section):
    """When a question waits for a person, and when that is pressing."""

    lead: Duration = LEAD
    """how long before its deadline a waiting question becomes pressing"""
    max_attempts: int = Field(default=MAX_ATTEMPTS, ge=1, le=20)
    """after how many attempts that ended in an error a person decides"""


class InboxSection(Section):
    """What the daemon takes from the inbox."""

    questions_per_tick: int = Field(default=1, ge=1, le=100)
    """raised questions that are asked after a tick, at most"""


class WebhookSection(Section):
    """Where a raiser hears what became of its questions."""

    raised_by: Label
    """the raiser, as its questions name it"""
    url: HostUrl
    """where the message is posted"""
    secret_env: str | None = None
    """name of the environment variable that holds the secret which messages are signed with"""
    secret_file: Folder | None = None
    """file that holds it"""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.secret_env is None) == (self.secret_file is None):
            raise ValueError("give secret_env or secret_file, and not both: every message is signed")
        return self


class ConfirmSection(Section):
    """Which commands take a click, and for how long one can be pressed."""

    model_config = ConfigDict(populate_by_name=True)

    kind: Annotated[CommandClass, Field(strict=False, alias="class")] = CONFIRM_CLASS
    """class from which on a command takes a click: read, write or destructive"""
    ttl: Duration = TTL
    """how long a click can be pressed, 10s to 24h"""
    keys_file: Folder | None = None
    """keys that links are signed with, one file for all hosts of a fleet (default: in the state folder)"""

    @model_validator(mode="after")
    def _sane(self) -> Self:
        if not timedelta(seconds=10) <= self.ttl <= timedelta(hours=24):
            raise ValueError("ttl must lie between 10s and 24h")
        return self


class CommandSection(Section):
    """A command that an answer may set going."""

    model_config = ConfigDict(populate_by_name=True)

    name: Label
    """what it is called"""
    run: tuple[str, ...] = Field(strict=False)
    """program and arguments; a whole word such as "{unit}" stands for one plain argument of the line"""
    kind: Annotated[CommandClass, Field(strict=False, alias="class")]
    """what it does: read, write or destructive"""
    timeout: Duration = timedelta(minutes=5)
    """the longest that it may run, 1s to 1h"""

    @model_validator(mode="after")
    def _sane(self) -> Self:
        if not timedelta(seconds=1) <= self.timeout <= timedelta(hours=1):
            raise ValueError("timeout must lie between 1s and 1h")
        self.command()
        return self

    def command(self) -> Command:
        """The entry of the allow-list; raises ValueError for one that could run anything."""
        return Command(self.name, self.run, self.kind, self.timeout.total_seconds())


class UserSection(Section):
    """Somebody who may log in to the console with a password."""

    name: Label
    """the name that answers and clicks carry"""
    password_env: str | None = None
    """name of the environment variable that holds the password"""
    password_file: Folder | None = None
    """file that holds it"""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.password_env is None) == (self.password_file is None):
            raise ValueError("give password_env or password_file, and not both")
        return self


class ConsoleSection(Section):
    """Who may read the console's questions, and who may answer and press."""

    read: Literal["local", "known", "anyone"] = "local"
    """who may read questions and receipts: this machine, whoever is known by name as well, or anyone"""
    local_user: Label | None = None
    """what somebody on this machine is called (default: the user who runs the daemon)"""
    user: tuple[UserSection, ...] = Field(default=(), strict=False)
    """people with a password"""
    proxy_header: str | None = Field(default=None, pattern=r"^[A-Za-z][A-Za-z0-9-]{0,63}$")
    """header in which a trusted proxy names the person"""
    proxies: tuple[Annotated[str, AfterValidator(_network)], ...] = Field(default=(), strict=False)
    """addresses of trusted proxies"""
    hosts: tuple[str, ...] = Field(default=(), strict=False)
    """names under which browsers reach the console, beside those of this machine"""
    url: HostUrl | None = None
    """address of the console in links that are handed out (default: the one it listens on)"""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.proxy_header is None) != (not self.proxies):
            raise ValueError("proxy_header and proxies go together: the header is believed from these addresses only")
        names = [one.name for one in self.user]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"user.name: two users are named {twice!r}")
        return self
