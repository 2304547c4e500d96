"""Recording rules: ratios whose numerator and denominator are summed apart, and how fast the error budget burns."""

from dashboards.rule import Group, Record
from dashboards.settings import DAY, Settings
from dashboards.terms import SELECT, Terms, window

ANSWERED = ("agreed", "reconsidered", "single_rung")
"""The outcomes that carry an answer (design 6)."""
KNOWN = ("ok", "degraded", "down")
"""The ladder's states that say whether it can decide; what nobody could see counts neither way."""
WAKE_DEADLINE = "job:ladder_queue_next_deadline_timestamp_seconds:min_or_zero"
"""The earliest wake deadline that any exporter of a job shows, 0 while they show that there is none."""


def ratio(numerator: str, denominator: str) -> str:
    """One record over another, nothing where the denominator is 0."""
    return f"{numerator} / ({denominator} > 0)"


def burn(seconds: int) -> str:
    """The name of the burn rate over a window."""
    return f"job_instance:ladder_budget_burn:ratio_{window(seconds)}"


def records(settings: Settings) -> tuple[Group, ...]:
    """Every recording rule."""
    terms = Terms(settings)
    return (
        Group("rungwatch-ratios", (*_single_rung(terms), *_flips(terms), *_clicks(terms))),
        Group("rungwatch-cost", _cost(terms)),
        Group("rungwatch-queue", (_wake_deadline(),)),
        Group("rungwatch-budget", tuple(_burn(terms, seconds) for seconds in windows(settings))),
    )


def windows(settings: Settings) -> tuple[int, ...]:
    """The windows of all burn rates, each once, the shortest first."""
    return tuple(sorted({seconds for pair in settings.burns for seconds in (pair.long_s, pair.short_s)}))


def names(settings: Settings, metric: str, operation: str = "increase", level: str = "job") -> str:
    """The name of a record over the ratio window."""
    return f"{level}:{metric}:{operation}{window(settings.ratio_window_s)}"


def _single_rung(terms: Terms) -> tuple[Record, ...]:
    of = terms.settings
    part = names(of, "ladder_decisions_single_rung", level="job_level")
    whole = names(of, "ladder_decisions_answered", level="job_level")
    by = {"by": "job, level"}
    return (
        Record(part, terms.grown(of.ratio_window_s, "ladder_decisions_total", **by, outcome="single_rung")),
        Record(whole, terms.grown(of.ratio_window_s, "ladder_decisions_total", **by, outcome=ANSWERED)),
        Record(names(of, "ladder_single_rung", "ratio_increase", "job_level"), ratio(part, whole)),
    )


def _flips(terms: Terms) -> tuple[Record, ...]:
    of = terms.settings
    part = names(of, "ladder_consultations_flip", level="job_rung")
    whole = names(of, "ladder_consultations_both_orders", level="job_rung")
    by = {"by": "job, rung"}
    return (
        Record(part, terms.grown(of.ratio_window_s, "ladder_consultations_total", **by, result="flip")),
        Record(
            whole, terms.grown(of.ratio_window_s, "ladder_consultations_total", **by, result=("resolved", "flip"))
        ),
        Record(names(of, "ladder_flip", "ratio_increase", "job_rung"), ratio(part, whole)),
    )


def _clicks(terms: Terms) -> tuple[Record, ...]:
    of = terms.settings
    part, whole = names(of, "ladder_confirm_clicks_consumed"), names(of, "ladder_confirm_clicks_ended")
    ended = ("consumed", "expired")
    return (
        Record(part, terms.grown(of.ratio_window_s, "ladder_confirm_clicks_total", by="job", event="consumed")),
        Record(whole, terms.grown(of.ratio_window_s, "ladder_confirm_clicks_total", by="job", event=ended)),
        Record(names(of, "ladder_confirm_consumed", "ratio_increase"), ratio(part, whole)),
    )


def _wake_deadline() -> Record:
    """With a value for as long as the queue is seen at all: what was last seen of it outlives the exporter."""
    deadline = f"min by (job) ({SELECT('ladder_queue_next_deadline_timestamp_seconds')})"
    return Record(WAKE_DEADLINE, f"{deadline}\nor 0 * max by (job) ({SELECT('ladder_queue_depth', urgency='wake')})")


def _cost(terms: Terms) -> tuple[Record, ...]:
    """Cost of an answer by level; what is paid and what is notional stay apart."""
    spend, answers = "job_level_billing:ladder_spend_usd:increase1d", "job_level:ladder_decisions_answered:increase1d"
    return (
        Record(spend, terms.grown(DAY, "ladder_spend_usd_total", by="job, level, billing")),
        Record(answers, terms.grown(DAY, "ladder_decisions_total", by="job, level", outcome=ANSWERED)),
        Record(
            "job_level_billing:ladder_cost_per_answer_usd:ratio_increase1d",
            f"{spend} / on (job, level) group_left () ({answers} > 0)",
        ),
    )


def _burn(terms: Terms, seconds: int) -> Record:
    """How many times faster than allowed the ladder was down, once enough of the window has been seen."""
    of = terms.settings
    down, known = (
        f"sum by (job, instance) (sum_over_time({SELECT('ladder_state', state=state)}[{terms.span(seconds)}]))"
        for state in ("down", KNOWN)
    )
    least = of.least_seen * seconds / of.scale.speed / of.scrape_interval_s
    budget = round(1 - of.objective, 9)
    return Record(burn(seconds), f"{down}\n  / ({known} >= {least:.10g})\n  / {budget:.10g}")
