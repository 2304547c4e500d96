"""Alerts on the ladder: its rungs, its seats and their logins. None of them wakes anybody (design 9)."""

from dashboards.board import Board
from dashboards.promql import metric
from dashboards.records import burn
from dashboards.rule import Alert
from dashboards.settings import HOUR, MINUTE, Settings
from dashboards.terms import SELECT, Terms, window

_RUNG = "on (job, instance, rung)"
_SEAT = ("rung", "seat")
PERCENT = "{{ $value | humanizePercentage }}"
SPAN = "{{ $value | humanizeDuration }}"
"""What an alert's value is shown as."""


def ladder_alerts(settings: Settings) -> tuple[Alert, ...]:
    """The alerts, in the order of the runbook."""
    terms = Terms(settings)
    return (
        _rung_missing(terms),
        Alert(
            "LadderDown",
            f"{terms.held('ladder_state', state='down')} == 1",
            "Both rungs are out: questions end at a person",
            "No seat of either rung could be called for {{ $labels.job }} on {{ $labels.instance }} in the last "
            f"{window(5 * MINUTE)}. {_clears('instance')}",
            Board.ONCALL,
            after_s=5 * MINUTE,
            pins=("instance",),
        ),
        _blind(terms),
        _burning(terms),
        _exhaustion(terms),
        *_logins(terms),
    )


def _clears(*labels: str) -> str:
    """A template that says when the first seat clears, where that is known."""
    asked = _asked("ladder_rung_next_available_timestamp_seconds", *labels)
    return (
        f"{{{{ with {asked} }}}}The first seat clears at "
        "{{ . | first | value | humanizeTimestamp }}.{{ else }}Nobody knows when the first seat clears.{{ end }}"
    )


def _asked(name: str, *labels: str, condition: str = "", by: tuple[str, ...] = ()) -> str:
    """A template's own query of a metric with the alert's labels, the smallest value first, equal ones by labels."""
    metric(name)
    matchers = ", ".join(f"{label}=%q" for label in labels)
    filled = " ".join(f"$labels.{label}" for label in labels)
    ordered = "".join(f" | sortByLabel `{label}`" for label in reversed(by))
    return f"printf `sort({name}{{{matchers}}}{condition})` {filled} | query{ordered}"


def _rung_missing(terms: Terms) -> Alert:
    """Not reachable, and not merely asleep; or no longer shown by an exporter that shows other rungs."""
    seen = terms.held("ladder_rung_reachable")
    lately = f"last_over_time({SELECT('ladder_rung_reachable')}[{terms.span(HOUR)}])"
    reasons = _asked("ladder_rung_blocked", "instance", "rung", condition=" == 1", by=("reason",))
    return Alert(
        "RungMissing",
        f"(\n  {seen} == 0\n"
        f"  unless {_RUNG} {terms.held('ladder_rung_blocked', reason='asleep')} == 1\n)\n"
        f"or (\n  0 * {lately}\n"
        f"  unless {_RUNG} {seen}\n"
        f"  and on (job, instance) {seen}\n)",
        "Rung {{ $labels.rung }} cannot be asked",
        "Rung {{ $labels.rung }} has not been reachable on {{ $labels.instance }} for "
        f"{window(terms.settings.settle_s)}. Reasons:"
        f"{{{{ range {reasons} }}}} {{{{ .Labels.reason }}}}{{{{ else }}}} none is shown{{{{ end }}}}. "
        f"{_clears('instance', 'rung')} Answers come from the other rung alone meanwhile.",
        Board.ONCALL,
        after_s=terms.settings.settle_s,
        pins=("instance", "rung"),
    )


