"""A real Prometheus scrapes a real `rungwatch serve`, and its queries return what `status --json` says."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from decide.ladder import LadderWord, RungState
from decide.seat import SeatState
from tests.e2e.running import Served, free_address, run, serving, started, until
from tests.e2e.scene import CLAUDE_SEATS, CODEX_SEATS, Scene
from tests.exporters.services import need

pytestmark = pytest.mark.prometheus

Values = dict[tuple[str, ...], float]
"""A metric's values by the values of its labels, in the order that `LABELS` names."""
LABELS: Mapping[str, tuple[str, ...]] = {
    "ladder_state": ("state",),
    "ladder_rung_state": ("rung", "state"),
    "ladder_seat_state": ("rung", "seat", "state"),
    "ladder_seat_quota_used_ratio": ("rung", "seat", "window"),
    "ladder_seat_quota_reset_timestamp_seconds": ("rung", "seat", "window"),
    "ladder_token_expiry_timestamp_seconds": ("rung", "seat"),
    "ladder_seat_headroom_ratio": ("rung", "seat"),
}
SCRAPE = """\
global:
  scrape_interval: 1s
  scrape_timeout: 1s
scrape_configs:
  - job_name: rungwatch
    static_configs:
      - targets: ["{target}"]
"""


class Prometheus:
    """The query interface of a running server."""

    def __init__(self, base: str) -> None:
        self._base = base

    def query(self, text: str) -> list[dict[str, Any]]:
        """The samples of an instant query; none while the server is not there yet."""
        try:
            reply = httpx.get(f"{self._base}/api/v1/query", params={"query": text}, trust_env=False, timeout=30)
        except httpx.TransportError:
            return []
        if reply.status_code != 200:
            return []
        document = reply.json()
        assert document["status"] == "success", document
        found: list[dict[str, Any]] = document["data"]["result"]
        return found

    def values(self, metric: str) -> Values:
        """A metric's values as scraped last."""
        samples = self.query(metric)
        return {tuple(one["metric"][label] for label in LABELS[metric]): float(one["value"][1]) for one in samples}


@contextmanager
def prometheus(target: str, folder: Path) -> Iterator[Prometheus]:
    """A server that scrapes the target each second, with what it needs to know and no more."""
    config, address = folder / "prometheus.yml", free_address()
    config.write_text(SCRAPE.format(target=target), encoding="utf-8")
    options = (f"--config.file={config}", f"--storage.tsdb.path={folder / 'tsdb'}", f"--web.listen-address={address}")
    log = folder / "prometheus.log"
    with started(*options, home=folder, log=log, command=(need("prometheus"),)):
        yield Prometheus(f"http://{address}")


def said(document: dict[str, Any]) -> dict[str, Values]:
    """What a status document says, as the metrics that must say the same."""
    found: dict[str, Values] = {metric: {} for metric in LABELS}
    found["ladder_state"] = {(word,): float(word == document["ladder"]["state"]) for word in LadderWord}
    for rung in document["rungs"]:
        at = rung["name"]
        found["ladder_rung_state"] |= {(at, word): float(word == rung["state"]) for word in RungState}
        for seat in rung["seats"]:
            _add_seat(found, at, seat)
    return found


def _add_seat(found: dict[str, Values], rung: str, seat: dict[str, Any]) -> None:
    at = rung, seat["name"]
    found["ladder_seat_state"] |= {(*at, word): float(word == seat["state"]) for word in SeatState}
    found["ladder_token_expiry_timestamp_seconds"][at] = _epoch(seat["token"]["expires_at"])
    if "headroom_ratio" in seat:
        found["ladder_seat_headroom_ratio"][at] = seat["headroom_ratio"]
    for window in seat["windows"]:
        if window["binding"] and "used_ratio" in window and seat["state"] != SeatState.UNKNOWN:
            found["ladder_seat_quota_used_ratio"][*at, window["kind"]] = window["used_ratio"]
            found["ladder_seat_quota_reset_timestamp_seconds"][*at, window["kind"]] = _epoch(window["resets_at"])


def _epoch(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@pytest.fixture
def served(ladder: Scene) -> Iterator[Served]:
    with serving(*ladder.options, home=ladder.home) as running:
        yield running


def test_queries_return_what_status_says(ladder: Scene, served: Served, tmp_path: Path) -> None:
    with prometheus(served.base.removeprefix("http://"), tmp_path) as server:
        up = until(lambda: [one for one in server.query("up") if one["value"][1] == "1"], "target that is up")
        assert [one["metric"]["job"] for one in up] == ["rungwatch"]
        status = run("status", "--json", *ladder.options, home=ladder.home)
        assert status.returncode == 0, status.stderr
        expected = said(json.loads(status.stdout))
        assert {metric: server.values(metric) for metric in LABELS} == expected


def test_the_scene_has_every_seat_state(ladder: Scene, served: Served) -> None:
    document = json.loads(run("status", "--json", *ladder.options, home=ladder.home).stdout)
    assert document["ladder"]["state"] == "ok"
    seats = {seat["name"]: seat["state"] for rung in document["rungs"] for seat in rung["seats"]}
    states = ("available", "capped", "no_token", "unknown", "available", "capped")
    assert seats == dict(zip((*CLAUDE_SEATS, *CODEX_SEATS), states, strict=True))


def test_promtool_finds_nothing_in_the_live_page(served: Served) -> None:
    page = served.page("/metrics")
    done = subprocess.run((need("promtool"), "check", "metrics"), input=page, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
