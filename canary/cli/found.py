"""Found: what `init` shows of this machine before it asks: logins, clients, status lines, and each seat's sources."""

from collections.abc import Iterator, Mapping, Sequence

from canary.cli import hook
from canary.findings import told_environment
from canary.survey import Surveyed
from canary.uses import CLIENTS, found_program


def shown(seats: Sequence[Surveyed], environ: Mapping[str, str]) -> list[str]:
    """Everything that was found, names and places only."""
    return [
        *_logins(seats),
        *_clients(environ),
        *_status_lines(seats),
        *_environment(seats, environ),
        *_offers(seats),
    ]


def _logins(seats: Sequence[Surveyed]) -> Iterator[str]:
    yield "Looked for logins:"
    for seat in seats:
        each = seat.found
        what = f"no login: {each.absent}" if each.absent else f"seat {each.name!r}, login in {each.file}"
        yield f"  {each.kind:<6}  {what}{' (an API key, without quotas)' if seat.unmetered else ''}"


def _clients(environ: Mapping[str, str]) -> Iterator[str]:
    yield "Clients on the PATH (not started):"
    for program in CLIENTS.values():
        yield f"  {program:<6}  {found_program(program, environ) or 'none'}"


def _status_lines(seats: Sequence[Surveyed]) -> Iterator[str]:
    found = [seat.status_line for seat in seats if seat.status_line is not None]
    if found:
        yield "Claude Code's status line:"
    for status in found:
        yield f"  {status.file}: {hook.told(status)}"


def _environment(seats: Sequence[Surveyed], environ: Mapping[str, str]) -> Iterator[str]:
    found = list(told_environment((seat.found.kind for seat in seats), environ))
    if found:
        yield "Variables that replace a seat or lead its login astray:"
    for text, remedy in found:
        yield f"  {text}; {remedy}"


def _offers(seats: Sequence[Surveyed]) -> Iterator[str]:
    yield "Beside its login, each seat could be read by:"
    for seat in seats:
        yield f"  {seat.found.kind} seat {seat.found.name!r}{'' if seat.offers else ': nothing'}"
        for offer in seat.offers:
            use = offer.use
            yield f"    {use.source}: {use.tells}"
            places = (("reads", use.reads), ("starts", use.starts), ("sends to", use.asks))
            yield from (f"      {verb} {place}" for verb, place in places if place)
            yield from (f"      {text}" for text in (offer.note, offer.caution) if text)
