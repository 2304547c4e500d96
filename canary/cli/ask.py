"""rungwatch ask: one question taken through the ladder; prints the ruling and exits by it."""

import asyncio
import errno
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canary.cli.main import UsageFault
from canary.cli.options import config_option, json_option, log_to_stderr, state_option
from canary.cli.questions import Asked, asked, question_options, refusals
from canary.own_name import own_name
from decide.question import LevelName

if TYPE_CHECKING:
    from canary.config import Config
    from decide.handoff.act import Act
    from decide.receipt import Receipt
    from decide.watch import Event, Watch

CANCELLED = 130
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_TITLE = 60


@click.command(
    "ask",
    short_help="take a question through the ladder and print the ruling",
    epilog="Example: rungwatch ask -q 'Which cache?' -o keep='Keep it' -o swap='Take the other' --file notes.md",
)
@question_options
@click.option(
    "--level",
    type=click.Choice([one.value for one in LevelName]),
    help="How much it may cost  [default: the question's]",
)
@click.option("--dry-run", is_flag=True, help="Show both briefs; nobody is asked and nothing is reserved.")
@json_option
@config_option
@state_option
@click.pass_context
def command(
    context: click.Context,
    /,
    file: str | None,
    level: str | None,
    dry_run: bool,
    as_json: bool,
    config_path: Path | None,
    state_dir: Path | None,
    **flags: Any,
) -> None:
    """Ask both rungs a question, and print what they decide and which model said so.

    The question is FILE (JSON or YAML, - for standard input) or made of flags, whose paths count from the working
    folder. A question that was decided before is not asked again: its receipt comes back.

    Exits 0 with an answer, 2 when it may be asked again later, 3 when a person must decide, 4 when both rungs are
    walled or the ledger needs a person, 64 for usage, 130 when stopped.
    """
    from canary.app import state_folder
    from canary.load import ConfigError, load

    try:
        loaded = load(config_path, os.environ)
    except ConfigError as error:
        raise UsageFault(str(error)) from error
    place = state_folder(state_dir, loaded.config, os.environ)
    chosen = None if level is None else LevelName(level)
    try:
        given = asked(file, flags)
        if dry_run:
            asyncio.run(_rehearse(given, loaded.config, place, chosen, as_json=as_json))
            return
        run = _Run(given, loaded.config, place, chosen)
        asyncio.run(run.go())
    except refusals() as error:
        raise UsageFault(str(error)) from error
    context.exit(_told(run, as_json=as_json))


class _Run:
    """One run with somebody before it: `receipt` stays None when it was stopped before there was one."""

    def __init__(self, given: Asked, config: "Config", place: Path, level: LevelName | None) -> None:
        self._given, self._config, self._place, self._level = given, config, place, level
        self.began = datetime.now(UTC)
        self.receipt: Receipt | None = None
        self.act: Act | None = None

    async def go(self) -> None:
        """Ask, and let go of everything when told to stop."""
        from canary.cli.progress import watching

        title = " ".join(self._given.question.text.split())[:_TITLE]
        with watching(f"asking: {title}", sys.stderr, time.monotonic) as watch:
            log_to_stderr()
            task = asyncio.create_task(self._asked(watch))
            with stoppable(task):
                await asyncio.wait({task})
        if not task.cancelled():
            task.result()

    async def _asked(self, watch: "Watch") -> None:
        from canary.deciding import ready
        from canary.handing import carry_here
        from decide.handoff.act import Origin
        from decide.handoff.execution import Surface
        from decide.run import ask
        from decide.watch import Ended

        def both(event: "Event") -> None:
            if isinstance(event, Ended):
                self.receipt = event.receipt
            watch(event)

        given = self._given
        async with ready(self._config, self._place, relative_to=given.folder, environ=os.environ) as made:
            origin = Origin(Surface.TYPED, own_name())
            done = await ask(
                given.question,
                setup=made.setup,
                sources=given.sources,
                level=self._level,
                origin=origin,
                watch=both,
            )
            if done.document.get("execution") is not None and done.stored:
                store = (await made.ledger.opened()).handoff
                self.act = await carry_here(store, self._config, done.id)


@contextmanager
def stoppable(
    task: "asyncio.Task[Any]", told: str = "stopping: calls that are out are ended, and what they cost is recorded"
) -> Iterator[None]:
    """Within it the first Ctrl-C or SIGTERM cancels the task; what it then has to settle, no second one cuts off."""
    loop, stops = asyncio.get_running_loop(), [one for one in STOPS if signal.getsignal(one) != signal.SIG_IGN]

    def stop() -> None:
        if task.cancelling():
            click.echo("still stopping: what was spent is being recorded", err=True)
            return
        click.echo(told, err=True)
        task.cancel()

    for number in stops:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in stops:
            loop.remove_signal_handler(number)
            if task.cancelling():
                signal.signal(number, signal.SIG_IGN)  # what is left to do is to print and to end


def _told(run: _Run, *, as_json: bool) -> int:
    """The exit code of the run, also where nobody can be shown what it found."""
    code = CANCELLED if run.receipt is None else run.receipt.exit_code
    if sys.stdout is None:
        return code
    try:
        _printed(run, as_json=as_json)
        sys.stdout.flush()
    except OSError as error:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # or the interpreter tries again when it ends
        if error.errno != errno.EPIPE:
            click.echo(f"the ruling cannot be printed ({error.strerror}); see `rungwatch receipt show`", err=True)
    return code


def _printed(run: _Run, *, as_json: bool) -> None:
    done = run.receipt
    if done is None:
        click.echo("stopped before anybody was asked; nothing was spent", err=True)
        return
    if as_json:
        click.echo(json.dumps(dict(done.document), indent=2))
        if not done.stored:
            click.echo("no store holds this receipt: keep what is printed here", err=True)
        return
    from canary.cli.sheet import Sheet
    from canary.cli.telling import Seen, ruling
    from canary.cli.wording import Reader

    earlier = datetime.fromisoformat(done.document["began_at"]) < run.began
    Sheet(sys.stdout).facts(ruling(done.document, Reader(datetime.now(UTC)), Seen(done.stored, earlier)))
    if run.act is not None:
        from canary.cli.queue_text import act_words

        click.echo(act_words(run.act))


async def _rehearse(given: Asked, config: "Config", place: Path, level: LevelName | None, *, as_json: bool) -> None:
    """Show what both rungs would be sent."""
    from canary.cli.rehearsal import document, lines
    from canary.deciding import ready
    from decide.run import briefs, refuse_unpriced

    async with ready(config, place, relative_to=given.folder, environ=os.environ) as made:
        refuse_unpriced(made.setup.at(made.setup.levels[level or given.question.level or made.setup.level]))
        frozen = await made.setup.freeze(given.sources)
        both = briefs(given.question, frozen, made.setup, level)
        shown = document(given.question, frozen, both, made.setup, level)
    click.echo(json.dumps(shown, indent=2) if as_json else "\n".join(lines(shown)))
