"""Catalog: every metric declared once, with its type, help, unit and the closed sets of its labels (design 6)."""

from collections.abc import Iterable

from decide.ladder import LadderWord, RungState
from decide.quota import WindowKind
from decide.reason import Reason
from decide.seat import SeatState, TokenState
from exporters.catalog_handoff import CLICKS, QUEUE
from exporters.catalog_ledger import DECISIONS, SPEND
from exporters.metric import OTHER, Label, Metric, MetricType, closed, counter, gauge, group
from exporters.view import TickResult

__all__ = ["CATALOG", "COLLECTOR_NAMES", "READ_FAILURES", "READ_RESULTS", "Label", "Metric", "MetricType", "markdown"]


_FOUND = frozenset(
    {
        *(Reason.SESSION_CAP, Reason.WEEKLY_CAP, Reason.WEEKLY_MODEL_CAP, Reason.MONTHLY_CAP, Reason.SPEND_CAP),
        *(Reason.REFUSED, Reason.RESET_OVERDUE, Reason.WALLED, Reason.UNKNOWN_WINDOW, Reason.SCOPE_UNREAD),
        *(Reason.STALE, Reason.NEVER_READ, Reason.NO_SEAT),
    }
)
READ_FAILURES: tuple[Reason, ...] = tuple(reason for reason in Reason if reason not in _FOUND)
"""Why one read of a source can fail: any reason but those that only a read that went well can find."""

READ_RESULTS: tuple[str, ...] = ("ok", "held", *(reason.value for reason in READ_FAILURES))
COLLECTOR_NAMES: tuple[str, ...] = ("ladder", "seats", "canary", "decisions", "spend", "queue", "clicks", "build")

_RUNG = Label("rung")
_SEAT = (_RUNG, Label("seat"))


_LADDER = group(
    "Ladder",
    "ladder",
    gauge("ladder_state", "1 for the state the ladder is in, 0 for the others.", closed("state", LadderWord)),
    gauge(
        "ladder_rung_state",
        "1 for the state the rung is in, 0 for the others.",
        _RUNG,
        closed("state", RungState),
    ),
    gauge(
        "ladder_rung_reachable",
        "1 only while quota and token permit a call on the rung; unknown reads 0.",
        _RUNG,
    ),
    gauge(
        "ladder_rung_blocked",
        "1 while the rung is not reachable and this is one of its reasons.",
        _RUNG,
        closed("reason", Reason),
    ),
    gauge(
        "ladder_rung_next_available_timestamp_seconds",
        "When the first capped seat of a rung that is not reachable clears; absent while not known.",
        _RUNG,
        unit="seconds",
    ),
    gauge(
        "ladder_last_ok_timestamp_seconds",
        "When a tick last found both rungs reachable; absent if never.",
        unit="seconds",
    ),
    gauge(
        "ladder_rung_last_reachable_timestamp_seconds",
        "When a tick last found the rung reachable; absent if never.",
        _RUNG,
        unit="seconds",
    ),
    gauge(
        "ladder_rung_exhaustion_timestamp_seconds",
        "When the last seat of a reachable rung is expected to be spent, resets counted; absent while not known or "
        "not expected.",
        _RUNG,
        unit="seconds",
    ),
)

