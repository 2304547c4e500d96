"""rungwatch init: finds the logins of this machine and writes a commented configuration, asking before it sends."""

import json
import os
import shlex
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canary.cli.main import UsageFault

if TYPE_CHECKING:
    from canary.discover import Found

TEMPLATE = """\
# rungwatch: the two rungs of the ladder, the seats that reach them, and how their quotas are read.
# `rungwatch check` says what this reads and sends. Only what differs from a default has to be here.

[ladder]
# The primary rung is asked first, and is the one that reconsiders.
primary = {{ rungs[0].name | toml }}
second = {{ rungs[1].name | toml }}
{% for rung in rungs %}

[[rung]]
name = {{ rung.name | toml }}
kind = {{ rung.kind | toml }}
model = {{ rung.model | toml }}
{% if rung.scopes %}
# The weekly window of this model binds the rung too.
scopes = {{ rung.scopes | toml }}
{% endif %}
{% for seat in rung.seats %}

[[rung.seat]]
# The name is the seat's label in every metric.
name = {{ seat.name | toml }}
{% if seat.absent %}
# No login was found here: {{ seat.absent | comment }}.
# Log in with the seat's client, or point config_dir at the folder that holds the login.
{% endif %}
{{ "# " if seat.usual }}config_dir = {{ seat.folder | toml }}
# This source sends the seat's own login to {{ rung.vendor }}'s usage endpoint, which is not documented.
{{ "# " if not rung.usage }}sources = [{{ rung.source | toml }}]
{% endfor %}
{% endfor %}

# Defaults, written out:
# [canary]
# interval = "5m"        # about 12 reads of each seat an hour; the budget allows 20
# stale_after = "15m"
# [serve]
# listen = "127.0.0.1:9477"
"""


@dataclass(frozen=True, slots=True)
class _Rung:
    """The defaults of a rung that is written for a kind of login (design 7)."""

    name: str
    model: str
    scopes: tuple[str, ...]
    source: str
    vendor: str


RUNGS = {
    "claude": _Rung("fable", "claude-fable-5", ("Fable",), "claude-usage", "Anthropic"),
    "codex": _Rung("astra", "gpt-6-astra", (), "codex-usage", "OpenAI"),
}


@click.command(
    "init",
    short_help="find logins and write a configuration",
    epilog="Example: rungwatch init --no-usage --output ./rungwatch.toml",
)
@click.option("--yes", "-y", is_flag=True, help="Ask nothing: no usage endpoint is read, nothing overwritten.")
@click.option("--usage/--no-usage", default=None, help="Whether the vendors' usage endpoints are read.")
@click.option(
    "--output", type=click.Path(path_type=Path), help="File to write  [default: ~/.config/rungwatch/rungwatch.toml]"
)
@click.option("--force", is_flag=True, help="Overwrite the file without asking.")
@click.option("--print", "to_stdout", is_flag=True, help="Print the configuration and write nothing.")
def command(yes: bool, usage: bool | None, output: Path | None, force: bool, to_stdout: bool) -> None:
    """Find the Claude Code and Codex logins of this machine and write a configuration for them.

    Whether the vendors' usage endpoints are read is asked, after saying what that sends. No login is ever written
    or renewed, and an existing file is not overwritten unasked.
    """
    from canary.discover import discover
    from canary.load import VARIABLE, parse, usual_path

    found = discover(os.environ, Path.home(), datetime.now(UTC))
    asking = sys.stdin.isatty() and not yes
    click.echo("\n".join(_shown(found)), err=to_stdout)
    text = render(found, _usage(found, usage, asking=asking, yes=yes, err=to_stdout), Path.home())
    parse(text, "the new configuration")
    if to_stdout:
        click.echo(text, nl=False)
        return
    named = os.environ.get(VARIABLE)
    usual = Path(named).expanduser() if named else usual_path(os.environ)
    path = output or usual
    _may_write(path, force=force, asking=asking)
    _write(path, text)
    click.echo("\n".join(_next(path, "" if path == usual else f" --config {shlex.quote(str(path))}")))


