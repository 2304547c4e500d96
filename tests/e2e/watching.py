"""Watching: a demo day with a Prometheus and an Alertmanager on it, at the day's speed, and a webhook's far side."""

import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from dashboards.build import files
from dashboards.scale import Scale
from dashboards.settings import Settings
from tests.e2e.running import Served, free_address, serving, started, until
from tests.exporters.services import need

DAY_S = 12 * 3600
_TICK = re.compile(r"^ladder_canary_last_tick_timestamp_seconds (\S+)$", re.MULTILINE)
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """One alert as a receiver was told of it; `at` in the exporter's clock."""

    receiver: str
    alert: str
    firing: bool
    labels: Mapping[str, str]
    at: float


@dataclass
class Watched:
    """What runs, and all that the webhook was told."""

    served: Served
    settings: Settings
    prometheus: str
    began: float
    told: list[Told] = field(default_factory=list)

    def shown(self, real: float) -> float:
        """What the exporter's clock shows at a real moment."""
        scale = self.settings.scale
        return scale.shown + scale.speed * (real - scale.real)

    def asked(self, path: str, **parameters: str | float) -> Json:
        """The data of an answer of Prometheus; raises where it is an error."""
        reply = httpx.get(f"{self.prometheus}/api/v1/{path}", params=parameters, trust_env=False, timeout=30)
        document: Json = reply.json()
        assert document["status"] == "success", (parameters, document)
        return document

    def firing(self) -> frozenset[str]:
        """The alerts that fire now."""
        found = self.asked("query", query='group by (alertname) (ALERTS{alertstate="firing"})')["data"]["result"]
        return frozenset(one["metric"]["alertname"] for one in found)


@contextmanager
def watched(folder: Path, minutes: float, scrape_s: float) -> Iterator[Watched]:
    """A demo day that takes so many minutes, scraped, with rules and routes at its speed."""
    with ExitStack() as stack:
        served = stack.enter_context(serving("--demo", "--minutes", f"{minutes:g}", home=folder))
        scale = _scale(served, DAY_S / (minutes * 60))
        hooks, told = stack.enter_context(_webhook())
        settings = Settings(
            scale=scale,
            target=served.base.removeprefix("http://"),
            scrape_interval_s=scrape_s,
            evaluation_interval_s=scrape_s,
            prometheus_url=f"http://{free_address()}",
            alertmanager=free_address(),
            pager_url=f"{hooks}/pager",
            tickets_url=f"{hooks}/tickets",
            deadman_url=f"{hooks}/deadman",
        )
        _start(stack, folder, settings)
        found = Watched(served, settings, settings.prometheus_url, time.time())
        told.append(found)
        until(lambda: _up(found), "scraped target")
        yield found


def _up(found: Watched) -> bool:
    try:
        ready = httpx.get(f"{found.prometheus}/-/ready", trust_env=False, timeout=30).status_code == 200
    except httpx.TransportError:
        return False
    return ready and bool(found.asked("query", query="up == 1")["data"]["result"])


def _start(stack: ExitStack, folder: Path, settings: Settings) -> None:
    for name, text in files(settings).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    prometheus = (
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address={settings.prometheus_url.removeprefix('http://')}",
        "--enable-feature=exemplar-storage",
        "--alertmanager.notification-queue-capacity=1000",
    )
    alertmanager = (
        f"--config.file={folder / 'alertmanager.yml'}",
        f"--storage.path={folder / 'alertmanager'}",
        f"--web.listen-address={settings.alertmanager}",
        "--cluster.listen-address=",
    )
    for program, options in (("prometheus", prometheus), ("prometheus-alertmanager", alertmanager)):
        log = folder / f"{program}.log"
        stack.enter_context(started(*options, home=folder, log=log, command=(need(program),)))


def _scale(served: Served, speed: float) -> Scale:
    """How the demo's clock goes: what a tick showed at the moment that it was first seen, of several the least late."""
    seen: dict[float, float] = {}

    def three() -> bool:
        found = _TICK.search(served.page("/metrics"))
        if found:
            seen.setdefault(float(found[1]), time.time())
        return len(seen) == 4

    until(three, "four ticks")
    pairs = sorted(seen.items())[1:]
    shown, real = max(pairs, key=lambda pair: pair[0] - speed * pair[1])
    return Scale(speed, real, shown)


@contextmanager
def _webhook() -> Iterator[tuple[str, list[Watched]]]:
    """A receiver of Alertmanager's webhooks; what it is told goes to the one that is put into the list."""
    to: list[Watched] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            document = json.loads(self.rfile.read(int(self.headers["content-length"])))
            now = time.time()
            for alert in document["alerts"]:
                labels = alert["labels"]
                firing = alert["status"] == "firing"
                told = Told(self.path.strip("/"), labels["alertname"], firing, labels, to[0].shown(now))
                to[0].told.append(told)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", to
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
