"""Receipt checks: a receipt of a decision, field by field, against its row and what the far side counted."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import Any

import jsonschema

from decide.consultation import UNKNOWN_MODEL, ModelFrom, Order
from decide.level import LEVELS
from decide.receipt_schema import RECEIPT_SCHEMA
from decide.reply import Failure
from decide.ruling import RULING_EXITS, Outcome
from decide.verdict import Decline
from tests.clients.decision_rows import BY_ASTRA, BY_FABLE, OTHER, Row
from tests.clients.ladder import ASTRA, FABLE, MODELS, SEATS, Ladder
from tests.clients.mind import QUESTION, RATIONALE

Document = Mapping[str, Any]
SOURCES = {FABLE: "provider", ASTRA: "price_table"}
USD_PER_MILLION = {FABLE: (10, 50), ASTRA: (10, 40)}
"""What Claude Code itself takes for its model, and what the price file says of Codex's."""
WORST = "0.50"
PLAIN: dict[str, Any] = {"models": {}, "tie_break": "fresh"}
"""What a receipt tells of a level beside its preset."""
UNKNOWN = (UNKNOWN_MODEL, ModelFrom.UNKNOWN)


def line(one: Document) -> str:
    """A pass in one line, as a row names it."""
    result = one["result"]
    word = result.get("option") or result.get("kind") or result.get("reason") or result["state"]
    return f"{one['consultation']} {one['role']} {one['rung']} {one['order']}: {word}"


def faults(row: Row, told: Document, ladder: Ladder) -> list[str]:
    """Everything in which the receipt is not what it must be."""
    checks = [*_whole(row, told, ladder), *_passes(row, told, ladder), *_refused(told, ladder)]
    try:
        jsonschema.validate(dict(told), RECEIPT_SCHEMA, format_checker=jsonschema.FormatChecker())
    except jsonschema.ValidationError as error:
        checks.append((f"schema: {error.message[:120]}", True, False))
    return [f"{name} is {found!r}, not {wanted!r}" for name, found, wanted in checks if found != wanted]


Check = tuple[str, Any, Any]


def _whole(row: Row, told: Document, ladder: Ladder) -> Iterator[Check]:
    """What the receipt says of the run as a whole: each fact with what was found and what must be."""
    option = next((one for one in QUESTION.options if one.id == row.option), None)
    by = None if row.by is None else {"model": row.by[0], "from": row.by[1].value}
    clears = min(ladder.clears.values()) if row.outcome is Outcome.WALLED else None
    yield "outcome", told["outcome"], row.outcome.value
    yield "exit_code", told["exit_code"], RULING_EXITS[row.outcome]
    yield "answer", told["answer"], option and {"option": option.id, "text": option.text, "action": None}
    yield "answered_by", told["answered_by"], by
    yield "single_rung", told["single_rung"], row.outcome is Outcome.SINGLE_RUNG
    yield (
        "fallback",
        told["fallback"],
        row.fallback and dict(zip(("from", "to", "reason"), row.fallback, strict=True)),
    )
    kind = row.non_vote and {"kind": row.non_vote[0], "durable": True, "gap": row.non_vote[1]}
    yield "non_vote", told["non_vote"], kind
    yield "retry_at", told["retry_at"], clears and clears.isoformat()
    ended = datetime.fromisoformat(told["ended_at"])
    yield "retry_after_s", told["retry_after_s"], clears and round((clears - ended).total_seconds())
    yield "attempts", told["attempts"], 1
    yield "gate", told["gate"], []
    yield "level", told["level"], asdict(LEVELS[row.level]) | PLAIN | {"name": row.level.value}
    yield "rungs", [(one["name"], one["model"]) for one in told["rungs"]], list(MODELS.items())
    for part, word in row.declined.items():
        yield f"the {part} consultation", told["consultations"][part].get("kind"), word
    yield "question", told["question"]["digest"], QUESTION.digest
    yield "snapshot", told["snapshot"]["sources"], []


def _passes(row: Row, told: Document, ladder: Ladder) -> Iterator[Check]:
    """What it says of each pass."""
    yield "passes", sorted(map(line, told["passes"])), sorted(row.passes)
    yield "refused attempts", sorted(map(line, told["refused"])), sorted(row.refused)
    for one in (*told["passes"], *told["refused"]):
        yield f"{line(one)}: seat", one["seat"], SEATS[one["rung"]]
        yield f"{line(one)}: billing", one["billing"], "subscription"
        by = one["answered_by"]
        yield f"{line(one)}: answered_by", (by["model"], by["from"]), _answerer(one)
    for one in told["passes"]:
        yield from _spent(one, ladder)
        if one["result"]["state"] == "resolved":
            yield f"{line(one)}: rationale", one["result"]["rationale"], RATIONALE


def _answerer(one: Document) -> tuple[str, ModelFrom]:
    result = one["result"]
    if result.get("reason") == Failure.SUBSTITUTED:
        return OTHER, ModelFrom.REPORTED
    spoke = result["state"] in ("resolved", "declined")
    return (BY_FABLE if one["rung"] == FABLE else BY_ASTRA) if spoke else UNKNOWN


def _spent(one: Document, ladder: Ladder) -> Iterator[Check]:
    """Tokens as the far side counted them, with their price; the worst case where the client tells none."""
    rung, result = one["rung"], one["result"]
    filtered = rung == ASTRA and result.get("kind") == Decline.MODEL_REFUSAL
    if filtered or result.get("reason") == Failure.TIMEOUT:
        yield f"{line(one)}: spent", (one["tokens"], one["cost"], one["charged_usd"]), (None, None, WORST)
        return
    given = [asdict(usage) for order, usage in ladder.minds[rung].given if order == Order(one["order"])]
    yield f"{line(one)}: tokens {one['tokens']} among {given}", one["tokens"] in given, True
    tokens, prices = one["tokens"] or {}, USD_PER_MILLION[rung]
    micros = sum(tokens.get(name, 0) * price for name, price in zip(("input", "output"), prices, strict=True))
    cost = one["cost"] or {}
    yield f"{line(one)}: cost source", cost.get("source"), SOURCES[rung]
    yield f"{line(one)}: cost", Decimal(cost.get("usd", "-1")) * 1_000_000, Decimal(micros)
    yield f"{line(one)}: charged", one["charged_usd"], cost.get("usd")


def _refused(told: Document, ladder: Ladder) -> Iterator[Check]:
    """What it says of each attempt that was turned away unbilled."""
    for one in told["refused"]:
        rung, result = one["rung"], one["result"]
        capped = result["reason"] == Failure.SEAT_CAPPED
        yield f"{line(one)}: window", result["window"], "session" if capped and rung == FABLE else None
        yield f"{line(one)}: clears_at", result["clears_at"], ladder.clears[rung].isoformat() if capped else None
        yield f"{line(one)}: durable", result["durable"], True
        yield f"{line(one)}: charged", one["charged_usd"], "0.00"
        yield f"{line(one)}: detail", bool(result["detail"]), True
