"""dashboards_build, panel_query, rule_eval: how long building takes, and what is built on a full Prometheus."""

import http.client
import json
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dashboards.alerts import groups
from dashboards.build import boards
from dashboards.settings import Settings
from tests.bench.blocks import END_S, STEP_S, write
from tests.bench.measure import Row, interleaved, say, seconds
from tests.exporters.services import need

BUILD, PANEL, RULES = "dashboards_build", "panel_query", "rule_eval"
RUNS, REPEATS = 5, 5
POINTS = 500
"""How many points a panel of half a screen asks for."""
_SPAN = re.compile(r"(\d+)([smhd])")
_UNITS: Mapping[str, int] = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
CONFIG = "global: {scrape_interval: 1h}\n"


def build() -> list[Row]:
    """The whole command against importing what it cannot do without."""
    with tempfile.TemporaryDirectory(prefix="rungwatch-bench-") as out:
        ours = (sys.executable, "-m", "canary.start", "dashboards", "build", "--out", out)
        floor = (sys.executable, "-c", "import grafana_foundation_sdk.builders.dashboard, yaml")
        run: Callable[[tuple[str, ...]], float] = lambda words: seconds(  # noqa: E731
            lambda: subprocess.run(words, check=True, capture_output=True)
        )
        took, least = interleaved(lambda: run(ours), lambda: run(floor), RUNS, f"{BUILD} (s)")
    return [Row(BUILD, took, least, "s", RUNS, most=2.0)]


def measure() -> list[Row]:
    """The slowest panel query over its default range, and all rules together, on 30 days of 100 seats."""
    with tempfile.TemporaryDirectory(prefix="rungwatch-bench-") as scratch:
        say(f"{PANEL}: making 30 days of 100 seats (minutes)")
        series = write(Path(scratch))
        say(f"{PANEL}: {series} series")
        with _serving(Path(scratch)) as server:
            floor = _median(server, "query", {"query": "up", "time": END_S})
            panels = {name: _median(server, *query) for name, query in _panels()}
            rules = {rule: _median(server, "query", {"query": expr, "time": END_S}) for rule, expr in _rules()}
    for name, took in sorted({**panels, **rules}.items(), key=lambda pair: -pair[1])[:8]:
        say(f"{took:6.1f} ms  {name}")
    return [
        Row(PANEL, max(panels.values()), floor, "ms", REPEATS, most=50.0),
        Row(RULES, sum(rules.values()), floor, "ms", REPEATS, most=100.0),
    ]


def _panels() -> Iterator[tuple[str, tuple[str, dict[str, Any]]]]:
    """Each query of each panel as Grafana would ask it for the range that its dashboard opens with."""
    for board, text in boards(Settings()).items():
        document = json.loads(text)
        range_s = _seconds(document["time"]["from"].removeprefix("now-"))
        for panel in document["panels"]:
            for target in panel.get("targets") or []:
                step = max(_seconds(panel.get("interval", "")), range_s // POINTS, STEP_S)
                rate = max(step + STEP_S, 4 * STEP_S)
                expr = target["expr"].replace("$__rate_interval", f"{rate}s").replace("$__range", f"{range_s}s")
                expr = re.sub(r"\$(\w+)", ".+", expr)
                where = f"{board.value}: {panel['title']} {target['refId']}"
                if target["instant"]:
                    yield where, ("query", {"query": expr, "time": END_S})
                else:
                    span = {"start": END_S - range_s, "end": END_S, "step": step}
                    yield where, ("query_range", {"query": expr, **span})


def _rules() -> Iterator[tuple[str, str]]:
    for group in groups(Settings()):
        for rule in group.rules:
            yield rule.name, rule.expr


def _seconds(span: str) -> int:
    return sum(int(number) * _UNITS[unit] for number, unit in _SPAN.findall(span))


def _median(server: http.client.HTTPConnection, path: str, query: dict[str, Any]) -> float:
    """Milliseconds of a query, the median of some after one that does not count."""
    return statistics.median([_asked(server, path, query) for _ in range(REPEATS + 1)][1:])


def _asked(server: http.client.HTTPConnection, path: str, query: dict[str, Any]) -> float:
    began = time.perf_counter()
    server.request("GET", f"/api/v1/{path}?{urllib.parse.urlencode(query)}")
    reply = server.getresponse()
    body = reply.read()
    took = (time.perf_counter() - began) * 1000
    if reply.status != 200:
        raise RuntimeError(f"{query['query']}: {reply.status} {body[:200]!r}")
    return took


@contextmanager
def _serving(folder: Path) -> Iterator[http.client.HTTPConnection]:
    """A Prometheus on the blocks in the folder, once it is ready."""
    (folder / "prometheus.yml").write_text(CONFIG, encoding="utf-8")
    port = _free_port()
    options = (
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        "--storage.tsdb.retention.time=100y",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=error",
    )
    with subprocess.Popen((need("prometheus"), *options)) as process:
        server = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            _await(server)
            yield server
        finally:
            server.close()
            process.terminate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await(server: http.client.HTTPConnection) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            server.request("GET", "/-/ready")
            reply = server.getresponse()
            reply.read()
            if reply.status == 200:
                return
        except (ConnectionError, http.client.HTTPException):
            server.close()
        if time.monotonic() > deadline:
            raise RuntimeError("Prometheus is not ready after 60 s")
        time.sleep(0.1)