_SEATS = group(
    "Seats",
    "seats",
    gauge("ladder_seats", "How many seats of the rung are in this state.", _RUNG, closed("state", SeatState)),
    gauge(
        "ladder_seats_configured",
        "How many seats the rung has; absent while its list cannot be read.",
        _RUNG,
    ),
    gauge(
        "ladder_seat_state",
        "1 for the state the seat is in, 0 for the others.",
        *_SEAT,
        closed("state", SeatState),
    ),
    gauge(
        "ladder_seat_quota_used_ratio",
        "Share of the binding window of this kind that is used, above 1 as read; absent while not known.",
        *_SEAT,
        closed("window", WindowKind),
        unit="ratio",
    ),
    gauge(
        "ladder_seat_quota_reset_timestamp_seconds",
        "When the binding window of this kind resets; absent while not known.",
        *_SEAT,
        closed("window", WindowKind),
        unit="seconds",
    ),
    gauge(
        "ladder_seat_headroom_ratio",
        "Share left on the tightest binding window of an available metered seat.",
        *_SEAT,
        unit="ratio",
    ),
    gauge(
        "ladder_seat_reading_timestamp_seconds",
        "When the newest reading of the seat was taken; absent if never read.",
        *_SEAT,
        unit="seconds",
    ),
    gauge(
        "ladder_token_state",
        "1 for the state the seat's login is in, 0 for the others.",
        *_SEAT,
        closed("state", TokenState),
    ),
    gauge(
        "ladder_token_expiry_timestamp_seconds",
        "When the seat's login lapses; absent while not known, or if it never does.",
        *_SEAT,
        unit="seconds",
    ),
    gauge(
        "ladder_token_renewable",
        "0 while nothing would renew the seat's login once it lapses, so that a person has to; else 1.",
        *_SEAT,
    ),
)

_CANARY = group(
    "Canary",
    "canary",
    counter("ladder_canary_ticks_total", "Ticks by how they ended.", closed("result", TickResult)),
    gauge("ladder_canary_tick_duration_seconds", "How long the last tick took.", unit="seconds"),
    gauge("ladder_canary_last_tick_timestamp_seconds", "When the last tick ended, however it did.", unit="seconds"),
    gauge("ladder_canary_last_success_timestamp_seconds", "When the last tick that was ok ended.", unit="seconds"),
    counter("ladder_canary_missed_ticks_total", "Ticks that were due and did not run, such as during sleep."),
    counter(
        "ladder_canary_source_reads_total",
        "Reads of a source by result: ok, held to keep the poll budget or a back-off, or why it failed.",
        Label("source"),
        Label("result", READ_RESULTS),
    ),
    gauge(
        "ladder_canary_poll_budget_used_ratio",
        "Share of its hourly poll budget that the seat has used.",
        *_SEAT,
        unit="ratio",
    ),
    gauge(
        "ladder_canary_clock_skew_seconds",
        "How far this machine's clock is ahead of the hosts that were read; absent while none says.",
        unit="seconds",
    ),
    gauge("ladder_config_reload_success", "1 unless the last reload of the configuration was refused."),
)

_SELF = (
    *group(
        "Canary",
        "",
        gauge(
            "ladder_collector_success",
            "1 if the collector's metrics are on this page, 0 if it failed and they are left out.",
            closed("collector", COLLECTOR_NAMES),
        ),
    ),
    *group(
        "Canary",
        "build",
        Metric("ladder_build_info", MetricType.INFO, "The version that is running.", labels=(Label("version"),)),
    ),
)

CATALOG: tuple[Metric, ...] = (*_LADDER, *_SEATS, *_CANARY, *_SELF, *DECISIONS, *SPEND, *QUEUE, *CLICKS)
"""Every metric of this exporter, in the order of the page."""


def markdown(metrics: Iterable[Metric] = CATALOG) -> str:
    """The catalog as Markdown: one table for each group, in order, each row one metric."""
    lines: list[str] = []
    group = None
    for metric in metrics:
        if metric.group != group:
            group = metric.group
            head = ["| metric | type | unit | labels | meaning |", "|---|---|---|---|---|"]
            lines += [*([""] if lines else []), f"## {group}", "", *head]
        labels = "; ".join(_label_cell(label) for label in metric.labels) or "none"
        lines.append(f"| `{metric.name}` | {metric.type} | {metric.unit or 'none'} | {labels} | {metric.help} |")
    return "\n".join(lines) + "\n"


def _label_cell(label: Label) -> str:
    values = (*label.values, *([f"({OTHER})"] if label.open else []))
    return f"`{label.name}`" + (f": {', '.join(values)}" if values else "")
