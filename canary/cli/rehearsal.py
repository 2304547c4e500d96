"""Rehearsal: what a question would be sent to both rungs, and what it could cost, with nobody asked."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from decide.brief import Brief
from decide.consultation import Order
from decide.gate import Stage, fired
from decide.level import Level
from decide.money import dollars
from decide.question import LevelName, Question
from decide.setup import Setup
from decide.slots import PARTS, allot, every
from decide.snapshot import Snapshot, cut

Rehearsal = dict[str, Any]


def worst_case(level: Level, primary: int, second: int) -> tuple[int, int]:
    """The calls and micro-dollars that a run at a level reserves before it asks, by what one call of each rung can
    cost at most.
    """
    worst = dict.fromkeys(PARTS, primary) | {"second": second}
    missing = dict.fromkeys(PARTS, len(Order) * level.votes)
    slots = every(allot([str(n) for n in range(level.max_passes)], missing, worst))
    return len(slots), sum(slot.micro_usd for slot in slots)


def document(
    question: Question, frozen: Snapshot, briefs: Sequence[Brief], setup: Setup, level: LevelName | None
) -> Rehearsal:
    """The rehearsal as JSON values."""
    chosen = level or question.level or setup.level
    asked = setup.at(setup.levels[chosen])
    rungs = (asked.primary, asked.second)
    passes, micro = worst_case(setup.levels[chosen], *(rung.max_micro_usd_per_pass for rung in rungs))
    options = [(option.id, f"{option.text}\n{option.action}", option.acts) for option in question.options]
    gate = fired(setup.rows, question=question.text, options=options)
    cuts = {one.name: one.kept for one in cut(frozen, setup.levels[chosen].evidence_budget)[1]}
    return {
        "question": {"id": question.id or None, "digest": question.digest},
        "level": chosen.value,
        "rungs": [{"name": rung.name, "model": rung.model} for rung in rungs],
        "reserves": {"passes": passes, "usd": dollars(micro)},
        "gate": [
            {"row": one.row.id, "stage": one.row.stage.value, "where": one.where, "remedy": one.row.remedy}
            for one in gate
        ],
        "snapshot": {
            "digest": frozen.digest,
            "sources": [
                {
                    "kind": item.kind.value,
                    "name": item.name,
                    "chars": len(item.text),
                    "kept_chars": cuts.get(item.name, len(item.text)),
                    "note": item.note or None,
                }
                for item in frozen.items
            ],
        },
        "briefs": [
            {
                "order": brief.order.value,
                "options": list(brief.options),
                "system": brief.system,
                "text": brief.text,
                "schema": brief.schema,
            }
            for brief in briefs
        ],
    }


def lines(shown: Mapping[str, Any]) -> Iterator[str]:
    """The rehearsal as text."""
    rungs = " and ".join(f"{rung['name']} ({rung['model']})" for rung in shown["rungs"])
    yield "DRY RUN: nobody is asked and nothing is reserved."
    yield f"rungs     {rungs}, the same briefs but for a nonce of each call's own"
    yield f"level     {shown['level']}"
    yield f"reserves  {shown['reserves']['passes']} calls, at most {shown['reserves']['usd']} USD"
    for row in shown["gate"]:
        held = "nobody would be asked" if row["stage"] == Stage.AUTHORITY else "the answer would be held"
        yield f"policy    {row['row']} ({row['where']}): {held}; {row['remedy']}"
    for source in shown["snapshot"]["sources"]:
        some = f"{source['kept_chars']} of " if source["kept_chars"] < source["chars"] else ""
        note = f" ({source['note']})" if source["note"] else ""
        yield _calm(f"evidence  {source['kind']} {source['name']}: {some}{source['chars']} characters{note}")
    yield f"snapshot  {shown['snapshot']['digest']}"
    for brief in shown["briefs"]:
        yield ""
        yield f"===== brief, {brief['order']} order ====="
        yield _calm(brief["system"])
        yield ""
        yield _calm(brief["text"].rstrip("\n"))


def _calm(text: str) -> str:
    """A text that keeps its lines and steers no terminal."""
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)
