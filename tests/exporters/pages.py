"""Pages read back: what a strict parser makes of a page of metrics."""

from collections import Counter

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from exporters.exposition import Exposition
from exporters.view import View
from tests.exporters.scenes import NOW

OPENMETRICS = "application/openmetrics-text;version=1.0.0"
Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def page(view: View, accept: str = "") -> str:
    """The page of a view at `NOW`."""
    return Exposition(view, lambda: NOW).page(accept).body.decode()


def series(text: str) -> Series:
    """Each series and its value, by a strict parser; the same series twice is an error."""
    parse = parse_openmetrics if text.endswith("# EOF\n") else parse_text
    found = [
        ((sample.name, tuple(sorted(sample.labels.items()))), float(sample.value))
        for family in parse(text)
        for sample in family.samples
    ]
    twice = [key for key, count in Counter(key for key, _ in found).items() if count > 1]
    assert not twice, twice
    return dict(found)


def values(text: str, name: str, **labels: str) -> list[float]:
    """The values of the series of that name that have those labels."""
    return [
        value
        for (found, have), value in series(text).items()
        if found == name and labels.items() <= dict(have).items()
    ]


def value(text: str, name: str, **labels: str) -> float:
    """The value of the only such series."""
    (found,) = values(text, name, **labels)
    return found
