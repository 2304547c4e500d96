"""Pages: a ladder large enough for about 10,000 series, and the same samples as prometheus_client's own families."""

from dataclasses import replace

from exporters.catalog import CATALOG
from exporters.collect import COLLECTORS
from exporters.encode import Families, family
from exporters.parts import Sample
from exporters.present import present
from exporters.view import View
from tests.exporters.ledgers import busy_ledger, facts_of
from tests.exporters.scenes import ASTRA, FABLE, NOW, open_seat, rung, view

SEATS = 660
CHANGED = "seat-0007"


def large(used: float) -> View:
    """A view of that many seats on two rungs, every object built afresh; one seat has used that share."""
    names = [(f"seat-{number:04}", number % 97 / 100) for number in range(SEATS // 2)]
    seats = [open_seat(name, used if name == CHANGED else share) for name, share in names]
    found = view(rung(FABLE, *seats), rung(ASTRA, *seats))
    polls = {(name.name, seat.name): 0.25 for name in (FABLE, ASTRA) for seat in seats}
    return replace(found, canary=replace(found.canary, poll_used=polls), ledger=facts_of(*busy_ledger()))


def families(shown: View) -> Families:
    """Every family of a view, as a registry would give it to `generate_latest`."""
    found: dict[str, list[Sample]] = {metric.name: [] for metric in CATALOG}
    for collector in COLLECTORS.values():
        for part in collector(shown, present(shown, NOW)):
            for name, samples in part.make(*part.inputs).items():
                found[name] += samples
    found["ladder_collector_success"] = [((name,), 1.0) for name in COLLECTORS]
    return Families([family(metric, found[metric.name]) for metric in CATALOG])


def line_of(used: float) -> bytes:
    """The line of a page that tells the share which the changing seat has used."""
    labels = f'rung="fable",seat="{CHANGED}",window="session"'
    return f"ladder_seat_quota_used_ratio{{{labels}}} {used}\n".encode()
