"""Table: the measured rows for a person, and the same rows as JSON for a machine."""

import json
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench.measure import Row


def show(rows: Iterable[Row], console: Console) -> None:
    """Print the rows; a limit that does not hold is told in words, not by colour alone."""
    table = Table(title="Speed against the floor measured in the same run")
    table.add_column("name", no_wrap=True)
    for heading in ("ours", "floor", "ratio", "runs"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("limit", no_wrap=True)
    table.add_column("", no_wrap=True)
    for row in rows:
        ours, floor = (f"{value:.4g} {row.unit}" for value in (row.ours, row.floor))
        verdict = "[green]kept[/]" if row.kept else "[bold red]EXCEEDED[/]"
        table.add_row(row.name, ours, floor, f"{row.ratio:.3g}", str(row.runs), row.bound, verdict)
    console.print(table)


def write(rows: Iterable[Row], path: Path) -> None:
    """Write the rows as a list of objects, values to six digits."""
    document = [
        {
            "name": row.name,
            "ours": _short(row.ours),
            "floor": _short(row.floor),
            "ratio": _short(row.ratio),
            "unit": row.unit,
            "runs": row.runs,
        }
        for row in rows
    ]
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _short(value: float) -> float:
    return float(f"{value:.6g}")
