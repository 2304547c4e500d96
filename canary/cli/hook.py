"""Hook: the lines that make `rungwatch feed` Claude Code's status line; its own file is never edited."""

import json
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from canary.survey import Line, StatusLine, Surveyed

THEIRS = "YOUR-COMMAND"
"""Stands for the command that is there now, which is not repeated: there may be secrets in it."""


def feed_words(executable: str = sys.executable) -> list[str]:
    """How the status line starts the feed: by PATH, else the script beside this Python, else this Python itself."""
    if shutil.which("rungwatch"):
        return ["rungwatch", "feed"]
    script = Path(executable).with_name("rungwatch")
    return [str(script), "feed"] if script.is_file() else [executable, "-P", "-m", "canary.feed"]


def wanting(seats: Iterable[Surveyed]) -> list[Surveyed]:
    """The seats whose quotas Claude Code's status line could keep, and does not yet."""
    return [
        seat
        for seat in seats
        if seat.status_line is not None
        and seat.status_line.line is not Line.OURS
        and not any(offer.use.source == "claude-feed" and offer.ready for offer in seat.offers)
    ]


def told(status: StatusLine) -> str:
    """What was found in a settings.json, without a word that may be secret."""
    off = "; disableAllHooks is set there, which switches the status line off too" if status.off else ""
    match status.line:
        case Line.NONE:
            return f"none is set{off}"
        case Line.OURS:
            return f"it is rungwatch's{off}"
        case Line.OTHER:
            return f"another command is set{f' ({status.program})' if status.program else ''}{off}"
        case Line.UNREADABLE:
            return "the file could not be read as JSON"


def lines(seats: Iterable[Surveyed], words: Sequence[str], state_dir: Path | None) -> Iterator[str]:
    """What to add to the settings of each of these seats; `state_dir` where it is not the usual one."""
    for seat in seats:
        if seat.status_line is not None:
            yield ""
            yield from _of_seat(seat, seat.status_line, command(seat, words, state_dir))


def command(seat: Surveyed, words: Sequence[str], state_dir: Path | None) -> str:
    """The feed's command line for a seat, as a shell takes it."""
    state = ["--state-dir", str(state_dir)] if state_dir else []
    folder = [] if seat.found.usual else ["--config-dir", str(seat.found.folder)]
    return shlex.join([*words, *state, *folder])


def _of_seat(seat: Surveyed, status: StatusLine, feed: str) -> Iterator[str]:
    name = seat.found.name
    match status.line:
        case Line.OTHER:
            yield f"Seat {name!r}: {status.file} has a status line of another's. To keep both, set its command to the"
            yield f"following, with the command that stands there now in the place of {THEIRS}:"
            yield from _indented(_block(chain(feed)))
        case Line.UNREADABLE:
            yield f"Seat {name!r}: {status.file} could not be read as JSON. Once it can, add inside its outer braces:"
            yield from _indented(_block(feed))
        case Line.NONE if status.file.exists():
            yield f"Seat {name!r}: add to {status.file}, inside its outer braces:"
            yield from _indented(_block(feed))
        case _:
            yield f"Seat {name!r}: there is no {status.file} yet. Write into it:"
            yield from _indented(["{", *_block(feed), "}"])
    if status.off:
        yield "disableAllHooks is set there: as long as it is, no status line runs."


def chain(feed: str, theirs: str = THEIRS) -> str:
    """A shell command that gives one report to the feed and to another command, and shows only the other's line."""
    give = "printf '%s\\n' \"$report\" |"
    return f"report=$(cat); {give} {feed} >/dev/null 2>&1; {give} {{ {theirs}; }}"


def _block(feed: str) -> list[str]:
    return json.dumps({"statusLine": {"type": "command", "command": feed}}, indent=2).splitlines()[1:-1]


def _indented(block: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in block)
