"""Command source: a program of the user's that prints a seats.json, run without a shell and within bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from canary.files import LIMIT, parse_object
from canary.login import Login
from canary.sources import seats_file
from canary.sources.answer import Answer
from canary.sources.seats_file import ListedSeat
from canary.sources.target import Target
from canary.world import World
from decide.reason import Reason
from decide.rungs.process import Finished, run

NAME = "command"

_PASSED = frozenset({"PATH", "HOME", "LANG", "TZ"})
_PASSED_FAMILIES = ("LC_", "XDG_")


def allowed(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of the environment that a command gets: nothing that could be a secret or replace a login."""
    return {name: value for name, value in environ.items() if name in _PASSED or name.startswith(_PASSED_FAMILIES)}


async def read_command(target: Target, login: Login, world: World) -> Answer:
    """What the seat's command says of this seat."""
    if not target.command:
        return Answer(failure=Reason.MISSING, step="no command is configured")
    listed = await list_seats(target.command, world, salt=b"")
    if isinstance(listed, Answer):
        return listed
    seat = next((seat for seat in listed if seat.name == target.seat), None)
    program = Path(target.command[0]).name
    if seat is None:
        return Answer(failure=Reason.MISSING, step=f"{program} names no seat {target.seat!r}")
    if seat.failure is not None or seat.reading is None:
        reason = seat.failure or Reason.MALFORMED
        return Answer(failure=reason, step=f"{program} reports this seat as {reason}")
    return Answer(reading=replace(seat.reading, source=NAME), step=f"ran {program}")


async def list_seats(words: Sequence[str], world: World, *, salt: bytes) -> list[ListedSeat] | Answer:
    """Every seat that a command prints, or why there is none; the caller bounds its time.

    What it prints without an age is of the moment it was started, since it was made after that.
    """
    began = world.clock.now()
    done = await run(words, environ=allowed(world.environ), stdin=None, limit=LIMIT)
    told, program = _told(done), Path(words[0]).name
    if done.code is None:
        return Answer(failure=Reason.UNREADABLE, step=f"{program} could not be started")
    if done.truncated:
        return Answer(failure=Reason.TOO_LARGE, step=f"{program} printed more than {LIMIT} bytes")
    if done.code != 0:
        return Answer(failure=Reason.SOURCE_FAILED, step=f"{program} failed: {told}")
    document = parse_object(done.stdout.decode("utf-8", "replace"))
    now = world.clock.now()
    seats = seats_file.parse(document, modified_at=began, now=now, salt=salt) if document is not None else None
    if seats is None:
        return Answer(failure=Reason.MALFORMED, step=f"{program} printed no seats.json document: {told}")
    return [
        replace(seat, note="no fetched_at: the start of the command stands in") if seat.note else seat
        for seat in seats
    ]


def _told(done: Finished) -> str:
    """How a command ended, without a word of what it said."""
    ended = f"signal {-done.code}" if done.code is not None and done.code < 0 else f"exit status {done.code}"
    return f"{ended}, {len(done.stdout)} bytes of output, {done.stderr_length} of errors"
