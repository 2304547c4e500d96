"""import_decide: what `import decide` takes beyond the interpreter's start, and with every public name of it in use."""

import subprocess
import sys
import time
from functools import partial

from tests.bench.measure import Row, interleaved

NAME = "import_decide"
RUNS = 21
WITHIN_MS = 150.0
EVERY = "import decide; [getattr(decide, name) for name in decide.__all__]"
HEAVY = (
    "httpx",
    "httpcore",
    "urllib3",
    "aiohttp",
    "requests",
    "sqlalchemy",
    "alembic",
    "psycopg",
    "sqlite3",
    "numpy",
    "matplotlib",
)
CHECK = f"{EVERY}; import sys; sys.exit(any(name in sys.modules for name in {HEAVY!r}))"


def measure() -> list[Row]:
    """Milliseconds of a process that imports decide, against one that imports nothing; no heavy library comes along."""
    subprocess.run((sys.executable, "-c", CHECK), check=True)
    rows = []
    for name, code, most in ((NAME, "import decide", WITHIN_MS), (f"{NAME}_every_name", EVERY, None)):
        ours, floor = interleaved(partial(_took, code), lambda: _took("pass"), RUNS, f"{name} (ms)")
        rows.append(Row(name, ours - floor, floor, "ms", RUNS, most=most))
    return rows


def _took(code: str) -> float:
    began = time.perf_counter()
    subprocess.run((sys.executable, "-c", code), check=True)
    return (time.perf_counter() - began) * 1000
