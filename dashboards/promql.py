"""PromQL: selectors whose metric, labels and values are checked against the catalog while they are written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from exporters.catalog import CATALOG, Label, Metric, MetricType

UP = "up"
"""What Prometheus itself says of a target: the one series that no exporter writes."""
_SUFFIXES = ("_bucket", "_count", "_sum")
_METRICS: Mapping[str, Metric] = {metric.name: metric for metric in CATALOG}


class UnknownError(ValueError):
    """A metric, label or value that the catalog does not have; the text names it."""


def metric(name: str) -> Metric:
    """The catalog's entry for a metric, or for a part of a histogram; raises UnknownError."""
    for suffix in _SUFFIXES:
        whole = _METRICS.get(name.removesuffix(suffix))
        if name.endswith(suffix) and whole is not None and whole.type is MetricType.HISTOGRAM:
            return whole
    if name not in _METRICS:
        raise UnknownError(f"no metric {name!r} is in the catalog")
    return _METRICS[name]


def label_of(name: str, label: str) -> Label:
    """A label of a metric as the catalog declares it; raises UnknownError."""
    if label == "le" and name.endswith("_bucket"):
        return Label("le")
    for declared in metric(name).labels:
        if declared.name == label:
            return declared
    raise UnknownError(f"{name} has no label {label!r}")


def check_value(name: str, label: str, value: str) -> None:
    """Raise UnknownError for a value that the label never has."""
    declared = label_of(name, label)
    if declared.values and value not in declared.values and not (declared.open and value == "other"):
        raise UnknownError(f"{name}: {label} is never {value!r}, but one of {', '.join(declared.values)}")


def values(name: str, label: str) -> tuple[str, ...]:
    """The closed set of a label."""
    return label_of(name, label).values


@dataclass(frozen=True, slots=True)
class Selectors:
    """Writes selectors, each with the matchers `always`, and with those of `variables` whose label the metric has."""

    always: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()

    def __call__(self, name: str, /, **equal: str | Iterable[str]) -> str:
        """The selector of a metric; a label is one value, or any of several."""
        matchers = list(self.always)
        if name != UP:
            matchers += [_matcher(name, label, wanted) for label, wanted in equal.items()]
            known = metric(name).label_names
            matchers += [f'{one}=~"${one}"' for one in self.variables if one in known and one not in equal]
        return f"{name}{{{', '.join(matchers)}}}" if matchers else name


def _matcher(name: str, label: str, wanted: str | Iterable[str]) -> str:
    several = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    for value in several:
        check_value(name, label, value)
    return f'{label}="{several[0]}"' if len(several) == 1 else f'{label}=~"{"|".join(several)}"'


def codes(select: Selectors, name: str, words: Iterable[str], *by: str, label: str = "state") -> str:
    """A state set as one number, the place of the state that is 1 among the words: the worst of several exporters'.

    The words are all states, the worst last. Added up from "at least this bad", which is the cheapest to evaluate.
    """
    listed = tuple(words)
    if set(listed) != set(values(name, label)):
        raise UnknownError(f"{name}: {', '.join(listed)} are not its states {', '.join(values(name, label))}")
    worst = f"max by ({', '.join(by)})" if by else "max"
    ends = (listed[place:] for place in range(1, len(listed)))
    return "\n+ ".join(f"{worst} ({select(name, **{label: end})})" for end in ends)
