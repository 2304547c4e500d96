"""scrape_10000_series: a page over HTTP with gzip, unchanged and just changed, against making it from its samples."""

import gzip
import http.client
import itertools
import time

from prometheus_client import generate_latest

from tests.bench.child import child
from tests.bench.measure import Row, interleaved, say, seconds
from tests.bench.pages import families, large, line_of

NAME, CHANGE = "scrape_10000_series", "scrape_10000_series_change"
RUNS, SCRAPES = 11, 50
HEADERS = {"accept-encoding": "gzip"}


def measure() -> list[Row]:
    """Both rows, from one server in a process of its own and one kept-alive connection."""
    samples = families(large(0.1))
    with child("tests.bench.scrape_child") as (_, address):
        connection = http.client.HTTPConnection(address, timeout=30)
        page = gzip.decompress(_scrape(connection)).splitlines()
        say(f"{NAME}: {sum(not line.startswith(b'#') for line in page)} series")
        made = lambda: seconds(lambda: gzip.compress(generate_latest(samples))) * 1000  # noqa: E731
        unchanged, floor = interleaved(lambda: _unchanged(connection), made, RUNS, f"{NAME} (ms)")
        shares = itertools.cycle([0.25, 0.5])
        changed, floor_too = interleaved(lambda: _changed(connection, next(shares)), made, RUNS, f"{CHANGE} (ms)")
        connection.close()
    return [
        Row(NAME, unchanged, floor, "ms", RUNS, limit=1 / 50),
        Row(CHANGE, changed, floor_too, "ms", RUNS, limit=1 / 2),
    ]


def _scrape(connection: http.client.HTTPConnection) -> bytes:
    connection.request("GET", "/metrics", headers=HEADERS)
    reply = connection.getresponse()
    body = reply.read()
    if reply.status != 200 or reply.headers["content-encoding"] != "gzip":
        raise RuntimeError(f"the scrape gave {reply.status} in {reply.headers['content-encoding']}")
    return body


def _unchanged(connection: http.client.HTTPConnection) -> float:
    """Milliseconds a scrape, the mean of many: one alone is shorter than the machine's own jitter."""
    return seconds(lambda: [_scrape(connection) for _ in range(SCRAPES)]) / SCRAPES * 1000


def _changed(connection: http.client.HTTPConnection, used: float) -> float:
    """Milliseconds from the publication of a view with one changed seat to the last byte of the page that shows it.

    The answer to the request for the change is counted as ours; both processes read the machine's monotonic clock.
    """
    connection.request("POST", f"/change?used={used}")
    began = float(connection.getresponse().read())
    body = _scrape(connection)
    taken = time.monotonic() - began
    if line_of(used) not in gzip.decompress(body):
        raise RuntimeError("the page does not show the change")
    return taken * 1000
