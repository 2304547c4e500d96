"""Writes every generated file, or with --check says which differ from what would be written."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from canary.config import config_schema
from canary.sources.seats_file import json_schema
from dashboards.reference import reference
from dashboards.scrape import scrape_config
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
    "dashboards/generated/prometheus.yml": scrape_config,
}


def main() -> int:
    """Exit code 1 when --check finds a file that is not what would be written."""
    stale = []
    for name, made in FILES.items():
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
