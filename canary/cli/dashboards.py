"""rungwatch dashboards: what Prometheus, Alertmanager and Grafana are given, built, checked and pushed."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from canary.cli.main import UsageFault
from canary.cli.options import json_option

if TYPE_CHECKING:
    from canary.pushing import Grafana, Pushed
    from dashboards.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])
FOLDER = Path("dashboards/generated")
TOKEN_ENV = "GRAFANA_TOKEN"  # noqa: S105 - the name of a variable
DIFFERS = 1
_WORDS = {True: "would be {}", False: "{}"}


class PushFault(click.ClickException):
    """Grafana did not take what was pushed."""

    exit_code = 1


@click.group(
    "dashboards",
    short_help="build, check and push dashboards, rules and routes",
    epilog="Example: rungwatch dashboards build --out monitoring",
)
def command() -> None:
    """Grafana dashboards, Prometheus rules and Alertmanager routes, all built from the metric catalog."""


def _settings_options(command: F) -> F:
    command = click.option(
        "--time-scale",
        metavar="SPEED[,REAL,SHOWN]",
        help="How fast the exporter's clock runs, and what it SHOWN at a REAL moment, for a demo's day.",
    )(command)
    return click.option(
        "--settings",
        "settings_path",
        type=click.Path(path_type=Path),
        help="TOML file with thresholds, objective, windows and addresses  [default: the built-in ones]",
    )(command)


def _out_option(command: F) -> F:
    return click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        default=FOLDER,
        show_default=True,
        help="The folder.",
    )(command)


@command.command("build", epilog="Example: rungwatch dashboards build --out monitoring --settings alerts.toml")
@_out_option
@_settings_options
@json_option
def build(out: Path, settings_path: Path | None, time_scale: str | None, as_json: bool) -> None:
    """Write dashboards, Grafana's provisioning, rules, routes and a compose file with the three servers."""
    made = _made(_settings(settings_path, time_scale))
    written = [name for name, text in made.items() if _there(out / name) != text]
    for name in written:
        try:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_text(made[name], encoding="utf-8")
        except OSError as error:
            raise UsageFault(f"{out / name} cannot be written: {error.strerror}") from error
    if as_json:
        click.echo(json.dumps({"folder": str(out), "files": list(made), "written": written}, indent=2))
        return
    for name in written:
        click.echo(f"written  {out / name}")
    click.echo(f"{len(made)} files in {out}, {len(written)} of them written now")


@command.command("check", epilog="Example: rungwatch dashboards check --out monitoring && echo up to date")
@_out_option
@_settings_options
@json_option
@click.pass_context
def check(
    context: click.Context, out: Path, settings_path: Path | None, time_scale: str | None, as_json: bool
) -> None:
    """Build anew and compare: exits 1 and names each file that is missing or differs."""
    made = _made(_settings(settings_path, time_scale))
    there = {name: _there(out / name) for name in made}
    found = {name: "missing" if text is None else "differs" for name, text in there.items() if text != made[name]}
    if as_json:
        click.echo(json.dumps({"folder": str(out), "wrong": found}, indent=2))
    else:
        for name, word in found.items():
            click.echo(f"{word:8} {out / name}")
        click.echo(f"{len(made)} files, {len(found)} of them not as they would be built")
    context.exit(DIFFERS if found else 0)


@command.command("push", epilog="Example: GRAFANA_TOKEN=... rungwatch dashboards push --url http://127.0.0.1:3000")
@click.option("--url", required=True, help="Grafana's address, with its path if it has one.")
@click.option(
    "--token-env", default=TOKEN_ENV, show_default=True, help="The variable that holds a service account token."
)
@click.option("--folder", default="rungwatch", show_default=True, help="The folder's title.")
@click.option("--folder-uid", default="rungwatch", show_default=True, help="The folder's uid.")
@click.option("--overwrite", is_flag=True, help="Replace a dashboard that was changed there meanwhile.")
@click.option("--dry-run", is_flag=True, help="Read only, and say what would be done.")
@_settings_options
@json_option
def push(
    url: str,
    token_env: str,
    folder: str,
    folder_uid: str,
    overwrite: bool,
    dry_run: bool,
    settings_path: Path | None,
    time_scale: str | None,
    as_json: bool,
) -> None:
    """Send the dashboards to a Grafana over its HTTP API; what is there already is left alone."""
    from canary.pushing import Grafana

    if not url.startswith(("http://", "https://")):
        raise UsageFault(f"--url: an address that begins with http:// or https://, not {url!r}")
    token = os.environ.get(token_env, "")
    if not token.isascii() or not token.isprintable() or not token.strip():
        raise UsageFault(f"--token-env: {token_env} holds no token; make one under Administration, Service accounts")
    to = Grafana(url, folder_uid, folder, token.strip(), overwrite, dry_run)
    _send(_settings(settings_path, time_scale), to, as_json=as_json)


def _send(settings: "Settings", to: "Grafana", *, as_json: bool) -> None:
    from canary.pushing import PushError

    done: list[Pushed] = []
    try:
        asyncio.run(_pushed(settings, to, done, quiet=as_json))
    except PushError as error:
        fault = UsageFault if error.mendable else PushFault
        raise fault(str(error)) from error
    if as_json:
        told = [{"kind": one.kind, "uid": one.name, "did": one.did.value} for one in done]
        click.echo(json.dumps({"dry_run": to.dry_run, "pushed": told}, indent=2))


async def _pushed(settings: "Settings", to: "Grafana", done: "list[Pushed]", *, quiet: bool) -> None:
    from canary.clock import SystemClock
    from canary.pushing import push as pushed
    from canary.version import VERSION
    from dashboards.build import boards
    from decide.rungs.http import Http

    http = Http(SystemClock().now, timeout_s=30, version=VERSION, purpose="pushes dashboards")
    try:
        async for one in pushed(boards(settings), to, http.fetch):
            done.append(one)
            if not quiet:
                click.echo(f"{one.kind:9} {one.name:20} {_WORDS[to.dry_run].format(one.did.value)}")
    finally:
        await http.aclose()


def _settings(path: Path | None, time_scale: str | None) -> "Settings":
    from canary.dashboard_settings import SettingsError, parse_scale, read_settings
    from dashboards.settings import Settings

    try:
        found = read_settings(path) if path else Settings()
        return replace(found, scale=parse_scale(time_scale)) if time_scale else found
    except SettingsError as error:
        raise UsageFault(str(error)) from error


def _made(settings: "Settings") -> Mapping[str, str]:
    from dashboards.build import files

    try:
        return files(settings)
    except ValueError as error:
        raise UsageFault(str(error)) from error


def _there(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageFault(f"{path} cannot be read: {error}") from error
