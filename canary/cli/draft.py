"""Draft: the commented configuration that `init` writes for what was found and chosen."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from canary.sources import claude_feed
from canary.sources.table import SOURCES
from canary.survey import Offer, Sort, Surveyed

TEMPLATE = """\
# rungwatch: the two rungs of the ladder, the seats that reach them, and how their quotas are read.
# `rungwatch check` says what this reads and sends. Only what differs from a default has to be here.

[ladder]
# The primary rung is asked first, and is the one that reconsiders.
primary = {{ rungs[0].name | toml }}
second = {{ rungs[1].name | toml }}
{% for rung in rungs %}

[[rung]]
name = {{ rung.name | toml }}
kind = {{ rung.kind | toml }}
model = {{ rung.model | toml }}
{% if rung.scopes %}
# The weekly window of this model binds the rung too.
{% if rung.unread %}
# Not every seat has a source in use that reports it: such a seat stays unknown (scope_unread). Without this line the
# seat counts, and that one wall goes unseen.
{% endif %}
scopes = {{ rung.scopes | toml }}
{% endif %}
{% for seat in rung.seats %}

[[rung.seat]]
# The name is the seat's label in every metric.
name = {{ seat.name | toml }}
{% if seat.absent %}
# No login was found here: {{ seat.absent | comment }}.
# Log in with the seat's client, or point config_dir at the folder that holds the login.
{% endif %}
{{ "# " if seat.usual }}config_dir = {{ seat.folder | toml }}
{% if seat.unmetered %}
# The login is an API key, which has no quota that could be read.
quota = "unmetered"
{% endif %}
{% for line in seat.lines %}
# {{ line | comment }}
{% endfor %}
{% if seat.sources %}
sources = {{ seat.sources | toml }}
{% elif seat.lines %}
# sources = []           # none: only the login is read, and the seat's quota stays unknown
{% endif %}
{% endfor %}
{% endfor %}

# Defaults, written out:
# [canary]
# interval = "5m"        # about 12 reads of each seat an hour; the budget allows 20
# stale_after = "15m"
# [serve]
# listen = "127.0.0.1:9477"
"""


@dataclass(frozen=True, slots=True)
class Rung:
    """The defaults of a rung that is written for a kind of login (design 7)."""

    name: str
    model: str
    scopes: tuple[str, ...]
    vendor: str


RUNGS = {
    "claude": Rung("fable", "claude-fable-5", ("Fable",), "Anthropic"),
    "codex": Rung("astra", "gpt-6-astra", (), "OpenAI"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What its user wants read: `usage` and `clients` are kinds of login; `hook`: the status line will be set."""

    passive: bool = True
    hook: bool = False
    usage: frozenset[str] = frozenset()
    clients: frozenset[str] = frozenset()


def chosen(seat: Surveyed, choice: Choice) -> tuple[str, ...]:
    """The sources of a seat under a choice."""
    return tuple(offer.use.source for offer in seat.offers if _wanted(offer, seat.found.kind, choice))


def _wanted(offer: Offer, kind: str, choice: Choice) -> bool:
    match offer.sort:
        case Sort.PASSIVE:
            return choice.passive and (offer.ready or (choice.hook and offer.use.source == claude_feed.NAME))
        case Sort.USAGE:
            return kind in choice.usage
        case Sort.CLIENT:
            return kind in choice.clients


def render(seats: Sequence[Surveyed], choice: Choice, home: Path) -> str:
    """The configuration for these logins."""
    from jinja2 import Environment

    # TOML is no markup, and each value is escaped by the filters
    environment = Environment(trim_blocks=True, lstrip_blocks=True, autoescape=False, keep_trailing_newline=True)  # noqa: S701
    environment.filters |= {"toml": toml, "comment": comment}
    rungs = [
        _rung(kind, rung, [_seat(each, choice, home) for each in seats if each.found.kind == kind])
        for kind, rung in RUNGS.items()
    ]
    return environment.from_string(TEMPLATE).render(rungs=rungs)


def _rung(kind: str, rung: Rung, seats: list[dict[str, Any]]) -> dict[str, Any]:
    blind = [each for each in seats if not any(SOURCES[name].reports_scopes for name in each["sources"])]
    return {
        "name": rung.name,
        "kind": kind,
        "model": rung.model,
        "scopes": rung.scopes,
        "unread": any(not each["unmetered"] for each in blind),
        "seats": seats,
    }


def _seat(seat: Surveyed, choice: Choice, home: Path) -> dict[str, Any]:
    found = seat.found
    below = found.folder.is_relative_to(home)
    sources = chosen(seat, choice)
    return {
        "name": found.name,
        "folder": f"~/{found.folder.relative_to(home)}" if below else str(found.folder),
        "usual": found.usual,
        "absent": found.absent,
        "unmetered": seat.unmetered,
        "sources": sources,
        "lines": list(_lines(seat, sources)),
    }


def _lines(seat: Surveyed, sources: Sequence[str]) -> Iterator[str]:
    """What each source that could be used does, those in use first."""
    for offer in sorted(seat.offers, key=lambda offer: offer.use.source not in sources):
        mark = "in use" if offer.use.source in sources else "not used"
        yield f"{mark:<9} {offer.use.source}: {offer.use.tells}"
        if offer.caution:
            yield f"{'':<9} {offer.caution}"


def toml(value: Any) -> str:
    """A text or a list of texts as TOML writes it."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return f"[{', '.join(toml(each) for each in value)}]"


def comment(text: str) -> str:
    """A text that cannot end the comment it stands in."""
    return "".join(char if char.isprintable() else "?" for char in text)
