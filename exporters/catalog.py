"""Catalog: every metric declared once, with its type, help, unit and the closed sets of its labels (design 6)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from decide.ladder import LadderWord, RungState
from decide.quota import WindowKind
from decide.reason import Reason
from decide.seat import SeatState, TokenState
from exporters.view import TickResult


class MetricType(StrEnum):
    """The types that both text formats know."""

    GAUGE = "gauge"
    COUNTER = "counter"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Label:
    """A label; `values` is its closed set in order, empty when its values are names from the configuration."""

    name: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its full name as queried, help, unit (empty: a plain number), labels in order and collector."""

    name: str
    type: MetricType
    help: str
    unit: str = ""
    labels: tuple[Label, ...] = ()
    group: str = ""
    collector: str = ""

    def __post_init__(self) -> None:
        """Refuse a name whose ending contradicts its type or unit."""
        ending = {MetricType.COUNTER: "_total", MetricType.INFO: "_info"}.get(self.type, "")
        if not self.name.endswith(ending) or (not ending and self.name.endswith(("_total", "_info"))):
            raise ValueError(f"{self.name!r} is no name for a {self.type}")
        if self.unit and not self.family.endswith(f"_{self.unit}"):
            raise ValueError(f"{self.name!r} does not end in its unit {self.unit!r}")

    @property
    def family(self) -> str:
        """The name without the ending that belongs to its type, as OpenMetrics calls the family."""
        return self.name.removesuffix({MetricType.COUNTER: "_total", MetricType.INFO: "_info"}.get(self.type, ""))

    @property
    def label_names(self) -> tuple[str, ...]:
        """The names of the labels, in order."""
        return tuple(label.name for label in self.labels)


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
COLLECTOR_NAMES: tuple[str, ...] = ("ladder", "seats", "canary", "build")

_RUNG = Label("rung")
_SEAT = (_RUNG, Label("seat"))


def _closed(name: str, members: Iterable[str]) -> Label:
    return Label(name, tuple(str(member) for member in members))


def _gauge(name: str, text: str, *labels: Label, unit: str = "") -> Metric:
    return Metric(name, MetricType.GAUGE, text, unit, labels)


def _counter(name: str, text: str, *labels: Label) -> Metric:
    return Metric(name, MetricType.COUNTER, text, "", labels)


def _group(group: str, collector: str, *metrics: Metric) -> tuple[Metric, ...]:
    return tuple(Metric(m.name, m.type, m.help, m.unit, m.labels, group, collector) for m in metrics)


_LADDER = _group(
    "Ladder",
    "ladder",
    _gauge("ladder_state", "1 for the state the ladder is in, 0 for the others.", _closed("state", LadderWord)),
    _gauge(
        "ladder_rung_state",
        "1 for the state the rung is in, 0 for the others.",
        _RUNG,
        _closed("state", RungState),
    ),
    _gauge(
        "ladder_rung_reachable",
        "1 only while quota and token permit a call on the rung; unknown reads 0.",
        _RUNG,
    ),
    _gauge(
        "ladder_rung_blocked",
        "1 while the rung is not reachable and this is one of its reasons.",
        _RUNG,
        _closed("reason", Reason),
    ),
    _gauge(
        "ladder_rung_next_available_timestamp_seconds",
        "When the first capped seat of a rung that is not reachable clears; absent while not known.",
        _RUNG,
        unit="seconds",
    ),
    _gauge(
        "ladder_last_ok_timestamp_seconds",
        "When a tick last found both rungs reachable; absent if never.",
        unit="seconds",
    ),
    _gauge(
        "ladder_rung_last_reachable_timestamp_seconds",
        "When a tick last found the rung reachable; absent if never.",
        _RUNG,
        unit="seconds",
    ),
)

_SEATS = _group(
    "Seats",
    "seats",
    _gauge("ladder_seats", "How many seats of the rung are in this state.", _RUNG, _closed("state", SeatState)),
    _gauge(
        "ladder_seats_configured",
        "How many seats the rung has; absent while its list cannot be read.",
        _RUNG,
    ),
    _gauge(
        "ladder_seat_state",
        "1 for the state the seat is in, 0 for the others.",
        *_SEAT,
        _closed("state", SeatState),
    ),
    _gauge(
        "ladder_seat_quota_used_ratio",
        "Share of the binding window of this kind that is used, above 1 as read; absent while not known.",
        *_SEAT,
        _closed("window", WindowKind),
        unit="ratio",
    ),
    _gauge(
        "ladder_seat_quota_reset_timestamp_seconds",
        "When the binding window of this kind resets; absent while not known.",
        *_SEAT,
        _closed("window", WindowKind),
        unit="seconds",
    ),
    _gauge(
        "ladder_seat_headroom_ratio",
        "Share left on the tightest binding window of an available metered seat.",
        *_SEAT,
        unit="ratio",
    ),
    _gauge(
        "ladder_seat_reading_timestamp_seconds",
        "When the newest reading of the seat was taken; absent if never read.",
        *_SEAT,
        unit="seconds",
    ),
    _gauge(
        "ladder_token_state",
        "1 for the state the seat's login is in, 0 for the others.",
        *_SEAT,
        _closed("state", TokenState),
    ),
    _gauge(
        "ladder_token_expiry_timestamp_seconds",
        "When the seat's login lapses; absent while not known, or if it never does.",
        *_SEAT,
        unit="seconds",
    ),
)

_CANARY = _group(
    "Canary",
    "canary",
    _counter("ladder_canary_ticks_total", "Ticks by how they ended.", _closed("result", TickResult)),
    _gauge("ladder_canary_tick_duration_seconds", "How long the last tick took.", unit="seconds"),
    _gauge("ladder_canary_last_tick_timestamp_seconds", "When the last tick ended, however it did.", unit="seconds"),
    _gauge("ladder_canary_last_success_timestamp_seconds", "When the last tick that was ok ended.", unit="seconds"),
    _counter("ladder_canary_missed_ticks_total", "Ticks that were due and did not run, such as during sleep."),
    _counter(
        "ladder_canary_source_reads_total",
        "Reads of a source by result: ok, held to keep the poll budget or a back-off, or why it failed.",
        Label("source"),
        Label("result", READ_RESULTS),
    ),
    _gauge(
        "ladder_canary_poll_budget_used_ratio",
        "Share of its hourly poll budget that the seat has used.",
        *_SEAT,
        unit="ratio",
    ),
    _gauge(
        "ladder_canary_clock_skew_seconds",
        "How far this machine's clock is ahead of the hosts that were read; absent while none says.",
        unit="seconds",
    ),
    _gauge("ladder_config_reload_success", "1 unless the last reload of the configuration was refused."),
)

_SELF = (
    *_group(
        "Canary",
        "",
        _gauge(
            "ladder_collector_success",
            "1 if the collector's metrics are on this page, 0 if it failed and they are left out.",
            _closed("collector", COLLECTOR_NAMES),
        ),
    ),
    *_group(
        "Canary",
        "build",
        Metric("ladder_build_info", MetricType.INFO, "The version that is running.", labels=(Label("version"),)),
    ),
)

CATALOG: tuple[Metric, ...] = (*_LADDER, *_SEATS, *_CANARY, *_SELF)
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
    return f"`{label.name}`" + (f": {', '.join(label.values)}" if label.values else "")
