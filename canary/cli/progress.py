"""Progress: which calls of a run are out, drawn on a terminal while somebody waits, and nowhere else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from canary.cli.telling import one_line
from exporters.moment import span_words

if TYPE_CHECKING:
    from decide.watch import Event, PassOut, Watch

REDRAWS_PER_S = 4


@dataclass(slots=True)
class _Line:
    """One call: since when it is out, and what came of it."""

    out: "PassOut"
    since: float
    told: str = ""


class Progress:
    """What a run does now; `monotonic` gives seconds."""

    def __init__(self, title: str, monotonic: Callable[[], float]) -> None:
        self._title, self._monotonic = one_line(title), monotonic
        self._began = monotonic()
        self._calls: dict[str, list[_Line]] = {}
        self._waiting = ""
        self._spinner = Spinner("line")

    def __call__(self, event: "Event") -> None:
        """Take note of an event."""
        from decide.watch import PassIn, PassOut, Waiting

        match event:
            case Waiting():
                self._waiting = f"run {event.run_id} on {event.host} works this question: waiting for what it finds"
            case PassOut():
                self._waiting = ""
                # a call that was refused unbilled is made again under its own id
                self._calls.setdefault(event.call_id, []).append(_Line(event, self._monotonic()))
            case PassIn():
                self._calls[event.call_id][-1].told = f"{event.result}, {event.duration_s:.0f} s"
            case _:
                pass

    def __rich__(self) -> RenderableType:
        """The picture of this moment."""
        now = self._monotonic()
        grid = Table.grid(padding=(0, 2, 0, 0))
        for line in [line for lines in list(self._calls.values()) for line in list(lines)]:
            told = line.told or f"out for {now - line.since:.0f} s"
            cells = (line.out.rung, line.out.seat, line.out.order.value, line.out.role.value)
            grid.add_row("", *(Text(one_line(cell)) for cell in cells), Text(told, "" if line.told else "cyan"))
        self._spinner.update(text=Text(f"{self._title} ({_lasted(now - self._began)})", "bold"))
        waiting = [Text(one_line(self._waiting), "yellow")] if self._waiting else []
        return Group(self._spinner, *waiting, grid)


def _lasted(seconds: float) -> str:
    from datetime import timedelta

    return span_words(timedelta(seconds=seconds))


@contextmanager
def watching(title: str, out: TextIO, monotonic: Callable[[], float]) -> "Iterator[Watch]":
    """A watch that draws on a terminal, gone when the run is over; elsewhere one that does nothing."""
    from decide.watch import unwatched

    console = Console(file=out, highlight=False, markup=False, emoji=False)
    if not console.is_terminal or console.is_dumb_terminal:
        yield unwatched
        return
    shown = Progress(title, monotonic)
    with Live(shown, console=console, transient=True, refresh_per_second=REDRAWS_PER_S, redirect_stdout=False):
        yield shown
