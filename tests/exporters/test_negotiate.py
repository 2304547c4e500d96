"""Negotiation: which format and coding each header gets."""

import pytest

from exporters.negotiate import Format, accepts_gzip, choose_format

PROMETHEUS_2 = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.4"
PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
    "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
    "text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
)


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", Format.TEXT),
        ("*/*", Format.TEXT),
        (PROMETHEUS_2, Format.OPENMETRICS),
        (PROMETHEUS_3, Format.OPENMETRICS),
        ("application/openmetrics-text", Format.OPENMETRICS),
        ("application/openmetrics-text; version=1.0.0; charset=utf-8", Format.OPENMETRICS),
        ("application/openmetrics-text;version=0.0.1", Format.TEXT),
        ("application/openmetrics-text;version=2.0.0", Format.TEXT),
        ("application/openmetrics-text;version=banana", Format.TEXT),
        ("application/openmetrics-text;q=0, text/plain", Format.TEXT),
        ("application/openmetrics-text;q=0", Format.TEXT),
        ("text/plain;q=0.9, application/openmetrics-text;version=1.0.0;q=0.1", Format.TEXT),
        ("application/openmetrics-text;version=1.0.0;q=banana", Format.TEXT),
        ("application/vnd.google.protobuf", Format.TEXT),
        ("text/html,application/xhtml+xml,*/*;q=0.8", Format.TEXT),
        (";;,,=;q", Format.TEXT),
    ],
)
def test_exp_08_every_accept_header_gets_a_format(accept: str, form: Format) -> None:
    assert choose_format(accept) is form


@pytest.mark.parametrize(
    ("header", "gzipped"),
    [
        ("", False),
        ("gzip", True),
        ("GZIP;q=0.5, deflate", True),
        ("gzip;q=0", False),
        ("gzip;q=0, *", False),
        ("*", True),
        ("br, deflate", False),
        ("gzip;q=odd", False),
        ("xgzip", False),
    ],
)
def test_gzip_is_used_where_it_is_allowed(header: str, gzipped: bool) -> None:
    assert accepts_gzip(header) is gzipped
