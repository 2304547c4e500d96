"""Ledger collectors: the counts of the ledger become samples, one part for each rung and one for what has none."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from decide.points import MILLION
from exporters.catalog_ledger import TOKEN_KINDS
from exporters.counted import LABELS, Words, plain, shown, summed
from exporters.fold import Counts
from exporters.fold_runs import NO_LEVEL, NO_RUNG, LevelCounts, PassKey, RungCounts, Spent
from exporters.histogram import MICROS, Histogram, merged
from exporters.labels import label
from exporters.ledger_facts import CapFacts, LedgerFacts
from exporters.parts import Part, Sample, Samples
from exporters.present import Present
from exporters.view import View


def decisions(view: View, seen: Present) -> Iterable[Part]:
    """What was asked, and how it ended (design 6, Decisions); nothing where no ledger is followed."""
    return decision_parts(view.ledger, [rung.name for rung in seen.rungs]) if view.ledger else ()


def spend(view: View, seen: Present) -> Iterable[Part]:
    """What it cost, and the ledger itself (design 6, Spend); nothing where no ledger is followed."""
    return spend_parts(view.ledger, [rung.name for rung in seen.rungs]) if view.ledger else ()


def decision_parts(facts: LedgerFacts, rungs: Iterable[str]) -> Iterator[Part]:
    """The parts of the group Decisions, with a series for each of these rungs and for any other that was counted."""
    if facts.counts is None:
        return
    yield Part(("decisions", "", "levels"), (facts.counts.levels,), _levels)
    yield Part(("decisions", "", "gate"), (facts.counts.gates, facts.gate_rows), _gates)
    for name, found in _by_rung(facts.counts, rungs):
        yield Part(("decisions", name, ""), (label(name), found), _rung)


def spend_parts(facts: LedgerFacts, rungs: Iterable[str]) -> Iterator[Part]:
    """The parts of the group Spend, with a series for each of these rungs and for any other that was counted."""
    yield Part(("spend", "", ""), (facts.readable, facts.rows, facts.lag_rows, facts.caps), _ledger)
    if facts.counts is not None:
        for name, found in _by_rung(facts.counts, rungs):
            yield Part(("spend", name, ""), (label(name), found.passes, found.quota), _spend)


def _by_rung(counts: Counts, rungs: Iterable[str]) -> list[tuple[str, RungCounts]]:
    """Each configured rung's counts, then those of rungs that were configured once: what they cost stays spent."""
    names = dict.fromkeys([*rungs, *sorted(counts.rungs)])
    return [(name, counts.rungs.get(name, NO_RUNG)) for name in names]


def _levels(levels: Mapping[str, LevelCounts]) -> Samples:
    asked = (((level,), found.questions) for level, found in levels.items())
    ended = (((level, o), n) for level, found in levels.items() for o, n in found.outcomes.items())
    left_out = (((check, level), n) for level, found in levels.items() for check, n in found.skipped.items())
    return {
        "ladder_questions_total": plain("ladder_questions_total", (), asked),
        "ladder_decisions_total": plain("ladder_decisions_total", (), ended),
        "ladder_skipped_checks_total": plain("ladder_skipped_checks_total", (), left_out),
        "ladder_decision_duration_seconds": _decision_durations(levels),
    }


def _decision_durations(levels: Mapping[str, LevelCounts]) -> list[Sample]:
    labels = LABELS["ladder_decision_duration_seconds"]
    found: dict[Words, Histogram] = dict.fromkeys(product(*(label.values for label in labels)), NO_LEVEL.durations)
    for level, counts in levels.items():
        if any(counts.durations.counts):
            key = shown(labels, (level,))
            found[key] = merged(found.get(key, NO_LEVEL.durations), counts.durations)
    return list(found.items())


def _gates(gates: Mapping[tuple[str, str], int], rows: tuple[tuple[str, str], ...]) -> Samples:
    return {"ladder_gate_total": plain("ladder_gate_total", (), gates.items(), known=rows)}


def _rung(name: str, counts: RungCounts) -> Samples:
    made = (((key.level, key.role, key.result), spent.passes) for key, spent in counts.passes.items())
    consulted = counts.consultations.items()
    return {
        "ladder_consultations_total": plain("ladder_consultations_total", (name,), consulted),
        "ladder_passes_total": plain("ladder_passes_total", (name,), made),
        "ladder_pass_duration_seconds": [((name,), counts.durations)],
    }


def _spend(name: str, passes: Mapping[PassKey, Spent], quota: Mapping[tuple[str, str], int]) -> Samples:
    cost = (((k.level, k.role, k.billing, k.source), spent.micro_usd) for k, spent in passes.items())
    used = [
        ((k.level, kind), n) for k, spent in passes.items() for kind, n in zip(TOKEN_KINDS, spent[2:], strict=True)
    ]
    unpriced = sum(sum(spent[2:]) for k, spent in passes.items() if not k.source)
    usd = summed("ladder_spend_usd_total", (name,), cost)
    taken = summed("ladder_quota_used_ratio_total", (name,), quota.items())
    return {
        "ladder_spend_usd_total": [(key, micro_usd / MICROS) for key, micro_usd in usd.items()],
        "ladder_tokens_total": plain("ladder_tokens_total", (name,), used),
        "ladder_unpriced_tokens_total": [((name,), float(unpriced))],
        "ladder_quota_used_ratio_total": [(key, micro_ratio / MILLION) for key, micro_ratio in taken.items()],
    }


def _ledger(readable: bool, rows: int | None, lag_rows: int | None, caps: CapFacts) -> Samples:
    return {
        "ladder_cap_passes_limit": _known(caps.passes_limit),
        "ladder_cap_passes_used": _known(caps.passes_used),
        "ladder_cap_usd_limit": _known(caps.micro_usd_limit, MICROS),
        "ladder_cap_usd_used": _known(caps.micro_usd_used, MICROS),
        "ladder_ledger_readable": _known(int(readable)),
        "ladder_ledger_rows_total": _known(rows),
        "ladder_ledger_fold_lag_rows": _known(lag_rows),
    }


def _known(value: int | None, unit: int = 1) -> list[Sample]:
    return [] if value is None else [((), value / unit)]
