"""Ledger collector: the ledger's metrics in another program's own registry of prometheus_client.

The second file that imports prometheus_client, for the class that its registries are typed to take.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from prometheus_client.core import Metric as ClientMetric
from prometheus_client.registry import Collector

from exporters.catalog_handoff import CLICKS, QUEUE
from exporters.catalog_ledger import DECISIONS, SPEND
from exporters.collect_handoff import click_parts, queue_parts
from exporters.collect_ledger import decision_parts, spend_parts
from exporters.encode import family
from exporters.ledger_facts import LedgerFacts
from exporters.parts import Part, Sample

_METRICS = (*DECISIONS, *SPEND, *QUEUE, *CLICKS)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class LedgerCollector(Collector):
    """The groups Decisions, Spend, Queue and inbox, and Clicks, under the names they have on our own page.

    `facts` is called at each scrape, on whatever thread that is, and must not wait for a database: it gives what was
    last read, such as `lambda: follower.facts` of a `LedgerFollower` whose `refresh` the program awaits every 15 s.
    `rungs` are those whose counters are there from the start; `clock` gives the moment that urgency is told at.

        follower = LedgerFollower(store, caps)
        registry.register(LedgerCollector(lambda: follower.facts, rungs=("fable", "astra")))
    """

    def __init__(
        self,
        facts: Callable[[], LedgerFacts | None],
        *,
        rungs: Iterable[str] = (),
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._facts = facts
        self._rungs = tuple(rungs)
        self._clock = clock

    def describe(self) -> Iterator[ClientMetric]:
        """The families without samples, so that registering reads nothing."""
        return (family(metric, ()) for metric in _METRICS)

    def collect(self) -> Iterator[ClientMetric]:
        """The families as the last facts have them; without samples before there are any."""
        facts = self._facts()
        samples: dict[str, list[Sample]] = {}
        for part in self._parts(facts) if facts else ():
            for name, found in part.make(*part.inputs).items():
                samples.setdefault(name, []).extend(found)
        return (family(metric, samples.get(metric.name, ())) for metric in _METRICS)

    def _parts(self, facts: LedgerFacts) -> Iterator[Part]:
        yield from decision_parts(facts, self._rungs)
        yield from spend_parts(facts, self._rungs)
        yield from queue_parts(facts, self._clock())
        yield from click_parts(facts)
