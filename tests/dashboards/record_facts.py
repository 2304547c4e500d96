"""Facts about each recording rule: what it gives, and that a ratio of nothing gives nothing."""

from collections.abc import Sequence

from dashboards.records import WAKE_DEADLINE, burn, windows
from tests.dashboards.alert_facts import stairs
from tests.dashboards.promtool import HERE, SETTINGS, Case, Gives, placed

_MINUTES = 7 * 60
_AT = "5h"
"""By then a counter that grows each ten minutes from the start has grown by 30."""
_LEVEL, _RUNG, _JOB = '{job="rungwatch",level="low"}', '{job="rungwatch",rung="fable"}', '{job="rungwatch"}'
_PLACED = f"{{{','.join(sorted(HERE.split(',')))}}}"
_BILLED = '{billing="metered",job="rungwatch",level="low"}'


def _grows(name: str, every: int, **labels: str) -> dict[str, str]:
    return {placed(name, **labels): stairs(every, _MINUTES // every)}


def _stands(name: str, count: int, **labels: str) -> dict[str, str]:
    return {placed(name, **labels): f"{count}x{_MINUTES}"}


def _gives(name: str, labels: str, value: float) -> Gives:
    return Gives(name, _AT, {labels: value})


def _nothing(name: str) -> Gives:
    return Gives(name, _AT, {})


DECISIONS = Case(
    "one answer in four on one rung alone, and none at all at another level",
    {
        **_grows("ladder_decisions_total", 30, level="low", outcome="single_rung"),
        **_grows("ladder_decisions_total", 10, level="low", outcome="agreed"),
        **_grows("ladder_decisions_total", 10, level="low", outcome="error"),
        **_stands("ladder_decisions_total", 7, level="high", outcome="single_rung"),
        **_stands("ladder_decisions_total", 9, level="high", outcome="agreed"),
        placed(
            "ladder_spend_usd_total", rung="fable", level="low", role="vote", billing="metered", source="provider"
        ): f"0+0.1x{_MINUTES}",
    },
    (
        Gives(
            "job_level:ladder_decisions_single_rung:increase6h", _AT, {_LEVEL: 10, _LEVEL.replace("low", "high"): 0}
        ),
        Gives("job_level:ladder_decisions_answered:increase6h", _AT, {_LEVEL: 40, _LEVEL.replace("low", "high"): 0}),
        _gives("job_level:ladder_single_rung:ratio_increase6h", _LEVEL, 0.25),
        _gives("job_level_billing:ladder_spend_usd:increase1d", _BILLED, 30),
        Gives("job_level:ladder_decisions_answered:increase1d", _AT, {_LEVEL: 40, _LEVEL.replace("low", "high"): 0}),
        _gives("job_level_billing:ladder_cost_per_answer_usd:ratio_increase1d", _BILLED, 0.75),
    ),
)
FLIPS = Case(
    "a flip for each two consultations in which both orders named an option",
    {
        **_grows("ladder_consultations_total", 20, rung="fable", level="low", result="flip"),
        **_grows("ladder_consultations_total", 20, rung="fable", level="low", result="resolved"),
        **_grows("ladder_consultations_total", 10, rung="fable", level="low", result="unreachable"),
    },
    (
        _gives("job_rung:ladder_consultations_flip:increase6h", _RUNG, 15),
        _gives("job_rung:ladder_consultations_both_orders:increase6h", _RUNG, 30),
        _gives("job_rung:ladder_flip:ratio_increase6h", _RUNG, 0.5),
    ),
)
CLICKS = Case(
    "two clicks in three are pressed",
    {
        **_grows("ladder_confirm_clicks_total", 10, event="consumed", reason="none"),
        **_grows("ladder_confirm_clicks_total", 20, event="expired", reason="none"),
        **_grows("ladder_confirm_clicks_total", 5, event="minted", reason="none"),
    },
    (
        _gives("job:ladder_confirm_clicks_consumed:increase6h", _JOB, 30),
        _gives("job:ladder_confirm_clicks_ended:increase6h", _JOB, 45),
        _gives("job:ladder_confirm_consumed:ratio_increase6h", _JOB, 0.667),
    ),
)


def _budget(seconds: int) -> Case:
    """Down all the time: a hundred times the budget of one in a hundred, once half of the window was seen."""
    every = max(1, seconds // 60 // 60)
    steps = seconds // 15 * 7 // 10
    return Case(
        burn(seconds),
        {
            placed("ladder_state", state="ok"): f"0x{steps}",
            placed("ladder_state", state="degraded"): f"0x{steps}",
            placed("ladder_state", state="down"): f"1x{steps}",
        },
        (
            Gives(burn(seconds), f"{seconds * 4 // 600 // every * every}m", {}),
            Gives(burn(seconds), f"{(seconds * 51 // 6000 // every + 1) * every}m", {_PLACED: 100}),
        ),
        interval="15s",
        every=f"{every}m",
    )


WAKE = Case(
    "the earliest wake deadline, 0 without one, nothing without an exporter",
    {
        placed("ladder_queue_depth", urgency="wake"): "0x20 stale",
        placed("ladder_queue_next_deadline_timestamp_seconds"): "5000x10 stale",
    },
    (
        Gives(WAKE_DEADLINE, "10m", {_JOB: 5000}),
        Gives(WAKE_DEADLINE, "20m", {_JOB: 0}),
        Gives(WAKE_DEADLINE, "21m", {}),
    ),
)
QUIET = Case(
    "no traffic",
    {
        **_stands("ladder_decisions_total", 3, level="low", outcome="single_rung"),
        **_stands("ladder_consultations_total", 3, rung="fable", level="low", result="flip"),
        **_stands("ladder_confirm_clicks_total", 3, event="expired", reason="none"),
        placed("ladder_state", state="blind"): "1x420",
    },
    (
        _nothing("job_level:ladder_single_rung:ratio_increase6h"),
        _nothing("job_rung:ladder_flip:ratio_increase6h"),
        _nothing("job:ladder_confirm_consumed:ratio_increase6h"),
        _nothing("job_level_billing:ladder_cost_per_answer_usd:ratio_increase1d"),
        *(_nothing(burn(seconds)) for seconds in windows(SETTINGS)),
    ),
)

RECORDS: Sequence[Case] = (DECISIONS, FLIPS, CLICKS, WAKE, QUIET, *map(_budget, windows(SETTINGS)))
