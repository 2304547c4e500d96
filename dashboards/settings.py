"""Settings: what a team may set of its dashboards, rules and routes; the committed files have the defaults."""

from dataclasses import dataclass

from dashboards.scale import REAL, Scale

MINUTE, HOUR, DAY = 60, 3_600, 86_400


@dataclass(frozen=True, slots=True)
class Burn:
    """One pair of windows of a multi-window burn rate, in seconds: it burns while both are above `factor` budgets.

    The pairs and factors are those of the SRE workbook, chapter 5: 2 % of a 30-day budget in an hour, 5 % in six
    hours, 10 % in a day and in three days.
    """

    long_s: int
    short_s: int
    factor: float

    def __post_init__(self) -> None:
        """Refuse a short window that is not shorter."""
        if not 0 < self.short_s < self.long_s:
            raise ValueError(f"short_s: between 0 and long_s ({self.long_s}), not {self.short_s}")
        if not self.factor > 0:
            raise ValueError(f"factor: above 0, not {self.factor}")


BURNS = (
    Burn(HOUR, 5 * MINUTE, 14.4),
    Burn(6 * HOUR, 30 * MINUTE, 6),
    Burn(DAY, 2 * HOUR, 3),
    Burn(3 * DAY, 6 * HOUR, 1),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. Spans are in seconds of the exporter's clock, ratios are 0 to 1.

    `objective` is the share of the time in which the ladder can decide; `least_seen` the share of a window that must
    have been seen before its burn rate counts; `least_answers` and the like how many events a ratio needs.
    """

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - read by pydantic where a file is turned into this

    scale: Scale = REAL
    job: str = "rungwatch"
    target: str = "127.0.0.1:9477"
    scrape_interval_s: float = 15
    evaluation_interval_s: float = 15
    owner: str = "ladder"

    grafana_url: str = "http://127.0.0.1:3000"
    console_url: str = "http://127.0.0.1:9477"
    prometheus_url: str = "http://127.0.0.1:9090"
    alertmanager: str = "127.0.0.1:9093"
    runbook_url: str = "https://runbooks.example/rungwatch/runbook.md"
    pager_url: str = "https://pager.example/rungwatch"
    tickets_url: str = "https://tickets.example/rungwatch"
    deadman_url: str = "https://deadman.example/rungwatch"

    objective: float = 0.99
    burns: tuple[Burn, ...] = BURNS
    least_seen: float = 0.5

    bridge_s: int = 5 * MINUTE
    settle_s: int = 10 * MINUTE
    stale_after_s: int = 15 * MINUTE
    seat_full_within_s: int = 2 * HOUR
    login_needed_s: int = 15 * MINUTE
    token_expires_within_s: int = DAY
    lead_s: int = HOUR
    inbox_waits_s: int = HOUR
    skew_s: int = MINUTE
    missed_ticks: int = 3
    ratio_window_s: int = 6 * HOUR
    single_rung_ratio: float = 0.5
    flip_ratio: float = 0.25
    expired_ratio: float = 0.5
    cap_ratio: float = 0.9
    poll_ratio: float = 0.95
    least_answers: int = 5
    least_consultations: int = 5
    least_clicks: int = 3

    def __post_init__(self) -> None:
        """Refuse what no rule could be built from; the text names the field."""
        for name in _RATIOS:
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"{name}: above 0 and at most 1, not {getattr(self, name)}")
        if self.objective == 1:
            raise ValueError("objective: below 1, for no ladder is always there")
        for name in _COUNTS:
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}: above 0, not {getattr(self, name)}")


_RATIOS = (
    *("objective", "least_seen", "single_rung_ratio", "flip_ratio"),
    *("expired_ratio", "cap_ratio", "poll_ratio"),
)
_COUNTS = (
    *("scrape_interval_s", "evaluation_interval_s", "bridge_s", "settle_s", "stale_after_s", "seat_full_within_s"),
    *("login_needed_s", "token_expires_within_s", "lead_s", "inbox_waits_s", "skew_s", "missed_ticks"),
    *("ratio_window_s", "least_answers", "least_consultations", "least_clicks"),
)
