"""Table: the ladder on a terminal, and as plain rows in a pipe; both are drawn from the same report."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from io import StringIO
from types import MappingProxyType
from typing import Any, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from canary.cli.wording import (
    FULL,
    NEAR,
    Document,
    Meter,
    Reader,
    meters,
    moment_of,
    observer,
    rung_facts,
    rung_title,
    seat_state,
    seat_words,
    since,
    told,
)
from decide.ladder import LadderWord, RungState
from decide.seat import SeatState

BAR = 20
"""The most cells of a bar; a narrow terminal gets fewer."""
_LEAST_BAR, _NAME, _FIGURE, _WORDS = 4, 20, 5, 37
_INDENT = 6
_NARROW = 72
_PIPE_WIDTH = 100_000  # a row is never folded: a pipe has no width

_COLOURS: Mapping[str, str] = MappingProxyType(
    {
        LadderWord.OK: "green",
        LadderWord.DEGRADED: "yellow",
        LadderWord.DOWN: "red",
        LadderWord.BLIND: "magenta",
        RungState.REACHABLE: "green",
        RungState.UNKNOWN: "magenta",
        RungState.UNREACHABLE: "red",
        SeatState.AVAILABLE: "green",
        SeatState.CAPPED: "red",
        SeatState.NO_TOKEN: "red",
    }
)


@dataclass(frozen=True, slots=True)
class _Glyphs:
    """The signs that are drawn: `old` fills the bar of a reading that is not to be trusted."""

    ladder: str = "●"
    reachable: str = "✓"
    unreachable: str = "✗"
    unknown: str = "?"
    picked: str = "▸"
    used: str = "█"
    old: str = "▒"
    left: str = "░"


_ASCII = _Glyphs("*", "+", "x", "?", ">", "#", "~", ".")


def show(
    report: Document,
    out: TextIO,
    *,
    hint: str = "",
    now: datetime | None = None,
    zone: tzinfo | None = None,
) -> None:
    """Print a report: for a person on a terminal, as plain rows anywhere else.

    `now` is when it is read (default: when the report was made), `zone` None this machine's zone.
    """
    console = Console(file=out, highlight=False, markup=False, emoji=False)
    reader = Reader(now or moment_of(report), zone)
    if console.is_terminal:
        draw(report, console, reader=reader, hint=hint)
    else:
        out.write(plain(report, reader=reader, hint=hint, encoding=console.encoding))


def draw(report: Document, console: Console, *, reader: Reader, hint: str = "") -> None:
    """Draw a report on a terminal, as wide as it is."""
    report, glyphs = _printable(report, console.encoding), _glyphs(console.encoding)
    reader = replace(reader, brief=console.width < _NARROW)
    console.print(_headline(report, reader, glyphs))
    for line in observer(report, reader):
        console.print(Padding(Text(line, style="dim"), (0, 0, 0, 2)))
    columns = _Columns.of(report, reader, console.width)
    for rung in report["rungs"]:
        console.print()
        console.print(_rung_heading(rung, reader, glyphs))
        if facts := list(rung_facts(rung, reader)):
            console.print(Padding(_facts(facts), (0, 0, 0, 2)))
        for seat in rung["seats"]:
            console.print(_seat_heading(seat, rung, reader, columns, glyphs))
            console.print(_bars(meters(seat, reader), columns, glyphs))
    if hint:
        console.print()
        console.print(Text(hint, style="dim"))


def _headline(report: Document, reader: Reader, glyphs: _Glyphs) -> Text:
    word = report["ladder"]["state"]
    colour = _COLOURS[word]
    return Text.assemble(
        (f"{glyphs.ladder} ", f"bold {colour}"),
        ("ladder ", "bold"),
        (word.upper(), f"bold {colour}"),
        (since(report["ladder"], reader), "bold"),
    )


def _rung_heading(rung: Document, reader: Reader, glyphs: _Glyphs) -> Table:
    state, after = rung_title(rung, reader)
    colour = f"bold {_COLOURS[rung['state']]}"
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_row(
        Text(getattr(glyphs, rung["state"]), colour),
        Text.assemble((rung["name"], "bold"), f" ({rung['role']}) ", (state, colour), after),
    )
    return grid


def _facts(facts: list[tuple[str, str]]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", width=6, no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in facts:
        grid.add_row(Text(name), Text(text))
    return grid


@dataclass(frozen=True, slots=True)
class _Columns:
    """The widths that all seats share, so that every bar starts and ends where the others do."""

    seat: int
    meter: int
    bar: int
    words: int

    @classmethod
    def of(cls, report: Document, reader: Reader, width: int) -> "_Columns":
        """The widths for a terminal: what the words do not need is the bar's."""
        seats = [seat for rung in report["rungs"] for seat in rung["seats"]]
        rows = [meter for seat in seats for meter in meters(seat, reader)]
        meter = _widest((row.name for row in rows), _NAME)
        words = _widest((line for row in rows for line in _lines(row)), _FIGURE + 2 + _WORDS)
        room = width - _INDENT - meter - words - 4
        bar = min(BAR, room) if room >= _LEAST_BAR else 0
        return cls(_widest((seat["name"] for seat in seats), _NAME), meter, bar, width - _INDENT - meter - bar - 4)


def _widest(texts: Iterable[str], most: int) -> int:
    return min(max((cell_len(text) for text in texts), default=0), most)