def _blind(terms: Terms) -> Alert:
    """Blind through a rung that is unknown for another reason than that its seats are asleep."""
    reasons = _asked("ladder_rung_blocked", "instance", condition=" == 1", by=("rung", "reason"))
    return Alert(
        "LadderBlind",
        f"{terms.held('ladder_state', state='blind')} == 1\n"
        "and on (job, instance) (\n"
        f"  {terms.held('ladder_rung_state', state='unknown')} == 1\n"
        f"  unless {_RUNG} {terms.held('ladder_rung_blocked', reason='asleep')} == 1\n)",
        "Nobody can tell whether the ladder can answer",
        "The state of a rung has been unknown on {{ $labels.instance }} for 15m, and no other is known to be "
        f"reachable. Reasons:{{{{ range {reasons} }}}}"
        " {{ .Labels.rung }} {{ .Labels.reason }};{{ else }} none is shown{{ end }}",
        Board.ONCALL,
        after_s=15 * MINUTE,
        pins=("instance",),
    )


def _burning(terms: Terms) -> Alert:
    pairs = [
        f"({burn(pair.long_s)} > {pair.factor:g} and {burn(pair.short_s)} > {pair.factor:g})"
        for pair in terms.settings.burns
    ]
    return Alert(
        "LadderBudgetBurning",
        "\nor ".join(pairs),
        "The ladder is down more than its objective allows",
        "On {{ $labels.instance }} the ladder is down {{ $value | humanize }} times as often as the objective of "
        f"{terms.settings.objective * 100:g} % allows.",
        Board.ONCALL,
        after_s=2 * MINUTE,
        pins=("instance",),
    )


def _exhaustion(terms: Terms) -> Alert:
    """At the pace of the last hour the window is full before it resets, and within the horizon."""
    within = terms.settings.seat_full_within_s
    used = terms.held("ladder_seat_quota_used_ratio")
    slope = terms.settings.scale.per_second(
        f"deriv({SELECT('ladder_seat_quota_used_ratio')}[{terms.span(HOUR)}])",
    )
    left = f"{terms.held('ladder_seat_quota_reset_timestamp_seconds')} - {terms.now}"
    whole = _asked("ladder_rung_exhaustion_timestamp_seconds", "instance", "rung")
    return Alert(
        "SeatExhaustionSoon",
        f"{used} < 1\nand (\n  {used}\n"
        f"  + {slope}\n"
        f"  * (clamp({left}, 0, {within}) or {within} + 0 * {used})\n"
        ") >= 1",
        "The {{ $labels.window }} window of {{ $labels.rung }} seat {{ $labels.seat }} is about to be full",
        f"It is used to {PERCENT}; at the pace of the last hour it is full within {window(within)}, before it "
        f"resets.{{{{ with {whole} }}}} The last seat of the rung is expected to be spent at "
        "{{ . | first | value | humanizeTimestamp }}.{{ end }}",
        Board.SPEND,
        after_s=15 * MINUTE,
        pins=("instance", *_SEAT),
    )


def _logins(terms: Terms) -> tuple[Alert, ...]:
    of = terms.settings
    lapses = f"{terms.held('ladder_token_expiry_timestamp_seconds')} - {terms.now}"
    return (
        Alert(
            "TokenNeedsLogin",
            f"{terms.held('ladder_token_state', state='needs_login')} == 1",
            "Somebody has to log in again for {{ $labels.rung }} seat {{ $labels.seat }}",
            "The login of seat {{ $labels.seat }} has lapsed, was rejected or is missing on {{ $labels.instance }}, "
            f"for {window(of.login_needed_s)}, and nothing renews it.",
            Board.ONCALL,
            after_s=of.login_needed_s,
            pins=("instance", *_SEAT),
        ),
        Alert(
            "TokenExpiresSoon",
            f"({lapses} > 0) < {of.token_expires_within_s}\n"
            f"and on (job, instance, rung, seat) {terms.held('ladder_token_renewable')} == 0",
            "The login of {{ $labels.rung }} seat {{ $labels.seat }} lapses soon and nothing renews it",
            f"It lapses in {SPAN} on {{{{ $labels.instance }}}}; from then on the seat cannot be asked until "
            "somebody logs in again.",
            Board.ONCALL,
            after_s=5 * MINUTE,
            pins=("instance", *_SEAT),
        ),
    )
