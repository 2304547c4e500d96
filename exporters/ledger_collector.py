"""Ledger collector: the ledger's metrics in another program's own registry of prometheus_client.

The second file that imports prometheus_client, for the class that its registries are typed to take.
"""

from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import Metric as ClientMetric
from prometheus_client.registry import Collector

from exporters.catalog_ledger import DECISIONS, SPEND
from exporters.collect_ledger import decision_parts, spend_parts
from exporters.encode import family
from exporters.ledger_facts import LedgerFacts
from exporters.parts import Sample


class LedgerCollector(Collector):
    """The groups Decisions and Spend, under the names they have on our own page.

    `facts` is called at each scrape, on whatever thread that is, and must not wait for a database: it gives what was
    last read, such as `lambda: follower.facts` of a `LedgerFollower` whose `refresh` the program awaits every 15 s.
    `rungs` are those whose counters are there from the start.

        follower = LedgerFollower(store, caps)
        registry.register(LedgerCollector(lambda: follower.facts, rungs=("fable", "astra")))
    """

    def __init__(self, facts: Callable[[], LedgerFacts | None], *, rungs: Iterable[str] = ()) -> None:
        self._facts = facts
        self._rungs = tuple(rungs)

    def describe(self) -> Iterator[ClientMetric]:
        """The families without samples, so that registering reads nothing."""
        return (family(metric, ()) for metric in (*DECISIONS, *SPEND))

    def collect(self) -> Iterator[ClientMetric]:
        """The families as the last facts have them; without samples before there are any."""
        facts = self._facts()
        samples: dict[str, list[Sample]] = {}
        parts = (*decision_parts(facts, self._rungs), *spend_parts(facts, self._rungs)) if facts else ()
        for part in parts:
            for name, found in part.make(*part.inputs).items():
                samples.setdefault(name, []).extend(found)
        return (family(metric, samples.get(metric.name, ())) for metric in (*DECISIONS, *SPEND))
