"""Measures the gate on labelled questions: recall and false fires for each row, with every miss named."""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from decide.gate import GateRow, fired
from decide.policy import PolicyError, default_rows, load_rows

USAGE = 64


class BadRecord(ValueError):
    """A record that is no example; the text names the field."""


class BadExamples(ValueError):
    """A file of examples that cannot be used; the text names file and line."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the rows that should fire on it; whether an arguable one fires is not scored."""

    id: str
    question: str
    options: tuple[tuple[str, str, tuple[str, ...]], ...]
    fires: frozenset[str]
    arguable: frozenset[str]


def example(record: object) -> Example:
    """The example that one record holds; raises BadRecord naming the field that is wrong."""
    if not isinstance(record, Mapping):
        raise BadRecord("not a JSON object")
    for key in ("id", "question"):
        if not isinstance(record.get(key), str):
            raise BadRecord(f"{key}: a text, not {record.get(key)!r}")
    if "fires" not in record:
        raise BadRecord("fires: missing; [] says that nothing should fire")
    return Example(
        id=record["id"],
        question=record["question"],
        options=tuple(map(_option, _listed(record, "options"))),
        fires=frozenset(_texts(record, "fires")),
        arguable=frozenset(_texts(record, "arguable")),
    )


def _listed(record: Mapping[str, object], key: str) -> list[object]:
    value = record.get(key) or []
    if not isinstance(value, list):
        raise BadRecord(f"{key}: a list, not {value!r}")
    return value


def _texts(record: Mapping[str, object], key: str) -> list[str]:
    values = _listed(record, key)
    if wrong := [value for value in values if not isinstance(value, str)]:
        raise BadRecord(f"{key}: a list of texts, not {wrong[0]!r}")
    return [str(value) for value in values]


def _option(value: object) -> tuple[str, str, tuple[str, ...]]:
    if not isinstance(value, Mapping) or not isinstance(value.get("text"), str):
        raise BadRecord(f"options: each an object with id and text, not {value!r}")
    return str(value.get("id", "")), str(value["text"]), tuple(_texts(value, "acts"))


def read_examples(path: Path, rows: Iterable[GateRow]) -> list[Example]:
    """The examples of a file with one JSON record a line; raises BadExamples."""
    known = {row.id for row in rows}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as wrong:
        raise BadExamples(f"{path}: {getattr(wrong, 'strerror', None) or wrong}") from wrong
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append(_of_rows(example(json.loads(line)), known))
        except (ValueError, RecursionError) as wrong:
            raise BadExamples(f"{path}: line {number}: {wrong}") from wrong
    if not found:
        raise BadExamples(f"{path}: no example in it")
    return found


def _of_rows(one: Example, known: set[str]) -> Example:
    if strange := sorted((one.fires | one.arguable) - known):
        raise BadRecord(f"no row {strange[0]!r}; the rows are {', '.join(sorted(known))}")
    return one


@dataclass(frozen=True, slots=True)
class Outcome:
    """An example, and what fired on its texts: the words by row."""

    example: Example
    fired: Mapping[str, str]

    @property
    def missed(self) -> frozenset[str]:
        """Rows that should have fired and did not, arguable ones left out."""
        return self.example.fires - self.example.arguable - self.fired.keys()

    @property
    def false(self) -> frozenset[str]:
        """Rows that fired and should not have, arguable ones left out."""
        return frozenset(self.fired) - self.example.fires - self.example.arguable


def measure(rows: tuple[GateRow, ...], examples: Iterable[Example]) -> list[Outcome]:
    """What fires on each example by its texts alone: declared acts are left out."""
    found = []
    for one in examples:
        texts = [(name, text, ()) for name, text, _ in one.options]
        hits = fired(rows, question=one.question, options=texts)
        found.append(Outcome(one, {hit.row.id: f"{hit.where}: {hit.text}" for hit in reversed(hits)}))
    return found


def share(part: int, whole: int) -> float | None:
    """Part of whole, None of nothing."""
    return round(part / whole, 4) if whole else None


def summary(rows: tuple[GateRow, ...], outcomes: list[Outcome]) -> dict[str, object]:
    """The numbers that a bar is held against."""
    due = [o for o in outcomes if o.example.fires]
    harmless = [o for o in outcomes if not o.example.fires]
    recall = {}
    for row in rows:
        own = _due(row, outcomes)
        recall[row.id] = share(sum(row.id in o.fired for o in own), len(own))
    return {
        "any_recall": share(sum(bool(o.fired) for o in due), len(due)),
        "recall": recall,
        "harmless_fired": share(sum(bool(o.fired.keys() - o.example.arguable) for o in harmless), len(harmless)),
        "n": len(outcomes),
    }


def _due(row: GateRow, outcomes: Iterable[Outcome]) -> list[Outcome]:
    return [o for o in outcomes if row.id in o.example.fires - o.example.arguable]


def report(rows: tuple[GateRow, ...], outcomes: list[Outcome]) -> Iterable[str]:
    """The lines of the report; the last one is the summary as JSON."""
    yield f"{'row':20} {'n':>4} {'recall':>7} {'false fires':>12}"
    for row in rows:
        due = _due(row, outcomes)
        rate = f"{sum(row.id in o.fired for o in due) / len(due):.2f}" if due else "-"
        yield f"{row.id:20} {len(due):>4} {rate:>7} {sum(row.id in o.false for o in outcomes):>12}"
    for row in rows:
        for o in outcomes:
            if row.id in o.missed:
                yield f"miss   {row.id:20} {o.example.id}: {_line(o.example)}"
    for row in rows:
        for o in outcomes:
            if row.id in o.false:
                where = "harmless" if not o.example.fires else "besides " + ", ".join(sorted(o.example.fires))
                yield f"false  {row.id:20} {o.example.id} ({where}) on {o.fired[row.id]!r}: {_line(o.example)}"
    yield json.dumps(summary(rows, outcomes))


def _line(one: Example) -> str:
    return " ".join(one.question.split()) + " | " + " | ".join(text for _, text, _ in one.options)


def main(arguments: list[str]) -> int:
    """Prints the report on a file of examples, by the default policy or by the one in a second file."""
    if not 1 <= len(arguments) <= 2 or not arguments[0]:
        print("gate-report: name the examples: make gate-report FILE=path.jsonl", file=sys.stderr)
        return USAGE
    try:
        rows = load_rows(Path(arguments[1])) if len(arguments) == 2 else default_rows()
        examples = read_examples(Path(arguments[0]), rows)
    except (BadExamples, PolicyError) as wrong:
        print(f"gate-report: {wrong}", file=sys.stderr)
        return USAGE
    print("\n".join(report(rows, measure(rows, examples))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
