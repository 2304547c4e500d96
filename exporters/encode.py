"""Encoding: samples become the lines of a text format, by prometheus_client's own encoders."""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from prometheus_client import exposition as text
from prometheus_client import samples as client
from prometheus_client.core import Metric as ClientMetric
from prometheus_client.openmetrics import exposition as openmetrics

from exporters.histogram import MICROS, Exemplar, Histogram
from exporters.labels import label
from exporters.metric import Metric
from exporters.negotiate import Format
from exporters.parts import Sample

# The OpenMetrics encoder is untyped; both take anything with `collect()`.
_ENCODERS: dict[Format, Callable[[Any], bytes]] = {
    Format.TEXT: text.generate_latest,
    Format.OPENMETRICS: openmetrics.generate_latest,
}
_EOF = b"# EOF\n"
_RECEIPT = "receipt"
_RECEIPT_LIMIT = 128 - len(_RECEIPT)  # OpenMetrics: 128 characters for all of an exemplar's names and values


class Families:
    """A fixed list of families in the shape of a registry; it registers nothing anywhere."""

    def __init__(self, families: Sequence[ClientMetric]) -> None:
        self._families = families

    def collect(self) -> Iterable[ClientMetric]:
        """The families, in order."""
        return self._families


def family(metric: Metric, samples: Iterable[Sample]) -> ClientMetric:
    """The samples as a family of prometheus_client."""
    found = ClientMetric(metric.family, metric.help, metric.type.value, metric.unit)
    found.samples = [line for values, value in samples for line in _lines(metric, values, value)]
    return found


def encode(metric: Metric, samples: Sequence[Sample], form: Format) -> tuple[bytes, list[bytes]]:
    """The family's header, and the whole lines of each sample in order: one, or a histogram's several."""
    page = _ENCODERS[form](Families([family(metric, samples)])).removesuffix(_EOF)
    # A newline in a label value is escaped, so each value is exactly one line, after the header's.
    lines = [line + b"\n" for line in page.split(b"\n")[:-1]]
    sizes = [len(value.counts) + 2 if isinstance(value, Histogram) else 1 for _, value in samples]
    header = len(lines) - sum(sizes)
    stops = list(accumulate(sizes, initial=header))
    return b"".join(lines[:header]), [b"".join(lines[start:stop]) for start, stop in pairwise(stops)]


def _lines(metric: Metric, values: tuple[str, ...], value: float | Histogram) -> list[client.Sample]:
    labels = dict(zip(metric.label_names, values, strict=True))
    if isinstance(value, Histogram):
        return _histogram(metric.name, labels, value)
    return [client.Sample(metric.name, labels, value)]


def _histogram(name: str, labels: dict[str, str], value: Histogram) -> list[client.Sample]:
    bounds = (*map(str, value.bounds), "+Inf")
    buckets = [
        client.Sample(f"{name}_bucket", labels | {"le": bound}, count, None, _exemplar(exemplar))
        for bound, count, exemplar in zip(bounds, accumulate(value.counts), value.exemplars, strict=True)
    ]
    count, total = float(sum(value.counts)), value.sum_us / MICROS
    return [*buckets, client.Sample(f"{name}_count", labels, count), client.Sample(f"{name}_sum", labels, total)]


def _exemplar(exemplar: Exemplar | None) -> client.Exemplar | None:
    """What OpenMetrics shows of it; nothing for a receipt that is longer than an exemplar may be."""
    receipt = label(exemplar.receipt) if exemplar else ""
    if exemplar is None or len(receipt) > _RECEIPT_LIMIT:
        return None
    at = client.Timestamp(*divmod(exemplar.at_us * 1000, 1_000_000_000))
    return client.Exemplar({_RECEIPT: receipt}, exemplar.micros / MICROS, at)


def end(form: Format) -> bytes:
    """What ends a page of that format."""
    return _EOF if form is Format.OPENMETRICS else b""
