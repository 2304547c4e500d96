"""Sheet: told lines and rows on a terminal, folded to its width, and in a pipe, where no line is ever folded."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TextIO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from canary.cli.telling import Fact, Weight, one_line

_STYLES: Mapping[Weight, str] = MappingProxyType(
    {Weight.GOOD: "bold green", Weight.WARNING: "bold yellow", Weight.BAD: "bold red", Weight.PLAIN: ""}
)
_NAME = 9
_PIPE_WIDTH = 100_000


class Sheet:
    """A place to print: a terminal as wide as it is, anything else as plain rows."""

    def __init__(self, out: TextIO, console: Console | None = None) -> None:
        self._console = console or Console(file=out, highlight=False, markup=False, emoji=False)
        self._out = out

    @property
    def terminal(self) -> bool:
        """Whether a person looks at it."""
        return self._console.is_terminal

    def facts(self, facts: Iterable[Fact]) -> None:
        """Each fact on a line: those without a name by themselves, the others in two columns."""
        for fact in facts:
            style, text = _STYLES[fact.weight], one_line(fact.text)
            if not fact.name:
                self._print(Text(text, style))
            elif self.terminal:
                grid = Table.grid(padding=(0, 2, 0, 0))
                grid.add_column(style="bold", width=_NAME, no_wrap=True)
                grid.add_column(overflow="fold")
                grid.add_row(Text(fact.name), Text(text, style))
                self._print(Padding(grid, (0, 0, 0, 2)))
            else:
                self._print(Text(f"{fact.name:<{_NAME}}  {text}"))

    def rows(self, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A table whose columns stand two blanks apart; an empty cell is a dash."""
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold" if self.terminal else "")
        for name in heads:
            table.add_column(name, overflow="fold", no_wrap=not self.terminal)
        for row in rows:
            table.add_row(*(Text(one_line(cell) or "-") for cell in row))
        self._print(table)

    def title(self, text: str) -> None:
        """A heading after an empty line."""
        self._print(Text(""))
        self._print(Text(text, "bold"))

    def _print(self, what: RenderableType) -> None:
        if self.terminal:
            self._console.print(what)
            return
        plain = Console(width=_PIPE_WIDTH, force_terminal=False, color_system=None, _environ={})
        with plain.capture() as captured:
            plain.print(what)
        encoding = getattr(self._out, "encoding", None) or "utf-8"
        for line in captured.get().splitlines() or [""]:
            self._out.write(line.rstrip().encode(encoding, "replace").decode(encoding) + "\n")
