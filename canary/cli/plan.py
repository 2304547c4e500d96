"""rungwatch plan: how many seats keep a rung from missing, and how well forecasts would have done."""

import asyncio
import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canary.cli.main import UsageFault
from canary.cli.options import Span, config_option, json_option, state_option

if TYPE_CHECKING:
    from canary.capacity.history import History
    from canary.capacity.inputs import ConfiguredRung
    from canary.capacity.plan import Plan
    from canary.capacity.scenario import Scenario
    from canary.capacity.scenario_file import ScenarioFile
    from canary.capacity.work import Told
    from canary.cli.store import Opened

STOPPED = 130
FEWEST_WEEKS = 20
PICTURES = (".svg", ".png")


@click.command(
    "plan",
    short_help="how many seats keep a rung from missing",
    epilog="Example: rungwatch plan team.toml --picture plan.svg",
)
@click.argument("scenario", required=False, type=click.Path(path_type=Path, readable=False))
@click.option("--prometheus", metavar="URL", help="Read history from this Prometheus.")
@click.option("--matching", metavar="LABELS", default="", help='Only its series with these labels: job="rungwatch".')
@click.option("--ledger", is_flag=True, help="Take decisions from the ledger; with --prometheus, meters from there.")
@click.option("--since", type=Span(), default="56d", show_default=True, help="How far back history is looked at.")
@click.option(
    "--weeks",
    type=click.IntRange(FEWEST_WEEKS, 100_000),
    default=300,
    show_default=True,
    help="How many weeks are simulated.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The same seed, the same plan.")
