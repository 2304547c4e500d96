"""Measures pages of about 10,000 series: `python -m tests.exporters.bench`; prints medians in milliseconds."""

import gzip
import http.client
import statistics
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import uvicorn
from prometheus_client import generate_latest
from prometheus_client.openmetrics import exposition as openmetrics

from exporters.endpoint import endpoint
from exporters.exposition import Exposition
from exporters.view import Health, View
from tests.exporters.pages import OPENMETRICS
from tests.exporters.scenes import ASTRA, FABLE, NOW, open_seat, rung, view
from tests.exporters.test_exposition import reference

SEATS = 660
ENCODERS: dict[str, Callable[[Any], bytes]] = {"": generate_latest, OPENMETRICS: openmetrics.generate_latest}


def large(changed: float | None = None) -> View:
    """A view of that many seats, each object built afresh; `changed` is the share that seat 7 has used."""
    seats = [open_seat(f"seat-{n:04d}", changed if changed and n == 7 else n % 97 / 100) for n in range(SEATS // 2)]
    found = view(rung(FABLE, *seats), rung(ASTRA, *seats))
    polls = {(name.name, seat.name): 0.25 for name in (FABLE, ASTRA) for seat in seats}
    return replace(found, canary=replace(found.canary, poll_used=polls))


def median_ms(act: Callable[[], object], times: int = 21) -> float:
    """The median time of an act in milliseconds."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        act()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


def served(pages: Exposition, shown: View) -> uvicorn.Server:
    """A server of those pages on a free port of this machine, in a thread."""
    app = endpoint(lambda: shown, pages, lambda: Health(alive=True, ready=True), lambda _: (), lambda: NOW)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    return server


def measure(accept: str) -> str:
    """One line for a format."""
    first, second = large(), large(0.5)
    families = reference(first)
    plain = median_ms(lambda: gzip.compress(ENCODERS[accept](families)))
    pages = Exposition(first, lambda: NOW)
    pages.page(accept, "gzip")
    turn = [first, second]

    def change() -> None:
        turn.reverse()
        pages.publish(turn[0])
        pages.page(accept, "gzip")

    changed = median_ms(change)
    server = served(pages, first)
    port = server.servers[0].sockets[0].getsockname()[1]
    connection = http.client.HTTPConnection("127.0.0.1", port)

    def scrape() -> None:
        connection.request("GET", "/metrics", headers={"accept": accept, "accept-encoding": "gzip"})
        connection.getresponse().read()

    scraped = median_ms(scrape, 201)
    connection.close()
    server.should_exit = True
    series = sum(not line.startswith(b"#") for line in pages.page(accept).body.splitlines())
    return (
        f"{accept or 'text'}: {series} series; generate_latest + gzip {plain:.1f}; "
        f"one seat changed {changed:.1f} (1/{plain / changed:.1f}); "
        f"HTTP scrape {scraped:.2f} (1/{plain / scraped:.0f})"
    )


if __name__ == "__main__":
    for form in ENCODERS:
        sys.stdout.write(measure(form) + "\n")
