"""Options that commands share, and how a command finds its configuration and state folder."""

import logging
import os
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import click

from canary.cli.main import UsageFault

F = TypeVar("F", bound=Callable[..., Any])


def config_option(command: F) -> F:
    """`--config FILE`."""
    return click.option(
        "--config",
        "config_path",
        type=click.Path(path_type=Path, readable=False),
        help="Configuration file  [default: $RUNGWATCH_CONFIG, else the one in ~/.config/rungwatch]",
    )(command)


def state_option(command: F) -> F:
    """`--state-dir FOLDER`."""
    return click.option(
        "--state-dir",
        type=click.Path(path_type=Path, readable=False),
        help="State folder  [default: $RUNGWATCH_STATE_DIR, else ~/.local/state/rungwatch]",
    )(command)


def json_option(command: F) -> F:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for a machine.")(command)


LONGEST = timedelta(days=36_500)


class Span(click.ParamType[timedelta]):
    """How far back: a span of time such as `56d`, of a hundred years at most."""

    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """The span; a usage error names the form."""
        from canary.duration import parse_duration

        try:
            found = parse_duration(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if found > LONGEST:
            self.fail(f"must be at most {LONGEST.days}d", param, ctx)
        return found


def quick_state_folder(state_dir: Path | None, config_path: Path | None) -> Path:
    """The state folder, found without loading the whole configuration: only its `[state] dir` is looked at."""
    import tomllib

    environ = os.environ
    if state_dir is None and environ.get("RUNGWATCH_STATE_DIR"):
        state_dir = Path(environ["RUNGWATCH_STATE_DIR"])
    if state_dir is not None:
        return expanded(state_dir)
    named = config_path or environ.get("RUNGWATCH_CONFIG")
    base = Path(environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    path = expanded(Path(named)) if named else base / "rungwatch" / "rungwatch.toml"
    try:
        section = tomllib.loads(path.read_text(encoding="utf-8-sig")).get("state", {})
    except FileNotFoundError as error:
        if named:
            raise UsageFault(f"there is no configuration at {path}") from error
        section = {}
    except (OSError, ValueError) as error:
        raise UsageFault(f"the configuration {path} cannot be read") from error
    folder = section.get("dir") if isinstance(section, dict) else None
    usual = Path(environ.get("XDG_STATE_HOME") or "~/.local/state") / "rungwatch"
    return expanded(Path(folder) if isinstance(folder, str) else usual)


def expanded(path: Path) -> Path:
    """The path with `~` made a home; raises UsageFault where there is no such user."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise UsageFault(f"{path} names the home of a user that does not exist") from error


def log_to_stderr(*, verbose: bool = False) -> None:
    """Send the log to standard error, a plain line a record: the log line carries its own time."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    # the scheduler's own words repeat ours, and may quote an exception
    logging.getLogger("apscheduler").setLevel(logging.CRITICAL + 1)
    logger = logging.getLogger("rungwatch")
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(logging.DEBUG if verbose else logging.INFO)
