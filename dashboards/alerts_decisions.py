"""Alerts on decisions: how many rest on one rung, how often a rung flips, what the caps and the ledger allow."""

from dashboards.alerts_ladder import PERCENT
from dashboards.board import Board
from dashboards.records import names
from dashboards.rule import Alert
from dashboards.settings import HOUR, MINUTE, Settings
from dashboards.terms import Terms, window


def decision_alerts(settings: Settings) -> tuple[Alert, ...]:
    """The alerts, in the order of the runbook."""
    terms = Terms(settings)
    return (
        _single_rung(terms),
        _flips(terms),
        _caps(terms),
        Alert(
            "LedgerUnreadable",
            f"{terms.held('ladder_ledger_readable')} == 0",
            "The ledger cannot be used: every question is held",
            "{{ $labels.instance }} cannot read or write the ledger, or its chain is broken, for 5m. No rung is "
            "asked until a person clears it.",
            Board.SPEND,
            after_s=5 * MINUTE,
            pins=("instance",),
        ),
        Alert(
            "SpendUnpriced",
            f"{terms.grown(HOUR, 'ladder_unpriced_tokens_total', by='job, rung')} > 0",
            "Tokens of rung {{ $labels.rung }} have no price",
            "{{ $value | humanize }} tokens of the last hour are in no dollar figure, for neither the provider nor "
            "the price table names their cost.",
            Board.SPEND,
            pins=("rung",),
        ),
    )


def _single_rung(terms: Terms) -> Alert:
    """One answer of one alerts nobody: a ratio needs `least_answers` answers."""
    of = terms.settings
    share = names(of, "ladder_single_rung", "ratio_increase", "job_level")
    answers = names(of, "ladder_decisions_answered", level="job_level")
    return Alert(
        "SingleRungRateHigh",
        f"{share} > {of.single_rung_ratio:g}\nand {answers} >= {of.least_answers}",
        "Too many {{ $labels.level }} answers rest on one rung",
        f"{PERCENT} of the {{{{ $labels.level }}}} answers of the last {window(of.ratio_window_s)} came from one "
        f"rung alone; {of.single_rung_ratio * 100:g} % are allowed, from {of.least_answers} answers on.",
        Board.DECISIONS,
        after_s=15 * MINUTE,
        pins=("level",),
    )


def _flips(terms: Terms) -> Alert:
    of = terms.settings
    share = names(of, "ladder_flip", "ratio_increase", "job_rung")
    both = names(of, "ladder_consultations_both_orders", level="job_rung")
    return Alert(
        "FlipRateHigh",
        f"{share} > {of.flip_ratio:g}\nand {both} >= {of.least_consultations}",
        "Rung {{ $labels.rung }} often answers by the order of the options",
        f"In {PERCENT} of its consultations of the last {window(of.ratio_window_s)} the two orders named different "
        f"options; {of.flip_ratio * 100:g} % are allowed, from {of.least_consultations} consultations on.",
        Board.DECISIONS,
        after_s=15 * MINUTE,
        pins=("rung",),
    )


def _caps(terms: Terms) -> Alert:
    def of(cap: str) -> str:
        used, limit = (terms.held(f"ladder_cap_{cap}_{end}") for end in ("used", "limit"))
        return f'label_replace({used} / ({limit} > 0), "cap", "{cap}", "", "") >= {terms.settings.cap_ratio:g}'

    return Alert(
        "CapNearlySpent",
        f"{of('passes')}\nor {of('usd')}",
        "Today's cap on {{ $labels.cap }} is nearly spent",
        f"{PERCENT} of today's cap on {{{{ $labels.cap }}}} is used on {{{{ $labels.instance }}}}; once it is spent, "
        "questions are held until the day rolls over.",
        Board.SPEND,
        pins=("instance",),
    )
