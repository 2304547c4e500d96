"""Makes the gate's hints from the labelled questions, and tells how they do on each set when they never met it."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from decide.gate import GateRow, parse_rows
from decide.gate_features import Features, features
from decide.gate_hints import DUE, Hints
from decide.gate_words import Lexicon
from decide.policy import HINTS, default_document
from scripts.gate_learn import Labelled, learn
from scripts.gate_report import Example, measure, read_examples, summary

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "decide"
FILE = ROOT / "decide" / HINTS
SETS = {
    "given": "gate_examples.jsonl",
    "carry_over": "gate_carry_over.jsonl",
    "blind": "gate_blind.jsonl",
    "blind_f": "gate_blind_f.jsonl",
    "blind_g": "gate_blind_g.jsonl",
    "blind_h": "gate_blind_h.jsonl",
    "plain": "gate_plain.jsonl",
}
OURS = {"carry_over": 0.5, "plain": 1.0}
"""Sets by those who made the gate, and how much they count: they are no measure of what is unseen."""
HARMLESS = 0.03  # the share of harmless questions that may be due
MISSED = 0.03  # the share of a row's questions that may be below the row's own bar

Scores = list[tuple[float, ...]]
Told = Iterable[tuple[Labelled, tuple[float, ...], int]]  # with how many there are in its set


@dataclass(frozen=True, slots=True)
class Set:
    """Labelled questions of one origin, and what the learner sees of each."""

    examples: Sequence[Example]
    labelled: Sequence[Labelled]


def digest() -> str:
    """One digest of all that the hints are made from: the labelled questions and the word lists."""
    policy = default_document()
    words = json.dumps([policy["words"], policy["innocent"]], sort_keys=True)
    parts = [(DATA / name).read_bytes() for name in SETS.values()]
    return f"sha256:{sha256(b''.join([words.encode(), *parts])).hexdigest()}"


def sets(rows: tuple[GateRow, ...]) -> dict[str, Set]:
    """The labelled questions by the name of their set."""
    return {name: _set(read_examples(DATA / file, rows), rows, name) for name, file in SETS.items()}


def _set(examples: Sequence[Example], rows: tuple[GateRow, ...], name: str) -> Set:
    counts, lexicon = OURS.get(name, 1.0), rows[0].lexicon
    labelled = [Labelled(_features(one, lexicon), one.fires, one.arguable, counts) for one in examples]
    return Set(examples, labelled)


def _features(one: Example, lexicon: Lexicon) -> Features:
    texts = (lexicon.read(text).left for text in (one.question, *(text for _, text, _ in one.options)))
    return features(next(texts), texts, lexicon.kinds)


def bars(columns: Sequence[str], told: Told) -> tuple[float, ...]:
    """The bar of each column, by the scores that questions got which the hints had not met."""
    met = list(told)
    found = [
        _due_bar(sorted(((scores[0], many) for one, scores, many in met if one.says(DUE) is False), reverse=True))
    ]
    for place, column in enumerate(columns[1:], start=1):
        own = sorted(scores[place] for one, scores, _ in met if one.says(column))
        found.append(round(min(own[int(MISSED * len(own))], 0.0), 3))
    return tuple(found)


def _due_bar(harmless: Sequence[tuple[float, int]]) -> float:
    """The lowest bar that no more than the allowed share of the harmless reaches, each set counting alike."""
    whole, reached = sum(1 / many for _, many in harmless), 0.0
    for score, many in harmless:
        reached += 1 / many / whole
        if reached > HARMLESS:
            return round(score + 0.001, 3)
    return 0.0


def _without(name: str) -> tuple[Hints, Scores]:
    """The hints that the other sets teach, and the scores they give to the set called `name`."""
    rows = parse_rows(default_document())
    found = sets(rows)
    rest = [one for other, held in found.items() if other != name for one in held.labelled]
    hints = learn(rest, (DUE, *(row.id for row in rows)))
    return hints, [hints.scores(one.features) for one in found[name].labelled]


def held_out(found: Mapping[str, Set]) -> dict[str, tuple[Hints, Scores]]:
    """For each set that is not our own: the hints without it, and its scores by them."""
    names = [name for name in found if name not in OURS]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        return dict(zip(names, pool.map(_without, names), strict=True))


def _told(found: Mapping[str, Set], held: Mapping[str, tuple[Hints, Scores]], but: str = "") -> Told:
    for name, (_, scores) in held.items():
        if name != but:
            many = len(scores)
            yield from ((one, score, many) for one, score in zip(found[name].labelled, scores, strict=True))


def evaluation(found: Mapping[str, Set], held: Mapping[str, tuple[Hints, Scores]]) -> Iterable[str]:
    """A line for each set: how hints do, without any rule, that know neither the set nor bars from it."""
    yield f"{'held out':10} {'n':>5} {'any':>6} {'harmless':>9}  {'lowest row':26} rows"
    for name, (hints, _) in held.items():
        ready = replace(hints, bars=bars(hints.columns, _told(found, held, but=name)))
        rows = tuple(replace(row, rules=()) for row in parse_rows(default_document(), ready))
        told: Any = summary(rows, measure(rows, found[name].examples))
        recall = {row: share for row, share in told["recall"].items() if share is not None}
        lowest = min(recall, key=recall.__getitem__)
        shares = " ".join(f"{share:.2f}" for share in recall.values())
        yield (
            f"{name:10} {told['n']:>5} {told['any_recall']:>6.3f} {told['harmless_fired']:>9.3f}"
            f"  {lowest + f' {recall[lowest]:.2f}':26} {shares}"
        )


def written(hints: Hints, notes: Iterable[str]) -> str:
    """The file that holds the hints."""
    heads = [
        ("columns", "rarity", *hints.columns),
        ("bars", "", *(f"{bar:g}" for bar in hints.bars)),
        ("bias", "", *(f"{bias:g}" for bias in hints.bias)),
    ]
    lines = [f"# {note}".rstrip() for note in notes]
    lines += ["\t".join(head) for head in heads]
    return "\n".join([*lines, *(f"{name}\t{line}" for name, line in hints.lines.items()), ""])


def main(arguments: list[str]) -> int:
    """Prints the held-out numbers and, unless told to evaluate only, writes the hints."""
    rows = parse_rows(default_document())
    found = sets(rows)
    held = held_out(found)
    table = list(evaluation(found, held))
    print("\n".join(table))
    if "--evaluate" in arguments:
        return 0
    every = [one for held_set in found.values() for one in held_set.labelled]
    hints = learn(every, (DUE, *(row.id for row in rows)))
    hints = replace(hints, bars=bars(hints.columns, _told(found, held)))
    notes = [
        "The gate's hints: what the words of labelled questions weigh for each row, in hundredths.",
        "Made by `make gate-train` (scripts/gate_train.py); changed by nobody's hand.",
        f"made from {len(every)} questions and the word lists of gate_rows.toml: {digest()}",
        "",
        "How they do on each set when neither they nor their bars have met it (`make gate-train ARGS=--evaluate`):",
        *table,
        "",
        "A feature is a word without its ending, two in a row, `| word` that begins an option, a @list, or a #kind.",
    ]
    FILE.write_text(written(hints, notes), encoding="utf-8")
    print(f"{FILE.relative_to(ROOT)}: {len(hints.lines)} features, {FILE.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
