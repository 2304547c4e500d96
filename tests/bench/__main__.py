"""The speed table: `python -m tests.bench [--only NAME]`; exits 1 when a limit does not hold."""

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console

from tests.bench import (
    cli,
    clicks,
    console,
    dashboards,
    fold,
    imports,
    ledger,
    overhead,
    plan,
    rss,
    scrape,
    sources,
    tick,
)
from tests.bench.measure import Row, say
from tests.bench.table import show, write

BENCHES: Mapping[str, Callable[[], list[Row]]] = {
    tick.NAME: tick.measure,
    scrape.NAME: scrape.measure,
    cli.GUARD: cli.guard,
    cli.CANARY: cli.canary,
    sources.PARSE: sources.parse,
    sources.FEED: sources.feed,
    rss.NAME: rss.measure,
    ledger.NAME: ledger.measure,
    "ledger_fold": fold.measure,
    overhead.NAME: overhead.measure,
    imports.NAME: imports.measure,
    dashboards.BUILD: dashboards.build,
    dashboards.PANEL: dashboards.measure,
    plan.NAME: plan.measure,
    clicks.SQLITE: clicks.sqlite,
    clicks.POSTGRES: clicks.postgres,
    console.NAME: console.measure,
}
"""Each benchmark and the rows that it gives."""
RESULT = Path(__file__).parents[2] / "bench.json"


def main() -> int:
    """The exit status after measuring what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", choices=BENCHES, help="measure this one only")
    only = parser.parse_args().only
    rows: list[Row] = []
    for name, measure in BENCHES.items():
        if only in (None, name):
            say(f"{name} begins")
            rows += measure()
    show(rows, Console(width=None if sys.stdout.isatty() else 120))
    write(rows, RESULT)
    return 0 if all(row.kept for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