def _seat_heading(seat: Document, rung: Document, reader: Reader, columns: _Columns, glyphs: _Glyphs) -> Padding:
    mark = glyphs.picked if rung.get("picked") == seat["name"] else " "
    words = seat_words(seat, reader, omit=told(rung, reader))
    room = columns.meter + columns.bar + columns.words - columns.seat - 7
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=columns.seat + 2, overflow="fold")
    grid.add_column(width=9, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(
        Text.assemble((f"{mark} ", "bold green"), (seat["name"], "bold")),
        Text(seat_state(seat), _COLOURS.get(seat["state"], "magenta")),
        Text(_joined(words, "; ", room)),
    )
    return Padding(grid, (0, 0, 0, 2))


def _joined(lines: Sequence[str], joint: str, room: int) -> str:
    """The phrases on one line where they fit, else on a line each, so that none is broken without need."""
    whole = joint.join(lines)
    return whole if cell_len(whole) <= room else "\n".join(lines)


def _bars(rows: list[Meter], columns: _Columns, glyphs: _Glyphs) -> Padding:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=columns.meter, overflow="fold")
    if columns.bar:
        grid.add_column(width=columns.bar, no_wrap=True)
    grid.add_column(overflow="fold")
    for row in rows:
        style = _style(row)
        quiet = "dim" if style == "dim" else ""
        words = Text(_one_or_more_lines(row, columns.words), quiet)
        words.stylize(style, 0, max(len(row.figure), _FIGURE))
        bar = [Text(_bar(row, columns.bar, glyphs), style)] if columns.bar else []
        grid.add_row(Text(row.name, quiet), *bar, words)
    return Padding(grid, (0, 0, 0, _INDENT))


def _lines(row: Meter) -> list[str]:
    """The figure with its age, or with the first of the words where it is fresh; then the rest, a line each."""
    figure = f"{row.figure:>{_FIGURE}}"
    first, rest = (
        (f"{figure}, {row.age}", row.words) if row.age else ("  ".join([figure, *row.words[:1]]), row.words[1:])
    )
    return [first, *(" " * (_FIGURE + 2) + words for words in rest)]


def _one_or_more_lines(row: Meter, room: int) -> str:
    first, *rest = _lines(row)
    whole = "; ".join([first, *(line.lstrip() for line in rest)])
    return whole if cell_len(whole) <= room else "\n".join([first, *rest])


def _style(row: Meter) -> str:
    if not row.fresh or not row.binding:
        return "dim"
    if row.percent is None or row.percent < NEAR:
        return "green"
    return "yellow" if row.percent < FULL else "red"


def _bar(row: Meter, cells: int, glyphs: _Glyphs) -> str:
    """Filled cells rounded down, so that only a full window fills its bar, and one cell for the least use."""
    if row.percent is None:
        return ""
    filled = min(cells, int(row.percent * cells / FULL)) or (1 if row.percent > 0 else 0)
    return (glyphs.used if row.fresh else glyphs.old) * filled + glyphs.left * (cells - filled)


def plain(report: Document, *, reader: Reader, hint: str = "", encoding: str = "utf-8") -> str:
    """A report as text for a pipe: each row names its rung and seat, columns stand two spaces or more apart."""
    report = _printable(report, encoding)
    console = Console(file=StringIO(), width=_PIPE_WIDTH, force_terminal=False, color_system=None, _environ={})
    with console.capture() as captured:
        console.print(Text(f"ladder {report['ladder']['state'].upper()}{since(report['ladder'], reader)}"))
        for line in observer(report, reader):
            console.print(Text(line))
        for rung in report["rungs"]:
            facts = [f"{name}: {text}" for name, text in rung_facts(rung, reader)]
            title = "".join(rung_title(rung, reader))
            console.print(Text("; ".join([f"rung {rung['name']} ({rung['role']}): {title}", *facts])))
        if any(rung["seats"] for rung in report["rungs"]):
            console.print()
            console.print(_rows(report, reader))
        if hint:
            console.print()
            console.print(Text(hint))
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _rows(report: Document, reader: Reader) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="")
    for name in ("RUNG", "SEAT", "STATE", "WINDOW", "USED", "RESETS", "NOTES"):
        table.add_column(name, no_wrap=True)
    for rung in report["rungs"]:
        for seat in rung["seats"]:
            notes = "; ".join(seat_words(seat, reader))
            lead = rung["name"], seat["name"], seat["state"]
            for row in meters(seat, reader) or [Meter("", "unmetered")]:
                used = f"{row.figure}, {row.age}" if row.age else row.figure
                cells = *lead, row.name, used, "; ".join(row.words), notes
                table.add_row(*(Text(cell or "-") for cell in cells))
    return table


def _glyphs(encoding: str) -> _Glyphs:
    glyphs = _Glyphs()
    signs = "".join(getattr(glyphs, name) for name in _Glyphs.__slots__)
    return glyphs if _encodable(signs, encoding) == signs else _ASCII


def _printable(value: Any, encoding: str) -> Any:
    """A document whose texts neither steer a terminal nor pass for the ladder's own good word."""
    if isinstance(value, Mapping):
        return {key: _printable(member, encoding) for key, member in value.items()}
    if isinstance(value, list):
        return [_printable(member, encoding) for member in value]
    if not isinstance(value, str):
        return value
    shown = "".join(char if char.isprintable() else "?" for char in value)
    return _encodable(shown.replace("ladder OK", "ladder_OK"), encoding)


def _encodable(text: str, encoding: str) -> str:
    return text.encode(encoding, "replace").decode(encoding)