@click.option(
    "--processes", type=click.IntRange(1, 64), help="How many simulate at once  [default: one per processor]"
)
@click.option(
    "--move",
    type=click.FloatRange(0, 1),
    default=0.25,
    show_default=True,
    help="Which share of the questions at high is tried at medium.",
)
@click.option(
    "--picture",
    "pictures",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also draw it, as .svg or .png; may be given twice.",
)
@click.option("--backtest", is_flag=True, help="Instead, say how well forecasts would have done on past meters.")
@json_option
@config_option
@state_option
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Simulate the seats of a SCENARIO (TOML or YAML) and say how many keep a rung from missing.

    Seats are picked by the rules by which decisions pick them. What is asked comes from the scenario, else from the
    ledger or a Prometheus. Without a scenario the seats are those of the configuration.

    Ctrl-C shows what is known by then. Exits 64 for usage, 130 when stopped.
    """
    from canary.capacity.scenario import ScenarioError

    try:
        _backtested(given) if given["backtest"] else _planned(context, given)
    except ScenarioError as error:
        raise UsageFault(str(error)) from error


def _planned(context: click.Context, given: dict[str, Any]) -> None:
    from canary.capacity.plan import Budget, make_plan
    from canary.capacity.work import Work

    _refuse_pictures(given["pictures"])
    scenario, history = _scenario(given)
    budget = Budget(given["weeks"], given["seed"], given["move"])
    with _progress() as told:
        work = Work(scenario, given["processes"] or os.cpu_count() or 1, told)
        plan = make_plan(scenario, budget, work)
    if not any(rung.have or rung.by_seats for rung in plan.rungs):
        click.echo("stopped before enough was simulated to say anything", err=True)
        context.exit(STOPPED)
    _tell(plan, history, given)
    if plan.stopped:
        click.echo(f"stopped: {len(work.done)} batches were done, and what is shown is less sure", err=True)
        context.exit(STOPPED)


def _tell(plan: "Plan", history: "History | None", given: dict[str, Any]) -> None:
    from canary.capacity.cost import level_costs

    costs = None if history is None else level_costs(history.decisions, even=history.even)
    for path in given["pictures"]:
        from canary.capacity.picture import draw

        try:
            draw(plan, path)
        except OSError as error:
            raise UsageFault(f"--picture: {path} cannot be written: {error.strerror}") from error
    if given["as_json"]:
        from canary.capacity.document import plan_document

        click.echo(json.dumps(plan_document(plan, costs), indent=2))
        return
    from canary.cli.plan_text import show
    from canary.cli.sheet import Sheet

    show(plan, Sheet(sys.stdout), costs or ())


def _backtested(given: dict[str, Any]) -> None:
    from canary.capacity.backtest import backtest
    from canary.capacity.document import backtest_document

    history = _history(given, decisions=False)
    found = backtest(history.samples)
    if found is None:
        raise UsageFault(f"--backtest: {history.source} holds no meter readings; give --prometheus, or wait for some")
    if given["as_json"]:
        click.echo(json.dumps(backtest_document(found), indent=2))
        return
    from canary.cli.plan_text import show_backtest
    from canary.cli.sheet import Sheet

    show_backtest(found, Sheet(sys.stdout))


def _refuse_pictures(pictures: tuple[Path, ...]) -> None:
    """Before minutes of simulation: what could not be drawn in the end."""
    for path in pictures:
        if path.suffix not in PICTURES:
            raise UsageFault(f"--picture: {path} must end in {' or '.join(PICTURES)}")
        if not path.absolute().parent.is_dir():
            raise UsageFault(f"--picture: there is no folder {path.absolute().parent}")
    if pictures and importlib.util.find_spec("matplotlib") is None:
        raise UsageFault("--picture: pictures need the extra `plan`: pip install 'rungwatch[plan]'")


def _scenario(given: dict[str, Any]) -> "tuple[Scenario, History | None]":
    """What is simulated, and the history that it comes from where there is one."""
    from canary.capacity.inputs import Inputs, needs_history, scenario_of
    from canary.capacity.scenario_file import read

    file = None if given["scenario"] is None else read(given["scenario"])
    asks = given["ledger"] or given["prometheus"]
    if file is not None and file.states_demand and asks:
        option = "--ledger" if given["ledger"] else "--prometheus"
        raise UsageFault(f"{option}: the scenario says itself what is asked; leave one of the two away")
    history = _history(given, decisions=True) if needs_history(file) else None
    return scenario_of(Inputs(_rungs(given, file), file, history)), history


def _rungs(given: dict[str, Any], file: "ScenarioFile | None") -> "tuple[ConfiguredRung, ConfiguredRung]":
    """Both rungs, the primary first; the configuration is only read where the scenario does not name them."""
    from canary.capacity.inputs import ConfiguredRung
    from canary.load import ConfigError, load

    if file is not None and file.ladder is not None:
        return ConfiguredRung(file.ladder.primary, 0), ConfiguredRung(file.ladder.second, 0)
    try:
        config = load(given["config_path"], os.environ).config
    except ConfigError as error:
        raise UsageFault(str(error)) from error
    by_name = {rung.name: ConfiguredRung(rung.name, len(rung.seat), rung.scopes) for rung in config.rung}
    return by_name[config.ladder.primary], by_name[config.ladder.second]


def _history(given: dict[str, Any], *, decisions: bool) -> "History":
    """What is known of the past, from where the options say."""
    from dataclasses import replace

    since = datetime.now(UTC) - given["since"]
    if given["prometheus"] is None:
        return _from_ledger(given, since)
    found = asyncio.run(_from_prometheus(given, since, decisions=decisions and not given["ledger"]))
    if not given["ledger"]:
        return found
    return replace(_from_ledger(given, since), samples=found.samples)


def _from_ledger(given: dict[str, Any], since: datetime) -> "History":
    from canary.capacity.history import History, decisions
    from canary.cli.store import on_ledger

    async def found(opened: "Opened") -> History:
        if opened.store is None:
            raise UsageFault(f"there is no history: {opened.label} is not there yet; give a scenario or --prometheus")
        samples = await opened.store.metered_since(since)
        return History(await decisions(opened.store, since=since), samples, f"the ledger {opened.label}")

    return on_ledger(given["config_path"], given["state_dir"], found)


async def _from_prometheus(given: dict[str, Any], since: datetime, *, decisions: bool) -> "History":
    from canary.capacity.prometheus import TIMEOUT_S, Server, read
    from canary.version import VERSION
    from decide.rungs.http import Http

    http = Http(lambda: datetime.now(UTC), timeout_s=TIMEOUT_S, version=VERSION, purpose="plan")
    try:
        server = Server(given["prometheus"], http.fetch, given["matching"])
        return await read(server, since, datetime.now(UTC), decisions=decisions)
    finally:
        await http.aclose()


@contextmanager
def _progress() -> "Iterator[Told]":
    """Tells how far the simulation is on a terminal, and nowhere else."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from canary.capacity.work import untold

    console = Console(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        yield untold
        return
    columns = TextColumn("simulating"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as shown:
        bar = shown.add_task("", total=None)
        yield lambda done, of: shown.update(bar, completed=done, total=of)
