"""Encoding: samples become the lines of a text format, by prometheus_client's own encoders."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from prometheus_client import exposition as text
from prometheus_client import samples as client
from prometheus_client.core import Metric as ClientMetric
from prometheus_client.openmetrics import exposition as openmetrics

from exporters.catalog import Metric
from exporters.collect import Sample
from exporters.negotiate import Format

# The OpenMetrics encoder is untyped; both take anything with `collect()`.
_ENCODERS: dict[Format, Callable[[Any], bytes]] = {
    Format.TEXT: text.generate_latest,
    Format.OPENMETRICS: openmetrics.generate_latest,
}
_EOF = b"# EOF\n"


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
    names = metric.label_names
    found.samples = [
        client.Sample(metric.name, dict(zip(names, values, strict=True)), value) for values, value in samples
    ]
    return found


def encode(metric: Metric, samples: Sequence[Sample], form: Format) -> tuple[bytes, list[bytes]]:
    """The family's header, and one whole line for each sample in order."""
    page = _ENCODERS[form](Families([family(metric, samples)])).removesuffix(_EOF)
    # A newline in a label value is escaped, so each sample is exactly one line, after the header's.
    lines = page.split(b"\n")[:-1]
    split = len(lines) - len(samples)
    return b"".join(line + b"\n" for line in lines[:split]), [line + b"\n" for line in lines[split:]]


def end(form: Format) -> bytes:
    """What ends a page of that format."""
    return _EOF if form is Format.OPENMETRICS else b""
