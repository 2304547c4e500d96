"""Encoding: one line for each sample, whatever it holds."""

import pytest

from exporters.catalog import CATALOG, Metric, MetricType
from exporters.encode import encode, end
from exporters.histogram import Exemplar, Histogram
from exporters.negotiate import Format

BY_NAME = {metric.name: metric for metric in CATALOG}
WAIT = BY_NAME["ladder_pass_duration_seconds"]
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


TOOK = Histogram((0.5, 2.0), (3, 0, 1), 7_250_000, (Exemplar('r"1', 400_000, 1_782_907_200_000_001), None, None))


def test_a_histogram_is_one_chunk_of_cumulative_buckets() -> None:
    header, chunks = encode(WAIT, [(("fable",), TOOK), (("astra",), TOOK)], Format.TEXT)
    assert header.endswith(b"# TYPE ladder_pass_duration_seconds histogram\n")
    assert chunks[0].decode().splitlines() == [
        'ladder_pass_duration_seconds_bucket{le="0.5",rung="fable"} 3.0',
        'ladder_pass_duration_seconds_bucket{le="2.0",rung="fable"} 3.0',
        'ladder_pass_duration_seconds_bucket{le="+Inf",rung="fable"} 4.0',
        'ladder_pass_duration_seconds_count{rung="fable"} 4.0',
        'ladder_pass_duration_seconds_sum{rung="fable"} 7.25',
    ]
    assert chunks[1] == chunks[0].replace(b"fable", b"astra")


def test_openmetrics_names_the_receipt_of_a_bucket() -> None:
    header, (chunk,) = encode(WAIT, [(("fable",), TOOK)], Format.OPENMETRICS)
    assert b"# UNIT ladder_pass_duration_seconds seconds\n" in header
    first, second, *_ = chunk.decode().splitlines()
    assert first.endswith(' 3.0 # {receipt="r\\"1"} 0.4 1782907200.000001000')
    assert second.endswith(" 3.0")


def test_a_receipt_too_long_for_an_exemplar_is_left_out() -> None:
    for length, shown in ((121, True), (122, False)):
        took = Histogram((), (1,), 1, (Exemplar("r" * length, 1, 1),))
        _, (chunk,) = encode(WAIT, [(("fable",), took)], Format.OPENMETRICS)
        assert (b"receipt" in chunk) == shown


def test_a_family_without_samples_is_its_header() -> None:
    header, lines = encode(TICKS, [], Format.TEXT)
    assert header.count(b"\n") == 2
    assert lines == []


def test_a_sample_with_too_few_labels_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        encode(Metric("ladder_x", MetricType.GAUGE, "X.", labels=USED.labels), [(("fable",), 1.0)], Format.TEXT)
