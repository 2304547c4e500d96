"""Encoding: one line for each sample, whatever it holds."""

import pytest

from exporters.catalog import CATALOG, Metric, MetricType
from exporters.encode import encode, end
from exporters.negotiate import Format

BY_NAME = {metric.name: metric for metric in CATALOG}
TICKS, USED = BY_NAME["ladder_canary_ticks_total"], BY_NAME["ladder_seat_quota_used_ratio"]


def test_text() -> None:
    header, lines = encode(TICKS, [(("ok",), 2.0), (("error",), 0.0)], Format.TEXT)
    assert (
        header
        == b"# HELP ladder_canary_ticks_total Ticks by how they ended.\n# TYPE ladder_canary_ticks_total counter\n"
    )
    assert lines == [
        b'ladder_canary_ticks_total{result="ok"} 2.0\n',
        b'ladder_canary_ticks_total{result="error"} 0.0\n',
    ]
    assert end(Format.TEXT) == b""


def test_openmetrics() -> None:
    header, lines = encode(USED, [(("fable", "a\nb", "session"), 0.5)], Format.OPENMETRICS)
    assert header.endswith(b"# TYPE ladder_seat_quota_used_ratio gauge\n# UNIT ladder_seat_quota_used_ratio ratio\n")
    assert lines == [b'ladder_seat_quota_used_ratio{rung="fable",seat="a\\nb",window="session"} 0.5\n']
    assert end(Format.OPENMETRICS) == b"# EOF\n"


def test_a_family_without_samples_is_its_header() -> None:
    header, lines = encode(TICKS, [], Format.TEXT)
    assert header.count(b"\n") == 2
    assert lines == []


def test_a_sample_with_too_few_labels_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        encode(Metric("ladder_x", MetricType.GAUGE, "X.", labels=USED.labels), [(("fable",), 1.0)], Format.TEXT)