def _shown(found: Sequence["Found"]) -> list[str]:
    lines = ["Looked for logins:"]
    for each in found:
        what = f"no login: {each.absent}" if each.absent else f"seat {each.name!r}, login in {each.file}"
        lines.append(f"  {each.kind:<6}  {what}")
    return lines


def _usage(found: Sequence["Found"], usage: bool | None, *, asking: bool, yes: bool, err: bool) -> Collection[str]:
    """The kinds whose usage endpoint is to be read."""
    kinds = list(dict.fromkeys(each.kind for each in found))
    if usage is not None:
        return kinds if usage else []
    if yes:
        return []
    if not asking:
        raise UsageFault("there is no terminal to ask on: give --usage or --no-usage, or --yes for the defaults")
    click.echo("\n".join(["", *_CHOICE]), err=err)
    return [kind for kind in kinds if click.confirm(_question(kind), default=False, err=err)]


_CHOICE = (
    "Quotas can be read in two ways:",
    "  no   only the login files above are read, and nothing is sent; quotas stay unknown until the seat has",
    "       another source, such as a seats.json that another program writes",
    "  yes  each seat's own login is also sent to its vendor's usage endpoint, about 12 times an hour and to no",
    "       other host. No model is called and no login is renewed. The endpoint is not documented: see first",
    "       whether the vendor's terms allow it.",
)


def _question(kind: str) -> str:
    from canary.sources.claude_usage import BASE_URL as CLAUDE
    from canary.sources.codex_usage import BASE_URL as CODEX

    return f"Read the usage endpoint of {RUNGS[kind].vendor} ({ {'claude': CLAUDE, 'codex': CODEX}[kind] })?"


def render(found: Sequence["Found"], usage: Collection[str], home: Path) -> str:
    """The configuration for these logins; `usage` are the kinds whose usage endpoint is read."""
    from jinja2 import Environment

    # TOML is no markup, and each value is escaped by the filters
    environment = Environment(trim_blocks=True, lstrip_blocks=True, autoescape=False, keep_trailing_newline=True)  # noqa: S701
    environment.filters |= {"toml": toml, "comment": comment}
    rungs = [
        {
            "name": rung.name,
            "kind": kind,
            "model": rung.model,
            "scopes": rung.scopes,
            "source": rung.source,
            "usage": kind in usage,
            "vendor": rung.vendor,
            "seats": [_seat(each, home) for each in found if each.kind == kind],
        }
        for kind, rung in RUNGS.items()
    ]
    return environment.from_string(TEMPLATE).render(rungs=rungs)


def _seat(found: "Found", home: Path) -> dict[str, Any]:
    below = found.folder.is_relative_to(home)
    folder = f"~/{found.folder.relative_to(home)}" if below else str(found.folder)
    return {"name": found.name, "folder": folder, "usual": found.usual, "absent": found.absent}


def toml(value: Any) -> str:
    """A text or a list of texts as TOML writes it."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return f"[{', '.join(toml(each) for each in value)}]"


def comment(text: str) -> str:
    """A text that cannot end the comment it stands in."""
    return "".join(char if char.isprintable() else "?" for char in text)


def _may_write(path: Path, *, force: bool, asking: bool) -> None:
    if force or not os.path.lexists(path):
        return
    if not asking:
        raise UsageFault(f"{path} is there already: give --force to overwrite it, or --output for another file")
    if not click.confirm(f"{path} is there already. Overwrite it?", default=False):
        raise UsageFault(f"{path} is left as it was; --output names another file, --print writes none")


def _write(path: Path, text: str) -> None:
    from canary.folder import replace_file

    target = Path(os.path.realpath(path))  # a link, as dotfile managers make, stays one
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir():
            raise UsageFault(f"{path} is a folder; --output names a file")
        replace_file(target, text.encode(), mode=0o600)
    except OSError as error:
        raise UsageFault(f"{path} cannot be written: {error.strerror}") from error


def _next(path: Path, config: str) -> list[str]:
    return [
        "",
        f"Wrote {path}. Next:",
        f"  rungwatch check{config}     what it reads and sends, and whether it can be used",
        f"  rungwatch canary{config}    read every seat once",
        f"  rungwatch serve{config}     keep reading; metrics and a status page",
    ]
