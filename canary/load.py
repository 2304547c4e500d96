"""Loading the configuration: where it is found; errors name the file, line, key and what is allowed."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from canary.config import CanarySection, Config, LadderSection, RungSection, SeatSection
from canary.config_handoff import CommandSection, UserSection, WebhookSection
from canary.config_level import LevelSection
from canary.label import usable_name
from canary.plan import DEFAULT_DIRS

VARIABLE = "RUNGWATCH_CONFIG"


class ConfigError(Exception):
    """The configuration cannot be used; the text says where and what is allowed."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration and the file it came from; `path` None when there is none and logins were looked for."""

    config: Config
    path: Path | None


def config_path(given: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The configuration file that applies: the given one, the variable's, else the XDG one if it is there."""
    if given is not None:
        return given
    if environ.get(VARIABLE):
        return Path(environ[VARIABLE]).expanduser()
    usual = usual_path(environ)
    try:
        usual.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return usual  # it may be there: reading it says what is wrong
    return usual


def usual_path(environ: Mapping[str, str]) -> Path:
    """`$XDG_CONFIG_HOME/rungwatch/rungwatch.toml`, or below `~/.config`."""
    base = environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "rungwatch" / "rungwatch.toml"


def load(given: Path | None, environ: Mapping[str, str]) -> Loaded:
    """The configuration that applies, or one made of the local logins when there is none.

    Raises ConfigError.
    """
    path = config_path(given, environ)
    if path is None:
        return Loaded(discovered(environ), None)
    config = read(path)
    _files_of(config)
    return Loaded(config, path)


def _files_of(config: Config) -> None:
    """Read the files that a configuration names for decisions, so that a fault in one is told before it matters."""
    if config.decide.policy is None and config.decide.prices is None:
        return
    from canary.policy import policy_of, prices_of
    from decide.policy import PolicyError
    from decide.prices import PriceError

    try:
        policy_of(config)
        prices_of(config)
    except (PolicyError, PriceError) as error:
        raise ConfigError(str(error)) from error


def read(path: Path) -> Config:
    """The configuration in a file; raises ConfigError."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigError(f"there is no configuration at {path}; `rungwatch init` writes one") from error
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"the configuration {path} cannot be read: {why}") from error
    return parse(text, str(path))


def parse(text: str, name: str) -> Config:
    """The configuration in a text called `name`; raises ConfigError with every fault, a line each."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: not valid TOML: {error}") from error
    try:
        return Config.model_validate(document)
    except ValidationError as error:
        faults = [_fault(text, name, fault) for fault in error.errors(include_url=False)]
        raise ConfigError("\n".join(dict.fromkeys(faults))) from None


def _fault(text: str, name: str, fault: Any) -> str:
    location = [part for part in fault["loc"] if part not in ("function-before", "function-after")]
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "tuple_type":
        message = 'must be a list, for example ["one", "two"]'
    if fault["type"] == "extra_forbidden":
        message = f"unknown key; allowed here: {', '.join(_allowed(location))}"
    if not location:
        return "\n".join(f"{name}: {_masked(line)}" for line in message.splitlines())
    key = _spelled(location)
    line = line_of(text, location)
    where = f"{name}:{line}" if line else name
    return f"{where}: {key + ': ' if key else ''}{message}{_given(fault)}"


def _given(fault: Any) -> str:
    """The value as it was given, unless it may be a secret that went astray."""
    value = fault.get("input")
    told = isinstance(value, str | int | float | bool) and fault["type"] not in ("extra_forbidden", "missing")
    if not told or (isinstance(value, str) and not usable_name(value)):
        return ""
    return f" (given: {value!r})"


def _masked(message: str) -> str:
    """A message without the quoted values that may be secrets that went astray."""
    quoted = re.compile(r"'[^']*'|\"[^\"]*\"")
    return quoted.sub(lambda found: found[0] if _tellable(found[0][1:-1]) else "(not shown)", message)


def _tellable(text: str) -> bool:
    return usable_name(text.replace("/", "-"))  # models are told although some are spelled like paths


def _spelled(location: Sequence[Any]) -> str:
    text = ""
    for part in location:
        told = part if isinstance(part, int) or _tellable(str(part)) else "(not shown)"
        text += f"[{told}]" if isinstance(part, int) else f".{told}" if text else str(told)
    return text


def _allowed(location: Sequence[Any]) -> list[str]:
    model: Any = Config
    for part in location[:-1]:
        if isinstance(part, str):
            model = _SECTIONS.get(part, model)
    return sorted(field.alias or name for name, field in model.model_fields.items())


_SECTIONS: Mapping[str, Any] = {name: field.annotation for name, field in Config.model_fields.items()} | {
    "rung": RungSection,
    "seat": SeatSection,
    "webhook": WebhookSection,
    "command": CommandSection,
    "user": UserSection,
    **dict.fromkeys(("low", "medium", "high"), LevelSection),
}


def line_of(text: str, location: Sequence[Any]) -> int | None:
    """The line on which a key stands, by counting table headers; None when it cannot be found."""
    headers = [part for part in location if isinstance(part, str)]
    lines = text.splitlines()
    start = 0
    for depth in range(1, len(headers) + 1):
        path, place = headers[:depth], _place_after(location, headers, depth)
        found = _header(lines, start, ".".join(path), place)
        start = start if found is None else found
    key = re.compile(rf"\s*[\"']?{re.escape(headers[-1])}[\"']?\s*=") if headers else None
    for number in range(start, len(lines)):
        if key is not None and key.match(lines[number]):
            return number + 1
        if number > start and lines[number].lstrip().startswith("["):
            break
    return start + 1 if start or (lines and headers and lines[0].lstrip().startswith("[")) else None


def _place_after(location: Sequence[Any], headers: Sequence[str], depth: int) -> int:
    """Which element of an array of tables is meant after the `depth`-th name, from 0."""
    seen = 0
    for index, part in enumerate(location):
        seen += isinstance(part, str)
        if seen == depth and isinstance(part, str):
            follower = location[index + 1] if index + 1 < len(location) else None
            return follower if isinstance(follower, int) else 0
    return 0


def _header(lines: Sequence[str], start: int, name: str, place: int) -> int | None:
    pattern = re.compile(rf"\s*\[\[?\s*{re.escape(name)}\s*\]\]?")
    places = [number for number in range(start, len(lines)) if pattern.match(lines[number])]
    return places[place] if place < len(places) else None


def discovered(environ: Mapping[str, str]) -> Config:
    """The ladder of a machine without a configuration: the local Claude Code and Codex logins, quotas not read."""
    return Config(
        ladder=LadderSection(primary="claude", second="codex"),
        rung=(
            RungSection(
                name="claude",
                kind="claude",
                model="claude-fable-5",
                seat=(SeatSection(name="local", config_dir=login_folder("claude", environ)),),
            ),
            RungSection(
                name="codex",
                kind="codex",
                model="gpt-6-astra",
                seat=(SeatSection(name="local", config_dir=login_folder("codex", environ)),),
            ),
        ),
        canary=CanarySection(),
    )


def login_folder(kind: str, environ: Mapping[str, str]) -> Path:
    """Where the local client of that kind keeps its login."""
    variable = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}[kind]
    return Path(environ.get(variable) or DEFAULT_DIRS[kind]).expanduser()
