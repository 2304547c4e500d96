"""Writes every generated file, or with --check says which differ from what would be written."""

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from canary.capacity.cost_document import COST_SCHEMA
from canary.capacity.document import BACKTEST_SCHEMA, PLAN_SCHEMA
from canary.capacity.scenario_file import scenario_schema
from canary.config import config_schema
from canary.sources.seats_file import json_schema
from dashboards.build import files
from dashboards.reference import reference
from dashboards.settings import Settings
from decide.document import question_schema
from decide.receipt_schema import RECEIPT_SCHEMA
from exporters.schema import REPORT_SCHEMA

ROOT = Path(__file__).parents[1]


def _json(document: object) -> str:
    return json.dumps(document, indent=2) + "\n"


FILES: Mapping[str, Callable[[], str]] = {
    "docs/metrics.md": reference,
    "docs/schema/rungwatch.schema.json": lambda: _json(config_schema()),
    "docs/schema/seats.schema.json": lambda: _json(json_schema()),
    "docs/schema/report.schema.json": lambda: _json(REPORT_SCHEMA),
    "docs/schema/question.schema.json": lambda: _json(question_schema()),
    "docs/schema/receipt.schema.json": lambda: _json(RECEIPT_SCHEMA),
    "docs/schema/scenario.schema.json": lambda: _json(scenario_schema()),
    "docs/schema/plan.schema.json": lambda: _json(PLAN_SCHEMA),
    "docs/schema/cost.schema.json": lambda: _json(COST_SCHEMA),
    "docs/schema/backtest.schema.json": lambda: _json(BACKTEST_SCHEMA),
}
BUILT = "dashboards/generated"
"""The folder of what `rungwatch dashboards build` writes; a file there that it does not write is stale."""


def _every() -> Mapping[str, Callable[[], str]]:
    built = {f"{BUILT}/{name}": text for name, text in files(Settings()).items()}
    return {**FILES, **{name: partial(str, text) for name, text in built.items()}}


def _left_over(known: Mapping[str, object]) -> list[str]:
    """Files of an earlier build that none is now."""
    there = (path.relative_to(ROOT).as_posix() for path in (ROOT / BUILT).rglob("*") if path.is_file())
    return sorted(set(there) - set(known))


def main() -> int:
    """Exit code 1 when --check finds a file that is not what would be written."""
    every = _every()
    stale = _left_over(every)
    for name in stale:
        if "--check" not in sys.argv[1:]:
            (ROOT / name).unlink()
    for name, made in every.items():
        path, text = ROOT / name, made()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv[1:]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{'differs' if '--check' in sys.argv[1:] else 'written'}: {name}", file=sys.stderr)
    return 1 if stale and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
