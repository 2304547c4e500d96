"""History from a Prometheus: a loopback server that answers like one, and the real one over a filled database."""

import asyncio
import json
import subprocess
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx
import pytest

from canary.capacity.history import History
from canary.capacity.naive import predict_linear
from canary.capacity.prometheus import Server, named, read, shown
from canary.capacity.scenario import ScenarioError
from decide.quota import WindowKind
from decide.rungs.http import Http
from tests.canary.capacity.histories import MONDAY
from tests.e2e.running import free_address, started, until
from tests.exporters.services import need

Answer = Callable[[Mapping[str, str]], tuple[int, str]]
HOURS = 30
DECIDED = 4
"""How many decisions there are in each hour."""


def read_from(url: str, matching: str = "", decisions: bool = True) -> History:
    async def asked() -> History:
        http = Http(lambda: datetime.now(UTC), timeout_s=10, version="0", purpose="test")
        try:
            server = Server(url, http.fetch, matching)
            return await read(server, MONDAY, MONDAY + timedelta(hours=HOURS), decisions=decisions)
        finally:
            await http.aclose()

    return asyncio.run(asked())


@contextmanager
def loopback(answer: Answer) -> Iterator[tuple[str, list[Mapping[str, str]]]]:
    """A server whose query_range answers as told, and what it was asked."""
    asked: list[Mapping[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urllib.parse.urlsplit(self.path)
            asked.append(dict(urllib.parse.parse_qsl(path.query)) | {"path": path.path})
            status, body = answer(asked[-1])
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


def ramp(
    asked: Mapping[str, str], labels: Mapping[str, str], value: Callable[[float], float | str]
) -> dict[str, Any]:
    begin, end, step = (float(asked[name]) for name in ("start", "end", "step"))
    count = int((end - begin) / step) + 1
    values = [
        [begin + step * each, str(value((begin + step * each - MONDAY.timestamp()) / 3600))] for each in range(count)
    ]
    return {"metric": dict(labels), "values": values}


def like_prometheus(asked: Mapping[str, str]) -> tuple[int, str]:
    """Counters that grow evenly, restarted at the tenth hour, and one meter that fills and resets each five hours."""
    name = asked["query"].partition("(ladder")[2].partition(")")[0].partition("{")[0]
    series = {
        "_decisions_total": [ramp(asked, {"level": "medium", "outcome": "agreed"}, lambda h: DECIDED * (h if h < 10 else h - 10))],
        "_passes_total": [
            ramp(asked, {"rung": "fable", "level": "medium", "role": "vote"}, lambda h: 8 * h),
            ramp(asked, {"rung": "fable", "level": "medium", "role": "reconsideration"}, lambda h: 2 * h),
        ],
        "_tokens_total": [ramp(asked, {"rung": "fable", "level": "medium"}, lambda h: 4000 * h)],
        "_spend_usd_total": [
            ramp(asked, {"rung": "fable", "level": "medium", "billing": "metered", "source": "provider"}, lambda h: h)
        ],
        "_seat_quota_used_ratio": [
            ramp(asked, {"rung": "fable", "seat": "desk", "window": "session"}, lambda h: h % 5 / 5),
            ramp(asked, {"rung": "fable", "seat": "desk", "window": "novel"}, lambda _: "NaN"),
        ],
        "_seat_quota_reset_timestamp_seconds": [
            ramp(asked, {"rung": "fable", "seat": "desk", "window": "session"}, lambda h: MONDAY.timestamp() + 3600 * (h // 5 * 5 + 5))
        ],
    }[name]  # fmt: skip
    return 200, json.dumps({"status": "success", "data": {"resultType": "matrix", "result": series}})


def test_counts_become_decisions_and_meters_samples() -> None:
    with loopback(like_prometheus) as (url, asked):
        found = read_from(url, 'job="rungwatch"')
    assert len(found.decisions) == DECIDED * (HOURS - 1), "the hour of the restart counts what came since"
    assert (found.decisions[0].level, found.decisions[0].outcome) == ("medium", "agreed")
    assert [each.at for each in found.decisions[:2]] == [
        MONDAY + timedelta(minutes=7.5),
        MONDAY + timedelta(minutes=22.5),
    ]
    use = found.decisions[0].uses["fable"]
    counted = DECIDED * (HOURS - 1)
    assert (use.passes, use.reconsidering) == (10 * HOURS / counted, 2 * HOURS / counted)
    assert use.tokens == 4000 * HOURS / counted
    assert use.micro_usd == {("metered", "provider"): pytest.approx(1e6 * HOURS / counted)}
    assert {sample.kind for sample in found.samples} == {WindowKind.SESSION}
    assert len(found.samples) == HOURS * 12 + 1
    assert found.samples[12].used == pytest.approx(0.2)
    assert found.samples[12].resets_at == MONDAY + timedelta(hours=5)
    assert (found.even, found.source) == (True, f"Prometheus at {url}")
    assert {each["path"] for each in asked} == {"/api/v1/query_range"}
    assert all('{job="rungwatch"}' in each["query"] for each in asked)


def test_meters_alone_are_asked_for_where_that_is_enough() -> None:
    with loopback(like_prometheus) as (url, asked):
        found = read_from(url, decisions=False)
    assert found.decisions == ()
    assert all("quota" in each["query"] for each in asked)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((200, "<html>login</html>"), "gave no answer of a Prometheus (HTTP status 200)"),
        ((404, "page not found"), "gave no answer of a Prometheus (HTTP status 404)"),
        ((200, "[]"), "gave no answer of a Prometheus"),
        ((422, '{"status":"error","error":"too many points"}'), "refused the query: too many points"),
    ],
)
def test_what_is_no_prometheus_is_told(answer: tuple[int, str], message: str) -> None:
    with loopback(lambda _: answer) as (url, _), pytest.raises(ScenarioError) as caught:
        read_from(url)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"--prometheus: {url} ")


def test_one_that_does_not_answer_is_told_with_what_is_allowed() -> None:
    with pytest.raises(ScenarioError) as caught:
        read_from(f"http://{free_address()}")
    assert "did not answer (network" in str(caught.value)
    assert "such as http://127.0.0.1:9090" in str(caught.value)


def test_an_address_is_shown_without_what_is_secret_in_it() -> None:
    assert shown("https://user:hidden@prom.example:9090/a?token=hidden#x") == "https://prom.example:9090/a"


def test_a_metric_that_the_catalog_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="ladder_none_total"):
        named("ladder_none_total")


