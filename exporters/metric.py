"""Metric: what the catalog says of one metric, and the short forms in which it is written."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

OTHER = "other"
"""What a word is shown as that a closed set lacks, one that a newer version wrote, or a name that is empty."""


class MetricType(StrEnum):
    """The types that both text formats know."""

    GAUGE = "gauge"
    COUNTER = "counter"
    INFO = "info"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Label:
    """A label; `values` is its closed set in order, empty when its values are names from the configuration.

    `open` says that `OTHER` appears beside the closed set once a word that it lacks was counted.
    """

    name: str
    values: tuple[str, ...] = ()
    open: bool = False


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its full name as queried, help, unit (empty: a plain number), labels in order and collector."""

    name: str
    type: MetricType
    help: str
    unit: str = ""
    labels: tuple[Label, ...] = ()
    group: str = ""
    collector: str = ""

    def __post_init__(self) -> None:
        """Refuse a name whose ending contradicts its type or unit."""
        ending = {MetricType.COUNTER: "_total", MetricType.INFO: "_info"}.get(self.type, "")
        if not self.name.endswith(ending) or (not ending and self.name.endswith(("_total", "_info"))):
            raise ValueError(f"{self.name!r} is no name for a {self.type}")
        if self.type is MetricType.HISTOGRAM and self.name.endswith(("_bucket", "_count", "_sum")):
            raise ValueError(f"{self.name!r} is no name for a {self.type}")
        if self.unit and not self.family.endswith(f"_{self.unit}"):
            raise ValueError(f"{self.name!r} does not end in its unit {self.unit!r}")

    @property
    def family(self) -> str:
        """The name without the ending that belongs to its type, as OpenMetrics calls the family."""
        return self.name.removesuffix({MetricType.COUNTER: "_total", MetricType.INFO: "_info"}.get(self.type, ""))

    @property
    def label_names(self) -> tuple[str, ...]:
        """The names of the labels, in order."""
        return tuple(label.name for label in self.labels)


def closed(name: str, members: Iterable[str]) -> Label:
    """A label with a closed set."""
    return Label(name, tuple(str(member) for member in members))


def gauge(name: str, text: str, *labels: Label, unit: str = "") -> Metric:
    """A gauge."""
    return Metric(name, MetricType.GAUGE, text, unit, labels)


def counter(name: str, text: str, *labels: Label, unit: str = "") -> Metric:
    """A counter."""
    return Metric(name, MetricType.COUNTER, text, unit, labels)


def histogram(name: str, text: str, *labels: Label) -> Metric:
    """A histogram of durations in seconds."""
    return Metric(name, MetricType.HISTOGRAM, text, "seconds", labels)


def group(name: str, collector: str, *metrics: Metric) -> tuple[Metric, ...]:
    """The metrics as members of a group of the page, all from one collector."""
    return tuple(replace(metric, group=name, collector=collector) for metric in metrics)
