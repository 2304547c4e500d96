"""Ticks page: the canary's recent rounds, what they count up to, and how its sources answered."""

from collections import defaultdict

from starlette.responses import Response

from exporters.console.site import Asked
from exporters.view import TickResult

LINES = 100
"""How many ticks are listed, the latest."""


async def ticks_page(asked: Asked) -> Response:
    """The rounds, the counters, and the reads by source."""
    facts = asked.view.canary
    return asked.show(
        "ticks.html",
        here="/ticks",
        ticks=asked.desk.ticks()[:LINES],
        counters=[
            *((result.value, facts.ticks.get(result, 0)) for result in TickResult),
            ("missed", facts.missed_ticks),
        ],
        reads=_reads(asked),
        interval=asked.view.interval,
        facts=facts,
    )


def _reads(asked: Asked) -> list[tuple[str, int, int, list[tuple[str, int]]]]:
    """Each source: how often it was read well, how often held back, and how often it failed with which reason."""
    by_source: dict[str, dict[str, int]] = defaultdict(dict)
    for (source, result), count in asked.view.canary.reads.items():
        by_source[source][result] = count
    return [
        (
            source,
            found.pop("ok", 0),
            found.pop("held", 0),
            sorted(found.items(), key=lambda pair: (-pair[1], pair[0])),
        )
        for source, found in sorted((name, dict(counts)) for name, counts in by_source.items())
    ]