def openmetrics() -> str:
    """The same series as a scraped rungwatch has them, every five minutes."""
    lines = []
    stamps = [MONDAY.timestamp() + 300 * each for each in range(HOURS * 12 + 1)]
    rows: list[tuple[str, str, str, Callable[[float], float]]] = [
        ("ladder_decisions", "counter", 'level="medium",outcome="agreed"', lambda h: DECIDED * int(h)),
        ("ladder_passes", "counter", 'rung="fable",level="medium",role="vote",result="resolved"', lambda h: 8 * int(h)),
        ("ladder_tokens", "counter", 'rung="fable",level="medium",kind="input"', lambda h: 4000 * int(h)),
        ("ladder_spend_usd", "counter", 'rung="fable",level="medium",role="vote",billing="metered",source="provider"', int),
        ("ladder_seat_quota_used_ratio", "gauge", 'rung="fable",seat="desk",window="session"', lambda h: h % 5 / 5),
        ("ladder_seat_quota_reset_timestamp_seconds", "gauge", 'rung="fable",seat="desk",window="session"', lambda h: MONDAY.timestamp() + 3600 * (h // 5 * 5 + 5)),
    ]  # fmt: skip
    for name, kind, labels, value in rows:
        lines.append(f"# TYPE {name} {kind}")
        ending = "_total" if kind == "counter" else ""
        lines += [f"{name}{ending}{{{labels}}} {value((at - MONDAY.timestamp()) / 3600)} {at}" for at in stamps]
    return "\n".join([*lines, "# EOF", ""])


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Prometheus over a database of those series."""
    folder, address = tmp_path_factory.mktemp("prometheus"), free_address()
    (folder / "series.txt").write_text(openmetrics(), encoding="utf-8")
    made = (need("promtool"), "tsdb", "create-blocks-from", "openmetrics", "series.txt", "tsdb")
    subprocess.run(made, cwd=folder, check=True, capture_output=True)
    (folder / "prometheus.yml").write_text("global: {}\n", encoding="utf-8")
    options = ("--config.file=prometheus.yml", "--storage.tsdb.path=tsdb", "--storage.tsdb.retention.time=50y")
    where = [option.replace("=", f"={folder}/", 1) if not option.endswith("50y") else option for option in options]
    command = (need("prometheus"),)
    with started(*where, f"--web.listen-address={address}", home=folder, log=folder / "log", command=command):
        until(lambda: _ready(f"http://{address}"), "Prometheus that is ready")
        yield f"http://{address}"


def _ready(base: str) -> bool:
    try:
        return httpx.get(f"{base}/-/ready", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.prometheus
def test_the_real_one_gives_the_same(real: str) -> None:
    found = read_from(real)
    assert len(found.decisions) == DECIDED * HOURS
    assert found.decisions[0].uses["fable"].passes == pytest.approx(2.0)
    assert found.decisions[0].uses["fable"].micro_usd == {("metered", "provider"): pytest.approx(250_000)}
    assert len(found.samples) == HOURS * 12 + 1
    assert found.samples[30].used == pytest.approx(0.5)
    assert found.samples[30].resets_at == MONDAY + timedelta(hours=5)


@pytest.mark.prometheus
def test_our_naive_line_is_its_predict_linear(real: str) -> None:
    now = MONDAY + timedelta(hours=7, minutes=3)
    query = "predict_linear(ladder_seat_quota_used_ratio[3h], 7200)"
    asked = {"query": query, "time": str(now.timestamp())}
    reply = httpx.get(f"{real}/api/v1/query", params=asked, trust_env=False).json()
    told = float(reply["data"]["result"][0]["value"][1])
    samples = [sample for sample in read_from(real).samples if sample.at <= now]
    moments, values = [sample.at.timestamp() for sample in samples], [sample.used for sample in samples]
    assert predict_linear(moments, values, now.timestamp(), 3 * 3600, 7200) == pytest.approx(told, rel=1e-9)


@pytest.mark.prometheus
def test_the_real_one_refuses_a_query_that_is_none(real: str) -> None:
    with pytest.raises(ScenarioError, match="refused the query"):
        read_from(real, "job=")
