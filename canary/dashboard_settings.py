"""Dashboard settings: a TOML file as the settings of dashboards, rules and routes; a wrong key is named."""

import tomllib
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from dashboards.scale import Scale
from dashboards.settings import Settings


class SettingsError(ValueError):
    """Settings that cannot be used; the text names the file and the key."""


def read_settings(path: Path) -> Settings:
    """The settings in a file, each that it does not name at its default; raises SettingsError."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    try:
        return TypeAdapter(Settings).validate_python(document)
    except ValidationError as error:
        faults = (f"{path}: {_key(fault['loc'])}{_told(fault['type'], fault['msg'])}" for fault in error.errors())
        raise SettingsError("\n".join(faults)) from None


def _key(location: tuple[int | str, ...]) -> str:
    return f"{'.'.join(map(str, location))}: " if location else ""


def _told(kind: str, message: str) -> str:
    if kind in ("unexpected_keyword_argument", "extra_forbidden"):
        return f"unknown key; allowed are {', '.join(sorted(Settings.__dataclass_fields__))}"
    return message.removeprefix("Value error, ")


def parse_scale(text: str) -> Scale:
    """A time scale written SPEED or SPEED,REAL,SHOWN, the last two in Unix seconds; raises SettingsError."""
    try:
        return Scale(*map(float, text.split(",")))
    except (TypeError, ValueError):
        raise SettingsError(
            f"time scale: SPEED or SPEED,REAL,SHOWN in numbers, such as 120,1789041600,1789041600, not {text!r}"
        ) from None
