"""Telling: a receipt as the lines that a person is told, at that person's own clock."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from canary.cli.wording import Reader, clock, distance
from decide.cross_check import Check
from decide.money import dollars, micro_usd
from decide.receipt import banner, headline, person_line
from decide.reply import Billing
from decide.ruling import ANSWERED, Outcome

Receipt = Mapping[str, Any]


class Weight(StrEnum):
    """How a line is drawn."""

    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is told: its name, empty for a line that stands by itself, and its words."""

    name: str
    text: str
    weight: Weight = Weight.PLAIN


@dataclass(frozen=True, slots=True)
class Seen:
    """What the teller knows beside the receipt: whether a store holds it, and whether it was there before."""

    stored: bool = True
    earlier: bool = False


_BILLING: Mapping[str, str] = MappingProxyType(
    {Billing.METERED: "metered", Billing.SUBSCRIPTION: "by subscription, notional"}
)


def one_line(text: object) -> str:
    """A text on one line that steers no terminal."""
    return "".join(char if char.isprintable() else "?" for char in " ".join(str(text).split()))


def ruling(receipt: Receipt, reader: Reader, seen: Seen | None = None) -> list[Fact]:
    """The ruling of a receipt, what stands behind it, and what can be done next."""
    seen = seen or Seen()
    told = [Fact("", headline(receipt), _weight(receipt))]
    if answered := person_line(receipt):
        told.insert(0, Fact("", answered, Weight.GOOD))
    if alone := banner(receipt):
        told.append(Fact("", alone, Weight.WARNING))
    if seen.earlier:
        told.append(Fact("", f"Decided {distance(receipt['ended_at'], reader)}; nothing was asked now."))
    told += [Fact(name, text) for name, text in _facts(receipt, reader)]
    kept = "" if seen.stored else "; no store holds it, so keep what is printed here"
    told.append(Fact("receipt", receipt["id"] + kept))
    return told


def _weight(receipt: Receipt) -> Weight:
    if receipt["outcome"] not in ANSWERED:
        return Weight.BAD
    return Weight.WARNING if receipt["single_rung"] else Weight.GOOD


def _facts(receipt: Receipt, reader: Reader) -> Iterator[tuple[str, str]]:
    answer, non_vote = receipt["answer"], receipt["non_vote"]
    if answer is not None:
        if receipt.get("execution"):
            yield "command", f"{receipt['execution']['line']}: {receipt['execution']['reason']}"
        elif answer["action"]:
            yield "runs", answer["action"]
        yield "why", receipt["why"]
    if non_vote is not None and non_vote["gap"]:
        yield "missing", non_vote["gap"]
    for row in receipt["gate"]:
        yield "policy", f"{row['row']} ({row['stage']}, {row['where']}): {row['means']}"
        yield "do", row["remedy"]
    for one in receipt["skipped_checks"]:
        if one["check"] != Check.CROSS_CHECK:  # of which `why` tells
            yield "skipped", f"{one['check']}: {one['why']}"
    if receipt["retry_at"] is not None:
        yield "retry", distance(receipt["retry_at"], reader)
    elif receipt["outcome"] == Outcome.WALLED:
        yield "retry", "no time is known; `rungwatch canary` shows each seat and what it needs"
    yield "cost", "; ".join(costs(receipt["passes"])) or "nothing"
    calls = [one for one in receipt["passes"] if not one["kept"]]
    kept = len(receipt["passes"]) - len(calls)
    earlier = f", {kept} kept of earlier attempts" if kept else ""
    yield "level", f"{receipt['level']['name']}; {_calls(len(calls))}{earlier}, {receipt['duration_s']:.0f} s"


def costs(passes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What a run's own calls cost: each kind of billing apart, and then those of which nobody knows."""
    own = [one for one in passes if not one["kept"]]
    for billing in Billing:
        priced = [one for one in own if one["billing"] == billing and one["cost"] is not None]
        if priced:
            total = sum(micro_usd(one["cost"]["usd"]) for one in priced)
            sources = ", ".join(dict.fromkeys(one["cost"]["source"].replace("_", " ") for one in priced))
            yield f"{dollars(total)} USD {_BILLING[billing]} ({sources})"
    unknown = [one for one in own if one["cost"] is None and micro_usd(one["charged_usd"])]
    if unknown:
        held = sum(micro_usd(one["charged_usd"]) for one in unknown)
        yield f"{_calls(len(unknown))} of unknown cost, charged to the caps at {dollars(held)} USD"


def _calls(count: int) -> str:
    return f"{count} call" if count == 1 else f"{count} calls"


def models(receipt: Receipt) -> str:
    """The models that an answer is from, UNKNOWN where none is known, empty without an answer."""
    if receipt["answer"] is None:
        return ""
    by = [receipt["answered_by"]["model"]]
    if receipt["outcome"] == Outcome.AGREED:
        by = [receipt["consultations"][part]["answered_by"]["model"] for part in ("primary", "second")]
    return ", ".join(by)


def ended(receipt: Receipt, reader: Reader) -> str:
    """When a run ended, on the reader's clock, with its date."""
    moment = datetime.fromisoformat(receipt["ended_at"]).astimezone(reader.zone)
    return f"{moment:%Y-%m-%d} {clock(receipt['ended_at'], Reader(moment, reader.zone))}"
