"""serve_rss: the memory that `serve` holds after 100 ticks, against its libraries alone, and after 1,000 ticks."""

import http.client
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from canary.demo.logins import claude_token, write_claude_login
from tests.bench.child import child
from tests.bench.fast import START
from tests.bench.measure import Row, say

NAME, GROWTH = "serve_rss", "serve_rss_growth"
SEATS, RUNS = 10, 3
EARLY, LATE = 100, 1000
LIMIT_MB, GROWTH_LIMIT = 130, 1.03
WITHIN_S = 300.0
LIBRARIES = (
    "apscheduler.schedulers.asyncio, httpx, jinja2, jwt, prometheus_client, pydantic, sqlalchemy, starlette, uvicorn"
)
BARE = f"import sys, {LIBRARIES}; print('ready', flush=True); sys.stdin.read()"
READ = re.compile(rb'^ladder_canary_source_reads_total\{result="ok",source="claude-usage"\} (\d+)', re.MULTILINE)
TICKS = re.compile(rb'^ladder_canary_ticks_total\{result="\w+"\} (\d+)', re.MULTILINE)

SEAT = """\
[[rung.seat]]
name = "{name}"
config_dir = "{folder}/{name}"
sources = ["claude-usage"]
"""
CONFIG = """\
[ladder]
primary = "fable"
second = "astra"

[[rung]]
name = "astra"
kind = "command"
model = "gpt-6-astra"
[[rung.seat]]
name = "own"
auth = "none"

[source]
claude_base_url = "{base}"

[[rung]]
name = "fable"
kind = "claude"
model = "claude-fable-5"
scopes = ["Fable"]
"""


def measure() -> list[Row]:
    """Both rows: the memory itself over several servers, and how much of the last one's came after tick 100."""
    floor = _bare_mb()
    found = [_run(EARLY) for _ in range(RUNS - 1)] + [_run(EARLY, LATE)]
    early, late = statistics.median(run[0] for run in found), found[-1][-1]
    return [
        Row(NAME, early, floor, "MB", RUNS, most=LIMIT_MB),
        Row(GROWTH, late, found[-1][0], "MB", 1, limit=GROWTH_LIMIT),
    ]


def _run(*ticks: int) -> list[float]:
    """The resident memory of a fresh server at each of those ticks."""
    zero = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="rungwatch-bench-") as scratch,
        child("tests.bench.rss_far", "--zero", repr(zero), "--seats", str(SEATS)) as (_, base),
    ):
        config = _configured(Path(scratch), base)
        options = ("--zero", repr(zero), "--config", str(config), "--state-dir", str(config.with_name("state")))
        with child("tests.bench.rss_child", *options) as (process, address):
            return [_mb_at(tick, process.pid, address) for tick in ticks]


def _configured(folder: Path, base: str) -> Path:
    """A configuration of ten seats, nine of them read from the far side."""
    text = CONFIG.format(base=base)
    for number in range(SEATS - 1):
        name = f"seat-{number:04}"
        write_claude_login(folder / name, claude_token(name), expires_at=START.replace(year=START.year + 1))
        text += SEAT.format(name=name, folder=folder)
    path = folder / "rungwatch.toml"
    path.write_text(text, encoding="utf-8")
    return path


def _mb_at(tick: int, pid: int, address: str) -> float:
    """The resident memory once that tick has come; the server is scraped and looked at all the while."""
    until = time.monotonic() + WITHIN_S
    while time.monotonic() < until:
        page = _page(address, "/metrics")
        ticks = sum(map(int, TICKS.findall(page)))
        if ticks >= tick:
            reads = READ.search(page)
            if reads is None or int(reads[1]) < ticks * (SEATS - 1) / 2:
                raise RuntimeError(f"too few reads went well: {reads} in {ticks} ticks")
            resident = _resident_mb(pid)
            say(f"{NAME}: {resident:.1f} MB at tick {ticks}")
            return resident
        _page(address, "/")
        time.sleep(0.2)
    raise RuntimeError(f"tick {tick} has not come within {WITHIN_S:g} s")


def _page(address: str, path: str) -> bytes:
    connection = http.client.HTTPConnection(address, timeout=30)
    connection.request("GET", path)
    try:
        return connection.getresponse().read()
    finally:
        connection.close()


def _bare_mb() -> float:
    """What the interpreter holds that has imported the libraries of `serve` and nothing of ours."""
    command = (sys.executable, "-c", BARE)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        if process.stdout is not None:
            process.stdout.readline()
        resident = _resident_mb(process.pid)
        process.kill()
    return resident


def _resident_mb(pid: int) -> float:
    """The resident memory of a process in millions of bytes."""
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024 / 1e6
    told = subprocess.run(("ps", "-o", "rss=", "-p", str(pid)), capture_output=True, check=True, text=True)
    return int(told.stdout) * 1024 / 1e6
