"""rungwatch serve: tick on a schedule, serve metrics and the status page; with --demo on a made-up day."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canary.cli.main import UsageFault
from canary.cli.options import config_option, log_to_stderr, state_option

if TYPE_CHECKING:
    from exporters.view import View

LOCKED = 75
"""Exit code when another canary holds the state folder: try again later (EX_TEMPFAIL)."""
DEMO_MINUTES = 6.0
DECIDE_EVERY_S = 0.5
"""How often the demo looks whether a question is due, in seconds."""


@click.command(
    "serve",
    short_help="tick on a schedule, serve metrics and the status page",
    epilog="Example: rungwatch serve --demo, then open http://127.0.0.1:9477/",
)
@click.option("--listen", metavar="HOST:PORT", help="Address to serve on  [default: 127.0.0.1:9477]")
@click.option("--demo", is_flag=True, help="Play the day of an outage on a made-up ladder; reads no login of yours.")
@click.option(
    "--minutes",
    type=click.FloatRange(min=0.1),
    default=DEMO_MINUTES,
    show_default=True,
    help="How long the demo's twelve hours take.",
)
@config_option
@state_option
@click.pass_context
def command(
    context: click.Context,
    listen: str | None,
    demo: bool,
    minutes: float,
    config_path: Path | None,
    state_dir: Path | None,
) -> None:
    """Watch the ladder until stopped, and serve /metrics, the status page, /probe and health over HTTP."""
    from canary import folder
    from canary.listening import PortTakenError
    from canary.load import ConfigError
    from decide.question import QuestionError, UsageError

    log_to_stderr()
    try:
        if demo:
            _play(listen, minutes)
        else:
            _watch(listen, config_path, state_dir)
    except folder.LockedError as error:
        click.echo(str(error), err=True)
        context.exit(LOCKED)
    except (ConfigError, folder.FolderError, PortTakenError, QuestionError, UsageError) as error:
        raise UsageFault(str(error)) from error


def _watch(listen: str | None, config_path: Path | None, state_dir: Path | None) -> None:
    from canary import folder
    from canary.app import Extras, serve, state_folder
    from canary.clock import SystemClock
    from canary.listening import listen as bind
    from canary.load import load

    loaded = load(config_path, os.environ)
    place = state_folder(state_dir, loaded.config, os.environ)
    folder.prepare(place)
    with folder.lock(place) as held, bind(listen or loaded.config.serve.listen) as bound:
        click.echo(f"rungwatch serves http://{_address(bound.getsockname())}/  (Ctrl-C ends it)", err=True)
        asyncio.run(serve(loaded, place, bound, Extras(SystemClock(), held.renew)))


def _play(listen: str | None, minutes: float) -> None:
    from canary.app import Extras, serve
    from canary.config import DEFAULT_LISTEN
    from canary.console_access import NOBODY
    from canary.demo.decisions import KINDS, Decisions
    from canary.demo.show import LENGTH, Demo
    from canary.listening import listen as bind
    from canary.load import Loaded
    from canary.own_name import own_name

    async def play(demo: Demo, place: Path) -> None:
        with bind(listen or DEFAULT_LISTEN) as bound:
            address = _address(bound.getsockname())
            click.echo(
                f"DEMO: a made-up ladder plays a day of outages in {minutes:g} minutes; no login of yours is read.\n"
                f"Status page  http://{address}/\n"
                f"Metrics      http://{address}/metrics\n"
                "Ctrl-C ends it. For your own logins: rungwatch init, then rungwatch serve.",
            )
            async with demo.provided() as base_url:
                config = demo.config(base_url, listen or DEFAULT_LISTEN)

                def shown(view: "View") -> None:
                    demo.clock.thaw()
                    _on_screen(view)

                decisions = Decisions(config, place, demo.clock, own_name() or NOBODY)
                extras = Extras(
                    demo.clock,
                    speed=demo.speed,
                    demo=True,
                    before_tick=demo.set_stage,
                    caption=demo.caption,
                    shown=shown,
                    jobs=(("decisions", DECIDE_EVERY_S, decisions.due),),
                    kinds=KINDS,
                )
                await serve(Loaded(config, None), place, bound, extras)

    with tempfile.TemporaryDirectory(prefix="rungwatch-demo-") as scratch:
        demo = Demo(Path(scratch) / "logins", LENGTH.total_seconds() / (minutes * 60))
        place = Path(scratch) / "state"
        place.mkdir(mode=0o700)
        asyncio.run(play(demo, place))


def _on_screen(view: "View") -> None:
    """The table, drawn over itself on a terminal after each tick; in a pipe the log line is all there is."""
    if not sys.stdout.isatty() or view.state is None:
        return
    from rich.console import Console

    from canary.cli.table import draw
    from canary.cli.wording import Reader
    from exporters.report import report

    console = Console(highlight=False, markup=False, emoji=False)
    with console.capture() as drawn:
        console.print(" DEMO: a made-up ladder, read from a made-up provider on this machine ", style="reverse")
        draw(_brief(report(view, view.state.at)), console, reader=Reader(view.state.at, None))
    click.clear()
    click.echo(drawn.get(), nl=False)  # at once: a screen that is cleared first and drawn slowly flickers


def _brief(document: dict[str, Any]) -> dict[str, Any]:
    """The report with only the fullest binding window of each seat, so that eight seats fit a screen."""
    rungs = [rung | {"seats": [_fullest(seat) for seat in rung["seats"]]} for rung in document["rungs"]]
    return document | {"rungs": rungs}


def _fullest(seat: dict[str, Any]) -> dict[str, Any]:
    binding = [window for window in seat["windows"] if window["binding"]]
    return seat | {"windows": sorted(binding, key=lambda window: -window.get("used_ratio", 0.0))[:1]}


def _address(name: tuple[str, int]) -> str:
    return f"[{name[0]}]:{name[1]}" if ":" in name[0] else f"{name[0]}:{name[1]}"
