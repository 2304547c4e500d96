"""Types of configuration values: each refuses what it cannot be, in words that say what it can."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from canary.duration import parse_duration
from canary.label import usable_name
from decide.money import micro_usd


def _label(name: str) -> str:
    if not usable_name(name):
        raise ValueError(
            "must be 1 to 64 printable characters and no e-mail, path, account id or token: it becomes a label"
        )
    return name


def _host(url: str) -> str:
    parts = urlsplit(url)
    loopback = parts.hostname in ("127.0.0.1", "localhost", "::1")
    if parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and loopback)):
        return url
    raise ValueError("must be an https:// address (plain http:// only on this machine): a login is sent there")


def listen_address(text: str) -> str:
    """The text where it is an address to listen on; raises ValueError."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 <= int(port) <= 65535:
        raise ValueError('must be "HOST:PORT" with a port from 0 to 65535, for example "127.0.0.1:9477"')
    return text


def _micro_usd(amount: object) -> int:
    if isinstance(amount, str):
        return micro_usd(amount)
    raise ValueError('must be an amount in dollars as text, such as "20.00"')


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError) as error:
        raise ValueError('must be the name of a time zone, such as "UTC" or "Europe/Oslo"') from error
    return name


Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    WithJsonSchema({"type": "string", "examples": ["5m", "90s", "1h30m"]}),
]
Label = Annotated[str, AfterValidator(_label)]


def _expanded(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("must not hold a NUL")
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ValueError("names the home of a user that does not exist") from error


Folder = Annotated[Path, AfterValidator(_expanded), Field(strict=False)]
HostUrl = Annotated[str, AfterValidator(_host)]
Dollars = Annotated[
    int,
    BeforeValidator(_micro_usd),
    WithJsonSchema({"type": "string", "examples": ["20.00", "0.50"]}),
]
"""Micro-dollars, written as text in dollars."""
Zone = Annotated[str, AfterValidator(_zone)]


class Section(BaseModel):
    """A table of the file. What stands below a key in the code describes it in the schema (`Described`)."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)
